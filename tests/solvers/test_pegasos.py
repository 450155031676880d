"""Pegasos: the gap is between feasible points, and encloses the optimum."""

import numpy as np
import pytest

from certifit.solvers.linear_svc import linear_svc
from certifit.solvers.pegasos import PegasosPlan, pegasos


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("average", [True, False])
def test_the_trace_encloses_the_optimum(offset, average):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=80) > 0, 1.0, -1.0)
    lam, turn = 0.1, np.random.default_rng(1)
    plan = PegasosPlan(lam, 60, average, offset, trace=True)
    found = pegasos(X, y, lambda: turn.permutation(80), 0.0, plan)
    assert (found.status, found.stats["n_iter"], len(found.trace)) == ("max_iter", 60, 61)
    cost = np.full(80, 1.0 / (lam * 80))
    best = linear_svc(X, y, cost, 1e-10 * cost.sum(), offset=offset)
    w = best.value.coef
    optimum = lam * (0.5 * w @ w + cost @ np.maximum(0.0, 1.0 - y * (X @ w + best.value.intercept)))
    for r in found.trace:
        assert r.objective >= optimum * (1 - 1e-9)
        assert r.objective - r.gap <= optimum * (1 + 1e-9)
    assert found.trace[-1].gap < 0.2 * found.trace[0].gap
    assert found.trace[-1].gap == found.stats["gap"]


def test_words_for_the_end():
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    order = lambda: np.arange(2)  # noqa: E731
    assert pegasos(X, y, order, 1e-1, PegasosPlan(0.1, 1000)).status == "converged"
    assert pegasos(X, y, order, 0.0, PegasosPlan(0.1, 3)).status == "max_iter"
    assert pegasos(X, y, order, 0.0, PegasosPlan(0.1, 10**9), time_budget=1e-3).status == "time_budget"
