"""Hard margin, linear, stochastic and perceptron machines."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn import svm as foreign
from sklearn.datasets import load_breast_cancer, load_iris

from certifit.certificates import Data, issue
from certifit.certificates._data import digest_evidence
from certifit.exceptions import ConvergenceWarning, NotSeparableError
from certifit.svm import HardMarginSVC, KernelPerceptron, LinearSVC, PegasosSVC, linear_evidence_of


def _refuses(c, X, y, key, change):
    evidence = dict(c.evidence) | {key: change(c.evidence[key])}
    digests = dict(c.digests) | {"evidence": digest_evidence(evidence)}
    assert not c.tampered(evidence=evidence).verify(X, y), key
    assert not c.tampered(evidence=evidence, digests=digests).verify(X, y), key


def _apart(seed, n=40, d=3, gap=0.5):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    side = X @ w
    return X + np.outer(y * (np.abs(side) + gap) - side, w), y


# -- hard margin ------------------------------------------------------------------------------------
def test_xor_by_hand(reference):
    record, table = reference("svm/xor_polynomial_hard_margin")
    expected = record["expected"]
    X, y = table[[c for c in table if c != "y"]].to_numpy(dtype=float), table["y"].to_numpy()
    model = HardMarginSVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    np.testing.assert_allclose(np.abs(model.dual_coef_[0]), expected["alpha"], atol=1e-6)
    assert model.dual_value_ == pytest.approx(expected["dual_objective_max"], abs=1e-6)
    assert model.intercept_[0] == pytest.approx(expected["bias"], abs=1e-6)
    assert 2 * model.primal_value_ == pytest.approx(expected["norm_w_squared"], abs=1e-6)
    assert model.margin_ == pytest.approx(expected["margin_half_width"], abs=1e-6)
    np.testing.assert_allclose(model.decision_function(X), -X[:, 0] * X[:, 1], atol=1e-6)
    with pytest.raises(NotSeparableError, match="no hyperplane") as refusal:
        HardMarginSVC().fit(X, y)
    assert refusal.value.certificate.holds
    assert refusal.value.certificate.verify(X, y)


@given(seed=st.integers(0, 10**6), kernel=st.sampled_from(["linear", "rbf"]))
def test_margin_is_the_largest(seed, kernel):
    X, y = _apart(seed)
    model = HardMarginSVC(kernel=kernel).fit(X, y)
    c = model.certificate_
    assert c.holds
    assert c.verify(X, y)
    assert c.relative_gap < 2e-6
    assert model.primal_value_ == pytest.approx(model.dual_value_, rel=1e-5)
    assert (y * model.decision_function(X)).min() >= 1 - 1e-9
    soft = foreign.SVC(kernel=kernel, C=1e10, tol=1e-8).fit(X, y)
    K = model.kernel_(soft.support_vectors_)
    norm = np.sqrt(soft.dual_coef_[0] @ K @ soft.dual_coef_[0])
    assert (y * soft.decision_function(X)).min() / norm <= c.bound + 1e-9
    sure = model.certain(X)
    assert sure.all()
    on = model.supporting_hyperplanes()
    np.testing.assert_allclose(model.decision_function(X[on["on H+"]]), 1.0, atol=1e-4)
    np.testing.assert_allclose(model.decision_function(X[on["on H-"]]), -1.0, atol=1e-4)


def test_equal_rows_with_unlike_labels_are_shown():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), [0, 0, 1, 1]
    for kernel in ("linear", "rbf"):
        with pytest.raises(NotSeparableError, match="rows 1 and 2") as refusal:
            HardMarginSVC(kernel=kernel).fit(X, y)
        c = refusal.value.certificate
        assert c.verify(X, y)
        _refuses(c, X, y, "twins", lambda t: t - 1)


def test_hard_margin_certificates_refuse_tampering():
    X, y = _apart(1)
    c = HardMarginSVC().fit(X, y).certificate_
    for key, change in (("dual_coef", lambda a: a * [1.1] + 0.0), ("intercept", lambda a: a + 0.2)):
        _refuses(c, X, y, key, change)
    assert not c.tampered(figures=dict(c.figures) | {"value": c.bound * 1.01}).verify(X, y)
    with pytest.raises(ValueError, match="binary"):
        HardMarginSVC().fit([[0.0], [1.0], [2.0]], [0, 1, 2])


def test_larger_than_a_block_precomputed_and_early_stops():
    X, y = _apart(2, n=2000, d=4, gap=0.1)
    model = HardMarginSVC(trace=True).fit(X, y)
    assert model.certificate_.relative_gap < 2e-6
    assert model.trace_[-1].gap < model.trace_[0].gap
    small = X[:100]
    given_gram = HardMarginSVC(kernel="precomputed").fit(small @ small.T, y[:100])
    assert given_gram.margin_ == pytest.approx(HardMarginSVC().fit(small, y[:100]).margin_, rel=1e-5)
    assert given_gram.certificate_.holds
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        early = HardMarginSVC(max_iter=2000).fit(X, y)
    assert early.certificate_.holds
    with pytest.raises(NotSeparableError, match="raise max_iter"):
        HardMarginSVC(max_iter=1, kernel="rbf", gamma=50.0).fit(X[:50], y[:50])


# -- linear -----------------------------------------------------------------------------------------
@given(
    seed=st.integers(0, 10**6),
    C=st.sampled_from([1e-3, 1.0, 1e3]),
    loss=st.sampled_from(["hinge", "squared_hinge"]),
    offset=st.booleans(),
)
@example(seed=352, C=1e3, loss="hinge", offset=False)  # a line search that stopped at its first guess
def test_linear_objective_within_the_proved_gap(seed, C, loss, offset):
    from qpsolvers import solve_qp

    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(30, 2)) + 0.3, rng.integers(0, 3, 30).astype(float)
    labels = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
    labels[:2], w[:2] = [0, 1], 1.0
    model = LinearSVC(loss=loss, C=C, fit_intercept=offset, tol=1e-7).fit(X, labels, w)
    c = model.certificate_
    assert c.holds
    assert c.verify(X, labels, w)
    assert c.relative_gap < 1.1e-7
    use = w > 0
    y, cost, Z = np.where(labels == 1, 1.0, -1.0)[use], C * w[use], X[use]
    P = scipy.sparse.csc_matrix(Z @ Z.T + (np.diag(0.5 / cost) if loss == "squared_hinge" else 1e-12 * np.eye(len(y))))
    top = cost if loss == "hinge" else 100.0 * cost
    box = {"lb": np.where(y > 0, 0.0, -top), "ub": np.where(y > 0, top, 0.0)}
    equal = {"A": scipy.sparse.csc_matrix(np.ones((1, len(y)))), "b": np.zeros(1)} if offset else {}
    beta = solve_qp(P, -y, solver="clarabel", **box, **equal)
    best = y @ beta - 0.5 * beta @ P @ beta
    assert c.bound <= best * (1 + 1e-5) + 1e-7
    assert c.value >= best * (1 - 1e-5) - 1e-7


def test_liblinear_is_judged_by_its_own_and_by_the_true_objective():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0) + 1.0
    theirs = foreign.LinearSVC(loss="hinge", tol=1e-8, max_iter=10**6, random_state=0).fit(X, y)
    gaps = []
    for own in (True, False):
        kind, evidence = linear_evidence_of(theirs, X, y, own_objective=own)
        c = issue(kind, Data.of(X, y), evidence)
        assert c.holds
        gaps.append(c.relative_gap)
    assert gaps[0] < 1e-3 < gaps[1]
    ours = LinearSVC(loss="hinge", tol=1e-8).fit(X, y)
    assert ours.certificate_.relative_gap < 1.1e-8
    fine = foreign.SVC(kernel="linear", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.coef_, fine.coef_, atol=1e-3)
    sure = ours.certain(X)
    np.testing.assert_array_equal(ours.predict(X)[sure], fine.predict(X)[sure])
    assert sure.mean() > 0.9


def test_more_classes_sparse_rows_many_columns_and_early_stops():
    X, y = load_iris(return_X_y=True)
    dense, sparse = LinearSVC(tol=1e-9).fit(X, y), LinearSVC(tol=1e-9).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-6)
    assert dense.certificate_.machines == 3
    assert dense.certain(X).mean() > 0.5
    np.testing.assert_array_equal(dense.certain(X), sparse.certain(X) | dense.certain(X))
    rng = np.random.default_rng(0)
    wide = scipy.sparse.random_array((60, 1600), density=0.05, rng=rng).tocsr()
    model = LinearSVC(loss="hinge", tol=1e-4).fit(wide, np.arange(60) % 2)
    assert model.certificate_.holds
    assert model.certificate_.relative_gap < 1e-3
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        early = LinearSVC(loss="hinge", max_iter=1, tol=1e-9, trace=True).fit(X, y)
    assert early.certificate_.holds
    assert len(early.trace_) >= 3
    with pytest.warns(ConvergenceWarning, match="time budget"):
        LinearSVC(loss="hinge", time_budget=1e-9, tol=1e-9).fit(X, y)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_one_norm_sets_coefficients_to_zero_and_is_proved(loss, packed):
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = scipy.sparse.csr_matrix(X) if packed else X
    model = LinearSVC(penalty="l1", loss=loss, C=0.05, tol=1e-6).fit(rows, y)
    assert model.certificate_.holds
    assert model.certificate_.relative_gap <= 2e-6
    assert model.certificate_.verify(rows, y)
    assert np.any(model.coef_ == 0.0)
    margins = np.where(y[:, None] == model.classes_, 1, -1) * model.decision_function(X)
    losses = np.maximum(0.0, 1.0 - margins) ** (1 if loss == "hinge" else 2)
    value = np.abs(model.coef_).sum() + 0.05 * losses.sum()
    assert model.certificate_.value == pytest.approx(value)
    assert model.gap_ <= 1e-4 * value
    labels = model.predict(X)
    assert scipy.sparse.issparse(model.sparsify().coef_)
    np.testing.assert_array_equal(model.predict(X), labels)
    assert model.certain(X).shape == (150,)


def test_the_one_norm_agrees_with_liblinear_where_its_offset_is_free():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = LinearSVC(penalty="l1", C=0.01, tol=1e-8, max_iter=10_000).fit(X, y)
    theirs = foreign.LinearSVC(
        penalty="l1", dual=False, C=0.01, max_iter=20_000, intercept_scaling=100, random_state=0
    ).fit(X, y)  # a large scaling hardly penalises the offset
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=3e-3)  # its default tolerance


def test_linear_certificates_refuse_tampering():
    X, y = load_iris(return_X_y=True)
    c = LinearSVC(loss="hinge").fit(X, y).certificate_
    for key, change in (
        ("coef", lambda a: a + 0.01),
        ("dual", lambda a: a * 1.01),
        ("intercept", lambda a: a + 0.1),
        ("objective", lambda a: a | {"class_weight": [0.9 * v for v in a["class_weight"]]}),
    ):
        _refuses(c, X, y, key, change)
    assert not c.tampered(figures=dict(c.figures) | {"gap": 0.0}).verify(X, y)
    assert not c.verify(X + 1e-6, y).same_data


# -- stochastic -------------------------------------------------------------------------------------
def test_pegasos_approaches_the_optimum_of_its_objective():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    lam = 1e-2
    model = PegasosSVC(alpha=lam, max_iter=200, tol=1e-2, random_state=0, trace=True).fit(X, y)
    c = model.certificate_
    assert c.holds
    assert c.verify(X, y)
    best = LinearSVC(loss="hinge", C=1 / (lam * len(y)), tol=1e-9).fit(X, y).certificate_
    assert c.bound <= best.value
    assert c.value >= best.bound
    assert c.relative_gap < 2e-2
    assert model.trace_[-1].gap < model.trace_[0].gap
    last = PegasosSVC(alpha=lam, average=False, fit_intercept=False, shuffle=False, max_iter=2).fit(X, y)
    assert last.certificate_.holds


def test_pegasos_batch_by_batch():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    model = PegasosSVC(alpha=1e-2)
    with pytest.raises(ValueError, match="classes"):
        PegasosSVC().partial_fit(X, y)
    for part in np.array_split(np.tile(order, 30), 300):
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
    assert model.score(X, y) > 0.8
    assert model.certificate_.holds
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[:2], [0, 7])


# -- perceptron -------------------------------------------------------------------------------------
@given(seed=st.integers(0, 10**6), kernel=st.sampled_from(["linear", "rbf"]))
def test_mistakes_stay_below_the_bound(seed, kernel):
    X, y = _apart(seed, n=30)
    model = KernelPerceptron(kernel=kernel, max_iter=10_000).fit(X, y)
    c = model.certificate_
    assert c.holds
    assert c.separated
    assert c.value == int(model.mistakes_.sum()) <= c.bound
    np.testing.assert_array_equal(model.predict(X), y)
    assert c.verify(X, y)


def test_kernel_perceptron_is_the_perceptron_with_a_linear_kernel():
    X, y = _apart(3)
    model = KernelPerceptron(kernel="linear", max_iter=1).fit(X, y)
    w = np.zeros(4)
    for x, label in zip(np.column_stack([X, np.ones(len(X))]), y):
        if label * (w @ x) <= 0:
            w += label * x
    np.testing.assert_allclose(model.dual_coef_[0] @ model.support_vectors_, w[:3])
    assert model.intercept_[0] == w[3]


def test_kernel_perceptron_says_when_it_is_not_done_and_refuses_tampering():
    X, y = np.array([[0.0], [1.0], [2.0]]), [0, 1, 0]
    c = KernelPerceptron(kernel="linear", max_iter=5, trace=True).fit(X, y).certificate_
    assert c.holds
    assert not c.separated
    assert "does not separate" in c.claim
    X, y = _apart(4)
    model = KernelPerceptron(kernel=lambda A, B: A @ B.T, shuffle=True, random_state=0).fit(X, y)
    assert model.certificate_.verify(X, y)
    _refuses(model.certificate_, X, y, "mistakes", lambda a: a + 1.0)
    X, y = load_iris(return_X_y=True)
    assert KernelPerceptron().fit(X, y).score(X, y) > 0.8
