"""Coordinate descent in residual form with Anderson extrapolation, for working sets too large for a Gram matrix."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.design import Block, CentredColumns
from certifit.solvers._driver import DriveEnd, drive
from certifit.solvers._gram_descent import Penalty
from certifit.solvers._task import DEFAULT, Options

_MEMORY = 5  # iterates that an extrapolation uses
_SWEEPS = 10
_LIMIT = 100_000
_ROUNDS = 1000
_ROUNDING = 1e-14  # of the objective: a smaller fall is none


@dataclass(frozen=True)
class Descended:
    """Coefficients in raw units, their residual and its correlations, the gap they prove, and the dual factor."""

    w: Array
    r: Array
    Q: Array
    scale: float
    gap: float
    objective: float
    sweeps: int = 0

    @property
    def step(self) -> float:
        """Coefficients in use, for traces."""
        return float(np.count_nonzero(self.w))


def descend_residual(
    columns: CentredColumns,
    target: Array,
    start: Array,
    penalty: Penalty,
    tol: float,
    options: Options = DEFAULT,
) -> DriveEnd:
    """Sweep over the columns that matter until the gap over all of them is at most tol, or rounding allows no more."""
    began, thin = time.perf_counter(), columns.thin
    end = None if options.time_budget is None else began + options.time_budget
    rng = None if options.random_state is None else np.random.default_rng(options.random_state)

    def look(w: Array, sweeps: int) -> Descended:
        r = target - columns.product(w)
        Q, r2 = columns.correlate(r), float(r @ r)
        gap, scale = penalty.gap(w, Q, r2)
        return Descended(w, r, Q, scale, gap, 0.5 * r2 + penalty.value(w), sweeps)

    def advance(at: Descended) -> Descended:
        reach = at.Q if penalty.positive else np.abs(at.Q)
        which = np.flatnonzero((at.w != 0.0) | (reach >= 0.9 * penalty.l1))
        block = columns.gather(which, thin)
        inner = Penalty(penalty.l1[which] / block.scale, penalty.l2[which] / block.scale**2, penalty.positive)
        w, r, v = at.w.copy(), at.r.copy(), at.w[which] * block.scale
        done = _sweep(block, r, v, inner, max(0.3 * tol, 0.03 * at.gap), rng, end)
        w[which] = v / block.scale
        return look(w, at.sweeps + done)

    def finished(before: Descended, after: Descended) -> str:
        if after.gap <= tol:
            return "converged"
        level = after is not before and after.objective >= before.objective * (1.0 - _ROUNDING)
        return "precision" if level and after.gap >= before.gap else ""

    first = look(np.array(start, dtype=float), 0)
    return drive(first, advance, finished, options.limit(_ROUNDS), options.time_budget, options.trace, check_start=True)


def _sweep(
    block: Block, r: Array, v: Array, penalty: Penalty, tol: float, rng: np.random.Generator | None, end: float | None
) -> int:
    """Sweeps with extrapolation on a fixed set of columns; v and r are changed in place."""
    if block.is_sparse and block.root is not None and block.mean is not None:
        squares = np.asarray(block.values.multiply(block.values).T @ block.root**2).ravel()
        norms = squares - block.total * block.mean**2
    else:
        norms = np.einsum("ij,ij->j", block.values, block.values)
    order = np.arange(len(v))
    seen = [v.copy()]
    for sweep in range(1, _LIMIT):
        if rng is not None:
            order = rng.permutation(len(v))
        _one(block, r, v, norms, penalty, order)
        seen.append(v.copy())
        if len(seen) > _MEMORY:
            _extrapolate(block, r, v, penalty, seen)
            seen = [v.copy()]
        if sweep % _SWEEPS == 0:
            gap = penalty.gap(v, block.correlate(r), float(r @ r))[0]
            if gap <= tol or (end is not None and time.perf_counter() > end):
                break
    return sweep


def _one(block: Block, r: Array, v: Array, norms: Array, penalty: Penalty, order: Array) -> None:
    from certifit.loops.coordinate import cd_dense, cd_sparse  # compiled code loads on first use

    A = block.values
    if block.is_sparse:
        cd_sparse(
            A.data, A.indices, A.indptr, block.root, block.mean, block.total, r, v, norms,
            penalty.l1, penalty.l2, penalty.positive, order, 1, 0.0,
        )  # fmt: skip
    else:
        cd_dense(A, r, v, norms, penalty.l1, penalty.l2, penalty.positive, order, 1, 0.0)


def combination(seen: list[Array]) -> Array | None:
    """Anderson: the affine combination of the last iterates (of any shape) with the smallest change."""
    D = np.diff(np.stack(seen), axis=0).reshape(len(seen) - 1, -1)
    K = D @ D.T
    K[np.diag_indices_from(K)] += 1e-12 * max(float(np.trace(K)), 1e-300)
    try:
        c = np.linalg.solve(K, np.ones(len(K)))
    except np.linalg.LinAlgError:
        return None
    if not abs(c.sum()) > 0.0 or not np.all(np.isfinite(c)):
        return None
    return np.tensordot(c / c.sum(), np.stack(seen[1:]), axes=1)


def _extrapolate(block: Block, r: Array, v: Array, penalty: Penalty, seen: list[Array]) -> None:
    """Go to the combination of the last iterates if J falls."""
    trial = combination(seen)
    if trial is None:
        return
    if penalty.positive:
        trial = np.maximum(trial, 0.0)
    fit = r - block.product(trial - v)
    if 0.5 * float(fit @ fit) + penalty.value(trial) < 0.5 * float(r @ r) + penalty.value(v):
        v[:] = trial
        r[:] = fit
