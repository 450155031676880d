"""Nearest points of two hulls: both bounds of the margin, and the words for the end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.design import blocks
from certifit.kernels import Linear
from certifit.solvers import Options
from certifit.solvers.hulls import nearest_hulls


def _apart(seed, n=40, d=3, by=3.0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), np.where(np.arange(n) % 2, 1.0, -1.0)
    X[:, 0] = np.abs(X[:, 0]) * y + 0.5 * by * y
    return X, y


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_the_trace_encloses_the_margin(seed):
    X, y = _apart(seed)
    found = nearest_hulls(blocks(Linear(), X), y, Options(1e-9, trace=True))
    w = X.T @ found.value.beta
    assert found.status == "converged"
    assert np.min(y * (X @ w + found.value.offset)) == pytest.approx(1.0, abs=1e-6)
    best = 1.0 / np.linalg.norm(w)
    assert found.value.reached == pytest.approx(best, rel=1e-6)
    for r in found.trace:  # a hyperplane's margin below, half a distance of the hulls above
        assert r.objective <= best * (1 + 1e-6)
        assert r.objective + r.gap >= best * (1 - 1e-6)
    assert np.array_equal(found.value.beta, nearest_hulls(blocks(Linear(), X), y, Options(1e-9)).value.beta)


def test_words_for_the_end():
    X, y = _apart(1, n=200, by=0.01)
    gram = blocks(Linear(), X)
    assert nearest_hulls(gram, y, Options(1e-9, max_iter=3)).status == "max_iter"
    assert nearest_hulls(gram, y, Options(1e-12, time_budget=0.0)).status == "time_budget"
    crossed = np.array([[0.0], [1.0], [0.5], [2.0]])
    meeting = nearest_hulls(blocks(Linear(), crossed), np.array([-1.0, -1.0, 1.0, 1.0]), Options(1e-9))
    assert meeting.status == "not separable"
    assert meeting.value.reached == 0.0
