"""The gears of Newton's method, and the sum they work on."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from certifit._objective import Objective
from certifit.design import as_design
from certifit.linear_model import LogisticRegression
from certifit.losses import Logistic, Poisson, Softmax
from certifit.regularizers import L1, ElasticMix, NonNegative, PNorm, SquaredL2, Zero
from certifit.solvers import Options, Task, _cheap_metric, _smooth_sum, newton
from certifit.solvers._cheap_metric import cheap_metric
from certifit.solvers._separable import Separable, separable
from certifit.solvers._smooth_sum import SmoothSum
from certifit.solvers.newton import ON_A_SHARE, minimise, nearby_metric


def _sum(n=200, outputs=1, sparse=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) * [1.0, 50.0, 0.01] + [0.0, 20.0, 0.5]
    loss, classes = (Logistic(), None) if outputs == 1 else (Softmax(), tuple(range(outputs)))
    y = rng.integers(0, max(outputs, 2), size=n)
    y = 2.0 * y - 1.0 if outputs == 1 else y
    objective = Objective(loss, SquaredL2(0.5, (0.1, -0.2, 0.3) * outputs), 2.0, classes=classes)
    return SmoothSum.of(
        Task(objective, as_design(scipy.sparse.csr_matrix(X) if sparse else X), y, rng.uniform(0, 2, n))
    )


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_gradient_and_hessian_are_derivatives(outputs, sparse):
    f = _sum(outputs=outputs, sparse=sparse)
    theta, step = 0.3 * np.random.default_rng(1).normal(size=(4, outputs)), 1e-5
    value, Z, G = f.evaluate(theta)
    assert value == pytest.approx(f.value(Z, theta)[0], rel=1e-12)
    H = f.hessian(Z)
    for i in np.ndindex(theta.shape):
        e = np.zeros_like(theta)
        e[i] = step
        up, down = f.evaluate(theta + e), f.evaluate(theta - e)
        assert G[i] == pytest.approx((up[0] - down[0]) / (2 * step), abs=1e-7)
        column = ((up[2] - down[2]) / (2 * step)).T.ravel()
        np.testing.assert_allclose(H[:, i[1] * 4 + i[0]], column, atol=1e-6)


def test_a_borrowed_metric_and_a_share_end_at_the_same_point():
    f = _sum(15_000)
    plain = minimise(f, np.zeros((4, 1)), 1e-15)
    assert plain.stats["method"] == ON_A_SHARE
    near = minimise(replace(f, weights=f.weights * 1.1), plain.value, 1e-15, metric=nearby_metric(f, plain.value))
    exact = minimise(replace(f, weights=f.weights * 1.1), np.zeros((4, 1)), 1e-15)
    np.testing.assert_allclose(near.value, exact.value, atol=1e-6)
    assert np.abs(f.evaluate(plain.value)[2]).max() < 1e-7


def test_dependent_columns_take_the_shortest_step():
    f = _sum()
    twin = as_design(np.column_stack([f.columns.design.X, f.columns.design.X[:, 0]]))
    task = Task(Objective(Logistic(), Zero(), 0.0), twin, f.y)
    g = SmoothSum.of(task)
    found = minimise(g, np.zeros((5, 1)), 1e-14)
    assert found.value[0, 0] == pytest.approx(found.value[3, 0], rel=1e-6)
    assert np.abs(g.evaluate(found.value)[2]).max() < 1e-8


def test_traces_count_on_and_limits_are_said():
    f = _sum()
    found = minimise(f, np.zeros((4, 1)), 1e-14, Options(trace=True))
    assert [r.iteration for r in found.trace] == list(range(len(found.trace)))
    assert np.all(np.diff([r.objective for r in found.trace]) <= 1e-15)
    assert minimise(f, np.zeros((4, 1)), 1e-14, Options(max_iter=1)).status == "max_iter"


def test_penalties_by_coordinates():
    assert separable(PNorm(3.0)) is None
    assert separable(NonNegative(L1())) == Separable(1.0, 0.0, None, True)
    assert separable(SquaredL2(2.0, (1.0,))) == Separable(0.0, 4.0, (1.0,), False)
    rng = np.random.default_rng(3)
    for penalty in (Zero(), L1(), ElasticMix(0.3), SquaredL2(0.7)):
        part, w = separable(penalty), rng.normal(size=4)
        assert part.l1 * np.abs(w).sum() + 0.5 * part.l2 * w @ w == pytest.approx(float(penalty.value(w)))


def test_wide_logistic_fits_start_without_hessians_and_end_at_the_same_optimum(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 250)), rng.integers(0, 2, 90)
    quick = LogisticRegression(C=0.5).fit(X, y)
    monkeypatch.setattr("certifit.solvers.newton._WIDE", 10**9)
    plain = LogisticRegression(C=0.5).fit(X, y)
    assert quick.certificate_.holds
    assert quick.n_iter_ < plain.n_iter_
    np.testing.assert_allclose(quick.coef_, plain.coef_, atol=1e-7)


def test_wide_logistic_fits_form_no_hessian_unless_conjugate_gradients_fail(monkeypatch):
    rng = np.random.default_rng(5)
    X, formed = rng.normal(size=(60, 250)), []
    y, hessian = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0), SmoothSum.hessian
    f = SmoothSum.of(Task(Objective(Logistic(), SquaredL2(0.5), 0.1), as_design(X), y))
    monkeypatch.setattr(SmoothSum, "hessian", lambda *asked: formed.append(1) or hessian(*asked))
    start = np.zeros((f.columns.width, 1))
    with_none = minimise(f, start, 1e-12)
    assert not formed
    assert with_none.status == "converged"
    monkeypatch.setattr(newton, "step_without_hessian", lambda X, bend, ridge, scale, g, share: np.full_like(g, np.nan))
    assert minimise(f, start, 1e-12).status == "converged"
    assert formed
    monkeypatch.setattr(newton, "_near", lambda f, start, tol: start)
    np.testing.assert_allclose(with_none.value, minimise(f, start, 1e-12).value, atol=1e-8)


def test_hessians_of_many_classes_by_the_compiled_loop_are_those_of_numpy(monkeypatch):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(9000, 60)), rng.integers(0, 5, 9000)
    f = SmoothSum.of(Task(Objective(Softmax(), SquaredL2(), 1.0, classes=tuple("abcde")), as_design(X), y))
    Z = rng.normal(size=(9000, 5))
    found = f.hessian(Z)
    monkeypatch.setattr(_smooth_sum, "many_products", lambda n, d: False)
    expected = f.hessian(Z)
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", [Logistic(), Poisson()])
def test_many_rows_of_one_score_are_evaluated_by_the_compiled_loop(loss, dtype, monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.normal(1.0, 2.0, size=(60_000, 80)).astype(dtype)
    y = np.where(rng.random(len(X)) < 0.3, 1.0, -1.0) if isinstance(loss, Logistic) else rng.poisson(1.0, len(X)) * 1.0
    f = SmoothSum.of(Task(Objective(loss, SquaredL2(), 1.0), as_design(X), y, rng.random(len(X))))
    theta = 0.1 * rng.normal(size=(81, 1))
    value, Z, G = f.evaluate(theta)
    monkeypatch.setattr(_smooth_sum, "_LARGE", X.size + 1)
    plain = replace(f).evaluate(theta)
    assert value == pytest.approx(plain[0], rel=1e-13)
    np.testing.assert_allclose(Z, plain[1], atol=1e-12)
    np.testing.assert_allclose(G, plain[2], atol=1e-9)
    assert np.array_equal(f.evaluate(theta)[2], G)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_rows_of_several_classes_are_evaluated_by_the_compiled_loop(dtype, monkeypatch):
    rng = np.random.default_rng(6)
    X, y = rng.normal(1.0, 2.0, size=(60_000, 40)).astype(dtype), rng.integers(0, 7, 60_000)
    task = Task(Objective(Softmax(), SquaredL2(), 1.0, classes=tuple("abcdefg")), as_design(X), y, rng.random(len(X)))
    f, theta = SmoothSum.of(task), 0.1 * rng.normal(size=(41, 7))
    some = np.arange(0, 60_000, 31)
    for g in (f, f.some(some)):
        value, Z, G = g.evaluate(theta)
        with monkeypatch.context() as patch:
            patch.setattr(_smooth_sum, "_TERMS", X.size * 7 + 1)
            plain = replace(g, large=False).evaluate(theta)
        assert value == pytest.approx(plain[0], rel=1e-13)
        np.testing.assert_allclose(Z, plain[1], atol=1e-12)
        np.testing.assert_allclose(G, plain[2], atol=1e-9)
        assert np.array_equal(g.evaluate(theta)[2], G)


def test_a_hessian_of_equal_classes_is_a_product_of_small_ones():
    f = _sum(outputs=3)
    near = f.hessian(np.full((200, 3), 1e-300))  # not zero, and of the same probabilities
    np.testing.assert_allclose(f.hessian(np.zeros((200, 3))), near, atol=1e-12)


@pytest.mark.parametrize("strength", [0.0, 1e-3, 3.0])
@pytest.mark.parametrize("n", [150, 9000])
def test_a_metric_solves_with_the_hessian_rough_or_not(strength, n):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(n, 60)), rng.integers(0, 5, n)
    f = SmoothSum.of(Task(Objective(Softmax(), SquaredL2(), strength, classes=tuple("abcde")), as_design(X), y))
    Z, G = rng.normal(size=(n, 5)), rng.normal(size=(61, 5))
    G[f.ridge == 0.0] -= G[f.ridge == 0.0].mean(axis=1, keepdims=True)  # where equal shifts have no curvature
    H = f.hessian(Z)
    for metric, near in ((f.metric(H), 1e-6), (f.rough_metric(Z), 0.02)):
        D = metric.solve(G)
        np.testing.assert_allclose((H @ D.T.ravel()).reshape(5, 61).T, G, atol=near)


def test_a_metric_that_single_precision_cannot_tell_is_taken_in_double():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    X[:, 2] = X[:, 0] + 1e-3 * X[:, 2]
    f = SmoothSum.of(Task(Objective(Softmax(), Zero(), 0.0, classes=tuple("abc")), as_design(X), y))
    Z = rng.normal(size=(500, 3))
    np.testing.assert_array_equal(f.rough_metric(Z).factor.C, f.metric(f.hessian(Z)).factor.C)


def _wide(n=600, d=220, outputs=1, sparse=False, strength=1.0):
    """Many columns of unlike spread, some of them alike; labels with noise."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 12)) @ rng.normal(size=(12, d)) + 0.3 * rng.normal(size=(n, d))
    X *= 10.0 ** rng.uniform(-1, 1, size=d)
    if sparse:
        X = X * (rng.random(X.shape) < 0.05)
    Z = X / X.std(axis=0) @ rng.normal(size=(d, max(outputs, 2))) / 5 + rng.gumbel(size=(n, max(outputs, 2)))
    y = Z.argmax(axis=1)
    loss, classes = (Logistic(), None) if outputs == 1 else (Softmax(), tuple(range(outputs)))
    objective = Objective(loss, SquaredL2(0.5), strength, classes=classes)
    rows = as_design(scipy.sparse.csr_matrix(X) if sparse else X)
    return SmoothSum.of(Task(objective, rows, 2.0 * y - 1.0 if outputs == 1 else y, rng.uniform(0.5, 2, n)))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("outputs", [1, 5])
def test_dear_hessians_are_done_without_and_the_optimum_is_the_same(outputs, sparse, monkeypatch):
    f = _wide(outputs=outputs, sparse=sparse)
    start = np.zeros((f.columns.width, outputs))
    monkeypatch.setattr(newton, "_FEW", 0)
    monkeypatch.setattr(newton, "_DEAR", np.inf)
    exact = minimise(f, start, 1e-9)
    assert exact.stats["method"] == newton.NEWTON
    monkeypatch.setattr(newton, "_DEAR", 0.0)
    monkeypatch.setattr(newton, "_HUGE", 0)  # no Hessian at all
    monkeypatch.setattr(_cheap_metric, "_SPARSE", 0)  # the diagonal, the block where rows are dense
    cheap = minimise(f, start, 1e-9, witness=True)
    assert (cheap.stats["method"], cheap.status) == (newton.CHEAPLY, "converged")
    assert f.evaluate(cheap.value)[0] <= f.evaluate(exact.value)[0] + 1e-9
    G = f.evaluate(cheap.stats["witness"])[2]
    assert f.proved(G, np.zeros_like(G)) <= 1e-9  # by the ridge alone


def test_a_hessian_has_the_last_word_where_cheap_metrics_do_not_get_there(monkeypatch):
    f = _wide(strength=1e-6)
    monkeypatch.setattr(newton, "_FEW", 0)
    monkeypatch.setattr(newton, "_DEAR", 0.0)
    monkeypatch.setattr(newton, "_PATIENCE", 1)
    monkeypatch.setattr(newton, "_A_HESSIAN", 0.0)
    found = minimise(f, np.zeros((f.columns.width, 1)), 1e-12, Options(trace=True))
    assert found.status == "converged"
    assert found.stats["gap"] <= 1e-12
    assert found.stats["n_iter"] == len(found.stats["trace"]) - 1


@pytest.mark.parametrize("outputs", [1, 4])
def test_a_cheap_metric_where_all_is_alike_is_the_hessian(outputs):
    f = _sum(outputs=outputs)
    theta = np.zeros((4, outputs))
    _, Z, G = f.evaluate(theta)
    full = f.metric(f.hessian(Z)).solve(G)
    np.testing.assert_allclose(cheap_metric(f, theta).solve(G), full, rtol=1e-7, atol=1e-12)
    h = f.curvatures(Z + np.arange(outputs))
    np.testing.assert_allclose(f.columns.squares(h), np.diag(f.columns.gram(h)), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_last_step_taken_unseen_is_the_one_that_is_looked_at(dtype, monkeypatch):
    """After a step that took nine tenths of the gap the next is not checked: a pass less, and the same point."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60_000, 8)).astype(dtype)
    y = np.where(X @ rng.normal(size=8) + rng.logistic(size=len(X)) > 0, 1.0, -1.0)
    task = Task(Objective(Logistic(), SquaredL2(0.5), 1.0), as_design(X), y)
    passes, points, plain = [], [], SmoothSum.evaluate
    monkeypatch.setattr(SmoothSum, "evaluate", lambda f, theta: passes.append(len(f.y)) or plain(f, theta))
    for share in (newton._SURE, -1.0):
        monkeypatch.setattr(newton, "_SURE", share)
        f = SmoothSum.of(task)
        found = minimise(f, np.zeros((9, 1)), 1e-5 * len(y))
        points.append((found.value, passes.count(len(y)), found.status, found.stats["gap"]))
        passes.clear()
    (unseen, few, *said), (seen, many, *same) = points
    assert (unseen == seen).all()
    assert few == many - 1
    assert said == same
