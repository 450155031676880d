"""Trees by hand with a known slip are told what it was; right ones, and scikit-learn's, are accepted."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import certifit as cf


def gini(y):
    p = np.unique(y, return_counts=True)[1] / len(y)
    return 1 - p @ p


def entropy(y):
    p = np.unique(y, return_counts=True)[1] / len(y)
    return -p @ np.log(p)


def errors(y):
    return 1 - np.unique(y, return_counts=True)[1].max() / len(y)


def weighted(impurity):
    return lambda a, b: len(a) * impurity(a) + len(b) * impurity(b)


def answer(y):
    values, counts = np.unique(y, return_counts=True)
    return int(values[counts.argmax()])


def grow(X, y, cost, depth, leaf=answer):
    """A tree as a student would grow it: the question of smallest cost, down to a depth."""
    if depth == 0 or len(np.unique(y)) == 1:
        return leaf(y)
    best = min(
        ((cost(y[X[:, j] <= a], y[X[:, j] > a]), j, (a + b) / 2)
         for j in range(X.shape[1]) for a, b in zip(np.unique(X[:, j]), np.unique(X[:, j])[1:])),
        default=None,
    )  # fmt: skip
    if best is None:
        return leaf(y)
    goes = X[:, best[1]] <= best[2]
    sides = {
        "left": grow(X[goes], y[goes], cost, depth - 1, leaf),
        "right": grow(X[~goes], y[~goes], cost, depth - 1, leaf),
    }
    return {"feature": best[1], "threshold": best[2], **sides}


def problem(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.8 * X[:, 1] ** 2 + rng.normal(size=n) > 0.8).astype(int)
    return X, y


def other(v):
    return 1 - answer(v)


SLIPS = {
    "other criterion": lambda X, y: (grow(X, y, weighted(entropy), 2), "gini", 2),
    "sides not weighted": lambda X, y: (grow(X, y, lambda a, b: gini(a) + gini(b), 2), "gini", 2),
    "purest side only": lambda X, y: (grow(X, y, lambda a, b: min(entropy(a), entropy(b)), 1), "entropy", 1),
    "worst split": lambda X, y: (grow(X, y, lambda a, b: -weighted(gini)(a, b), 2), "gini", 2),
    "errors for impurity": lambda X, y: (grow(X, y, weighted(errors), 2), "gini", 2),
    "stopped too early": lambda X, y: (grow(X, y, weighted(gini), 2), "gini", 3),
    "grown too far": lambda X, y: (grow(X, y, weighted(gini), 3), "gini", 2),
    "prediction of a leaf": lambda X, y: (grow(X, y, weighted(gini), 2, other), "gini", 2),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_each_slip_is_named(slip):
    told = 0
    for seed in range(6):
        X, y = problem(seed)
        tree, criterion, depth = SLIPS[slip](X, y)
        certificate = cf.certify_tree(tree, X, y, criterion, max_depth=depth)
        if certificate.holds:  # both formulas may ask the same questions
            continue
        told += 1
        found = certificate.diagnose(X, y)
        assert not found.right
        assert slip in [f.name for f in found], seed
    assert told >= 2


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_right_trees_are_right(criterion):
    for seed in range(40):
        X, y = problem(seed, 20 + seed)
        if seed % 2:
            X = np.rint(X)
        tree = grow(X, y, weighted({"gini": gini, "entropy": entropy}[criterion]), 3)
        assert cf.certify_tree(tree, X, y, criterion, max_depth=3).diagnose(X, y).right
        theirs = DecisionTreeClassifier(criterion=criterion, random_state=seed).fit(X, y)
        assert cf.certify(theirs, X, y).diagnose(X, y).right


def test_rows_at_the_threshold_and_labels():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 1, 1, 1])
    strict = {"feature": 0, "threshold": 1.0, "left": 0, "right": 1}
    certificate = cf.certify_tree(strict, X, y, max_depth=1)
    assert "rows at the threshold" in [f.name for f in certificate.diagnose(X, y)]
    swapped = cf.certify_tree({"feature": 0, "threshold": 0.5, "left": 1, "right": 0}, X, y, max_depth=1)
    assert {"labels swapped", "prediction of a leaf"} & {f.name for f in swapped.diagnose(X, y)}


def test_trees_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] ** 2 + rng.exponential(size=40)
    theirs = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y)
    assert cf.certify(theirs, X, y).diagnose(X, y).right
    unweighted = grow(X, y, lambda a, b: a.var() + b.var(), 2, np.mean)
    found = cf.certify_tree(unweighted, X, y, "squared_error", max_depth=2).diagnose(X, y)
    assert "sides not weighted" in [f.name for f in found]
    deviations = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y)
    certificate = cf.certify_tree(deviations, X, y, "squared_error")
    assert not certificate.holds
    assert not certificate.diagnose(X, y).right
