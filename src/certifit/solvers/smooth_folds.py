r"""A smooth loss with a squared penalty on every fold and for every strength at once.

For fold j and strength Λ the sum over the fold's training rows

.. math:: f_{jΛ}(θ) = \sum_i a_{ji} s_i\,L(\tilde x_i\cdot θ,\ y_i) + \tfrac Λ2\lVert w - w_0\rVert^2

is minimised. All of them are near to one another, and that is used three times:

- rows that every fold treats alike form a *cell*; gradients and Hessians are summed by cell, so that one pass over
  the rows at a point θ serves every fold there;
- the mean of the folds' problems (the pilot) is solved for every Λ, with Hessians at a few points (the anchors) only;
- from there all folds and strengths move together: scores and gradients of hundreds of problems are two matrix
  products, and Hessians are taken between those of two anchors.

A problem leaves when its gap is proved, so where it started from does not matter. With |L‴| ≤ L″, all scores within r
of those at an anchor give :math:`e^{-r}\tilde H ⪯ H ⪯ e^{r}\tilde H`. After a step D of length q in the metric of
:math:`\tilde H` the decrement is at most :math:`e^{r/2}(\lVert g + \tilde HD\rVert + (e^r-1)q)`, and a decrement δ with
u = δ·max‖x̃‖ < 1 proves a gap of at most δ²/(2(1−u)) (see `certifit.certificates.local`), even without a penalty. What
does not get there is left to be solved alone.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.design import Cells, FoldTable, cholesky
from certifit.losses import Loss
from certifit.parallel import one_thread
from certifit.solvers._fold_cells import Anchor, CellRows, evaluate, longest, look, values

_REACH = 0.2  # root mean square by which scores may differ from an anchor's before there is a new one
_FORESEEN = 1e-3  # fraction of the tolerance that the rate of convergence must foretell
_ROUNDS = 8
_SHARE = 6000  # rows that are enough to find the neighbourhood
_PATIENCE = 40
_LARGEST = 100_000_000  # numbers of gradients by cell


@dataclass(frozen=True)
class _Batch:
    """The folds' problems: rows by cell, what each fold counts, and the penalties in coordinates."""

    rows: CellRows
    factor: Array  # (folds, cells)
    strengths: Array  # (folds, m)
    pull: Array  # (p,): ridge of Λ = 1; zero for the offset
    prior: Array  # (p,)

    @property
    def mean(self) -> Array:
        """How much the pilot counts each cell."""
        return np.asarray(self.factor.mean(axis=0))

    def ridge(self, strength: Any) -> Array:
        return np.asarray(np.multiply.outer(np.asarray(strength, dtype=float), self.pull))


def _steps(H: Array, ridge: Array, g: Array) -> tuple[Array, Array]:
    """−(H + ridge)⁻¹g and its length in the metric of H + ridge, for stacks; nan where a matrix is singular."""
    H, k = H.copy(), np.arange(H.shape[-1])
    H[:, k, k] += ridge
    try:
        with one_thread():
            D = -np.linalg.solve(H, g[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.full_like(g, np.nan), np.full(len(g), np.nan)
    with np.errstate(invalid="ignore"):
        return D, np.sqrt(-np.einsum("ij,ij->i", D, g))


# -- the mean of the folds' problems
# ------------------------------------------------------------------------------------------------
def _pilot_step(b: _Batch, a: Anchor, strength: float) -> tuple[Array, float]:
    """Newton step on the pilot, and the root mean square by which it moves scores (with the penalty's share)."""
    ridge = b.ridge(strength)
    D, q = _steps(np.tensordot(b.mean, a.H, 1)[None], ridge, (b.mean @ a.g + ridge * (a.theta - b.prior))[None])
    return D[0], float(q[0]) / np.sqrt(max(float(b.mean @ a.bend), 1e-300))


def _settle(b: _Batch, theta: Array, strength: float, near: float) -> Anchor | None:
    """Damped Newton steps on the pilot until scores move by less than ``near``; None where that fails."""
    ridge = b.ridge(strength)

    def value(a: Anchor) -> float:
        return float(b.mean @ a.value) + 0.5 * float(ridge @ np.square(a.theta - b.prior))

    here = look(b.rows, theta)
    for _ in range(_PATIENCE):
        D, move = _pilot_step(b, here, strength)
        if not np.isfinite(move) or move <= near:
            return here if np.isfinite(move) else None
        there = None
        for t in 0.5 ** np.arange(_PATIENCE):
            there = look(b.rows, here.theta + t * D)
            if value(there) < value(here):
                break
        else:
            return None
        here = there
    return None


def _anchors(b: _Batch, start: Array, strengths: Array) -> tuple[list[Anchor], Array]:
    """Points along the pilot's path and their strengths, strongest first: all scores lie close to two of them."""
    theta, step = start, len(b.rows.y) // _SHARE
    if step > 1:
        rough = _settle(replace(b, rows=b.rows.every(step)), theta, strengths[0], 0.1)
        theta = theta if rough is None else rough.theta
    found: list[Anchor] = []
    where: list[float] = []
    for i, strength in enumerate(strengths):
        if found:
            D, move = _pilot_step(b, found[-1], strength)
            if move <= (_REACH if i + 1 < len(strengths) else 0.1 * _REACH):
                continue
            theta = found[-1].theta + D
        anchor = _settle(b, theta, strength, 0.5 * _REACH)
        if anchor is None:
            break
        found.append(anchor)
        where.append(strength)
    return found, np.array(where)


@dataclass(frozen=True)
class _Pilot:
    """The pilot near its optimum for every strength."""

    theta: Array  # (m, p)
    low: Array  # (m,): the anchor before it
    share: Array  # (m,): how far it is on the way to the next one
    nearest: Array  # (m,)
    g: Array  # (cells, m, p)
    r: Array  # (cells, m): differences of scores from the nearest anchor's

    def between(self, H: Array, i: Any, *fold: Array) -> Array:
        """Hessians between those of the two anchors, which is where they are: the error is of second order."""
        t, high = self.share[i][:, None, None], np.minimum(self.low[i] + 1, len(H) - 1)
        return np.asarray((1.0 - t) * H[(self.low[i], *fold)] + t * H[(high, *fold)])


def _pilot_path(b: _Batch, anchors: list[Anchor], where: Array, strengths: Array) -> _Pilot:
    low = np.maximum(np.searchsorted(-where, -strengths, side="right") - 1, 0)
    low = np.minimum(low, max(len(where) - 2, 0))
    points, H = np.array([a.theta for a in anchors]), np.array([np.tensordot(b.mean, a.H, 1) for a in anchors])
    theta = np.array([anchors[a].theta + _pilot_step(b, anchors[a], s)[0] for a, s in zip(low, strengths)])
    way = points[np.minimum(low + 1, len(where) - 1)] - points[low]
    along = np.einsum("mi,mij->mj", way, H[low])
    length = np.einsum("mj,mj->m", along, way)
    share = np.einsum("mj,mj->m", along, theta - points[low]) / np.where(length > 0, length, 1.0)
    share = np.clip(share, 0.0, 1.0)
    nearest = np.where(share > 0.5, low + 1, low)
    found = _Pilot(theta, low, share, nearest, np.empty(0), np.empty(0))
    order = np.argsort(nearest, kind="stable")
    back, z, ridge = np.argsort(order), np.array([a.z for a in anchors]), b.ridge(strengths)
    every = np.ones((len(strengths), len(b.mean)), dtype=bool)
    for turn in range(3):
        G, r = evaluate(b.rows, theta[order], z, nearest[order], every)
        G, r = G[:, back], r[:, back]
        g = np.tensordot(b.mean, G, 1) + ridge * (theta - b.prior)
        D, q = _steps(found.between(H, slice(None)), ridge, g)
        if turn == 2 or not np.any(q > 1.0):  # folds differ by more than that from each other
            break
        theta = theta + D
    return replace(found, theta=theta, g=G, r=r)


# -- all folds and strengths
# ------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Problems:
    """All of them, neighbours together: sorted by nearest anchor, then fold, then strength."""

    fold: Array
    point: Array
    anchor: Array
    ridge: Array
    null: Array  # loss of the null model
    reach: Array  # upper bound of max ‖x̃‖ in the metric of the anchor's inverse Hessian

    def at(self, i: Array) -> _Problems:
        return _Problems(*(getattr(self, f.name)[i] for f in fields(self)))


def _reach(b: _Batch, H: Array, weakest: Array) -> Array:
    """(anchors, folds): the longest row in the metric of the inverse Hessian, by way of one below all of them."""
    found = np.full(H.shape[:2], np.inf)
    base = H[-1].mean(axis=0) + np.diag(b.ridge(weakest.min()))
    factor = cholesky(base)
    if factor is None:
        return found
    top = longest(b.rows, factor.inverse_root())
    for a, k in np.ndindex(found.shape):
        for share in (0.5, 0.1, 0.01, 1e-3):  # this much of the base is in every Hessian
            if cholesky(H[a, k] + np.diag(b.ridge(weakest[a])) - share * base) is not None:
                found[a, k] = top / np.sqrt(share)
                break
    return found


def _bound(length: Array, drift: Array, reach: Array) -> Array:
    """Gap proved by a decrement of ``length`` where Hessians have drifted by a factor e^drift; inf if none is."""
    with np.errstate(all="ignore"):
        u = length * reach * np.exp(0.5 * drift)
        return np.where(u < 1.0, np.square(length) / (2.0 * (1.0 - u)), np.inf)


def _judge(p: _Problems, H: Array, here: _Points, g: Array, D: Array) -> tuple[Array, Array, Array]:
    """Proved gaps before and after the step D, and its length, all in the metric of the anchor's Hessian.

    What is left of the gradient after the step is g + HD, up to the drift of the Hessian from the anchor's.
    """
    HD = np.einsum("ijk,ik->ij", H, D) + p.ridge * D
    q = np.sqrt(np.einsum("ij,ij->i", D, HD))
    rest = _steps(H, p.ridge, g + HD)[1]
    with np.errstate(over="ignore", invalid="ignore"):
        r = here.r + p.reach * q
        stay = _bound(np.exp(0.5 * here.r) * (q + rest), here.r, p.reach)
        step = _bound(np.exp(0.5 * r) * (rest + np.expm1(r) * q), r, p.reach)
    return stay, step, q


def _rounds(
    b: _Batch, z: Array, H: Array, pilot: _Pilot, p: _Problems, here: _Points, tol: float
) -> tuple[Array, Array]:
    """Steps of all problems together until each has its proof; θ and the proved gaps."""
    theta, gap = here.theta.copy(), np.full(len(here.theta), np.inf)
    left, before = np.arange(len(theta)), np.full(len(theta), np.inf)
    near, follows = pilot.between(H, p.point, p.fold), np.zeros(len(left), dtype=bool)
    for _ in range(_ROUNDS):
        g = here.g + p.ridge * (here.theta - b.prior)
        D, _ = _steps(near, p.ridge, g)
        own = H[p.anchor, p.fold]
        stay, step, q = _judge(p, own, here, g, D)
        # The proof asks for what a fit alone promises; what the rate of convergence foretells is far smaller still.
        rate = np.where(np.isfinite(before), np.maximum(q / before, 0.3 * np.expm1(np.minimum(here.r, 1.0))), 1.0)
        after = (step <= tol * p.null) & (0.5 * np.square(q * rate) <= _FORESEEN * tol * p.null)
        at_once = (stay <= tol * p.null) & (0.5 * np.square(q) <= _FORESEEN * tol * p.null)
        hold, moved = ~after & (at_once | (stay < step)), here.theta + D
        theta[left] = np.where(hold[:, None], here.theta, moved)
        gap[left] = np.where(after | at_once, np.where(hold, stay, step), np.inf)
        on = ~(after | at_once) & ((q < 0.5 * before) | follows)
        if not np.any(on):
            break
        left, before, p, moved, near = left[on], q[on], p.at(on), moved[on], near[on]
        lead = _leaders(p, moved, own[on], here.r[on], tol)
        first, follows = np.unique(lead), lead != np.arange(len(lead))
        place = np.searchsorted(first, lead)
        mine = b.factor[p.fold[first]]
        G, R = evaluate(b.rows, moved[first], z, p.anchor[first], mine > 0)
        here = _Points(moved[lead], np.einsum("ic,cip->ip", mine, G)[place], R.max(axis=0)[place])
    return theta, gap


def _leaders(p: _Problems, theta: Array, H: Array, r: Array, tol: float) -> Array:
    """For each problem the one of the same fold whose gradient will do: nearly the same θ, so a step gets it there."""
    lead = np.arange(len(theta))
    with np.errstate(over="ignore"):
        room = 0.25 * np.sqrt(2.0 * tol * p.null) / np.expm1(np.maximum(r, 0.1))
    for i in range(1, len(theta)):
        k = lead[i - 1]
        if p.fold[i] == p.fold[k] and p.anchor[i] == p.anchor[k]:
            D = theta[i] - theta[k]
            if D @ H[i] @ D + p.ridge[i] @ np.square(D) <= room[i] ** 2:
                lead[i] = k
    return lead


def _solve_batch(b: _Batch, start: Array, tol: float) -> tuple[Array, Array]:
    """θ (folds, m, p) and the proved gaps as fractions of the null model."""
    (K, m), average = b.strengths.shape, b.strengths.mean(axis=0)
    null = np.maximum(b.factor @ values(b.rows, start), 1e-12 * b.factor @ np.diff(b.rows.ends))
    anchors, where = _anchors(b, start, np.unique(average)[::-1])
    if not anchors:
        return np.tile(start, (K, m, 1)), np.full((K, m), np.inf)
    pilot = _pilot_path(b, anchors, where, average)
    fold, point = np.divmod(np.arange(K * m), m)
    order = np.lexsort((average[point], fold, pilot.nearest[point]))
    fold, point = fold[order], point[order]
    H = np.array([np.tensordot(b.factor, a.H, 1) for a in anchors])
    weakest = np.array([b.strengths[:, pilot.nearest == a].min(initial=where.max()) for a in range(len(anchors))])
    anchor, own = pilot.nearest[point], b.factor[fold]
    reach = _reach(b, H, weakest)[anchor, fold]
    problems = _Problems(fold, point, anchor, b.ridge(b.strengths[fold, point]), null[fold], reach)
    seen = np.where(own > 0, pilot.r[:, point].T, 0.0).max(axis=1)
    here = _Points(pilot.theta[point], np.einsum("ic,cip->ip", own, pilot.g[:, point]), seen)
    theta, gap = np.empty((K * m, len(start))), np.empty(K * m)
    z = np.array([a.z for a in anchors])
    theta[order], gap[order] = _rounds(b, z, H, pilot, problems, here, tol)
    return theta.reshape(K, m, -1), gap.reshape(K, m) / null[:, None]


@dataclass(frozen=True)
class _Points:
    """Where problems were looked at last, and what was seen there."""

    theta: Array  # (m, p)
    g: Array  # (m, p): gradient of the losses
    r: Array  # (m,): largest difference of a score from the anchor's


@dataclass(frozen=True)
class FoldFits:
    """Coefficients (folds, strengths, d), offsets and proved gaps as fractions of the null model's loss.

    Where no gap is proved it is ``inf``, and the coefficients are only the best known ones.
    """

    coef: Array
    intercept: Array
    gap: Array


def smooth_folds(
    table: FoldTable,
    loss: Loss,
    strengths: Array,
    *,
    fit_intercept: bool = True,
    prior: Array | None = None,
    level: float = 0.0,
    tol: float = 1e-10,
) -> FoldFits | None:
    """Minimise for every fold and strength, to a proved gap; None where the folds have too little in common.

    Rows are dense and finite, the loss has |L‴| ≤ L″ (``loss.self_concordant``), and ``strengths`` (folds, m) are the Λ
    of each problem. ``prior`` is w₀, ``level`` the offset of the null model, and ``tol`` the largest gap as a fraction
    of that model's loss.

    Examples
    --------
    >>> from certifit.losses import Logistic
    >>> rng = np.random.default_rng(0)
    >>> X, rows = rng.normal(size=(200, 1)), np.arange(200)
    >>> y = np.where(X[:, 0] + rng.normal(size=200) > 0, 1.0, -1.0)
    >>> table = FoldTable(X, y, [(rows[100:], rows[:100]), (rows[:100], rows[100:])])
    >>> found = smooth_folds(table, Logistic(), np.array([[1.0, 0.1], [1.0, 0.1]]))
    >>> found.coef[..., 0].round(4).tolist(), bool(np.all(found.gap < 1e-10))
    ([[1.6812, 1.8937], [1.3423, 1.4542]], True)
    """
    d, cells = table.X.shape[1], table.cells()
    if cells is None or cells.factor.size * strengths.shape[1] * d > _LARGEST:
        return None
    rows, centre, unit = _prepare(table, loss, cells, fit_intercept)
    pad = np.zeros(int(fit_intercept))
    w0 = np.zeros(d) if prior is None else prior * unit
    batch = _Batch(rows, cells.factor, strengths, np.append(1.0 / unit**2, pad), np.append(w0, pad))
    start = np.append(np.zeros(d), pad + level)
    theta, gap = _solve_batch(batch, start, tol)
    coef = theta[..., :d] / unit
    return FoldFits(coef, theta[..., d] - coef @ centre if fit_intercept else np.zeros(gap.shape), gap)


def _prepare(table: FoldTable, loss: Loss, cells: Cells, fit_intercept: bool) -> tuple[CellRows, Array, Array]:
    """Rows by cell, and the centre and scale of the columns (any will do: a fraction of the rows gives them)."""
    X, y, weights = table.X, table.y, table.weights
    n, d = X.shape
    some = slice(None, None, max(1, n // 4096))
    s = np.ones(n)[some] if weights is None else weights[some]
    if not s.sum() > 0:
        some, s = slice(None), np.ones(n)
    part = np.asarray(X[some], dtype=float)
    centre = s @ part / s.sum() if fit_intercept else np.zeros(d)
    spread = np.sqrt(s @ np.square(part - centre) / s.sum())
    unit = np.where(spread > 1e-150, spread, 1.0)
    order: Any = slice(None) if np.all(np.diff(cells.order) == 1) else cells.order
    A = np.ones((n, d + fit_intercept))
    np.subtract(X[order], centre, out=A[:, :d])
    A[:, :d] /= unit
    return CellRows(A, y[order], None if weights is None else weights[order], loss, cells.ends), centre, unit
