r"""Clustering: what a k-means clustering costs, that no small change improves it, and how far it is from the best.

With weights s, rows x, labels and centres c the value is Φ = Σᵢ sᵢ‖xᵢ − c_{label(i)}‖². Three kinds of change are
bounded: giving every row to its nearest centre, moving every centre to the mean of its rows, and moving one row from
its cluster (weight W) to another (leaving gains sW/(W−s)·d², joining costs sW/(W+s)·d², d to the means).

*Lower bounds.* Let Dᵢⱼ = ‖xᵢ − xⱼ‖², q = √s, D̃ᵢⱼ = qᵢqⱼDᵢⱼ and Z = Σ_c q_c q_cᵀ/‖q_c‖². Then Φ = ½⟨D̃, Z⟩ with Z ⪰ 0,
Z ≥ 0, Zq = q and tr Z the number of parts that have weight. So for every y, t and N = Nᵀ ≥ 0: if
S = ½D̃ − N − ½(yqᵀ + qyᵀ) − tI ⪰ −εI, every clustering into at most k parts costs at least yᵀq + m(t − ε), with m the
smaller of k and the number of rows with weight (for fewer than m parts because some clustering into m costs no more;
more there cannot be). Cholesky with rounding proves the condition. Three ways to give y, t, N:

- "closed form": from the clustering itself, such that S q_c = 0 for every cluster (`closed_form`); evidence t only;
- "blocks": the rows in disjoint blocks, each with its own y, t, N; the bounds add up, because the best centres for
  all rows are allowed in each block;
- "one dimension": clusters are intervals of the sorted rows, so k-means is a shortest path; potentials π and a price λ
  with πⱼ − πᵢ ≤ cost(i, j) + λ for all i < j prove Φ ≥ πₙ − π₀ − kλ.

References: Peng and Wei, SIAM J. Optim. 18 (2007); Iguchi, Mixon, Peterson, Villar, arXiv 1509.07983.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import UNIT, Ball, dot, gamma
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, equal, lower, register, upper
from certifit.certificates._schema import FINITE, WHOLE, word
from certifit.certificates.spectrum import semidefinite

_ENTRIES = 1 << 18  # entries of X, or of a table of distances, taken at a time
_SMALL = 1e-9  # a change that gains less than this fraction of the value counts as rounding, in words


def dense_rows(X: Matrix, rows: Matrix) -> Array:
    """The named rows as a dense array."""
    part = X[rows]
    return np.asarray(part.toarray() if scipy.sparse.issparse(part) else part, dtype=float)


def _pieces(data: Data, width: int) -> Iterator[slice]:
    rows = max(64, _ENTRIES // max(1, data.X.shape[1], width))
    for start in range(0, data.X.shape[0], rows):
        yield slice(start, start + rows)


def _squared_distances(T: Ball, C: Ball) -> Ball:
    """‖t − c‖² for every row t and centre c; both near zero, so that little cancels."""
    product = dot(T, C.T)
    return T.square().sum(axis=1).reshape(-1, 1) + C.square().sum(axis=1).reshape(1, -1) - product - product


class _Clusters:
    """The labels, centres and weights of the evidence, checked against the data."""

    def __init__(self, data: Data, evidence: Evidence) -> None:
        n, d = data.X.shape
        self.labels = np.asarray(evidence["labels"])
        self.centres = np.asarray(evidence["centres"], dtype=float)
        k = len(self.centres)
        whole = self.labels.dtype.kind in "iu" and self.labels.shape == (n,)
        if not whole or self.centres.shape != (k, d) or k < 1:
            raise ValueError("one whole label per row, and one centre per cluster with as many numbers as a row")
        if n and not (self.labels.min() >= 0 and self.labels.max() < k):
            raise ValueError("a label names no centre")
        self.weights = data.weights
        if not (np.all(np.isfinite(self.weights)) and np.all(self.weights >= 0)):
            raise ValueError("weights are finite and not negative")
        if not np.all(np.isfinite(self.centres)):
            raise ValueError("centres are finite")
        self.k = k

    def sums(self, values: Ball) -> Ball:
        """Sums of an array of balls over the rows of each cluster."""
        mid, rad = np.zeros((self.k, *values.shape[1:])), np.zeros((self.k, *values.shape[1:]))
        for c in range(self.k):
            total = values[self.labels == c].sum(axis=0)
            mid[c], rad[c] = total.mid, total.rad
        return Ball(mid, rad)


def _means(data: Data, found: _Clusters, origin: Array) -> tuple[Ball, Ball]:
    """Weight of each cluster, and the mean of its rows minus ``origin`` (0 where a cluster has no weight)."""
    s = Ball(found.weights)
    total = found.sums(s.reshape(-1, 1)).reshape(-1)
    mid, rad = np.zeros(found.centres.shape), np.zeros(found.centres.shape)
    for c in range(found.k):
        rows = np.flatnonzero(found.labels == c)
        if not np.any(found.weights[rows] > 0):
            continue
        sums = Ball(np.zeros(data.X.shape[1]))
        step = max(64, _ENTRIES // data.X.shape[1])
        for i in range(0, len(rows), step):
            part = rows[i : i + step]
            T = Ball(dense_rows(data.X, part)) - Ball(origin)
            sums = sums + (T * s[part].reshape(-1, 1)).sum(axis=0)
        mean = sums / total[c]
        mid[c], rad[c] = mean.mid, mean.rad
    return total, Ball(mid, rad)


def _gains(data: Data, found: _Clusters) -> tuple[Ball, float, float, float]:
    """Φ, and the most to be gained by reassigning all rows, by moving all centres, and by moving one row."""
    origin = found.centres.mean(axis=0)
    total, means = _means(data, found, origin)
    stated = Ball(found.centres) - Ball(origin)
    value, reassigned, moved = Ball(0.0), 0.0, 0.0
    live = np.bincount(found.labels, weights=found.weights > 0, minlength=found.k)
    for part in _pieces(data, found.k):
        label, s = found.labels[part], Ball(found.weights[part])
        X = dense_rows(data.X, part)
        own = (Ball(X) - Ball(found.centres[label])).square().sum(axis=1)
        value = value + (own * s).sum()
        T = Ball(X) - Ball(origin)
        nearest = _squared_distances(T, stated).lower.min(axis=1)
        over = Ball(np.maximum(own.upper - np.maximum(nearest, 0.0), 0.0)) * s
        reassigned += float(over.sum().upper)
        moved = max(moved, _best_move(T, s, label, live, total, means))
    shift = (means - stated).square().sum(axis=1) * total
    return value, reassigned * (1.0 + 1e-12), float(shift.sum().upper), moved


def _best_move(T: Ball, s: Ball, label: Array, live: Array, total: Ball, means: Ball) -> float:
    """The most that moving one of these rows to another cluster can gain."""
    if len(live) < 2 or not len(label):
        return 0.0
    D = _squared_distances(T, means).maximum(0.0)
    rows = np.arange(len(label))
    here = total[label]
    leave = s * here / (here - s) * D[rows, label]
    join = s.reshape(-1, 1) * total.reshape(1, -1) / (total.reshape(1, -1) + s.reshape(-1, 1)) * D
    cost = np.where(np.isnan(join.lower), 0.0, join.lower)  # nothing over nothing: a row or cluster without weight
    cost[rows, label] = np.inf
    gain = leave.upper - cost.min(axis=1)
    # The only row of a cluster cannot leave it, and one without weight gains nothing.
    able = (live[label] > 1) & (s.mid > 0)
    gain = np.where(np.isnan(gain), np.inf, gain)[able]
    return float(max(gain.max(initial=0.0), 0.0)) * (1.0 + 1e-12)


# -- lower bounds -----------------------------------------------------------------------------------
def closed_form(X: Array, weights: Array, labels: Array, t: float) -> tuple[Array, Array]:
    """y and N ≥ 0 with S q_c = 0 for every cluster (where no entry had to be cut at zero), for a given t ≤ 0.

    y = q(d² − t/W) with d the distance to the mean of the own cluster, and between clusters a and b the rank-one block
    r rᵀ′/ρ with r = q(½W_b(d_b² − d_a²) + ½t(W_b/W_a + 1)). Whatever comes out is checked.
    """
    X = X - X[weights.argmax()]  # means of rows far from the origin would be rounded more than the rows differ
    names = np.unique(labels[weights > 0])
    q = np.sqrt(weights)
    W = np.array([weights[labels == c].sum() for c in names])
    means = np.array([weights[labels == c] @ X[labels == c] for c in names]) / W[:, None]
    D = ((X[:, None, :] - means[None, :, :]) ** 2).sum(axis=2)
    position = np.searchsorted(names, labels).clip(max=len(names) - 1)
    own = D[np.arange(len(X)), position]
    y = q * (own - t / W[position])
    R = 0.5 * W[None, :] * (D - own[:, None]) + 0.5 * t * (W[None, :] / W[position][:, None] + 1.0)
    R = q[:, None] * np.maximum(R, 0.0)
    N = np.zeros((len(X), len(X)))
    groups = [np.flatnonzero(position == c) for c in range(len(names))]
    for a, rows in enumerate(groups):
        for b in range(a):
            columns = groups[b]
            r, rr = R[rows, b], R[columns, a]
            rho = max(float(q[columns] @ rr), float(q[rows] @ r))
            if rho > 0:
                N[np.ix_(rows, columns)] = np.outer(r, rr / rho)
                N[np.ix_(columns, rows)] = N[np.ix_(rows, columns)].T
    return y, N


def slack_matrix(X: Array, weights: Array, y: Array, t: float, N: Array) -> tuple[Ball, Ball]:
    """S = ½D̃ − N − ½(yqᵀ + qyᵀ) − tI with its rounding, and q = √s."""
    T = Ball(X) - Ball(X.mean(axis=0))
    D = _squared_distances(T, T)
    np.fill_diagonal(D.mid, 0.0)  # the distance of a row to itself is known
    np.fill_diagonal(D.rad, 0.0)
    plain = bool(np.all(weights == 1.0))
    q = Ball(np.ones(len(X))) if plain else np.sqrt(Ball(weights))
    half = D * 0.5 if plain else D * 0.5 * (q.reshape(-1, 1) * q.reshape(1, -1))
    yq = Ball(y).reshape(-1, 1) * q.reshape(1, -1)
    return half - N - (yq + yq.T) * 0.5 - Ball(t * np.eye(len(X))), q


def dual_bound(X: Array, weights: Array, k: int, y: Array, t: float, N: Array, shift: float) -> float:
    """What y, t, N prove: no clustering of these rows into k parts costs less (0 where they prove nothing)."""
    if not (np.all(N >= 0) and np.all(np.isfinite(N)) and np.all(np.isfinite(y)) and np.isfinite(t) and shift >= 0):
        raise ValueError("multipliers are finite and not negative")
    N = np.tril(N) + np.tril(N, -1).T
    S, q = slack_matrix(X, weights, y, t, N)
    ran, extra = semidefinite(S + Ball(shift * np.eye(len(X))))
    if not ran:
        return 0.0
    parts = min(k, int(np.count_nonzero(weights)))
    bound = (Ball(y) * q).sum() + (Ball(t) - shift - extra) * float(parts)
    found = float(bound.lower)
    return max(found * (1.0 - 1e-12), 0.0) if np.isfinite(found) else 0.0


def _closed_form_bound(data: Data, found: _Clusters, evidence: Evidence) -> float:
    t, shift = float(evidence["t"]), float(evidence["shift"])
    X = dense_rows(data.X, slice(None))
    y, N = closed_form(X, found.weights, found.labels, t)
    return dual_bound(X, found.weights, found.k, y, t, N, shift)


def _block_bound(data: Data, found: _Clusters, evidence: Evidence) -> float:
    """The sum over disjoint blocks; every row names its block, so they are a partition."""
    n = data.X.shape[0]
    block, t = np.asarray(evidence["block"]), np.asarray(evidence["t"], dtype=float)
    y, shift = np.asarray(evidence["y"], dtype=float), np.asarray(evidence["shift"], dtype=float)
    flat = np.asarray(evidence["multipliers"], dtype=float)
    if block.dtype.kind not in "iu" or block.shape != (n,) or y.shape != (n,) or t.ndim != 1 or shift.shape != t.shape:
        raise ValueError("one block and one number y per row, one t and one shift per block")
    if n and not (block.min() >= 0 and block.max() < len(t)):
        raise ValueError("a row names no block")
    total, at = 0.0, 0
    for b in range(len(t)):
        rows = np.flatnonzero(block == b)
        size = len(rows) * (len(rows) + 1) // 2
        N = np.zeros((len(rows), len(rows)))
        N[np.tril_indices(len(rows))] = flat[at : at + size]
        at += size
        if len(rows):
            X, w = dense_rows(data.X, rows), found.weights[rows]
            total += dual_bound(X, w, found.k, y[rows], float(t[b]), N, float(shift[b]))
    if at != len(flat):
        raise ValueError("the multipliers do not match the blocks")
    return total * (1.0 - len(t) * UNIT)


def sorted_sums(x: Array, weights: Array) -> tuple[Array, Array, Array, Array]:
    """Order of the rows, and running sums of weights, of s·t and of s·t², t measured from the middle."""
    order = np.argsort(x, kind="stable")
    t, s = x[order] - np.median(x), weights[order]
    return order, *(np.concatenate([[0.0], np.cumsum(v)]) for v in (s, s * t, s * t * t))  # type: ignore[return-value]


def _path_bound(data: Data, found: _Clusters, evidence: Evidence) -> float:
    """What the potentials prove at the lowest price λ ≥ 0 that they allow."""
    if data.X.shape[1] != 1:
        raise ValueError("sorted rows need one column")
    pi = np.asarray(evidence["potentials"], dtype=float)
    x, n = dense_rows(data.X, slice(None))[:, 0], data.X.shape[0]
    if pi.shape != (n + 1,) or not np.all(np.isfinite(pi)):
        raise ValueError("one finite potential per border between sorted rows")
    _, W, L, Q = sorted_sums(x, found.weights)
    t = np.sort(x) - np.median(x)
    s = found.weights[np.argsort(x, kind="stable")]
    g = gamma(n + 8)
    # Errors of differences of running sums, and of the rounding in t itself.
    slip = UNIT * np.abs(t) * 2.0
    eW = 2.0 * g * float(W[-1])
    eL = 2.0 * g * float(s @ np.abs(t)) + 2.0 * float(s @ slip)
    eQ = 2.0 * g * float(Q[-1]) + 4.0 * float(s @ (slip * np.abs(t)))
    worst = -np.inf
    for j in range(1, n + 1):
        w, m = W[j] - W[:j], np.abs(L[j] - L[:j]) + eL
        sure = w > 2.0 * eW
        with np.errstate(all="ignore"):
            cost = np.where(sure, (Q[j] - Q[:j]) - eQ - m * m / (w - eW) * (1.0 + 8 * UNIT), 0.0)
        least = np.max(pi[j] - pi[:j] - np.maximum(cost, 0.0) * (1.0 - 8 * UNIT))
        worst = float(np.maximum(worst, least))  # a NaN stays one
    spread = float(np.abs(pi).max())
    price = max(worst + 4.0 * UNIT * (spread + abs(worst)), 0.0) if np.isfinite(worst) else np.inf
    bound = (Ball(pi[-1]) - float(pi[0]) - Ball(price) * float(found.k)).lower
    return max(float(bound), 0.0) if np.isfinite(bound) else 0.0


_BOUNDS = {"closed form": _closed_form_bound, "blocks": _block_bound, "one dimension": _path_bound}


@register
class Clustering(Kind):
    """Claim: what this clustering costs, what small changes could gain, and what no clustering into k goes below.

    Evidence: ``labels`` (n,), ``centres`` (k, d), ``method`` ("none", "closed form", "blocks" or "one dimension") and
    what that method needs (see the module's docstring).
    """

    name = "clustering"
    theorem = "weak duality of the semidefinite relaxation of k-means (Peng and Wei), or of a shortest path"
    needs: ClassVar = {"labels": WHOLE, "centres": FINITE, "method": word("none", *_BOUNDS)}
    may: ClassVar = {"t": FINITE, "shift": FINITE, "block": WHOLE, "y": FINITE, "multipliers": FINITE,
                     "potentials": FINITE}  # fmt: skip

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        found, method = _Clusters(data, evidence), evidence["method"]
        value, reassigned, shifted, moved = _gains(data, found)
        bound = _BOUNDS[method](data, found, evidence) if method in _BOUNDS else 0.0
        if method == "closed form":  # yᵀq + kt is the cost about the means, but for the rounding of y
            best = value - Ball(shifted) - Ball(float(evidence["shift"])) * float(found.k)
            bound = max(min(bound, float(best.lower)), 0.0)
        gap = (value - bound).maximum(0.0)
        no_gap = float(gap.upper) <= 0.0
        excess = Ball(0.0) if no_gap else gap / Ball(bound) if bound > 0 else Ball(np.inf)
        finite = bool(np.isfinite(float(value.upper)))
        figures = {
            "clusters": equal(found.k),
            "value": upper(value),
            "bound": lower(_loose(bound)),
            "gap": upper(gap + Ball(0.0, 1e-12 * bound)),
            "excess": upper(excess + Ball(0.0, 1e-12)) if bound > 0 or no_gap else upper(np.inf),
            "reassignment_gain": upper(_loose(reassigned)),
            "centre_gain": upper(_loose(shifted)),
            "move_gain": upper(_loose(moved)),
            "bound_method": equal(str(method)),
        }
        checks = (
            Check("the cost of the clustering is a finite number", finite),
            Check("the bound is not above the cost", bool(bound <= float(value.upper) * (1.0 + 1e-9)), f"{bound:.6g}"),
        )
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        k, value = figures["clusters"], figures["value"]
        into = f"into {k} part{'s' if k != 1 else ''}"
        small = _SMALL * value
        gains = {name: figures[f"{name}_gain"] for name in ("reassignment", "centre", "move")}
        if all(gain <= small for gain in gains.values()):
            local = (
                "Every row is with its nearest centre, every centre is the mean of its rows, and moving a single row "
                "gains nothing beyond rounding."
            )
        else:
            name = max(gains, key=lambda g: gains[g])
            words = {
                "reassignment": "giving every row to its nearest centre",
                "centre": "moving every centre to the mean of its rows",
                "move": "moving a single row",
            }
            local = f"Not settled: {words[name]} may gain up to {gains[name]:.3g} of {value:.6g}."
        if not np.isfinite(figures["excess"]):
            return f"{local} How far it is from the best clustering {into} is not known: {value:.6g} is its cost."
        return f"At most {percentage(figures['excess'])} above the best possible clustering {into}. {local}"


def _loose(value: float) -> Any:
    """Room for another machine, whose rounding differs."""
    return Ball(value, 1e-12 * value) if value else 0.0


def percentage(share: float) -> str:
    """A share in words: per cent, or a power of ten where it is tiny."""
    return f"{100 * share:.2g} %" if share >= 1e-4 else f"{share:.0e} of the cost"
