"""Gram matrices with rounding bounds, and what kernel certificates share: scores, radii, best offsets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import ETA, UNIT, Ball, ball, dot, gamma, rationals
from certifit.certificates._data import Data, Evidence, Rigor
from certifit.certificates._row_sums import dot_t
from certifit.kernels import RBF, Arithmetic, Kernel, rebuild
from certifit.kernels import Linear as LinearKernel

_CHUNK = 1 << 19  # entries of the Gram matrix handled at a time
_EVEN = 4.0  # squared lengths of a block that differ by this factor at most are bounded by the largest
_WIDTH, _RADIAL = 256, 1 << 16  # columns, the fewer the shorter sums are, and entries that a cache holds, of a radial K


GIVEN = "the given kernel values come from a Mercer kernel"


def given_kernel(evidence: Evidence) -> tuple[str, ...]:
    """What is assumed of kernel values that are given rather than computed from the rows."""
    return (GIVEN,) if "gram" in evidence or evidence.get("kernel") == ["precomputed"] else ()


def named_kernel(record: Any) -> Kernel:
    """The kernel of a record from anybody: names and finite numbers only, written as the kernel writes itself."""
    if str(record).count("normalized") > _NORMALIZED:
        raise ValueError("too many kernels to normalise")  # each takes three values of the one inside
    _refuse_odd_parts(record)
    kernel = rebuild(record)
    if kernel.record() != record:
        raise ValueError("the kernel is not stored in its normal form")
    return kernel


def _refuse_odd_parts(record: Any) -> None:
    if not isinstance(record, list) or not record or not isinstance(record[0], str):
        raise ValueError("a kernel is written as its name and its parameters")
    for part in record[1:]:
        if isinstance(part, list):
            _refuse_odd_parts(part)
        elif isinstance(part, bool) or not isinstance(part, (int, float)) or not math.isfinite(part):
            raise ValueError("the parameters of a kernel are finite numbers")
    if record[0] == "polynomial" and not (len(record) > 1 and isinstance(record[1], int) and record[1] <= _DEGREE):
        raise ValueError(f"polynomial kernels are checked up to degree {_DEGREE}")  # exact powers would take forever


def is_exact(X: Matrix) -> bool:
    """Whether an array holds exact rationals."""
    return bool(np.dtype(getattr(X, "dtype", float)).hasobject)


class BallArithmetic(Arithmetic):
    """Inner products of rows (taken as exact) with their rounding bounds."""

    def products(self, X: Matrix, Z: Matrix) -> Ball:
        return dot(X, (Z.toarray() if scipy.sparse.issparse(Z) else Z).T)

    def squares(self, X: Matrix) -> Ball:
        return self.matched(X, X)

    def matched(self, X: Matrix, Z: Matrix) -> Ball:
        if is_exact(X):
            return (Ball(X) * Ball(Z)).sum(axis=1)
        plain, size = super().matched(X, Z), super().matched(abs(X), abs(Z))
        return Ball(plain, size * gamma(X.shape[1] + 4) + X.shape[1] * 2.0**-1070)

    def exact(self, values: Array) -> Ball:
        return Ball(values)


BALLS = BallArithmetic()


_DEGREE, _NORMALIZED = 98, 3  # the largest degree of a polynomial kernel, and how many kernels may be normalised
_SKEW = 1e-12  # how far from symmetric, as a fraction of the largest value, given kernel values may be


def _refuse_asymmetric(K: Array) -> None:
    """Values that no Mercer kernel has: not symmetric, not finite, or negative on the diagonal."""
    size = float(np.abs(K).max(initial=0.0))
    if not np.isfinite(size) or np.any(np.diagonal(K) < 0.0) or np.abs(K - K.T).max(initial=0.0) > _SKEW * size:
        raise ValueError("given kernel values are finite, symmetric, and not negative on the diagonal")


class GramSource:
    """Where the kernel values of a certificate come from: the data, or (a function of the user's) the evidence."""

    def __init__(self, data: Data, evidence: Evidence, rigor: Rigor = "float") -> None:
        self.given: Array | None = None
        self.kernel: Kernel | None = None
        if "gram" in evidence:
            if evidence["kernel"] != ["given"]:
                raise ValueError("kernel values that are given belong to no named kernel")
            self.given = np.asarray(evidence["gram"], dtype=float)
        elif evidence["kernel"] == ["precomputed"]:
            self.given = np.asarray(data.X)
        else:
            self.kernel = named_kernel(evidence["kernel"])
        n = data.X.shape[0]
        if self.given is not None and self.given.shape != (n, n):
            raise ValueError(f"a Gram matrix of {n} rows is square, not {self.given.shape}")
        if self.given is not None:
            _refuse_asymmetric(self.given)
        exact = rigor == "exact"
        self.X = rationals(data.X) if exact and self.kernel is not None else data.X
        if exact and self.given is not None:
            self.given = rationals(self.given)
        self.n = n

    @property
    def exact(self) -> bool:
        """Whether kernel values are exact rationals (or enclosed by them)."""
        return is_exact(self.X if self.given is None else self.given)

    def norms(self) -> Array:
        """Upper bounds of ‖φ(xᵢ)‖ for every row, as floats."""
        return self.radii()._outward()[1]

    @property
    def mercer(self) -> bool:
        """Whether positive semi-definiteness holds by construction."""
        return self.kernel is not None and self.kernel.proof is not None

    def scores(self, support: Array, coef: Array, rows: Array | None = None) -> Ball:
        """K[rows][:, support] @ coef for a matrix of coefficients (one column a machine)."""
        rows = np.arange(self.n) if rows is None else rows
        if self.given is not None:
            return _by_chunks(len(rows), len(support), lambda i, j: self._cut(rows[i], support[j]), coef)
        assert self.kernel is not None
        return new_scores(self.kernel, self.X[rows], self.X[support], coef)

    def _cut(self, i: Array, j: Array) -> Ball:
        assert self.given is not None
        return Ball(self.given[np.ix_(i, j)])

    def radii(self, centre: Array | None = None) -> Ball:
        """‖φ(xᵢ) − φ(c)‖ for every row (c = 0 in feature space unless the kernel is linear)."""
        if self.given is not None:
            return ball(np.sqrt(Ball(np.diagonal(self.given))))
        assert self.kernel is not None
        return radii(self.kernel, self.X, centre)


def _by_chunks(rows: int, columns: int, block: Any, coef: Array) -> Ball:
    width = max(1, min(columns, 1024))
    height = max(1, _CHUNK // width)
    parts = []
    for r in range(0, rows, height):
        i = np.arange(r, min(rows, r + height))
        total: Any = None
        for c in range(0, columns, width):
            j = np.arange(c, min(columns, c + width))
            part = dot(block(i, j), coef[j])
            total = part if total is None else total + part
        parts.append(total if total is not None else Ball(np.zeros((len(i), coef.shape[1]))))
    if not parts:
        return Ball(np.zeros((0, coef.shape[1])))
    rad = [np.broadcast_to(p.rad, p.mid.shape) for p in parts]
    return Ball(np.concatenate([p.mid for p in parts]), np.concatenate(rad))


def new_scores(kernel: Kernel, X: Matrix, vectors: Matrix, coef: Array) -> Ball:
    """Σⱼ coefⱼ k(x, vectorⱼ) for rows of X, with rounding bounds."""
    if isinstance(kernel, LinearKernel) and vectors.shape[0]:
        return dot(X, _normal(vectors, coef))
    dense = not (scipy.sparse.issparse(X) or scipy.sparse.issparse(vectors))
    if isinstance(kernel, RBF) and kernel.gamma >= 0.0 and dense and vectors.shape[0] and not is_exact(X):
        return _radial_scores(kernel.gamma, X, vectors, coef)
    return _by_chunks(X.shape[0], vectors.shape[0], lambda i, j: kernel.gram(X[i], vectors[j], BALLS), coef)


def _radial_scores(width: float, X: Array, vectors: Array, coef: Array) -> Ball:
    """Σⱼ coefⱼ exp(−γ‖x − vⱼ‖²), with a bound for each sum instead of each entry.

    With s = ‖x − c‖² + ‖v − c‖² for any c, −γ‖x − v‖² = 2γ(x − c)·(v − c) − γs, which is one product of length d + 2:
    of (x − c, 1, −γ‖x − c‖²) with (2γ(v − c), −γ‖v − c‖², 1). The absolute values of its first d terms add up to γs at
    most, and each comes from three roundings; those of the last two add up to γs, from d + 3 roundings each; and the
    product itself adds d + 2. So the exponent is off by at most t = (3d + 10)uγs (and a little of second order), its
    exponential by the share e^t − 1 ≤ lt, where l = (e^T − 1)/T for the largest t. That share is of the value computed,
    be that above or below the exact one (it may be above one). So the errors of all terms add up to a sum over
    |coefⱼ| s k(x, vⱼ), where the largest ‖v − c‖² of a block of vectors may stand for all of them.
    """
    with np.errstate(all="ignore"):
        centre, t, (m, d) = vectors.mean(axis=0), coef.shape[1], vectors.shape
        A, a = _beside_squares(X - centre)
        B, b = _beside_squares(vectors - centre)
        order = _alike(coef, b)
        B, b, coef = B[order], b[order], coef[order]
        each = (3 * d + 12) * UNIT * width * (1.0 + 1e-9)
        most = each * (a.max(initial=0.0) + b.max(initial=0.0))
        each *= np.expm1(most) / most * (1.0 + 1e-9) if most > 0.0 else 1.0
        A[:, d], A[:, d + 1] = 1.0, -width * a
        B[:, :d] *= 2.0 * width
        B[:, d], B[:, d + 1] = -width * b, 1.0
        sums, size, spread = np.zeros((3, len(A), t))
        height = max(1, _RADIAL // min(m, _WIDTH))
        room = np.empty((min(height, len(A)), min(m, _WIDTH)))
        for c in range(0, m, _WIDTH):
            Bt, far, own = B[c : c + _WIDTH].T, b[c : c + _WIDTH], coef[c : c + _WIDTH]
            one_sign = bool(np.all(own >= 0.0) or np.all(own <= 0.0))
            even = far.max() if far.max() <= _EVEN * far.min() else None
            for r in range(0, len(A), height):
                at = slice(r, min(r + height, len(A)))
                K = np.matmul(A[at], Bt, out=room[: at.stop - r, : len(own)])
                found = np.exp(K, out=K) @ own
                # No value is below zero: sums of terms of one sign are their own sums of absolute values.
                plain = np.abs(found) if one_sign else K @ np.abs(own)
                sums[at] += found
                size[at] += plain
                spread[at] += K @ (np.abs(own) * far[:, None]) if even is None else even * plain
        k = min(m, _WIDTH) + m // _WIDTH + 1
        rest = 16 * UNIT + (d + 10) * ETA * (1.0 + width) + gamma(k + 2)
        tiny = 4 * m * ETA * (1.0 + np.abs(coef).sum() * (1.0 + b.max(initial=0.0))) * (1.0 + each)
        rad = each * (a[:, None] * size + spread) + rest * size
        return Ball(sums, (rad * (1.0 + 4 * gamma(k + 4)) + tiny) * (1.0 + 1e-9))


def _beside_squares(rows: Array) -> tuple[Array, Array]:
    """Rows with room for two more columns, and their squared lengths."""
    wide = np.empty((len(rows), rows.shape[1] + 2))
    wide[:, :-2] = rows
    return wide, np.einsum("ij,ij->i", rows, rows)


def _alike(coef: Array, squares: Array) -> Array:
    """An order of the vectors in which neighbours have about the same length and, in a single column, one sign."""
    signs = coef[:, 0] > 0.0 if coef.shape[1] == 1 else np.zeros(len(coef), dtype=bool)
    return np.lexsort((squares, signs))


def _normal(vectors: Matrix, coef: Array) -> Ball:
    """w = Σⱼ coefⱼ (vⱼ − c) + c Σⱼ coefⱼ for each column of coef: sharp also where rows share a large part c."""
    if scipy.sparse.issparse(vectors) or is_exact(vectors):
        return dot_t(vectors, coef)
    centre = vectors.mean(axis=0)
    apart = ball(vectors) - ball(centre)
    sums = np.array([math.fsum(column) for column in np.asarray(coef, dtype=float).T])  # correctly rounded; 0 is 0
    total = Ball(sums, np.abs(sums) * 2.0**-52)
    rad = np.broadcast_to(apart.rad, apart.mid.shape)
    return dot(Ball(apart.mid.T, rad.T), coef) + ball(centre)[:, None] * total


def radii(kernel: Kernel, X: Matrix, centre: Array | None = None) -> Ball:
    """Distances in feature space from a centre: the rows' mean for the linear kernel, zero otherwise."""
    if isinstance(kernel, LinearKernel) and centre is not None and not scipy.sparse.issparse(X):
        return ball(np.sqrt((ball(X) - ball(centre)).square().sum(axis=1)))
    return ball(np.sqrt(kernel.diagonal(X, BALLS)))


def centre_of(kernel: Kernel | None, X: Matrix) -> Array | None:
    """The centre that `radii` uses: any would do, the mean is a good one."""
    if not isinstance(kernel, LinearKernel) or scipy.sparse.issparse(X) or is_exact(X):
        return None
    return np.asarray(X.mean(axis=0))


def stable_sign(scores: Ball, offsets: tuple[float, float], reach: Array) -> tuple[Array, Array]:
    """Which scores are surely positive, and which surely negative, when they may move by ``reach``."""
    low = scores.lower + offsets[0] - reach
    high = scores.upper + offsets[1] + reach
    slack = 8 * 2.0**-53 * (np.abs(scores.mid) + np.max(np.abs(offsets)) + reach)
    return np.asarray(low - slack > 0), np.asarray(high + slack < 0)


def codes_of(labels: Any, classes: Any) -> Array:
    """Index of every label in the list of classes; −1 for a label that is not in it."""
    labels = np.asarray(labels)
    codes = np.full(len(labels), -1)
    for k, c in enumerate(list(classes)):
        codes[labels == c] = k
    return codes
