"""Several targets, counts and random splits: scikit-learn as witness, proofs that can fail."""

import numpy as np
import pytest
import sklearn.tree
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from certifit.certificates import Data, issue
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


DIRECTED = {
    "squared_error": DecisionTreeRegressor(monotonic_cst=[1, -1, 0]),
    "absolute_error": DecisionTreeRegressor(criterion="absolute_error", monotonic_cst=[1, -1, 0]),
    "poisson": DecisionTreeRegressor(criterion="poisson", monotonic_cst=[1, -1, 0]),
    "gini": DecisionTreeClassifier(monotonic_cst=[1, -1, 0]),
    "entropy": DecisionTreeClassifier(criterion="entropy", monotonic_cst=[1, -1, 0]),
    "random": DecisionTreeRegressor(splitter="random", monotonic_cst=[1, -1, 0]),
}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), LIMITS, st.sampled_from(list(DIRECTED)))
def test_predictions_keep_the_directions_asked_for(seed, limits, name):
    X, Y, L, counts = _table(seed)
    y = {"poisson": counts, "gini": L[:, 0], "entropy": L[:, 0]}.get(name, Y[:, 0])
    model = clone(DIRECTED[name]).set_params(random_state=seed, **limits).fit(X, y)
    assert model.certificate_.holds, str(model.certificate_)
    assert model.certificate_.verify(X, y)
    assert "never falls with column 0 and never rises with column 1" in model.certificate_.claim
    said = model.predict_proba if hasattr(model, "predict_proba") else lambda rows: model.predict(rows)[:, None]
    near = np.repeat(X, 15, axis=0)
    for column, sign in ((0, 1.0), (1, -1.0)):
        moved = near.copy()
        moved[:, column] += np.tile(np.linspace(0.0, 3.0, 15), len(X))
        steps = np.diff(said(moved)[:, -1].reshape(len(X), 15), axis=1)
        assert (sign * steps >= 0.0).all()
    if name == "squared_error" and {"max_depth", "min_samples_leaf"} & set(limits):  # two rows tie in every column
        theirs = sklearn.tree.DecisionTreeRegressor(monotonic_cst=[1, -1, 0], random_state=0, **limits).fit(X, y)
        assert _shape(model.tree_) == _shape(theirs.tree_)
        np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-9, atol=1e-12)


def test_a_direction_that_is_not_kept_is_not_claimed():
    X, Y, _, _ = _table(8)
    free = DecisionTreeRegressor(criterion="poisson", max_depth=4).fit(X, np.abs(Y[:, 0])).certificate_.evidence
    data = Data.of(X, np.abs(Y[:, 0]))
    assert issue("tree-general", data, free).holds
    for signs in ([1, 0, 0], [-1, 0, 0], [0, 1, 0]):
        assert not issue("tree-general", data, {**free, "monotonic": np.array(signs)}).holds
    kept = DecisionTreeRegressor(monotonic_cst=[1, -1, 0]).fit(X, Y[:, 0]).certificate_.evidence
    data = Data.of(X, Y[:, 0])
    assert issue("tree-general", data, kept).holds
    for signs in ([-1, -1, 0], [1, 1, 0], [1, -1, 1]):
        assert not issue("tree-general", data, {**kept, "monotonic": np.array(signs)}).holds
    assert not issue("tree-general", data, {k: v for k, v in kept.items() if k != "monotonic"}).holds
    moved = kept["value"].copy()
    moved[1:] = moved[1:].mean()  # every direction is kept by a constant, which is not what the rows say
    assert not issue("tree-general", data, {**kept, "value": moved}).holds
    for wrong in ([1, 0], [2, 0, 0]):
        assert not issue("tree-general", data, {**kept, "monotonic": np.array(wrong)}).holds


def test_directions_with_gaps_weights_and_constants():
    X, Y, L, _ = _table(9)
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    w = np.random.default_rng(1).integers(0, 3, len(X))
    for model, y in ((DecisionTreeRegressor(monotonic_cst=[1, -1, 0]), Y[:, 0]), (clone(DIRECTED["gini"]), L[:, 0])):
        assert model.fit(gaps, y, sample_weight=w).certificate_.holds
        assert model.certificate_.verify(gaps, y, w)
    line = np.linspace(-2.0, 2.0, 10)
    assert DecisionTreeRegressor(monotonic_cst=[-1]).fit(line[:, None], line).tree_.node_count == 1
    plain = DecisionTreeRegressor(monotonic_cst=[0]).fit(line[:, None], line)
    assert plain.certificate_.kind == "tree"


@pytest.mark.parametrize(
    ("signs", "target", "words"),
    [([1, 0], 0, "shape 2"), ([2, 0, 0], 0, "-1, 0 or 1"), ([1, 0, 0], 1, "multiclass"), ([1, 0, 0], 2, "multiple")],
)
def test_directions_that_make_no_sense(signs, target, words):
    X, _, L, _ = _table(10)
    y = (L[:, 0], L[:, 1], L)[target]
    with pytest.raises(ValueError, match=words):
        DecisionTreeClassifier(monotonic_cst=signs).fit(X, y)


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
