r"""The smooth part of an objective as a function of centred and scaled coordinates, one or many scores a row.

.. math:: f(\theta) = \sum_i s_i\,L(a_i\theta + o_i,\ y_i) + \tfrac12\sum_j \rho_j\lVert\theta_j - \theta_{0j}\rVert^2

θ has a row for each column of X (and the last for the offset) and a column for each score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from certifit._types import Array
from certifit.design import (
    Cholesky,
    Coordinates,
    GramSum,
    PseudoInverse,
    cholesky,
    many_products,
    pseudo_inverse,
    read_only,
)
from certifit.losses import Logistic, Loss, Poisson, Softmax
from certifit.parallel import by_ranges, ranges, side_by_side, sum_over_rows
from certifit.solvers._separable import separable
from certifit.solvers._task import Task

_BLOCK = 512  # rows per block of a Hessian of several classes
_RANGE = 1 << 14  # curvatures that are worth a thread
_NUMBERS = 1 << 18  # of X that a pass takes at a time: they are read twice, the second time from a cache
_PRODUCTS = 1 << 21  # multiplications of one product: smaller ones leave two threads waiting for the interpreter
_LARGE = 1 << 22  # numbers of X from which on a compiled loop is worth the time it may take to compile
_TERMS = 1 << 24  # the same for several classes: numbers of X times classes
_STRIPES = 8  # parts of the rows for a Hessian of several classes, at most
_LEAST = 1024  # rows that are worth a part of their own
_PARTS = 32  # of the rows, summed on their own: a fixed number, so that rounding is always the same
_HANDED_OVER = 16  # the same of a pass that is so quick that handing parts to threads is felt
_SMALL = 1 << 20  # numbers of X below which it is not worth that
_FLAT = 1e-13  # reciprocal condition number below which some direction has no curvature
_STEEP = 1e-4  # reciprocal condition number above which single precision is enough for a metric
_TINY_NARROW = 1e-12  # the same in single precision, whose squares are smaller still
_TINY = 1e-30  # curvatures below it are dropped: products of denormal numbers are a hundred times slower


class ScaledHessian(NamedTuple):
    """A Hessian ready to be solved with, in class-major order and units of its own diagonal."""

    factor: Cholesky | PseudoInverse | None
    root: Array
    ridge: Array | None = None  # (p,), of several classes: the curvature of a shift of all of them, which the loss
    # does not feel; the factor has a larger one there, so that it is well conditioned

    @property
    def rough(self) -> bool:
        """Whether steps have to find their length themselves."""
        return False

    @property
    def flat(self) -> bool:
        """Whether some direction has no curvature."""
        return isinstance(self.factor, PseudoInverse)

    def steep(self, least: float) -> bool:
        """Whether there is a factor, with at least this reciprocal condition number."""
        return isinstance(self.factor, Cholesky) and self.factor.rcond >= least

    def solve(self, G: Array) -> Array:
        """H⁻¹G for G of shape (p, K)."""
        assert self.factor is not None
        shift = 0.0
        if self.ridge is not None:
            common = G.mean(axis=1)
            G = G - common[:, None]
            shift = np.divide(common, self.ridge, out=np.zeros(len(G)), where=self.ridge > 0)[:, None]
        return (self.factor.solve(G.T.ravel() / self.root) / self.root).reshape(G.shape[::-1]).T + shift


@dataclass(frozen=True)
class SmoothSum:
    """f of the module docstring."""

    columns: Coordinates
    y: Array
    weights: Array
    loss: Loss
    ridge: Array  # (p,), in coordinates; zero for the offset
    prior: Array  # (p, K), in coordinates
    offset: Array | None = None
    large: bool = False  # whether the rows are some of so many that compiled loops are used in any case

    @classmethod
    def of(cls, task: Task, columns: Coordinates | None = None) -> SmoothSum:
        """What the task states (F or F/S) without its 1-norm, in given coordinates or its own."""
        part = separable(task.objective.regularizer)
        assert part is not None
        columns = Coordinates.of(task.design, task.s, task.objective.fit_intercept) if columns is None else columns
        d, unit, outputs = task.design.shape[1], columns.unit, task.outputs
        prior = columns.padded((part.centre(outputs * d).reshape(outputs, d) * unit).T)
        with np.errstate(over="ignore"):  # a column in units so large that no penalty is felt
            ridge = columns.padded(task.lam * part.l2 / unit**2)
        return cls(columns, task.y, task.s / task.unit, task.objective.loss, ridge, prior, task.offset)

    @property
    def outputs(self) -> int:
        return int(self.prior.shape[1])

    def scores(self, theta: Array) -> Array:
        Z = self.columns.product(theta)
        return Z if self.offset is None else Z + self.offset[:, None]

    def evaluate(self, theta: Array) -> tuple[float, Array, Array]:
        """The objective, the scores (n, K) and the gradient (p, K), in one pass over X."""
        if self._suits_compiled_loop:
            return self._evaluate_softmax(theta) if self.outputs > 1 else self._evaluate_one_score(theta)
        design, sparse = self.columns.design, self.columns.design.is_sparse
        w, shift = self.columns.outward(theta)
        w = np.ascontiguousarray(w)  # the product with a transposed one takes three times as long
        Z = np.empty((len(self.y), self.outputs))

        def work(rows: slice) -> tuple[float, Array, Array]:
            A = design.X if sparse else design.take(rows)
            z = Z[rows]
            z[...] = A @ w
            z += shift
            if self.offset is not None:
                z += self.offset[rows, None]
            with np.errstate(over="ignore"):
                values, slopes = self.loss.above_level(self._pointwise(z), self.y[rows])
            slopes, s = slopes.reshape(z.shape), self.weights[rows]
            heavy = slopes * s[:, None]
            return float(s @ values), A.T @ heavy if sparse else (heavy.T @ A).T, s @ slopes

        block = max(512, min(_NUMBERS, _PRODUCTS // self.outputs) // design.shape[1])
        data, top, total = work(slice(0, len(Z))) if sparse else sum_over_rows(work, design.shape, block)
        return data + self._level + self._penalty(theta), Z, self._pulled(self.columns.gathered(top, total), theta)

    @cached_property
    def _suits_compiled_loop(self) -> bool:
        design = self.columns.design
        if design.is_sparse or self.offset is not None or not design.stored.flags.c_contiguous:
            return False
        if isinstance(self.loss, (Logistic, Poisson)):
            return self.large or design.stored.size >= _LARGE
        return isinstance(self.loss, Softmax) and (self.large or softmax_loop_suits(*design.shape, self.outputs))

    @property
    def _suits_one_score(self) -> bool:
        """Whether that is the loop for one score, which centres rows as it reads them."""
        if not self._suits_compiled_loop or self.outputs > 1:
            return False
        from certifit.loops._vectors import LANES  # loads Numba: only for what is large

        return LANES > 0

    def _evaluate_one_score(self, theta: Array) -> tuple[float, Array, Array]:
        """`evaluate` by a compiled loop that reads every row once."""
        from certifit.loops.one_score import one_score_pass  # loads Numba: only for what is large

        X, Z = read_only(self.columns.design.stored), np.empty((len(self.y), 1))
        w, shift = (np.ascontiguousarray(part) for part in self.columns.outward(theta))
        y, s = np.ascontiguousarray(self.y, dtype=float), np.ascontiguousarray(self.weights)
        at = w[:, 0], float(shift[0]), isinstance(self.loss, Poisson)

        def work(edges: tuple[int, int]) -> tuple[float, float, Array]:
            rows, gradient = slice(*edges), np.zeros(X.shape[1])
            value, total = one_score_pass(X[rows], y[rows], s[rows], *at, Z[rows, 0], gradient)
            return value, total, gradient

        parts = _HANDED_OVER if X.size > _SMALL else 1
        values, totals, gradients = zip(*side_by_side(work, ranges(len(y), parts)))
        G = self.columns.gathered(np.sum(gradients, axis=0)[:, None], np.array([sum(totals)]))
        return sum(values) + self._level + self._penalty(theta), Z, self._pulled(G, theta)

    def _evaluate_softmax(self, theta: Array) -> tuple[float, Array, Array]:
        """The same for several classes, which are padded to whole vectors by repeating the first."""
        from certifit.loops.softmax import padded, softmax_pass  # loads Numba: only for what is large

        X, K = read_only(self.columns.design.stored), self.outputs
        w, shift = self.columns.outward(theta)
        pad = padded(K)
        W, b = (read_only(np.ascontiguousarray(part[..., pad])) for part in (w, shift))
        Z, y, s = np.empty((len(X), K)), *(read_only(np.ascontiguousarray(part)) for part in (self.y, self.weights))

        def work(edges: tuple[int, int]) -> tuple[float, Array]:
            rows, gradient = slice(*edges), np.zeros((X.shape[1] + 1, len(pad)))
            total, own = np.empty((2, edges[1] - edges[0]))
            softmax_pass(X[rows], y[rows], s[rows], W, b, Z[rows], total, own, gradient)
            return float(s[rows] @ (np.log(total) - own)), gradient

        values, gradients = zip(*side_by_side(work, ranges(len(X), min(_PARTS, len(X) // _LEAST))))
        G = np.sum(gradients, axis=0)[:, :K]
        G = self.columns.gathered(G[:-1], G[-1])
        return sum(values) + self._level + self._penalty(theta), Z, self._pulled(G, theta)

    def _penalty(self, theta: Array) -> float:
        return 0.5 * float(self.ridge @ np.square(theta - self.prior).sum(axis=1))

    @cached_property
    def _level(self) -> float:
        """What no θ can change."""
        return float(self.weights @ self.loss.level(self.y))

    def _pulled(self, G: Array, theta: Array) -> Array:
        """The gradient with the penalty's part."""
        return np.asarray(G + self.ridge[:, None] * (theta - self.prior))

    def _pointwise(self, Z: Array) -> Array:
        return Z if isinstance(self.loss, Softmax) else Z[:, 0]

    def value(self, Z: Array, theta: Array) -> tuple[float, Array]:
        """The objective, and the slopes of the losses (n, K), which come with it for nothing."""
        with np.errstate(over="ignore"):
            values, slopes = self.loss.above_level(self._pointwise(Z), self.y)
        data = float(self.weights @ values)
        return data + self._level + self._penalty(theta), slopes.reshape(Z.shape)

    def gradient(self, slopes: Array, theta: Array) -> Array:
        return self._pulled(self.columns.product_t(slopes * self.weights[:, None]), theta)

    def some(self, rows: Array) -> SmoothSum:
        """The same problem on evenly spread rows with larger weights."""
        factor = self.weights.sum() / max(self.weights[rows].sum(), 1e-300)
        offset = None if self.offset is None else self.offset[rows]
        return replace(
            self,
            columns=self.columns.taken(rows) if self._suits_one_score else self.columns.some(rows),
            y=self.y[rows],
            weights=factor * self.weights[rows],
            offset=offset,
            large=self._suits_compiled_loop,
        )

    def among(self, keep: Array) -> SmoothSum:
        """The same sum as a function of some coordinates (p,), the others at zero."""
        return replace(self, columns=self.columns.among(keep), ridge=self.ridge[keep], prior=self.prior[keep])

    def hessian(self, Z: Array, rough: bool = False) -> Array:
        """(pK, pK), in class-major order; a rough one has the digits of single precision, where that is faster."""
        p, K, n = self.columns.width, self.outputs, len(self.y)
        if K == 1:
            H = self.columns.gram(self.curvatures(Z), rough)
        elif not np.any(Z):  # all classes are equally likely in every row
            H = np.kron((np.eye(K) - 1.0 / K) / K, self.columns.gram(self.weights))
        else:
            curved = self._curved_softmax if many_products(n, p * K) else self._curved_softmax_in_numpy
            with np.errstate(over="ignore", invalid="ignore"):  # shows in the result
                H = curved(Z, np.float32 if rough else np.float64)
        H[np.diag_indices_from(H)] += np.tile(self.ridge, K)
        return H

    def curvatures(self, Z: Array) -> Array:
        """Weighted curvatures at scores (n, K); of several classes the mean over directions in which they differ."""
        h, K = np.empty(len(Z)), self.outputs

        def fill(first: int, last: int) -> None:
            rows = slice(first, last)
            bends = self.loss.curvature(self._pointwise(Z[rows]), self.y[rows])
            h[rows] = self.weights[rows] * (bends if K == 1 else bends.sum(axis=1) / (K - 1))

        by_ranges(fill, len(Z), max(1, _RANGE // K))
        h[h < _TINY] = 0.0
        return h

    def curved_rows(self, Z: Array) -> tuple[Array, Array]:
        """q and r (n, K): the weighted curvature of each row is diag(q) − rrᵀ at scores (n, K)."""
        if self.outputs == 1:
            q = self.curvatures(Z)[:, None]
            return q, np.zeros_like(q)
        P = self.loss.value_slope(Z, self.y)[1] + Softmax.one_hot(self.y, self.outputs)
        P *= P >= _TINY
        s = self.weights[:, None]
        return s * P, np.sqrt(s) * P

    def _parts(self, rows: slice, Z: Array, dtype: type) -> tuple[Array, Array, Array]:
        """Rows A in coordinates, weighted probabilities s p (n, K), and √s p_k A side by side (n, pK)."""
        A: Array = self.columns.rows(rows).astype(dtype, copy=False)
        s = self.weights[rows]
        P = self.loss.value_slope(Z, self.y[rows])[1] + Softmax.one_hot(self.y[rows], Z.shape[1])
        P *= (_TINY if dtype is np.float64 else _TINY_NARROW) <= P
        wide = ((np.sqrt(s)[:, None] * P).astype(dtype)[:, :, None] * A[:, None, :]).reshape(len(A), -1)
        return A, s[:, None] * P, wide

    def _curved_softmax_in_numpy(self, Z: Array, dtype: type) -> Array:
        """Blocks Aᵀ diag(s p_k (δ_kl − p_l)) A."""
        n, p, K = len(Z), self.columns.width, self.outputs

        def work(rows: slice) -> tuple[Array]:
            A, heavy, wide = self._parts(rows, Z[rows], dtype)
            H: Array = np.negative(wide.T @ wide, dtype=float)
            root: Array = np.sqrt(heavy).astype(dtype)
            for k in range(K):
                B = A * root[:, k, None]
                H[k * p : (k + 1) * p, k * p : (k + 1) * p] += B.T @ B
            return (H,)

        return np.asarray(sum_over_rows(work, (n, p * K), _BLOCK)[0])

    def _curved_softmax(self, Z: Array, dtype: type) -> Array:
        """The same by the compiled loop; few parts, because their sums are large."""
        p, K = self.columns.width, self.outputs

        def work(edges: tuple[int, int]) -> list[GramSum]:
            sums = [
                GramSum(np.zeros(p * K), 0, False, dtype),
                *(GramSum(np.zeros(p), 0, True, dtype) for _ in range(K)),
            ]
            for first, last in ranges(edges[1] - edges[0], (edges[1] - edges[0]) // _BLOCK):
                rows = slice(edges[0] + first, edges[0] + last)
                A, heavy, wide = self._parts(rows, Z[rows], dtype)
                nothing = np.empty((len(A), 0))
                sums[0].add(wide, nothing, np.empty(0))
                for own, share in zip(sums[1:], np.ascontiguousarray(heavy.T)):
                    own.add(A, nothing, share)
            return sums

        parts = side_by_side(work, ranges(len(Z), min(_STRIPES, len(Z) // (2 * _LEAST))))
        for more in parts[1:]:
            for total, part in zip(parts[0], more):
                total.sums += part.sums
        pairs, *each = (part.parts()[0] for part in parts[0])
        H = np.negative(pairs, out=pairs)
        for k, own in enumerate(each):
            H[k * p : (k + 1) * p, k * p : (k + 1) * p] += own
        return H

    def left(self, G: Array, D: Array) -> float:
        """How much is left to gain: half the squared Newton decrement; for softmax the duality gap, which is proved."""
        return decrement(G, D) if self.outputs == 1 else self.proved(G, D)

    def proved(self, G: Array, D: Array) -> float:
        """The duality gap at slopes with this gradient: where a column has a penalty, whatever the step D is."""
        hold = self.ridge > 0
        part = -0.5 * D * G
        part[hold] = 0.5 * np.square(G[hold]) / self.ridge[hold, None]
        return float(np.sum(part))

    def metric(self, H: Array) -> ScaledHessian:
        """The Hessian ready to be solved with; where it is flat (dependent columns), steps have least length."""
        found, scaled = self._factored(H)
        return found if found.steep(_FLAT) else found._replace(factor=pseudo_inverse(scaled))

    def rough_metric(self, Z: Array) -> ScaledHessian:
        """The same at scores Z, of a Hessian in single precision, which is enough unless it is nearly flat."""
        narrow = self._suits_one_score and self.columns.design.stored.dtype == np.float32
        if self.outputs > 1 or narrow:
            H = self.hessian(Z, rough=True)
            found = self._factored(H)[0] if np.all(np.isfinite(H)) else None
            if found is not None and found.steep(_STEEP):
                return found
        return self.metric(self.hessian(Z))

    def _factored(self, H: Array) -> tuple[ScaledHessian, Array]:
        """With the matrix that is factored."""
        p, K = self.columns.width, self.outputs
        if K > 1:
            size, j = np.maximum(np.diag(H), 1e-300), np.arange(p)
            H = H.copy()
            H.reshape(K, p, K, p)[:, j, :, j] += size.reshape(K, p).mean(axis=0)[:, None, None] / K
        root = np.sqrt(np.maximum(np.diag(H), 1e-300))
        scaled = H / root
        scaled /= root[:, None]
        return ScaledHessian(cholesky(scaled), root, self.ridge if K > 1 else None), scaled


def softmax_loop_suits(n: int, d: int, classes: int) -> bool:
    """Whether the compiled loop pays for (n, d) rows, and this processor has the instructions for it."""
    if n * d * classes < _TERMS or d * classes > _RANGE:
        return False
    from certifit.loops._vectors import LANES  # loads Numba: only for what is large

    return LANES > 0


def decrement(G: Array, D: Array) -> float:
    """Half the squared Newton decrement of the step D."""
    return -0.5 * float(np.sum(D * G))


def l1_weights(task: Task, columns: Coordinates) -> Array:
    """Weights (p, K) of the absolute coordinates."""
    part = separable(task.objective.regularizer)
    assert part is not None
    return np.repeat(columns.padded(task.lam * part.l1 / columns.unit)[:, None], task.outputs, axis=1)
