"""The perceptrons: passes written out, every mistake in the trace, words for the end."""

import numpy as np
import pytest
import scipy.sparse

from certifit.design import blocks
from certifit.exceptions import DivergenceError
from certifit.kernels import Linear
from certifit.solvers import Options
from certifit.solvers.kernel_perceptron import kernel_perceptron
from certifit.solvers.perceptron import PassPlan, run_perceptron


def _rows(seed=0, n=40, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X @ [1.0, -2.0, 0.5] + noise * rng.normal(size=n) > 0, 1.0, -1.0)


def _written_out(X, s, passes, shrink=1.0):
    w, b, told = np.zeros(X.shape[1]), 0.0, []
    for sweep in range(1, passes + 1):
        for i, (x, sign) in enumerate(zip(X, s)):
            score = x @ w + b
            before, w = w, shrink * w
            if sign * score <= 0:
                w, b = w + sign * x, b + sign
                told.append((sweep, i, score, before, w, b))
    return w, b, told


@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_the_trace_is_the_run_written_out(alpha, form):
    X, s = _rows(noise=1.0)
    plan = PassPlan(shuffle=False, tol=None, max_iter=4, alpha=alpha)
    found = run_perceptron(form(X), s, np.zeros(3), 0.0, plan, trace=True)
    w, b, told = _written_out(X, s, 4, 1.0 - alpha)
    np.testing.assert_allclose(found.value.w, w, atol=1e-12)
    assert found.value.b == b
    assert len(found.trace) == found.value.mistakes == len(told)
    for k, (r, (sweep, i, score, before, after, offset)) in enumerate(zip(found.trace, told), 1):
        assert (r.iteration, r.sweep, r.row, r.label) == (k, sweep, i, s[i])
        assert r.score == pytest.approx(score, abs=1e-12)
        np.testing.assert_allclose(r.before, before, atol=1e-12)
        np.testing.assert_allclose(r.after, after, atol=1e-12)
        assert r.intercept_after == offset
    assert np.array_equal(found.value.w, run_perceptron(form(X), s, np.zeros(3), 0.0, plan).value.w)


def test_words_for_the_end():
    X, s = _rows()
    start = np.zeros(3), 0.0
    assert run_perceptron(X, s, *start, PassPlan(tol=None)).status == "converged"
    X, s = _rows(noise=3.0)
    assert run_perceptron(X, s, *start, PassPlan(tol=None, max_iter=3)).status == "max_iter"
    assert run_perceptron(X, s, *start, PassPlan(tol=10.0)).status == "no improvement"
    assert run_perceptron(X, s, *start, PassPlan(tol=None, time_budget=1e-9)).status == "time_budget"
    cross, signs = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    found = run_perceptron(cross, signs, np.zeros(2), 0.0, PassPlan(shuffle=False, tol=None, max_iter=30))
    assert (found.status, found.value.passes) == ("cycle", 30)
    assert found.value.period > 0
    huge = np.array([[1e308], [-1e308], [1e308]])
    with pytest.raises(DivergenceError, match="eta0"):
        run_perceptron(huge, np.array([1.0, 1.0, 1.0]), np.zeros(1), 0.0, PassPlan(eta0=10.0, up=10.0, down=10.0))


def test_the_kernel_perceptron_is_the_linear_one():
    X, s = _rows(noise=1.0)
    order = lambda: np.arange(len(s))  # noqa: E731
    found = kernel_perceptron(blocks(Linear(), X), s, order, Options(max_iter=5, trace=True))
    linear = run_perceptron(X, s, np.zeros(3), 0.0, PassPlan(shuffle=False, tol=None, max_iter=5), trace=True)
    assert np.array_equal(found.value, linear.value.times)
    assert found.trace["row"] == linear.trace["row"]
    assert found.trace["sweep"] == linear.trace["sweep"]
    np.testing.assert_allclose(found.trace["score"], linear.trace["score"], atol=1e-9)
    np.testing.assert_allclose(found.trace["objective"], linear.trace["objective"], atol=1e-9)
    assert found.status == "max_iter"
    X, s = _rows()
    gram = blocks(Linear(), X)
    assert kernel_perceptron(gram, s, order, Options(max_iter=1000)).status == "converged"
    assert kernel_perceptron(gram, s, order, Options(time_budget=0.0)).status == "time_budget"
