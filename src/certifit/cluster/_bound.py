"""Search for proofs that no clustering into k parts costs much less: closed form, blocks, one dimension.

What is found here is evidence; `certifit.certificates.clustering` checks it and says what it proves.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from certifit._progress import task
from certifit._types import Array, Record
from certifit.certificates import Data
from certifit.certificates.clustering import closed_form, dense_rows, dual_bound, slack_matrix, sorted_sums
from certifit.cluster._lloyd import ClusterRows, lloyd, settle
from certifit.parallel import one_thread

CHEAP = 400  # rows up to which `certificate_` tries the closed form
LINE = 5000  # rows up to which `certificate_` proves the best clustering of one column
_BLOCK = 200  # rows of a block


def least_eigenvalue(S: Array) -> float:
    """The smallest eigenvalue of a symmetric matrix; minus infinity where that is not finite."""
    if not np.all(np.isfinite(S)):
        return -np.inf
    try:
        return float(scipy.linalg.eigvalsh(S, subset_by_index=[0, 0], check_finite=False)[0])
    except np.linalg.LinAlgError:  # the method for one eigenvalue gives up where they differ by more than floats hold
        return float(np.linalg.eigvalsh(S)[0])


def _shift(X: Array, weights: Array, y: Array, t: float, N: Array) -> float:
    """What has to be added to the diagonal for Cholesky to run through, also where y, N and S are not rounded."""
    slack = slack_matrix(X, weights, y, t, N)[0]
    S = np.tril(slack.mid) + np.tril(slack.mid, -1).T
    size = max(float(np.abs(S).max(initial=0.0)), 1e-300)
    off = 8.0 * len(S) * 2.0**-53 * size + 2.0 * float(np.linalg.norm(slack.rad))  # S may be small beside its terms
    return max(-least_eigenvalue(S), 0.0) * (1.0 + 1e-9) + off


def closed_form_evidence(X: Array, weights: Array, labels: Array, k: int) -> tuple[float, dict[str, Any]]:
    """The best bound that `closed_form` gives over a few t, and its evidence."""
    spread = _largest_scatter(X, weights, labels)
    best, told = 0.0, (0.0, 0.0)
    # S is −t on a cluster's own directions minus its scatter: t below minus the largest scatter is needed, and more
    # leaves less room between clusters.
    with one_thread():
        for factor in (1.0 + 1e-7, 1.02, 1.05, 1.1, 1.2, 1.5, 2.5, 5.0):
            t = -spread * factor
            y, N = closed_form(X, weights, labels, t)
            shift = _shift(X, weights, y, t, N)
            value = float(y @ np.sqrt(weights)) + k * (t - shift)
            if value > best:
                best, told = value, (t, shift)
            if k * shift <= 1e-10 * best:
                break
        if best <= 0:
            return 0.0, {"method": "none"}
        y, N = closed_form(X, weights, labels, told[0])
        best = dual_bound(X, weights, k, y, told[0], N, told[1])
    return best, {"method": "closed form", "t": told[0], "shift": told[1]}


def _largest_scatter(X: Array, weights: Array, labels: Array) -> float:
    """The largest eigenvalue of the scatter matrices of the clusters."""
    worst, X = 0.0, X - X[weights.argmax()]
    for c in np.unique(labels):
        rows = labels == c
        w = weights[rows]
        if w.sum() > 0:
            T = (X[rows] - w @ X[rows] / w.sum()) * np.sqrt(w)[:, None]
            length = float(np.linalg.norm(T, 2))
            worst = max(worst, length * length)  # infinite where it overflows; a power would raise
    return worst


def line_evidence(x: Array, weights: Array, k: int) -> Record:
    """Potentials of the shortest path at the price where k parts are best: best costs are convex in the number."""
    from certifit.loops.kmeans import intervals, potentials

    _, W, L, Q = sorted_sums(x, weights)
    _, best = intervals(W, L, Q, k + 1)
    one_less = best[k - 2] if k > 1 else 2.0 * best[0] - best[k] + best[0]
    price = 0.5 * max(one_less - best[k], 0.0)
    return {"method": "one dimension", "potentials": potentials(W, L, Q, price)}


class BlockDual:
    """The dual of one block by the alternating direction method (Wen, Goldfarb, Yin; Sun, Toh, Yang)."""

    def __init__(self, X: Array, weights: Array, k: int) -> None:
        self.X, self.weights, self.k = X, weights, k
        self.q = np.sqrt(weights)
        D = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
        self.C = 0.5 * D * np.outer(self.q, self.q)
        self.scale = float(np.abs(self.C).mean()) or 1.0
        self.C = self.C / self.scale
        n = len(X)
        A = np.zeros((n + 1, n + 1))  # of the constraints Zq = q and tr Z = k, times its transpose
        A[:n, :n] = 0.5 * (np.eye(n) * (self.q @ self.q) + np.outer(self.q, self.q))
        A[:n, n] = A[n, :n] = self.q
        A[n, n] = n
        self.solve = np.linalg.pinv(A)
        self.b = np.concatenate([self.q, [float(k)]])
        self.Z = np.zeros((n, n))
        self.S, self.N, self.mu = np.zeros((n, n)), np.zeros((n, n)), 30.0
        self.y = np.zeros(n + 1)

    def _constraints(self, M: Array) -> Array:
        return np.concatenate([M @ self.q, [np.trace(M)]])

    def _adjoint(self, y: Array) -> Array:
        outer = np.outer(y[:-1], self.q)
        return np.asarray(0.5 * (outer + outer.T) + y[-1] * np.eye(len(self.q)))

    def step(self) -> None:
        """y, S, y, N, Z in turn."""
        for which in ("S", "N"):
            rest = self._constraints(self.S + self.N - self.C)
            self.y = self.solve @ (self.mu * (self.b - self._constraints(self.Z)) - rest)
            room = self.C - self._adjoint(self.y) - self.mu * self.Z
            if which == "S":
                values, vectors = np.linalg.eigh(room - self.N)
                up = values > 0
                self.S = (vectors[:, up] * values[up]) @ vectors[:, up].T
            else:
                self.N = np.maximum(room - self.S, 0.0)
        self.Z = self.Z + 1.6 / self.mu * (self._adjoint(self.y) + self.S + self.N - self.C)
        primal = float(np.linalg.norm(self._constraints(self.Z) - self.b) / (1.0 + np.linalg.norm(self.b)))
        dual = float(np.linalg.norm(self._adjoint(self.y) + self.S + self.N - self.C) / (1.0 + np.linalg.norm(self.C)))
        self.residual = max(primal, dual)
        # Balance the two residuals: a large μ makes the primal one fall.
        self.mu *= 1.1 if primal > 3.0 * dual else 1.0 / 1.1 if dual > 3.0 * primal else 1.0

    def evidence(self) -> tuple[float, Array, float, Array, float]:
        """The bound that the present y, t, N prove, and these with the shift of the diagonal."""
        y, t = self.y[:-1] * self.scale, float(self.y[-1] * self.scale)
        N = 0.5 * (self.N + self.N.T) * self.scale
        shift = _shift(self.X, self.weights, y, t, N)
        return dual_bound(self.X, self.weights, self.k, y, t, N, shift), y, t, N, shift


def _best_of_block(
    X: Array, weights: Array, k: int, value: float, deadline: float
) -> tuple[float, Array, float, Array, float]:
    """The best dual found for one block before the deadline."""
    best: tuple[float, Array, float, Array, float] = (0.0, np.zeros(len(X)), 0.0, np.zeros((len(X), len(X))), 0.0)
    with one_thread():
        dual = BlockDual(X, weights, k)
        for i in range(1, 2001):
            dual.step()
            late = time.perf_counter() > deadline
            if i % 50 == 0 or late:
                before, best = best[0], max(best, dual.evidence(), key=lambda f: f[0])
                stalled = dual.residual < 1e-4 and best[0] - before <= 1e-4 * best[0]
                if late or stalled or value - best[0] <= 1e-6 * value:
                    break
    return best


def block_evidence(
    data: Data, k: int, value: float, time_budget: float, seed: int, progress: Callable[[int, int], object] | None
) -> tuple[float, dict[str, Any]]:
    """Random blocks of a few hundred rows, each with its own dual; what time does not reach counts as nothing."""
    n, end = data.X.shape[0], time.perf_counter() + time_budget
    count = max(1, -(-n // (_BLOCK if n > 2 * _BLOCK else n)))
    block = np.empty(n, dtype=np.int64)
    block[np.random.default_rng(seed).permutation(n)] = np.arange(n) % count
    y, t, shift, total, parts = np.zeros(n), np.zeros(count), np.zeros(count), 0.0, []
    with task("bound", count) as tell:
        for b in range(count):
            rows = np.flatnonzero(block == b)
            X, w = dense_rows(data.X, rows), data.weights[rows]
            left = end - time.perf_counter()
            found: Any = (0.0, np.zeros(len(rows)), 0.0, np.zeros((len(rows), len(rows))), 0.0)
            if left > 0:
                own = _own_clusters(X, w, k, seed)
                first, told = closed_form_evidence(X, w, own.labels, k)
                if told["method"] != "none":
                    y_b, N_b = closed_form(X, w, own.labels, told["t"])
                    found = (first, y_b, told["t"], N_b, told["shift"])
                if own.value - first > 1e-6 * own.value:
                    deadline = time.perf_counter() + left / (count - b)
                    found = max(found, _best_of_block(X, w, k, own.value, deadline), key=lambda f: f[0])
            total += found[0]
            y[rows], t[b], shift[b] = found[1], found[2], found[4]
            parts.append(found[3][np.tril_indices(len(rows))])
            if progress is not None:
                progress(b + 1, count)
            tell(b + 1)
    evidence = {
        "method": "blocks",
        "block": block,
        "y": y,
        "t": t,
        "shift": shift,
        "multipliers": np.concatenate(parts),
    }
    return total, evidence


def _own_clusters(X: Array, weights: Array, k: int, seed: int) -> Any:
    """A good clustering of a block by itself."""
    from sklearn.cluster import kmeans_plusplus

    rows, best = ClusterRows(X, weights), None
    if len(X) <= k:
        start = np.concatenate([X, np.repeat(X[:1], k - len(X), axis=0)])
        return lloyd(rows, start, 2, 0.0, False)
    for trial in range(4):
        start, _ = kmeans_plusplus(X, k, sample_weight=weights, random_state=seed + trial)
        found = settle(rows, lloyd(rows, start, 100, 0.0, False), 100, False)
        if best is None or found.value < best.value:
            best = found
    return best
