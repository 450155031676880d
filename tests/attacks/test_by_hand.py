"""Evidence forged by hand by somebody who knows the theorems: refused by `verify` and by the checker, or right as it reads."""

import copy

import numpy as np
import pytest

from certifit import checker
from certifit.certificates import Data, issue
from certifit.certificates._proof_file import encoded
from certifit.linear_model import LinearRegression, Ridge
from certifit.semi_supervised import LabelPropagation, LabelSpreading
from certifit.svm import LinearSVC
from tests.attacks.siege import _table

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
REAL = RNG.normal(size=20)
TWO = (X[:, 0] + RNG.normal(size=20) > 0).astype(int)
SOME = np.where(np.arange(20) < 8, TWO, -1)


def proved(kind, rows, y, evidence, figures):
    """Whether the library proves anything by the evidence, and whether the checker proves these figures."""
    certificate = issue(kind, Data.of(rows, y), evidence)
    table = _table(rows, y, None)
    facts = {"rows": table.rows, "columns": table.width, "weights": False, "offset": False}
    record = {"format": "certifit-proof", "version": 1, "kind": kind, "data": {"sha256": table.digest(False), **facts},
              "figures": encoded(figures), "evidence": encoded(evidence)}  # fmt: skip
    try:
        checker.check(record, table, say=lambda text: None)
    except Exception:
        return certificate.holds, False
    return certificate.holds, True


def changed(certificate, **edits):
    """The evidence with other fields, and another objective in places (there is one, or a list of one)."""
    evidence, more = copy.deepcopy(dict(certificate.evidence)), edits.pop("objective", {})
    found = evidence["objective"]
    evidence["objective"] = [{**o, **more} for o in found] if isinstance(found, list) else {**found, **more}
    return {**evidence, **edits}


@pytest.mark.parametrize("strength", [-5.0, -1e3, -1e-300])
def test_a_negative_penalty_makes_a_stationary_point_no_minimum(strength):
    c = Ridge().fit(X, REAL).certificate_
    assert proved(c.kind, X, REAL, changed(c), {"gap": c.gap}) == (True, True)  # unchanged, it stands
    centred, target = X - X.mean(axis=0), REAL - REAL.mean()
    w = np.linalg.solve(centred.T @ centred + strength * np.eye(3), centred.T @ target)
    b = np.array([REAL.mean() - X.mean(axis=0) @ w])
    evidence = changed(c, coef=w[None], intercept=b, objective={"strength": strength})
    assert proved(c.kind, X, REAL, evidence, {"gap": 1.0}) == (False, False)


@pytest.mark.parametrize("padding", [-1.0, -1e6, 0.0, float("nan"), float("inf")])
def test_a_constant_column_is_positive(padding):
    c = LinearSVC(loss="hinge", tol=0.5, C=10.0).fit(X, TWO).certificate_
    assert proved(c.kind, X, TWO, changed(c), {"gap": c.gap}) == (True, True)  # unchanged, it stands
    evidence = changed(c, objective={"padding": padding})
    assert proved(c.kind, X, TWO, evidence, {"gap": c.gap}) == (False, False)


@pytest.mark.parametrize("name", ["strength", "padding"])
def test_a_penalty_of_another_size_is_another_claim(name):
    """Where the evidence still proves something, it is about the objective that it states."""
    c = LinearSVC(C=1.0).fit(X, TWO).certificate_
    evidence = changed(c, objective={name: {"strength": 10.0, "padding": 7.0}[name]})
    forged = issue(c.kind, Data.of(X, TWO), evidence)
    assert not c.tampered(evidence=evidence).verify(X, TWO).holds
    assert forged.gap > c.gap


def test_the_mistakes_of_one_class_prove_nothing_about_three():
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [6.0, 5.0], [5.0, 5.0], [6.0, 5.0]])
    y = np.array([0, 0, 1, 2, 2, 1])  # classes 1 and 2 share points
    for mistakes in ([[1, 1, 1, 0, 0, 0]], [[1, 1, 1, 0, 0, 0]] * 2, [[1, 1, 1, 0, 0, 0]] * 4):
        evidence = {"kernel": ["linear"], "classes": [0, 1, 2], "mistakes": np.array(mistakes), "fit_intercept": True}
        figures = {"value": 3 * len(mistakes), "separated": True, "bound": 1e9}
        assert proved("kernel-perceptron", rows, y, evidence, figures) == (False, False)


@pytest.mark.parametrize(
    "kernel",
    [
        ["sum", ["rbf", 1.0], ["scaled", -1.3, ["linear"]]],
        ["rbf", -1.0],
        ["rbf", ["linear"]],
        ["scaled", ["linear"], ["scaled", -1.0, ["linear"]]],
        ["polynomial", 2, -1.0, 1.0],
        ["polynomial", 0.5, 1.0, 1.0],
        ["normalized", ["scaled", -1.0, ["linear"]]],
    ],
)
def test_an_indefinite_kernel_bounds_no_mistakes_and_no_margin(kernel):
    rows, y = np.array([[0.0, 0.1], [0.1, 0.0], [1.0, 0.0], [1.1, 0.1]]), np.array([0, 0, 1, 1])
    evidence = {"kernel": kernel, "classes": [0, 1], "mistakes": np.array([[1, 0, 1, 0]]), "fit_intercept": True}
    assert not proved("kernel-perceptron", rows, y, evidence, {"value": 2, "separated": True, "bound": 1e9})[1]
    assert not np.isfinite(issue("kernel-perceptron", Data.of(rows, y), evidence).figures.get("bound", np.inf))
    hulls = {"kernel": kernel, "classes": [0, 1], "support": np.array([0, 2]), "dual_coef": np.array([[-1.0, 1.0]])}
    assert proved("no-margin", rows, y, hulls, {"bound": 1.0}) == (False, False)


def _labels(model, **edits):
    c = model.fit(X, SOME).certificate_
    evidence = {**copy.deepcopy(dict(c.evidence)), **edits}
    return proved("harmonic-labels", X, SOME, evidence, {"error": 1e9, "certain": 0})


PROPAGATE, SPREAD = LabelPropagation(gamma=1.0), LabelSpreading(gamma=1.0)
NEAR = LabelPropagation(kernel="knn", n_neighbors=5)


@pytest.mark.filterwarnings("ignore:.*no path to a label")
def test_labels_on_a_graph_as_they_are():
    for model in (PROPAGATE, SPREAD, NEAR):
        assert _labels(model) == (True, True)


@pytest.mark.parametrize(
    "edits",
    [
        {"w": np.zeros(20)},
        {"w": -np.ones(20)},
        {"w": np.where(np.arange(20) == 19, -1.0, 1e6)},
        {"w": np.full(19, 1.0)},
        {"scores": np.ones((20, 3))},
        {"scores": np.ones((20, 1))},
        {"gamma": -1.0},
        {"gamma": float("nan")},
        {"unreached": np.array([19])},
        {"unreached": np.array([-1])},
        {"variant": "guess"},
        {"graph": "complete"},
    ],
    ids=str,
)
def test_labels_on_a_graph_need_their_evidence(edits):
    assert _labels(PROPAGATE, **edits) == (False, False)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_labels_spread_by_a_share(alpha):
    assert _labels(SPREAD, alpha=alpha) == (False, False)


@pytest.mark.filterwarnings("ignore:.*no path to a label")
def test_neighbours_of_a_graph_are_the_nearest_each_once():
    lists = np.asarray(NEAR.fit(X, SOME).certificate_.evidence["neighbors"])
    far = lists.copy()
    far[0, -1] = next(j for j in np.argsort(np.square(X - X[0]).sum(axis=1))[::-1] if j not in lists[0])
    twice, own, negative = lists.copy(), lists.copy(), lists.copy()
    twice[0], own[0, -1], negative[0, 0] = twice[0, 0], 0, lists[0, 0] - 20
    for forged in (far, twice, own, negative, lists[:, :0], lists[:-1]):
        assert _labels(NEAR, neighbors=forged) == (False, False)


def test_other_scores_have_the_larger_error_that_is_stated():
    """Any scores are allowed; the error that is proved is at least their distance from the solution."""
    c = PROPAGATE.fit(X, SOME).certificate_
    scores = np.asarray(c.evidence["scores"]).copy()
    scores[15] += 0.25
    evidence = {**dict(c.evidence), "scores": scores}
    assert issue(c.kind, Data.of(X, SOME), evidence).error >= 0.25
    assert not proved(c.kind, X, SOME, evidence, {"error": 0.249, "certain": 0})[1]


ROWS, ANSWERS = np.array([[0.0], [1.0], [1.0], [2.0], [3.0]]), np.array([1.0, 0.0, 2.0, 0.5, 4.0])
BEST = {"scores": np.array([0.0, 1.0, 2.0, 3.0]), "values": np.array([0.875, 0.875, 0.875, 4.0])}


@pytest.mark.parametrize(
    ("edits", "gap"),
    [
        ({}, 0.0),
        ({"values": np.array([0.875, 0.875, 0.875, 3.0])}, 0.1),  # a gap of 0.2 is not below 0.1
        ({"values": np.array([0.875, 1.0, 0.875, 4.0])}, 9.0),  # they fall
        ({"scores": np.array([0.0, 1.0, 2.0])}, 9.0),
        ({"scores": np.array([0.0, 1.0, 1.0, 3.0])}, 9.0),
        ({"values": np.array([0.875, 0.875, 0.875, np.nan])}, 9.0),
        ({"values": np.array([0.875, 0.875, 0.875])}, 9.0),
    ],
)
def test_isotonic_values(edits, gap):
    c = issue("isotonic", Data.of(ROWS, ANSWERS), {**BEST, **edits})
    if gap == 9.0:
        assert not c.holds
    else:
        assert c.holds
        assert (c.gap <= gap) == (not edits)


def test_least_squares_states_what_zero_costs():
    """Equal columns, coefficients zero: the gap is the whole error."""
    rows = np.repeat(np.arange(1.0, 5.0)[:, None], 2, axis=1)
    c = LinearRegression(fit_intercept=False).fit(rows, rows[:, 0]).certificate_
    evidence = {**dict(c.evidence), "coef": np.zeros((1, 2))}
    assert issue(c.kind, Data.of(rows, rows[:, 0]), evidence).gap >= 7.5
    assert not proved(c.kind, rows, rows[:, 0], evidence, {"gap": 7.4})[1]
    assert proved(c.kind, rows, rows[:, 0], evidence, {"gap": 7.5}) == (True, True)
