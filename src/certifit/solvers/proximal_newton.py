r"""Proximal Newton for smooth losses with an l1 part.

.. math:: \min_\theta\ f(\theta) + \sum_j \kappa_j|\theta_j|

Each step minimises the quadratic model of f plus the exact l1 part by coordinate descent on the Hessian (compiled),
then searches along the way to it. The decrease that the model promises is what is left to gain, and falls
quadratically. Where coordinates are many, the model is about those that are not zero, or want to leave zero: the
others stay there, as most of them do at the minimum.

Where rows are sparse and a sweep over their numbers costs less than one over the Hessian, none is formed. Sweeps then
end when they have gained most of what there is to gain, since the next model is a better one (Yuan, Ho and Lin 2012, An
improved GLMNET for l1-regularized logistic regression).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from certifit._types import Array
from certifit.solvers._driver import drive
from certifit.solvers._smooth_sum import SmoothSum
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options

_FEW = 256  # coordinates that are all taken, and the least number of those that may leave zero in one step
_SWEEP, _ROWS = 800, 600  # products that sweeps are worth: for each number of the rows, and of the Hessian
_MOST = 20_000_000  # numbers beside the columns that sweeps over the rows may need
_SHARE, _SWEEPS = 1e-3, 1000  # of what a model promises, that may be left to the next one; sweeps at the most
_LARGEST = 6000  # coordinates for which a Hessian can be formed, where so many sweeps over the rows were too few


@dataclass(frozen=True)
class _Model:
    theta: Array
    Z: Array
    objective: float
    gap: float  # decrease promised by the model: an estimate of what is left
    step: float
    direction: Array
    complete: bool  # whether the model is about all coordinates that want to leave zero
    bound: bool = False  # whether columns depend on each other so much that sweeps over the rows are too slow
    stalled: bool = False


def minimise_l1(f: SmoothSum, kappa: Array, start: Array, tol: float, options: Options | None = None) -> Solution:
    """Minimise to within about ``tol`` (an absolute amount, in place of that of the options).

    ``kappa`` (p, K) are the l1 weights in coordinates.
    """
    options = Options() if options is None else options

    def advance(s: _Model) -> _Model:
        dZ = f.columns.product(s.direction)
        t = 1.0
        for _ in range(50):
            theta, Z = s.theta + t * s.direction, s.Z + t * dZ
            value, slopes = f.value(Z, theta)
            value += float(np.sum(kappa * np.abs(theta)))
            if np.isfinite(value) and value <= s.objective - 1e-4 * t * s.gap:
                return _model(f, kappa, theta, Z, slopes, value, t, s.bound)
            t *= 0.5
        return replace(s, stalled=True)

    Z = f.scores(start)
    value, slopes = f.value(Z, start)
    value += float(np.sum(kappa * np.abs(start)))
    first = _model(f, kappa, start, Z, slopes, value, 0.0)
    run = drive(
        first,
        advance,
        lambda before, after: after.stalled or (after.complete and after.gap <= max(tol, _floor(after))),
        options.limit(100),
        options.time_budget,
        options.trace,
    )
    state = run.state
    if state.gap <= _floor(state):  # no line search can see a decrease so small, and none is needed
        state = replace(state, theta=state.theta + state.direction)
    elif not state.stalled:  # the next step is known already
        state = advance(state)
    stats = {**run.stats, "n_iter": max(1, run.n_iter), "gap": state.gap, "method": "proximal newton"}
    return Solution(state.theta, run.status, stats)


def _floor(s: _Model) -> float:
    """A promise that is lost in the rounding of the objective; the step behind it squares what is left."""
    return 1e-15 * abs(s.objective)


def _model(
    f: SmoothSum, kappa: Array, theta: Array, Z: Array, slopes: Array, value: float, t: float, bound: bool = False
) -> _Model:
    """Minimise the model at θ: direction, and the decrease it promises."""
    G = f.gradient(slopes, theta)
    keep, complete = _awake(theta, G, kappa)
    D, by_rows = np.zeros_like(theta), _thin(f, keep) and not bound
    if by_rows:
        settled = _descend_thin(f, G, kappa, theta, Z, keep, D)
        bound = not settled and int(keep.sum()) * f.outputs <= _LARGEST
    if bound or not by_rows:
        some = f if np.all(keep) else f.among(keep)
        D[keep] = _descend(some, G[keep], kappa[keep], theta[keep], Z)
    promise = max(-float(np.sum(G * D) + np.sum(kappa * (np.abs(theta + D) - np.abs(theta)))), 0.0)
    return _Model(theta, Z, value, promise, t, D, complete, bound)


def _awake(theta: Array, G: Array, kappa: Array) -> tuple[Array, bool]:
    """Which coordinates the model is about, and whether no other wants to leave zero.

    At most twice as many as there are, those with the steepest slopes, leave zero in one step: far from the minimum
    nearly all would, and most of them for nothing.
    """
    if len(theta) <= _FEW:
        return np.ones(len(theta), bool), True
    pull = np.max(np.abs(G) - kappa, axis=1)
    keep = np.any(theta != 0, axis=1) | np.all(kappa == 0, axis=1)
    outside = np.flatnonzero(~keep & (pull > 0))
    most = max(_FEW, 2 * int(keep.sum()))
    chosen = outside if len(outside) <= most else outside[np.argpartition(-pull[outside], most)[:most]]
    keep[chosen] = True
    return keep, len(chosen) == len(outside)


def _thin(f: SmoothSum, keep: Array) -> bool:
    """Whether sweeps that read the rows cost less than the Hessian of these coordinates, and sweeps that read that."""
    design, used = f.columns.design, int(keep.sum())
    if not design.is_sparse or used * f.outputs**2 > _MOST:
        return False
    return bool(_SWEEP * design.X.nnz < (len(f.y) + _ROWS) * used**2)


def _descend_thin(f: SmoothSum, G: Array, kappa: Array, theta: Array, Z: Array, keep: Array, D: Array) -> bool:
    """Most of the way from θ to the minimum of the model of these coordinates, from sparse columns, into D.

    False where the sweeps were too few for that.
    """
    from certifit.loops.coordinate import cd_curved

    X, at = f.columns.design.by_column, np.flatnonzero(keep)
    start = theta[at]
    w, columns = start.copy(), (X.data, X.indices, X.indptr)
    curved = *f.curved_rows(Z), f.columns.mean, f.columns.scale
    settled = cd_curved(*columns, *curved, at, start, G[at], w, kappa[at], f.ridge[at], _SHARE, _SWEEPS)
    D[at] = w - start
    return bool(settled)


def _descend(f: SmoothSum, G: Array, kappa: Array, theta: Array, Z: Array) -> Array:
    """The way from θ to the minimum of the model of these coordinates."""
    from certifit.loops.coordinate import cd_gram

    H = f.hessian(Z)
    w = theta.T.ravel().copy()
    g, l1 = G.T.ravel(), kappa.T.ravel()
    lift = 1e-12 * np.maximum(np.diag(H), 1e-300)  # flat directions (equal shifts of all classes) stay put
    H[np.diag_indices_from(H)] += lift
    size = float(np.abs(g).max(initial=0.0)) + 1e-300
    order, tol = np.arange(len(w)), 1e-13 * np.sqrt(size)
    cd_gram(np.ascontiguousarray(H), -g, w, len(w), l1, np.zeros_like(w), False, order, 10_000, tol)
    return np.asarray(w.reshape(theta.shape[::-1]).T - theta)
