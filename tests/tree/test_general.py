"""Several targets, counts and random questions: scikit-learn as witness, proofs that can fail."""

import numpy as np
import pytest
import sklearn.tree
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.contract import contract

LIMITS = st.sampled_from([{}, {"max_depth": 3}, {"max_leaf_nodes": 5}, {"min_samples_leaf": 4}, {"ccp_alpha": 0.03}])


def _table(seed, n=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    values = np.column_stack([X[:, 0] + X[:, 1] ** 2, X[:, 2]]) + 0.3 * rng.normal(size=(n, 2))
    classes = np.column_stack([values[:, 0] > 0, (values[:, 1] > 0).astype(int) + (X[:, 0] > 1)]).astype(int)
    return X, values, classes, rng.poisson(np.exp(X[:, 0]) + 0.1)


def _shape(tree):
    return tree.node_count, sorted(tree.impurity.round(9))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), LIMITS, st.sampled_from(["squared_error", "absolute_error"]))
def test_several_values(seed, limits, criterion):
    X, Y, _, _ = _table(seed)
    ours = DecisionTreeRegressor(criterion=criterion, **limits).fit(X, Y)
    theirs = sklearn.tree.DecisionTreeRegressor(criterion=criterion, random_state=0, **limits).fit(X, Y)
    assert ours.certificate_.holds
    assert ours.certificate_.verify(X, Y)
    assert ours.predict(X).shape == Y.shape
    assert ours.tree_.impurity[0] == pytest.approx(theirs.tree_.impurity[0])
    if criterion == "squared_error":  # medians tie often, means hardly ever
        assert _shape(ours.tree_) == _shape(theirs.tree_)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), LIMITS, st.sampled_from(["gini", "entropy"]))
def test_several_classes(seed, limits, criterion):
    X, _, L, _ = _table(seed)
    model = DecisionTreeClassifier(criterion=criterion, class_weight="balanced", **limits).fit(X, L)
    assert model.certificate_.holds
    assert model.certificate_.verify(X, L)
    shares = model.predict_proba(X)
    assert [s.shape[1] for s in shares] == model.n_classes_.tolist()
    for s, said, names in zip(shares, model.predict(X).T, model.classes_):
        np.testing.assert_array_equal(names[s.argmax(axis=1)], said)
    theirs = sklearn.tree.DecisionTreeClassifier(criterion=criterion, class_weight="balanced").fit(X, L)
    assert model.tree_.impurity[0] == pytest.approx(theirs.tree_.impurity[0])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), LIMITS)
def test_counts(seed, limits):
    X, _, _, y = _table(seed)
    model = DecisionTreeRegressor(criterion="poisson", **limits).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(criterion="poisson", random_state=0, **limits).fit(X, y)
    assert model.certificate_.holds
    assert model.tree_.impurity[0] == pytest.approx(theirs.tree_.impurity[0])
    assert (model.predict(X) > 0).all()  # a leaf without a single count would predict zero
    mine, other = (m.tree_.compute_feature_importances(normalize=False)[: X.shape[1]] for m in (model, theirs))
    if "max_depth" in limits:
        assert mine.sum() == pytest.approx(other.sum(), rel=0.2)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_random_questions_claim_no_more_than_is_so(seed):
    X, _, L, _ = _table(seed)
    y = L[:, 1]
    model = DecisionTreeClassifier(splitter="random", random_state=seed, min_samples_leaf=2).fit(X, y)
    again = DecisionTreeClassifier(splitter="random", random_state=seed, min_samples_leaf=2).fit(X, y)
    np.testing.assert_array_equal(model.tree_.threshold, again.tree_.threshold)
    assert model.certificate_.holds
    assert "drawn at random" in model.certificate_.claim
    assert model.certificate_.compared == 0
    assert model.tree_.n_node_samples.min() >= 2


def test_a_worse_question_is_found_out():
    from certifit.certificates import Data, issue

    X, Y, _, _ = _table(3)
    c = DecisionTreeRegressor(max_depth=2).fit(X, Y).certificate_
    evidence = dict(c.evidence)
    threshold = evidence["threshold"].copy()
    threshold[0] = np.median(X[:, evidence["feature"][0]]) + 0.4
    worse = issue("tree-general", Data.of(X, Y), {**evidence, "threshold": threshold})
    assert not worse.holds
    moved = evidence["value"].copy()
    moved[-1, 0, 0] += 0.01
    assert not issue("tree-general", Data.of(X, Y), {**evidence, "value": moved}).holds
    assert not issue("tree-general", Data.of(X, Y), {**evidence, "criterion": "gini"}).holds
    assert not c.verify(X + 1.0, Y)


def test_missing_values_go_where_they_gain():
    X, Y, _, y = _table(5)
    X[::5, 0] = np.nan
    for model, target in ((DecisionTreeRegressor(), Y), (DecisionTreeRegressor(criterion="poisson"), y)):
        fitted = model.fit(X, target)
        assert fitted.certificate_.holds
        assert np.isfinite(fitted.predict(X)).all()


def test_what_goes_with_what():
    X, Y, L, _ = _table(6)
    with pytest.raises(ValueError, match="negative"):
        DecisionTreeRegressor(criterion="poisson").fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="choose ccp_alpha"):
        DecisionTreeRegressor(pruning="cv").fit(X, Y)
    with pytest.raises(ValueError, match="encode"):
        DecisionTreeRegressor(categorical_features=[0]).fit(np.round(np.abs(X)), Y)
    with pytest.raises(ValueError, match="number of outputs"):
        DecisionTreeClassifier(class_weight=[{0: 1.0, 1: 2.0}]).fit(X, L)


@contract([DecisionTreeClassifier(splitter="random"), DecisionTreeRegressor(splitter="random")])
def test_contract(estimator, check):
    check(estimator)
