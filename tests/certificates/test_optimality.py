"""One proof of optimality: it covers the true gap, and no forged dual point or coefficient gets past it."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit import certify
from certifit._objective import Objective
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import digest_evidence
from certifit.glm import GLM
from certifit.kernel_ridge import KernelRidge
from certifit.linear_model import ElasticNet, Lasso, LinearModel, LogisticRegression, Ridge
from certifit.losses import Absolute, Hinge, Logistic, Softmax, Squared, SquaredHinge
from certifit.regularizers import L1, ColumnNorms, ElasticMix, PNorm, SquaredL2
from certifit.solvers.dual import dual_point, evidence_of
from certifit.svm import SVC, LinearSVC

PENALTIES = [SquaredL2(0.5), L1(), ElasticMix(0.4), PNorm(3.0)]
LOSSES = [Squared(), Absolute(), Logistic(), Hinge(), SquaredHinge(), Softmax()]


def problem(seed, loss, penalty, offset=True, strength=2.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3)) + rng.normal(size=3)
    y = rng.normal(size=25) if loss.targets == "real" else rng.integers(0, 3 if loss.targets == "class" else 2, 25)
    y[:3] = np.arange(3) if loss.targets == "class" else y[:3]
    y[:2] = (0, 1) if loss.targets == "sign" else y[:2]
    classes = None if loss.targets == "real" else tuple(np.unique(y))
    objective = Objective(loss, penalty, strength, offset, classes)
    return rng, objective, Data.of(X, y, rng.integers(0, 3, 25).astype(float) + 0.1)


def value(objective, data, W, b):
    (target,) = objective.encode(data.y, data.weights)
    Z = data.X @ W.T + b
    z = Z if target.outputs > 1 else Z[:, 0]
    return float(objective.total(z, target.y, target.weights) + objective.penalty(W)) / target.weights.sum()


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@settings(max_examples=5)
@given(seed=st.integers(0, 1000), offset=st.booleans())
def test_no_point_is_below_the_proved_bound(loss, penalty, seed, offset):
    rng, objective, data = problem(seed, loss, penalty, offset)
    k = len(objective.classes) if loss.targets == "class" else 1
    points = [(rng.normal(size=(k, 3)) * s, rng.normal(size=k) * offset) for s in (0.0, 0.1, 0.3, 1.0)]
    there = evidence_of(objective, *points[0])
    bounds = []
    for W, b in points:
        c = issue("duality", data, there | {"dual": dual_point(objective, data, W, b)})
        assert c.holds, str(c)
        assert c.verify(data.X, data.y, data.sample_weight)
        assert c.gap == pytest.approx(value(objective, data, *points[0]) - c.bound, rel=1e-9, abs=1e-9)
        bounds.append(c.bound)
    assert max(bounds) <= min(value(objective, data, W, b) for W, b in points) + 1e-12


def test_the_same_problem_as_columns_sparse_columns_and_kernel_values():
    _, objective, data = problem(1, Hinge(), SquaredL2(0.5), strength=1.0)
    X, y = data.X, data.y
    model = SVC(kernel="linear", tol=1e-8).fit(X, y, data.sample_weight)
    dense = issue("duality", data, _columns(model, objective, data))
    assert dense.relative_gap < 1e-6
    S = Data.of(scipy.sparse.csr_array(X), y, data.sample_weight)
    assert issue("duality", S, _columns(model, objective, data)).gap == pytest.approx(dense.gap, rel=1e-6, abs=1e-12)
    formula = model.certificate_
    given = SVC(kernel="precomputed", tol=1e-8).fit(X @ X.T, y, data.sample_weight).certificate_
    assert formula.kind == given.kind == dense.kind
    assert not formula.assumes
    assert given.assumes
    assert formula.value == pytest.approx(given.value, rel=1e-6)


def _columns(model, objective, data):
    dual = np.zeros((len(data.y), 1))
    dual[model.support_, 0] = -model.dual_coef_[0]
    return evidence_of(objective, model.coef_, model.intercept_) | {"dual": dual}


FITS = {
    "ridge": (Ridge(), "real"), "lasso": (Lasso(0.1), "real"), "elastic": (ElasticNet(0.1), "real"),
    "absolute": (LinearModel("absolute", "l1"), "real"), "kernel": (KernelRidge(kernel="rbf"), "real"),
    "logistic": (LogisticRegression(l1_ratio=0.5), "two"), "softmax": (LogisticRegression(), "three"),
    "svc": (SVC(), "three"), "linear": (LinearSVC(), "three"), "local": (LinearModel("logistic"), "two"),
    "poisson": (GLM("poisson", alpha=0.1, l1_ratio=1.0), "count"),
}  # fmt: skip
RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3))
Y = {
    "real": X @ [1.0, -2.0, 0.0] + RNG.normal(size=40),
    "two": (X[:, 0] + RNG.normal(size=40) > 0).astype(int),
    "three": RNG.integers(0, 3, 40),
    "count": RNG.poisson(2.0, 40),
}
MUTATIONS = [
    lambda a: np.full_like(a, np.nan, dtype=float), lambda a: np.full_like(a, np.inf, dtype=float), lambda a: a + 1e300, lambda a: -a, lambda a: a[:-1], lambda a: a[:0],
    lambda a: a * 1.01 + 1e-3, lambda a: np.asarray(a).astype(str), lambda a: None, lambda a: a.T[None], lambda a: {},
    lambda a: "word",
]  # fmt: skip


@pytest.mark.parametrize("name", FITS)
def test_whatever_a_forger_writes_is_answered_and_nothing_better_is_proved(name):
    model, kind = FITS[name]
    c = model.fit(X, Y[kind]).certificate_
    assert c.verify(X, Y[kind])
    for key, old in c.evidence.items():
        mutations = MUTATIONS if isinstance(old, np.ndarray) else [lambda a: None, lambda a: [], lambda a: {"loss": 3}]
        for change in mutations:
            evidence = {**c.evidence, key: change(old)}
            try:
                digests = {**c.digests, "evidence": digest_evidence(evidence)}
            except (TypeError, ValueError):
                digests = c.digests
            forged = c.tampered(evidence=evidence, digests=digests)
            answer = forged.verify(X, Y[kind])
            same = isinstance(old, np.ndarray) and np.array_equal(np.asarray(evidence[key]), old)
            assert same or not answer.holds, (key, str(answer))
    better = c.tampered(figures={**c.figures, "gap": c.gap / 2 - 1e-12})
    assert not better.verify(X, Y[kind])
    assert Certificate.from_dict(c.to_dict()).verify(X, Y[kind])


def test_multipliers_that_do_not_balance_or_leave_their_box_prove_nothing():
    _, objective, data = problem(3, Logistic(), SquaredL2(0.5))
    evidence = evidence_of(objective, np.zeros((1, 3)), np.zeros(1))
    dual = dual_point(objective, data, np.zeros((1, 3)), np.zeros(1))
    assert issue("duality", data, evidence | {"dual": dual}).holds
    tilted, outside = dual.copy(), dual.copy()
    tilted[0] += 2.0**-40
    outside[0], outside[1] = dual[0] - 50.0, dual[1] + 50.0
    for bad in (tilted, outside):
        assert not issue("duality", data, evidence | {"dual": bad}).holds


def test_joint_penalties_shrink_into_their_ball():
    rng = np.random.default_rng(0)
    data = Data.of(rng.normal(size=(30, 4)), rng.normal(size=(30, 2)))
    for ratio in (1.0, 0.5):
        objective = Objective(Squared(0.5), ColumnNorms(ratio), 5.0)
        W, b = np.zeros((2, 4)), data.y.mean(axis=0)
        c = issue("duality", data, evidence_of(objective, W, b) | {"dual": dual_point(objective, data, W, b)})
        assert c.holds
        assert 0.0 <= c.gap <= c.value


def test_reading_a_certificate_starts_no_solver(monkeypatch):
    fitted = [(FITS[name][0].fit(X, Y[FITS[name][1]]), Y[FITS[name][1]]) for name in FITS]

    def refuse(*args, **kwargs):
        raise AssertionError("a solver was started")

    import certifit.solvers._driver as driver

    monkeypatch.setattr(driver, "drive", refuse)
    for module in ("smooth.solve_smooth", "least_squares.solve_least_squares", "coordinate.solve_coordinate"):
        monkeypatch.setattr(f"certifit.solvers.{module}", refuse)
    monkeypatch.setattr("certifit.linear_model._logistic.solve_smooth", refuse)
    for model, y in fitted:
        assert model.certificate_.holds
        if hasattr(model, "certain"):
            assert model.certain(X).shape == y.shape


@pytest.mark.filterwarnings("ignore:Liblinear failed")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_labels_certain_by_liblinears_objective_are_those_of_its_optimum(loss):
    import sklearn.svm as theirs

    rng = np.random.default_rng(0)
    near = rng.normal(size=(41, 2))
    y = (near[:, 0] + rng.normal(size=41) > 0).astype(int)
    rows = near + 50.0
    rough = theirs.LinearSVC(loss=loss, tol=1e-2, max_iter=300, dual=True).fit(rows, y)
    best = LinearSVC(loss=loss, tol=1e-12, fit_intercept=False).fit(np.column_stack([rows, np.ones(41)]), y)
    c = certify(rough, rows, y)
    assert c.holds
    sure = c.region.rows(rows, rough.coef_, rough.intercept_, rough.decision_function(rows))
    assert sure.sum() == c.certain_labels
    exact = best.predict(np.column_stack([rows, np.ones(41)]))
    assert np.array_equal(rough.predict(rows)[sure], exact[sure])
