"""k-means by Lloyd's iterations with bounds, then single-row moves; the exact answer in one dimension.

Φ = Σ s‖x − c‖². One Lloyd iteration gives every row to its nearest centre and moves every centre to the mean of its
rows; a move takes one row from its cluster to another where that lowers Φ (Hartigan and Wong), which Lloyd's
iterations do not see. A clustering that no move improves is also one that Lloyd's iterations leave alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from certifit._trace import Trace, continued
from certifit._types import Array, Matrix
from certifit.certificates.clustering import sorted_sums
from certifit.parallel import by_ranges, ranges, side_by_side
from certifit.solvers import drive

_PARTS = 16  # sums of clusters are made in so many parts, whatever the number of threads: equal bits
_LEAST = 4096  # rows that are worth a thread
_AGAIN = 16  # so many times sums follow the rows that moved, then they are made anew: rounding stays small
_TABLE = 1 << 26  # entries of the table of dynamic programming


@dataclass(frozen=True)
class Clusters:
    """One run: centres, labels, cost, and how it went."""

    centres: Array
    labels: Array
    value: float
    n_iter: int
    n_moves: int
    status: str
    trace: Trace


class _LloydState(NamedTuple):
    centres: Array
    changed: int
    objective: float
    gap: float
    step: float


class ClusterRows:
    """Rows with weights, dense or sparse, and the distances, sums and moves that k-means needs."""

    def __init__(self, X: Matrix, weights: Array) -> None:
        self.sparse = scipy.sparse.issparse(X)
        self.X: Any = X.tocsr() if self.sparse else np.ascontiguousarray(X, dtype=float)
        self.weights = np.ascontiguousarray(weights, dtype=float)
        self.n, self.d = X.shape
        # Weights of clusters are then exact, so that an empty one is seen.
        self._whole = bool(np.array_equal(self.weights, np.rint(self.weights)))
        self._kept: tuple[Array, Array, Array, int] | None = None
        if self.sparse:
            self.squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()

    def start(self) -> None:
        """Forget labels and bounds."""
        self.labels = np.full(self.n, -1, dtype=np.int32)
        self.upper, self.lower = np.empty(self.n), np.empty(self.n)
        self._kept = None

    def widen(self, drift: Array | None) -> None:
        """Bounds that still hold after the centres moved so far (None: labels changed as well)."""
        if drift is None:
            self.upper[:], self.lower[:] = np.inf, 0.0
        else:
            self.upper += drift[self.labels]
            self.lower -= drift.max()

    def squared_distances(self, C: Array) -> Array:
        """‖x − c‖² for all rows and centres (sparse rows: through inner products)."""
        if self.sparse:
            D = self.squares[:, None] - 2.0 * np.asarray(self.X @ C.T) + (C * C).sum(axis=1)
            return np.asarray(np.maximum(D, 0.0))
        out = np.empty((self.n, len(C)))
        for c, centre in enumerate(C):
            out[:, c] = ((self.X - centre) ** 2).sum(axis=1)
        return out

    def assign(self, C: Array, drift: Array | None) -> int:
        """Nearest centres; ``drift`` says how far each has moved since the last time (None: anywhere)."""
        from certifit.loops.kmeans import assign, reassign

        if self.sparse:
            nearest = self.squared_distances(C).argmin(axis=1).astype(np.int32)
            changed, self.labels = int((nearest != self.labels).sum()), nearest
            return changed
        T, changes = np.ascontiguousarray(C.T), []

        def work(first: int, last: int) -> None:
            state = (first, last, self.labels, self.upper, self.lower)
            if drift is None:
                changes.append(assign(self.X, T, *state))
            else:
                changes.append(reassign(self.X, C, T, drift, half, *state))

        half = _half_gaps(C) if drift is not None else C
        by_ranges(work, self.n, _LEAST)
        return int(sum(changes))

    def sums(self, k: int) -> tuple[Array, Array]:
        """Weighted sums (k, d) and weights (k,) of the clusters."""
        from certifit.loops.kmeans import cluster_sums

        if self.sparse:
            chosen = scipy.sparse.csr_matrix((self.weights, (self.labels, np.arange(self.n))), shape=(k, self.n))
            return np.asarray((chosen @ self.X).todense()), np.asarray(chosen.sum(axis=1)).ravel()

        def part(span: tuple[int, int]) -> tuple[Array, Array]:
            sums, total = np.zeros((k, self.d)), np.zeros(k)
            cluster_sums(self.X, self.weights, self.labels, *span, sums, total)
            return sums, total

        found = side_by_side(part, ranges(self.n, _PARTS if self.n > _LEAST else 1))
        return sum(f[0] for f in found), sum(f[1] for f in found)  # type: ignore[return-value]

    def changed_sums(self, k: int) -> tuple[Array, Array]:
        """The same, from those of the last call and the rows that moved since."""
        from certifit.loops.kmeans import change_sums

        if self.sparse or not self._whole:
            return self.sums(k)
        if self._kept is None or self._kept[3] >= _AGAIN:
            sums, total = self.sums(k)
            self._kept = sums, total, self.labels.copy(), 0
        else:
            sums, total, before, age = self._kept
            change_sums(self.X, self.weights, before, self.labels, sums, total)
            self._kept = sums, total, before, age + 1
        return sums.copy(), total.copy()

    def own_squares(self, C: Array) -> Array:
        """Squared distance of every row to the centre of its label."""
        from certifit.loops.kmeans import own_distances

        if self.sparse:
            return self.squared_distances(C)[np.arange(self.n), self.labels]
        out = np.empty(self.n)
        by_ranges(lambda a, b: own_distances(self.X, C, self.labels, a, b, out), self.n, _LEAST)
        return out

    def value(self, C: Array) -> float:
        """Φ of the labels with these centres."""
        return float(self.weights @ self.own_squares(C))


def _half_gaps(C: Array) -> Array:
    """Half the distance from each centre to the nearest other one."""
    D = np.sqrt(((C[:, None, :] - C[None, :, :]) ** 2).sum(axis=2))
    np.fill_diagonal(D, np.inf)
    return np.asarray(0.5 * D.min(axis=1) * (1.0 - 1e-12))


def means(rows: ClusterRows, C: Array, known: tuple[Array, Array] | None = None) -> tuple[Array, bool]:
    """Means of the clusters, and whether an empty one had to be filled with the row furthest from its centre."""
    sums, total = known or rows.sums(len(C))
    empty = np.flatnonzero(total <= 0)
    filled = False
    if len(empty):
        far = rows.own_squares(C) * (rows.weights > 0)
        for c, i in zip(empty, np.argsort(-far, kind="stable")):
            if far[i] <= 0:  # fewer different rows than clusters: nothing to fill with
                break
            x = rows.X[i].toarray().ravel() if rows.sparse else rows.X[i]
            a, w = rows.labels[i], rows.weights[i]
            if total[a] <= w:
                continue
            sums[a], total[a] = sums[a] - w * x, total[a] - w
            sums[c], total[c], rows.labels[i] = w * x, w, c
            filled = True
    some = total > 0
    return np.where(some[:, None], sums / np.where(some, total, 1.0)[:, None], C), filled


def lloyd(rows: ClusterRows, start: Array, max_iter: int, tol: float, trace: bool) -> Clusters:
    """Lloyd's iterations from given centres until no label changes or the squared steps sum to at most ``tol``."""
    rows.start()
    fresh = [True]

    def step(state: _LloydState) -> _LloydState:
        drift = None if fresh[0] else state_drift[0]
        changed = rows.assign(state.centres, drift)
        C, filled = means(rows, state.centres, rows.changed_sums(len(state.centres)))
        moved = np.sqrt(((C - state.centres) ** 2).sum(axis=1)) * (1.0 + 1e-12)
        state_drift[0], fresh[0] = moved, filled or rows.sparse
        value = rows.value(C) if trace else 0.0
        return _LloydState(C, changed + filled, value, np.nan, float(moved @ moved))

    state_drift: list[Array] = [np.zeros(len(start))]
    run = drive(
        _LloydState(np.array(start, dtype=float), rows.n, 0.0 if not trace else np.inf, np.nan, np.nan),
        step,
        lambda _, after: after.changed == 0 or after.step <= tol,
        max_iter,
        trace=trace,
        events=_columns("Lloyd") if trace else None,
        what="k-means",
    )
    if run.state.changed or run.n_iter == 0:  # stopped by tol or max_iter: labels that fit the last centres
        rows.assign(run.state.centres, None if fresh[0] else state_drift[0])
    else:
        rows.widen(state_drift[0])
    C = run.state.centres
    return Clusters(C, rows.labels, rows.value(C), run.n_iter, 0, run.status, run.trace[1:] if trace else run.trace)


def _columns(phase: str) -> Callable[[_LloydState], Iterable[Mapping[str, Any]]]:
    return lambda state: ({"phase": phase, "changed": state.changed, "centres": state.centres.copy()},)


def settle(rows: ClusterRows, found: Clusters, passes: int, trace: bool) -> Clusters:
    """Move single rows while that lowers the cost; then centres are the means of their rows again."""
    C, filled = means(rows, found.centres)
    rows.widen(None if filled else np.sqrt(((C - found.centres) ** 2).sum(axis=1)) * (1.0 + 1e-12))
    k = len(C)
    count = np.bincount(rows.labels, weights=rows.weights > 0, minlength=k).astype(np.int64)
    total = rows.sums(k)[1]
    moves = [0]

    def step(state: _LloydState) -> _LloydState:
        changed = _one_pass(rows, C, total, count)
        moves[0] += changed
        return _LloydState(C, changed, rows.value(C) if trace else 0.0, np.nan, float(changed))

    run = drive(
        _LloydState(C, 0, 0.0, np.nan, np.nan),
        step,
        lambda _, after: after.changed == 0,
        passes,
        trace=trace,
        events=_columns("moves") if trace else None,
    )
    C, _ = means(rows, C)
    rest = continued(found.trace, run.trace[1:]) if trace else found.trace
    return Clusters(C, rows.labels, rows.value(C), found.n_iter, moves[0], run.status, rest)


def _one_pass(rows: ClusterRows, C: Array, total: Array, count: Array) -> int:
    """One pass of moves over the rows (sparse: all at once into the best place, the most gainful first)."""
    from certifit.loops.kmeans import move_rows

    if not rows.sparse:
        T = np.ascontiguousarray(C.T)
        return int(move_rows(rows.X, rows.weights, rows.labels, C, T, total, count, rows.upper, rows.lower))
    D = rows.squared_distances(C)
    s, at, each = rows.weights[:, None], rows.labels, np.arange(rows.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        leave = np.where(
            (count[at] > 1) & (rows.weights > 0), total[at] / (total[at] - rows.weights) * D[each, at], 0.0
        )
        join = total / (total + s) * D
    join[each, at] = np.inf
    best = join.argmin(axis=1)
    gain = rows.weights * (leave - join[each, best])
    i = int(np.argmax(gain))
    # Inner products leave an error of some rounding units of the squares: less than that is no gain.
    if not gain[i] > 1e-11 * rows.weights[i] * (rows.squares[i] + leave[i]):
        return 0
    a, b, w = int(at[i]), int(best[i]), rows.weights[i]
    x = rows.X[i].toarray().ravel()
    C[a] += (C[a] - x) * (w / (total[a] - w))
    C[b] += (x - C[b]) * (w / (total[b] + w))
    total[a], total[b] = total[a] - w, total[b] + w
    count[a], count[b] = count[a] - 1, count[b] + 1
    rows.labels[i] = b
    return 1


def on_a_line(rows: ClusterRows, k: int) -> Clusters | None:
    """The best clustering of one column, by dynamic programming over the sorted rows (None where it is too large)."""
    from certifit.loops.kmeans import intervals

    if rows.d != 1 or (k + 1) * (rows.n + 1) > _TABLE:
        return None
    x = rows.X.toarray()[:, 0] if rows.sparse else rows.X[:, 0]
    order, W, L, Q = sorted_sums(x, rows.weights)
    borders, _ = intervals(W, L, Q, k)
    rows.start()
    centres, middle = np.full((k, 1), np.nan), np.median(x)
    for c in range(k):
        a, b = borders[c], borders[c + 1]
        rows.labels[order[a:b]] = c
        if W[b] > W[a]:
            w, t = rows.weights[order[a:b]], x[order[a:b]]
            centres[c] = float(w @ (t - middle)) / float(w.sum()) + middle
    known = np.flatnonzero(np.isfinite(centres[:, 0]))
    for c in np.flatnonzero(np.isnan(centres[:, 0])):  # a part without weight: any place where it takes no row
        centres[c] = centres[known[np.argmin(np.abs(known - c))]]
        twin = known[np.argmin(np.abs(known - c))]
        rows.labels[rows.labels == c] = twin
    return Clusters(centres, rows.labels, rows.value(centres), 1, 0, "closed form", Trace())
