r"""Lasso and elastic net for several targets that share their columns, one strength or a whole path.

.. math:: \tfrac12\lVert Y - AW\rVert_F^2 + \Lambda_1\sum_j\lVert W_j\rVert + \tfrac12\Lambda_2\lVert W\rVert_F^2

The penalty is on whole rows of W (one row per column of X), so a column is used for all targets or for none. Block
coordinate descent on the Gram matrix of a working set, with Anderson extrapolation, stopped by the duality gap over
all columns. With the residual R = Y − AW and Q = AᵀR, the dual point is c R with c ≤ 1 such that c‖Qⱼ‖ ≤ Λ₁.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from certifit._types import Array
from certifit.design import CentredColumns, Design
from certifit.solvers._driver import DriveEnd, drive
from certifit.solvers._residual_descent import combination
from certifit.solvers._solution import Solution
from certifit.solvers._status import worst

_MEMORY = 5  # iterates that an extrapolation uses
_SWEEPS = 200  # rounds of so many sweeps at most before the columns are looked at again
_ROUNDS = 1000
_NEWTON = 300  # unknowns up to which the last digits are found by Newton's method
_GROWTH = 100  # columns that may join at once (or as many as are in use)


@dataclass(frozen=True)
class _Rows:
    """Strengths per (scaled) row of W."""

    l1: Array
    l2: Array

    def value(self, W: Array) -> float:
        return float(self.l1 @ np.sqrt(np.sum(W * W, axis=1)) + 0.5 * (self.l2 @ np.sum(W * W, axis=1)))

    def gap(self, W: Array, Q: Array, r2: float) -> float:
        """Fenchel–Young terms, none negative; with a ridge part the better of c = 1 and c‖Q‖ ≤ Λ₁."""
        sizes, reach = np.sqrt(np.sum(W * W, axis=1)), np.sqrt(np.sum(Q * Q, axis=1))
        worst = float(np.max(reach / self.l1, initial=0.0))
        c = 1.0 / worst if worst > 1.0 else 1.0
        cost, along, squares = float(self.l1 @ sizes), float(np.sum(Q * W)), float(self.l2 @ sizes**2)
        best = 0.5 * (1.0 - c) ** 2 * r2 + cost - c * along + 0.5 * squares
        if c < 1.0 and np.all(self.l2 > 0):
            over = float(np.sum(np.maximum(reach - self.l1, 0.0) ** 2 / self.l2))
            best = min(best, cost - along + 0.5 * (squares + over))
        return max(best, 0.0)


def solve_multitask(
    design: Design,
    Y: Array,
    strengths: Array,
    ratio: float = 1.0,
    weights: Array | None = None,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-4,
    start: Array | None = None,
    max_iter: int = _ROUNDS,
    polish: bool = False,
) -> Solution:
    r"""Fit for each α of ``strengths`` (largest first is fastest), Λ₁ = αρS and Λ₂ = α(1−ρ)S with S = Σ sᵢ.

    ``ratio`` is ρ in (0, 1] and ``start`` (t, d). It stops when the duality gap is at most ``tol`` times the objective
    at W = 0, or after ``max_iter`` looks at all columns, for each strength; ``polish`` ends with Newton steps on the
    columns in use, where these are few: the optimum to rounding. ``value`` = (coef (k, t, d), intercept (k, t));
    ``stats`` holds ``gap``, ``relative_gap`` and ``n_iter`` per strength.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> X, Y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[3.0, 4.0], [0.3, 0.4]])
    >>> found = solve_multitask(as_design(X), Y, np.array([0.5]), fit_intercept=False, tol=1e-12)
    >>> found.value[0].round(6)
    array([[[2.4, 0. ],
            [3.2, 0. ]]])
    """
    if weights is not None and not np.all(weights > 0):
        keep = weights > 0
        design, Y, weights = Design(design.X[keep]), Y[keep], weights[keep]
    columns = CentredColumns.of(design, weights, fit_intercept)
    parts = [columns.target(np.asarray(Y[:, t], dtype=float)) for t in range(Y.shape[1])]
    task = _Blocks(columns, np.stack([p[0] for p in parts], axis=1), ratio, tol, max_iter)
    W = np.zeros((design.shape[1], Y.shape[1])) if start is None else np.array(start, dtype=float).T
    runs = []
    for alpha in np.asarray(strengths, dtype=float):
        runs.append(task.solve(W, float(alpha), polish))
        W = runs[-1].state.W
    W_all = np.array([r.state.W.T for r in runs])
    centre = np.array([p[1] for p in parts])
    intercept = np.zeros(W_all.shape[:2]) if columns.mean is None else centre - W_all @ columns.mean
    # A difference of floats: what is smaller than their rounding is not known to be zero.
    gaps = np.maximum([r.state.gap for r in runs], np.finfo(float).eps * task.null)
    stats = {
        "gap": gaps / columns.total,
        "relative_gap": gaps / task.null if task.null > 0.0 else np.zeros(len(gaps)),
        "n_iter": np.array([r.state.number for r in runs]),
        "method": "block coordinate descent",
    }
    return Solution((W_all, intercept), worst(r.status for r in runs), stats)


class _Look(NamedTuple):
    """W with its residual R, the correlations Q = AᵀR and the gap over all columns."""

    W: Array
    R: Array
    Q: Array
    objective: float
    gap: float
    step: float  # columns in use
    number: int  # of the look
    last: float  # gap ten looks ago, or so


class _Blocks:
    def __init__(self, columns: CentredColumns, targets: Array, ratio: float, tol: float, rounds: int) -> None:
        self.columns, self.targets, self.ratio, self.rounds = columns, targets, ratio, rounds
        self.null = 0.5 * float(np.sum(targets * targets))
        self.tol = tol * self.null

    def penalty(self, alpha: float, scale: Array) -> _Rows:
        total = self.columns.total
        return _Rows(alpha * self.ratio * total / scale, alpha * (1.0 - self.ratio) * total / scale**2)

    def solve(self, W: Array, alpha: float, polish: bool) -> DriveEnd:
        """Coefficients (d, t) for one strength; an iteration looks at all columns and descends on some of them."""
        everything = self.penalty(alpha, np.ones(len(W)))

        def look(W: Array, number: int, last: float) -> _Look:
            R = self.targets - self.columns.product(W)
            Q, r2 = self.columns.correlate(R), float(np.sum(R * R))
            gap = everything.gap(W, Q, r2)
            columns = float(np.count_nonzero(np.any(W != 0.0, axis=1)))
            return _Look(W, R, Q, 0.5 * r2 + everything.value(W), gap, columns, number, last)

        def advance(at: _Look) -> _Look:
            W, which = at.W.copy(), self._columns(at.W, at.Q, everything.l1)
            block = self.columns.gather(which)
            V = W[which] * block.scale[:, None]
            penalty = self.penalty(alpha, block.scale)
            _descend(block.cross(block), block.correlate(at.R), V, penalty, 0.2 * self.tol, at.R)
            W[which] = V / block.scale[:, None]
            return look(W, at.number + 1, at.gap if at.number % 10 == 0 else at.last)

        def finished(before: _Look, after: _Look) -> str:
            if after.gap <= self.tol:
                return "converged"
            return "precision" if after.gap >= after.last and after.number > 20 else ""

        run = drive(look(W, 1, np.inf), advance, finished, self.rounds, check_start=True)
        return replace(run, state=self._polish(run.state, alpha, look)) if polish else run

    def _polish(self, at: _Look, alpha: float, look: Callable[[Array, int, float], _Look]) -> _Look:
        """Newton's method on the rows in use, where the penalty is smooth, as long as the whole gap does not rise."""
        used, t = np.flatnonzero(np.any(at.W != 0.0, axis=1)), at.W.shape[1]
        if not 0 < len(used) * t <= _NEWTON:
            return at
        block = self.columns.gather(used)
        G, penalty = block.cross(block), self.penalty(alpha, block.scale)
        for _ in range(5):
            V = at.W[used] * block.scale[:, None]
            step = _newton_step(G, block.correlate(at.R), V, penalty)
            if step is None:
                return at
            W = at.W.copy()
            W[used] = (V - step) / block.scale[:, None]
            after = look(W, at.number, at.last)
            # Near the optimum the gap is rounding, while the last digits of W are still being found.
            if not after.gap <= max(at.gap, 16 * np.finfo(float).eps * self.null):
                return at
            at = after
        return at

    def _columns(self, W: Array, Q: Array, l1: Array) -> Array:
        """Rows in use, and the columns that ask most to join."""
        used = np.any(W != 0.0, axis=1)
        share = np.where(used, 0.0, np.sqrt(np.sum(Q * Q, axis=1)) / l1)
        wanted = np.flatnonzero(share >= 0.95)
        limit = max(_GROWTH, int(used.sum()))
        if len(wanted) > limit:
            wanted = wanted[np.argpartition(-share[wanted], limit)[:limit]]
        return np.union1d(np.flatnonzero(used), wanted)


def _newton_step(G: Array, Q: Array, V: Array, penalty: _Rows) -> Array | None:
    """Hessian⁻¹ gradient of the objective at rows V, none of which is zero; None where that cannot be had."""
    (k, t), size = V.shape, np.sqrt(np.sum(V * V, axis=1))
    unit = V / size[:, None]
    H = np.kron(G, np.eye(t))
    for j in range(k):
        at = slice(j * t, (j + 1) * t)
        H[at, at] += penalty.l1[j] / size[j] * (np.eye(t) - np.outer(unit[j], unit[j])) + penalty.l2[j] * np.eye(t)
    gradient = penalty.l1[:, None] * unit + penalty.l2[:, None] * V - Q
    try:
        step = np.linalg.solve(H, gradient.ravel()).reshape(k, t)
    except np.linalg.LinAlgError:
        return None
    return step if np.all(np.isfinite(step)) else None


def _descend(G: Array, Q: Array, V: Array, penalty: _Rows, tol: float, R: Array) -> None:
    """Sweeps with extrapolation on a fixed set of columns until its own gap is at most tol; V changes in place."""
    from certifit.loops.coordinate import cd_rows  # compiled code loads on first use

    G, Q, r2 = np.ascontiguousarray(G), np.ascontiguousarray(Q), float(np.sum(R * R))
    seen = [V.copy()]
    for sweep in range(1, _SWEEPS + 1):
        before, old = V.copy(), Q.copy()
        cd_rows(G, Q, V, penalty.l1, penalty.l2)
        r2 = max(r2 - float(np.sum((V - before) * (old + Q))), 0.0)
        seen.append(V.copy())
        if len(seen) > _MEMORY:
            r2 = _extrapolate(G, Q, V, penalty, seen, r2)
            seen = [V.copy()]
        if sweep % 5 == 0 and penalty.gap(V, Q, r2) <= tol:
            break


def _extrapolate(G: Array, Q: Array, V: Array, penalty: _Rows, seen: list[Array], r2: float) -> float:
    """Go to the combination of the last iterates if the objective falls; ‖R‖² there."""
    trial = combination(seen)
    if trial is None:
        return r2
    after = Q - G @ (trial - V)
    now = r2 - float(np.sum((trial - V) * (Q + after)))
    if 0.5 * now + penalty.value(trial) < 0.5 * r2 + penalty.value(V):
        V[:], Q[:] = trial, after
        return max(now, 0.0)
    return r2
