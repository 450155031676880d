"""The certificate: it holds on every kind of fit, and refuses whatever was changed."""

from __future__ import annotations

import json

import mpmath
import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from hypothesis import given
from hypothesis import strategies as st

from certifit.certificates import Ball, Certificate, Data, issue
from certifit.certificates._data import digest_evidence
from certifit.certificates.tree_questions import side_cost
from certifit.certificates.tree_sums import LevelRows, fixed_point
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.certificates.tampering import forged


def table(seed=0, n=120):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    frame["few"] = rng.choice(["x", "y", "z", None], n)
    frame["many"] = rng.integers(0, 25, n).astype(str)
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    score = frame["a"].fillna(0) + (frame["few"] == "x") + rng.normal(size=n) * 0.5
    weight = rng.random(n) * (rng.random(n) > 0.1)
    return frame, np.digitize(score, [0, 1]), score.to_numpy(), weight


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_depth": 3},
        {"min_samples_leaf": 9, "min_weight_fraction_leaf": 0.1},
        {"max_leaf_nodes": 7},
        {"min_impurity_decrease": 0.01},
        {"max_features": 2, "random_state": 0},
        {"ccp_alpha": 0.01},
        {"pruning": "cv", "cv": 4},
        {"pruning": "reduced_error", "random_state": 1},
    ],
)
@pytest.mark.parametrize("criterion", ["gini", "log_loss", "squared_error", "absolute_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_holds_and_verifies(criterion, params, weighted):
    X, labels, score, w = table()
    weight = w if weighted else None
    if criterion in ("gini", "log_loss"):
        model, y = (
            DecisionTreeClassifier(criterion=criterion, **params),
            np.array(["no", "may", "yes"])[labels],
        )
    else:
        model, y = DecisionTreeRegressor(criterion=criterion, **params), score
    certificate = model.fit(X, y, sample_weight=weight).certificate_
    assert certificate.holds, certificate.failures
    assert certificate.verify(X, y, sample_weight=weight).holds
    assert certificate.leaves == model.get_n_leaves()
    again = Certificate.from_dict(json.loads(json.dumps(certificate.to_dict())))
    assert again.verify(X, y, sample_weight=weight).holds
    assert str(again) == str(certificate)


@given(st.integers(0, 100_000), st.booleans())
def test_it_holds_on_random_small_tables(seed, gaps):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 7, size=(int(rng.integers(1, 25)), 2)).astype(float)
    if gaps:
        X[rng.random(X.shape) < 0.3] = np.nan
    y = rng.integers(0, 3, len(X))
    assert DecisionTreeClassifier(criterion="entropy").fit(X, y).certificate_.holds
    assert DecisionTreeRegressor(ccp_alpha=0.05).fit(X, y + rng.normal(size=len(X))).certificate_.holds


def refit(certificate, **changes):
    """The certificate with other evidence and the digest that belongs to it."""
    evidence = {**certificate.evidence, **changes}
    digests = {**certificate.digests, "evidence": digest_evidence(evidence)}
    return certificate.tampered(evidence=evidence, digests=digests)


@pytest.fixture(scope="module")
def fitted():
    X, labels, _, _ = table()
    X = X[["a", "b", "c"]].fillna(0.0).to_numpy()
    return X, labels, DecisionTreeClassifier(ccp_alpha=0.02).fit(X, labels).certificate_


def test_a_worse_question_is_refused(fitted):
    X, y, certificate = fitted
    threshold = certificate.evidence["threshold"].copy()
    threshold[0] += 0.3
    outcome = refit(certificate, threshold=threshold).verify(X, y)
    assert outcome.same_data
    assert not outcome.holds
    feature = certificate.evidence["feature"].copy()
    feature[0] = (feature[0] + 1) % 3
    assert not refit(certificate, feature=feature).verify(X, y).holds


def test_other_values_prunings_rules_and_figures_are_refused(fitted):
    X, y, certificate = fitted
    evidence = certificate.evidence
    value = evidence["value"].copy()
    value[0] = value[0][::-1]
    assert not refit(certificate, value=value).verify(X, y).holds
    asks = evidence["asks"].copy()
    asks[0] = False
    assert not refit(certificate, asks=asks).verify(X, y).holds
    asks = evidence["left"] >= 0
    assert not refit(certificate, asks=asks).verify(X, y).holds
    assert not refit(certificate, alpha=0.5).verify(X, y).holds
    assert not refit(certificate, max_depth=2).verify(X, y).holds
    assert not refit(certificate, min_samples_leaf=5).verify(X, y).holds
    assert not refit(certificate, criterion="entropy").verify(X, y).holds
    assert not refit(certificate, left=evidence["right"]).verify(X, y).holds
    for name, wrong in (("leaves", 2), ("shortfall", -1.0), ("impurity", 0.0), ("compared", 1)):
        figures = {**certificate.figures, name: wrong}
        assert not certificate.tampered(figures=figures).verify(X, y).holds
    assert not certificate.tampered(claim="The best tree of all.").verify(X, y).holds
    assert not certificate.tampered(evidence={**evidence, "alpha": 0.0}).verify(X, y).holds


def test_other_data_are_told_apart_from_a_false_claim(fitted):
    X, y, certificate = fitted
    other = X.copy()
    other[0, 0] += 1.0
    outcome = certificate.verify(other, y)
    assert not outcome.same_data
    assert "not the data" in outcome.reason
    assert not certificate.verify(X, y, sample_weight=np.ones(len(y))).same_data


def test_a_leaf_that_could_have_asked_is_refused():
    X, y = np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 2, 2]
    certificate = DecisionTreeClassifier(max_depth=1).fit(X, y).certificate_
    assert certificate.holds
    assert not refit(certificate, max_depth=5).verify(X, y).holds


def test_a_foreign_tree_is_judged_by_the_same_proof():
    """Scikit-learn's own tree passes where it is greedy-optimal; a random one does not."""
    X, labels, _, _ = table()
    X = X[["a", "b", "c"]].fillna(0.0).to_numpy().astype(np.float32).astype(float)
    ours = DecisionTreeClassifier(min_samples_leaf=6).fit(X, labels).certificate_
    for splitter, holds in (("best", True), ("random", False)):
        t = sklearn.tree.DecisionTreeClassifier(min_samples_leaf=6, splitter=splitter, random_state=0)
        t = t.fit(X, labels).tree_
        evidence = {
            **ours.evidence,
            "left": t.children_left, "right": t.children_right, "feature": t.feature,
            "threshold": t.threshold,
            "missing_left": np.zeros(t.node_count), "group": np.full(t.node_count, -1),
            "value": t.value[:, 0], "asks": t.children_left >= 0,
        }  # fmt: skip
        assert issue("tree", Data.of(X, labels), evidence).holds == holds


def test_the_heuristic_is_owned_up_to():
    X, labels, _, _ = table()
    claim = DecisionTreeClassifier().fit(X, labels).certificate_
    assert claim.heuristic
    assert "too many to compare" in claim.claim
    two = DecisionTreeClassifier().fit(X, labels > 0).certificate_
    assert not two.heuristic


def outlying(n=30):
    """Two steps of ten in the first column, noise in the second, and one value of a billion."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(n, dtype=float), rng.permutation(n).astype(float)])
    y = np.where(X[:, 0] < n / 2, 0.0, 10.0)
    y[-1] = 1e9
    return X, y


def test_an_outlier_elsewhere_excuses_no_question_and_no_value():
    X, y = outlying()
    proof = DecisionTreeRegressor(max_depth=2).fit(X, y).certificate_
    assert proof.verify(X, y).holds
    e = {k: np.array(proof.evidence[k]) for k in ("feature", "threshold", "value", "left", "right")}
    node = np.flatnonzero(e["left"] >= 0)[1]  # the split that tells 0 from 10
    for child in (e["left"][node], e["right"][node]):
        value = e["value"].copy()
        value[child] += 0.9
        assert not forged(proof, value=value).verify(X, y).holds
    feature, threshold, value = e["feature"].copy(), e["threshold"].copy(), e["value"].copy()
    feature[node], threshold[node] = 1, 0.5
    rest = X[:, e["feature"][0]] <= e["threshold"][0]
    for child, side in ((e["left"][node], X[:, 1] <= 0.5), (e["right"][node], X[:, 1] > 0.5)):
        value[child] = y[rest & side].mean()
    assert not forged(proof, feature=feature, threshold=threshold, value=value).verify(X, y).holds


def test_a_heavy_row_elsewhere_excuses_no_question():
    rng = np.random.default_rng(3)
    X = np.column_stack([np.arange(32.0), rng.permutation(32)])
    y = (X[:, 0] < 15).astype(int)
    X[30:, 0], y[30:] = (100.0, 101.0), (0, 1)
    w = np.ones(32)
    w[30:] = 1e12
    proof = DecisionTreeClassifier(max_depth=4).fit(X, y, w).certificate_
    e = proof.evidence
    light = [v for v in np.flatnonzero(e["left"] >= 0) if e["feature"][v] == 0 and e["threshold"][v] < 30]
    assert light
    threshold = np.array(e["threshold"])
    threshold[light[0]] -= 5.0
    outcome = forged(proof, threshold=threshold).verify(X, y, w)
    assert not next(c for c in outcome.checks if c.name == "no other allowed split gains more").holds


def test_columns_cannot_be_hidden():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    whole = DecisionTreeClassifier(max_depth=1).fit(X, y).certificate_
    part = DecisionTreeClassifier(max_depth=1).fit(X[:, 1:], y).certificate_.evidence
    shape = {k: part[k] for k in ("left", "right", "threshold", "value", "asks", "group", "sets", "missing_left")}
    shape["feature"] = np.where(part["feature"] >= 0, part["feature"] + 1, part["feature"])
    for categories in ([[], None], [[0.0], None], [None], [None, None, None]):
        assert not forged(whole, **shape, categories=categories).verify(X, y).holds
    drawn = Certificate.from_dict(
        issue("tree", Data.of(X, y), {**whole.evidence, **shape, "drawn": np.tile([False, True], (3, 1))}).to_dict()
    )
    assert drawn.holds
    assert "about the columns drawn for it" in drawn.claim
    assert not drawn.tampered(claim=whole.claim).verify(X, y).holds
    assert not forged(drawn, drawn=np.ones((1, 2), dtype=bool)).verify(X, y).holds


@pytest.mark.parametrize("name", ["max_depth", "min_samples_split", "min_samples_leaf", "max_leaf_nodes",
                                  "min_weight_leaf", "min_impurity_decrease", "alpha"])  # fmt: skip
@pytest.mark.parametrize("wrong", [np.nan, -1, -0.5, np.inf, 1.5, "3"])
def test_limits_that_make_no_sense_are_refused(fitted, name, wrong):
    X, y, proof = fitted
    assert not forged(proof, **{name: wrong}).verify(X, y).holds


def test_the_claim_names_its_limits(fitted):
    X, y, proof = fitted
    assert "max_depth" not in proof.claim
    small = DecisionTreeClassifier(max_depth=2, min_samples_leaf=4, criterion="entropy").fit(X, y).certificate_
    assert "within max_depth = 2, min_samples_leaf = 4" in small.claim
    assert "gains more by entropy" in small.claim
    frame, labels, _, _ = table()
    assert "columns 3, 4 by groups of categories" in DecisionTreeClassifier().fit(frame, labels).certificate_.claim


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_uneven_weights_leave_enough_digits(criterion):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, w = np.round(rng.normal(size=(30, 3)), 1), 10.0 ** rng.uniform(-3, 3, 30)
        model = DecisionTreeClassifier(criterion=criterion, max_depth=4).fit(X, rng.integers(0, 3, 30), sample_weight=w)
        assert model.certificate_.holds


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@given(
    st.lists(st.sampled_from([0.0, 1e-12, 1e-6, 0.5, 1.0, 7.0, 1e6]), min_size=2, max_size=4).filter(any),
    st.floats(0.0, 1e-7),
)
def test_the_cost_of_a_side_encloses_the_truth(criterion, weights, rad):
    side = Ball(np.array([weights]), np.full((1, len(weights)), rad * max(weights)))
    found = side_cost(side, criterion)
    with mpmath.workprec(200):
        total = sum(map(mpmath.mpf, weights))
        shares = [mpmath.mpf(v) / total for v in weights if v]
        gini, entropy = 1 - sum(p * p for p in shares), -sum(p * mpmath.log(p, 2) for p in shares)
        true = total * (gini if criterion == "gini" else entropy)
        assert found.lower[0] <= true <= found.upper[0]


def test_groupings_under_a_limit_on_leaves_claim_no_more_than_was_compared():
    """{A, C} against B is allowed and gains more, but is no cut in the order of the means: the claim does not cover it."""
    frame = pd.DataFrame({"x": [0.0, 1.0] * 6, "c": list("A" + "B" * 10 + "C")})
    y = np.array([0.0] + [0.5] * 10 + [10.0]) + np.arange(12) * 1e-3
    order = "by groups of categories that follow one another in the order of their means"
    assert order in DecisionTreeRegressor(max_depth=1, min_samples_leaf=2).fit(frame, y).certificate_.claim
    assert order not in DecisionTreeRegressor(max_depth=1).fit(frame, y).certificate_.claim


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("classes", [2, 4])
def test_costs_of_whole_weights_are_those_of_balls_from_below(criterion, classes):
    from certifit.certificates import Ball
    from certifit.certificates.tree_questions import cost, whole_cost

    rng = np.random.default_rng(0)
    left, right = (rng.integers(0, 10 ** rng.integers(1, 14), size=(500, classes)) for _ in range(2))
    left[:, 0] += 1  # no side is without weight
    right[:, 1] += 1
    balls = cost(Ball(left.astype(float)), Ball(right.astype(float)), criterion)
    found = whole_cost(left, right, criterion)
    assert np.all(found <= balls.upper)
    assert np.all(found >= balls.lower - 1e-14 * balls.upper)


@pytest.mark.parametrize("targets", [1, 2])
def test_a_worse_split_is_refused_where_gains_underflow(targets):
    """Costs of 1e-240 over a weight of 4e100 are zero as floats: that is no proof that nothing gains more."""
    X, y = np.arange(4.0)[:, None], np.array([0.0, 0.0, 1.0, 1.0])
    Y = y if targets == 1 else np.column_stack([y, y])
    found = DecisionTreeRegressor(max_depth=1).fit(X, Y).certificate_
    assert found.holds
    for size in (1.0, 1e-154, 1e-160, 1e-170):
        value = size * np.array([0.5, 0.0, 2 / 3])
        value = value[:, None] if targets == 1 else np.stack([value, value], axis=1)[:, :, None]
        worse = dict(found.evidence) | {"threshold": np.array([0.5, -2.0, -2.0]), "value": value}
        assert not issue(found.kind, Data.of(X, Y * size, np.full(4, 1e100)), worse).holds


def test_a_split_worse_by_less_than_the_least_float_is_refused():
    X, y = np.arange(4.0)[:, None], np.array([0.0, 1.0, 1.0, 2.0001])
    found = DecisionTreeRegressor(max_depth=1).fit(X, y).certificate_
    worse = dict(found.evidence) | {"threshold": np.array([0.5, -2.0, -2.0])}
    for size in (1.0, 1e-160):
        value = size * np.array([y.mean(), y[0], y[1:].mean()])[:, None]
        assert not issue("tree", Data.of(X, y * size, np.full(4, 1e100)), worse | {"value": value}).holds


def test_whole_weights_are_exact_below_a_limit_for_all_classes_together():
    """Each class may stay below 2⁵³ where their sum does not: then 2⁵³ + 3 is rounded to 2⁵³ + 4."""
    weight = np.array([2.0**53 - 1, 1.0, 3.0, 1.0])
    for heavy, whole in ((weight, False), (np.minimum(weight, 2.0**52), True)):
        rows = LevelRows(np.zeros(4, dtype=int), 1, heavy, np.array([0, 1, 2, 1]), None, 3, "gini", 1, 0.0, 1e-9)
        assert fixed_point(rows).whole == whole


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_of_equal_weight_are_compared_alike_however_they_are_added_up(criterion, classes):
    """Rows that count once, twice, or by a fraction take three roads to the same sums."""
    rng = np.random.default_rng(classes)
    X = rng.integers(0, 9, size=(300, 3)).astype(float)
    X[:, 0] = rng.normal(size=300)
    X[rng.integers(0, 300, size=20), 1] = np.nan
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int) + (rng.integers(0, classes, size=300) == 2)
    found = []
    for weight in (None, np.full(300, 2.0), np.full(300, 0.3)):
        model = DecisionTreeClassifier(criterion=criterion, max_depth=4).fit(X, y, sample_weight=weight)
        certificate = model.certificate_
        assert certificate.holds
        found.append((certificate.compared, certificate.questions, round(certificate.impurity, 9)))
    assert found[0] == found[1] == found[2]
