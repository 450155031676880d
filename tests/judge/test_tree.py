"""Trees of others: scikit-learn's are proved, wrong questions and wrong leaves are refused, the other criterion is named."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import certifit as cf


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_trees_of_scikit_learn_are_proved(seed, criterion):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 12, size=(60, 3)).astype(float), rng.integers(0, 3, size=60)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=3, random_state=0).fit(X, y)
    assert cf.certify_tree(theirs, X, y, criterion, max_depth=3).holds


def test_a_regression_tree():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(40, 2)).astype(float)
    y = X[:, 0] + rng.normal(size=40)
    theirs = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y)
    assert cf.certify_tree(theirs, X, y, "squared_error", max_depth=2).holds


POINTS, LABELS = np.array([[0.0, 5.0], [1.0, 1.0], [2.0, 4.0], [3.0, 2.0], [4.0, 3.0]]), np.array([0, 0, 1, 1, 1])
BEST = {"feature": 0, "threshold": 1.5, "left": 0, "right": 1}


@pytest.mark.parametrize(
    "tree",
    [
        {**BEST, "threshold": 2.5, "right": 1, "left": 0},
        {**BEST, "feature": 1, "threshold": 2.5},
        {**BEST, "left": 1},
        1,
    ],
)
def test_wrong_trees_are_refused(tree):
    assert cf.certify_tree(BEST, POINTS, LABELS).holds
    assert not cf.certify_tree(tree, POINTS, LABELS, max_depth=1).holds


def test_the_other_criterion_is_named():
    """Gini and entropy choose different questions on some tables: one is looked for."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 6, size=(24, 2)).astype(float), rng.integers(0, 3, size=24)
        grown = DecisionTreeClassifier(criterion="entropy", max_depth=1, random_state=0).fit(X, y)
        judged = cf.certify_tree(grown, X, y, "gini", max_depth=1)
        if not judged.holds:
            findings = judged.diagnose(X, y)
            assert [f.name for f in findings] == ["other criterion"]
            assert "entropy" in findings[0].sentence
            return
    pytest.fail("no table told the criteria apart")


def test_sentences():
    with pytest.raises(ValueError, match="no column 7"):
        cf.certify_tree({**BEST, "feature": 7}, POINTS, LABELS)
    with pytest.raises(ValueError, match="no label of y"):
        cf.certify_tree({**BEST, "left": 9}, POINTS, LABELS)
    with pytest.raises(ValueError, match="no rows"):
        cf.certify_tree({**BEST, "threshold": -1.0}, POINTS, LABELS)


@pytest.mark.parametrize(
    "model",
    [
        cf.linear_model.LinearModel("logistic", "l2", lam=0.1),
        cf.tree.DecisionTreeClassifier(max_depth=2),
        cf.neighbors.KNeighborsClassifier(3),
        cf.naive_bayes.GaussianNB(),
        cf.decomposition.PCA(1),
        cf.cluster.KMeans(2, random_state=0),
    ],
    ids=lambda m: type(m).__name__,
)
def test_certify_takes_estimators_of_ours(model):
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    model.fit(X, y)
    free = type(model).__name__ in ("PCA", "KMeans")
    assert cf.certify(model, X, None if free else y).holds
    if type(model).__name__ != "LinearModel":
        with pytest.raises(ValueError, match="other data"):
            cf.certify(model, X + 1, None if free else y)
