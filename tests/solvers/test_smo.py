"""Sequential minimal optimisation: the optimum, its words, and a trace that can be followed by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.design import blocks
from certifit.kernels import RBF
from certifit.solvers import Options
from certifit.solvers._box_dual import Box
from certifit.solvers._task import DEFAULT
from certifit.solvers.smo import smo


def _task(seed, n=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y, rng.uniform(0.5, 2.0, n)


def _solve(X, y, cost, options=DEFAULT):
    return smo(lambda dtype: blocks(RBF(gamma=0.7), X, dtype), Box.of_labels(y, cost), 1e-8 * cost.sum(), options)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_every_pair_step_can_be_followed(seed):
    X, y, cost = _task(seed)
    K = RBF(gamma=0.7)(X)
    found = _solve(X, y, cost, Options(trace=True))
    alpha, dual = np.zeros(len(y)), 0.0
    rows = [r for r in found.trace if r.i is not None]
    assert len(rows) == found.stats["steps"]
    for r in rows:
        assert (alpha[r.i], alpha[r.j]) == (r.alpha_i_before, r.alpha_j_before)
        alpha[r.i], alpha[r.j] = r.alpha_i, r.alpha_j
        assert np.all(alpha >= 0)
        assert np.all(alpha <= cost)
        assert abs(y @ alpha) <= 1e-12 * cost.sum()
        assert r.clipped == any(alpha[k] in (0.0, cost[k]) for k in (r.i, r.j))
        now = alpha.sum() - 0.5 * (y * alpha) @ K @ (y * alpha)
        assert now >= dual - 1e-12 * cost.sum()  # every step raises the dual
        assert r.dual == pytest.approx(now, abs=1e-10 * cost.sum())
        assert r.gap >= -1e-12 * cost.sum()
        dual = now
    np.testing.assert_allclose(y * alpha, found.value.beta, atol=1e-9)
    assert found.trace[-1].gap == found.value.gap


@pytest.mark.parametrize("n", [40, 900])
def test_a_trace_changes_nothing(n):
    X, y, cost = _task(5, n)
    plain, told = _solve(X, y, cost), _solve(X, y, cost, Options(trace=True))
    assert np.array_equal(plain.value.beta, told.value.beta)
    assert plain.value.offset == told.value.offset
    assert (plain.status, len(plain.trace)) == ("converged", 0)
    assert math.fsum(plain.value.beta) == 0.0
    assert ("pairs" in told.trace.columns) == (n > 500)


def test_words_for_the_end():
    X, y, cost = _task(6, 200)
    assert _solve(X, y, cost, Options(max_iter=5)).status == "max_iter"
    assert _solve(X, y, cost, Options(max_iter=5)).stats["steps"] <= 5
    assert _solve(X, y, cost, Options(time_budget=1e-9)).status == "time_budget"
    exact = smo(lambda dtype: blocks(RBF(gamma=0.7), X, dtype), Box.of_labels(y, cost), 0.0)
    assert exact.status == "precision"
    assert exact.value.gap <= 1e-12 * cost.sum()


@pytest.mark.parametrize("single", [False, True])
def test_single_precision_reaches_the_same_gap(single):
    X, y, cost = _task(7, 600)
    found = smo(lambda dtype: blocks(RBF(gamma=0.7), X, dtype), Box.of_labels(y, cost), 1e-4 * cost.sum(),
                Options(trace=True), single=single)  # fmt: skip
    assert found.status == "converged"
    F = RBF(gamma=0.7)(X) @ found.value.beta - y
    np.testing.assert_allclose(F, found.value.gradient, atol=1e-3)
    assert found.trace["seconds"] == sorted(found.trace["seconds"])
