r"""Scores of a graph: :math:`(\operatorname{diag}(\delta) - \alpha W)\,G = R`, and a vector that bounds the error.

Rows are divided by :math:`\delta`, so the matrix is :math:`A = I - \alpha P` with :math:`P = \delta^{-1} W`. With
:math:`w = A^{-1} 1` (the mean number of steps of a random walk until it meets a label, for α = 1) every error is at
most :math:`\max|A G - R/\delta| \cdot w`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg as sla

from certifit._types import Array
from certifit.parallel import one_thread
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers._task import DEFAULT, Options

METHODS = ("auto", "direct", "krylov", "propagation")
_FACTOR = 3000  # rows up to which a sparse factorisation beats Krylov steps whatever the graph
_QUICK, _FEW = 0.99, 600  # where α is lower, few of these steps suffice, and a factor of neighbours fills with numbers
_TIGHT = 1e-13


class _LabelState(NamedTuple):
    G: Array
    w: Array
    objective: float
    gap: float
    step: float


def solve_harmonic(
    W: Any,
    delta: Array,
    R: Array,
    options: Options = DEFAULT,
    *,
    alpha: float = 1.0,
    method: str = "auto",
) -> Solution:
    """Solve the system for W with entries ≥ 0, δ > 0 and α in (0, 1]; the value is (G, w).

    The methods are "direct", a factorisation, "krylov", BiCGSTAB column by column, and "propagation", G ← αPG + R/δ
    from zero, one step at a time: the options are for the last, which stops when the bound on every error is at most
    ``tol``.

    Examples
    --------
    >>> W = np.array([[0.0, 1.0], [1.0, 0.0]])        # a chain: label 0, two rows, label 1
    >>> solution = solve_harmonic(W, np.array([2.0, 2.0]), np.eye(2))
    >>> solution.value[0].round(6).tolist()
    [[0.666667, 0.333333], [0.333333, 0.666667]]
    """
    sparse = scipy.sparse.issparse(W)
    P = scipy.sparse.diags(alpha / delta) @ W if sparse else (alpha / delta)[:, None] * W
    P = P.tocsr() if sparse else P
    rhs = R / delta[:, None]
    if method == "auto":
        method = "krylov" if sparse and len(delta) > (_FEW if alpha <= _QUICK else _FACTOR) else "direct"
    solve = _krylov(P) if method == "krylov" else _factorised(P)
    n_iter = [0]
    with one_thread():  # thousands of short products: a second thread of BLAS would only wait for the first
        w = solve(np.ones((len(delta), 1)), n_iter)[:, 0]
    reach = float(np.abs(w).max(initial=0.0))

    def state(G: Array, before: Array) -> _LabelState:
        worst = float(np.abs(G - P @ G - rhs).max(initial=0.0))
        return _LabelState(G, w, worst, worst * reach, float(np.abs(G - before).max(initial=0.0)))

    def advance(s: _LabelState) -> _LabelState:
        if method == "propagation":
            return state(P @ s.G + rhs, s.G)
        correction = solve(rhs - (s.G - P @ s.G), n_iter)
        return state(s.G + correction, s.G)

    def finished(before: _LabelState, after: _LabelState) -> bool | str:
        if method == "propagation":
            return after.gap <= options.tol
        return "closed form" if after.step <= _TIGHT or after.objective >= 0.5 * before.objective else ""

    with one_thread():
        start = state(np.zeros_like(rhs), np.zeros_like(rhs))
        most = options.limit(1000) if method == "propagation" else 4
        run = drive(start, advance, finished, most, options.time_budget, options.trace, what="labels")
    status = run.status if method == "propagation" or run.status == "diverged" else "closed form"
    steps = run.n_iter if method == "propagation" else max(1, n_iter[0])
    stats = {**run.stats, "n_iter": steps, "method": method}
    return Solution((run.state.G, run.state.w), status, stats)


_Solve = Callable[[Array, list[int]], Array]


def _factorised(P: Array) -> _Solve:
    """A factorisation of I − P; for every right-hand side two triangular solves."""
    n = P.shape[0]
    if scipy.sparse.issparse(P):
        factor = sla.splu((scipy.sparse.identity(n, format="csc") - P).tocsc())
        return lambda B, _: factor.solve(np.ascontiguousarray(B))
    lu = scipy.linalg.lu_factor(np.eye(n) - P, check_finite=False)
    return lambda B, _: np.asarray(scipy.linalg.lu_solve(lu, B, check_finite=False))


def _finite(start: Array) -> Array | None:
    return start if np.all(np.isfinite(start)) else None


def _krylov(P: Array) -> _Solve:
    """BiCGSTAB on I − P; a column that it does not solve is left to GMRES, and to a factorisation in the end."""
    n = P.shape[0]
    A = sla.LinearOperator((n, n), matvec=lambda v: v - P @ v, dtype=float)
    spare: list[_Solve] = []

    def solve(B: Array, count: list[int]) -> Array:
        out = np.zeros_like(B)

        def step(_: Array) -> None:
            count[0] += 1

        for j, b in enumerate(B.T):
            if not np.any(b):
                continue
            size = float(np.abs(b).max())  # a small b would look like a breakdown
            found, failed = sla.bicgstab(A, b / size, rtol=1e-9, maxiter=2000, callback=step)
            if failed:
                found, failed = sla.gmres(A, b / size, rtol=1e-9, restart=60, maxiter=20, x0=_finite(found))
            if failed:
                spare[:] = spare or [_factorised(P)]
                found = spare[0](b[:, None] / size, count)[:, 0]
            out[:, j] = size * found
        return out

    return solve
