"""Coordinates and factors in which a quadratic form can be bounded rigorously, whatever the units of the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse

from certifit._types import Array, Bools, Matrix
from certifit.certificates._ball import ETA, UNIT, Ball, gamma, shifted, to_float
from certifit.certificates._blocks import places, row_blocks
from certifit.certificates._row_sums import BlockSums, block_sums, columns_lengths, dot_t, run_sum

_LIGHT = -900  # rows whose weight is below 2^−900 of the largest are left out of H, which only makes H smaller
_TAME = 1e60  # squared lengths of columns up to this, and down to its reciprocal, neither overflow nor vanish
_VANISHED = 1e-220  # more than underflow takes of a product of such columns, once their lengths are about one
_PRODUCT = 1024, 3072  # the least and the most rows of a product of columns, which costs to begin and to end
_CELLS = 1 << 18  # and about as many numbers in the block of rows
_SLIGHT = 2.0**-10  # of a root: rows of less than a millionth of the largest weight
_LEAST, _SAMPLE, _ROWS_A_COLUMN = 256, 2048, 8  # the least, the most and the usual rows for the middle of a table
_FAINT = 2.0**-400  # a column this small after scaling has lost digits to underflow: no factor


def times_power(values: Array, power: Array, out: Array | None = None) -> Array:
    """values · 2^power as `numpy.ldexp` gives it; by a product, which is faster, where 2^power is a float."""
    if np.all(np.abs(power) <= 1000):
        return np.multiply(values, np.ldexp(1.0, power), out=out)
    return np.asarray(np.ldexp(values, power, out=out))


def rounded(x: Ball) -> Ball:
    """An exact ball as floats, rounded once."""
    mid = to_float(x.mid)
    return Ball(mid, np.where(x.mid == 0, 0.0, 2 * UNIT * np.abs(mid) + ETA))


@dataclass(frozen=True)
class Frame:
    """Coordinates θ = D(w, b + c·w), D = 2^power, in which √s(X − c, 1)D⁻¹ has columns of size about one.

    Scaling by powers of two is exact, and is done column by column before anything is multiplied, so that tables in
    units of 1e-300 or 1e300 neither vanish nor overflow. A holds the columns (X − c)·2^−level, rounded once, then
    ones if there is an offset; of a dense table it is formed block by block, where it is needed.
    """

    table: Matrix  # X; of a sparse table A itself, for it is not centred: the ones column does without
    level: Array  # of the columns of A
    root: Array  # √s·2^−half, zero for rows that are too light to count
    half: int
    centre: Array  # c
    power: Array
    faint: Bools  # columns of √s A that have lost digits to underflow
    fit_intercept: bool
    residuals: Ball | None = None  # ρ, (n, t), weighted
    products: Array | None = None  # of √s A·2^−half with itself, where nothing overflows or vanishes in them
    pull: Ball | None = None  # Aᵀρ, where it was formed in the same read of the table

    @classmethod
    def of(
        cls, X: Matrix, weights: Array, fit_intercept: bool, ridge: float = 0.0, residuals: Ball | None = None
    ) -> Frame:
        """The frame of these rows; ``ridge`` is the curvature that a penalty adds to each of the d columns.

        ``residuals`` are those, times the weights and (n, t), whose `half_gradient` is asked for later.
        """
        d = X.shape[1]
        top = float(np.max(weights, initial=0.0))
        half = int(np.frexp(top)[1]) // 2
        light = np.ldexp(top, _LIGHT)
        heavy = weights if np.min(weights, initial=np.inf) >= light else np.where(weights < light, 0.0, weights)
        root = times_power(heavy, np.array(-2 * half))
        root = np.sqrt(root, out=root)
        centre = np.zeros(d) if scipy.sparse.issparse(X) or not fit_intercept else middle(X, root)
        level, none = np.zeros(d + fit_intercept, dtype=int), np.zeros(d + fit_intercept, dtype=bool)
        frame = cls(X, level, root, half, centre, level, none, fit_intercept, residuals)
        tame = None if scipy.sparse.issparse(X) else frame._tame_products()
        if tame is not None and tame.products is not None:
            frame, size = tame, np.sqrt(np.diag(tame.products))
        else:
            frame, size = frame._levelled()
        power = frame.level + half + _exponents(size * np.sqrt(0.5))
        if ridge > 0.0:
            power[:d] = np.maximum(power[:d], int(np.frexp(ridge)[1]) // 2)
        return replace(frame, power=power)

    def _tame_products(self) -> Frame | None:
        """With BᵀB for B = √s A·2^−half and Aᵀρ, in one read of the table with columns as they are (level zero).

        None where squares of very large or small numbers might overflow or vanish: then columns are scaled first.
        """
        with np.errstate(all="ignore"):
            found, pull = self._equal_products() if np.all(self.root == 1.0) else self._weighted_products()
        size = np.diag(found)
        return replace(self, products=found, pull=pull) if np.all((size > 1.0 / _TAME) & (size < _TAME)) else None

    def _equal_products(self) -> tuple[Array, Ball | None]:
        """Where all rows weigh the same: products of the columns as they are, and their sums with ones and with ρ."""
        (n, d), p, rho = self.table.shape, len(self.level), self._rounded_residuals
        moved, parts, found = bool(np.any(self.centre)), product_blocks(n, d), np.zeros((p, p))
        rows = parts[0].stop if parts else 0
        room, ones = np.empty((rows if moved else 0, d)), np.ones((p - d, rows))
        sums = None if rho is None else BlockSums(Ball(rho.mid), d, rows)
        for part in parts:
            A = self.table[part]
            A = np.subtract(A, self.centre, out=room[: len(A)]) if moved else A
            found[:d, :d] += A.T @ A  # NumPy forms half of it
            found[d:, :d] += ones[:, : len(A)] @ A
            if sums is not None:
                sums.add(part, A)
        found[:d, d:], found[d:, d:] = found[d:, :d].T, n
        if sums is None or rho is None:
            return found, None
        lengths = np.sqrt(np.diag(found)[:d] * (1.0 + 4 * gamma(n + 12)))
        # The radius of ρ, widened for the rounding of A (see `_widened`).
        blur = columns_lengths(np.broadcast_to(rho.rad, rho.shape))
        known = 3 * UNIT * columns_lengths(rho.mid) + (1.0 + 8 * UNIT) * blur + n * ETA
        return found, self._with_total(sums.finish(lengths, known), rho)

    def _weighted_products(self) -> tuple[Array, Ball | None]:
        """Columns times √s, then √s itself: their products, and their sums with ρ/√s.

        By Cauchy and Schwarz the lengths of these columns bound what is unknown of |A|ᵀρ, without another read. Rows of
        slight weight, by which ρ is not divided, are added by themselves. The column √s, and the sum of ρ that belongs
        to it, are kept apart from the table: rows of d + 1 numbers are slower to form and to multiply than rows of d.
        """
        (n, d), p, rho = self.table.shape, len(self.level), self._rounded_residuals
        moved, parts, found = bool(np.any(self.centre)), product_blocks(n, d), np.zeros((p, p))
        rows = parts[0].stop if parts else 0
        some = np.flatnonzero(self.root < _SLIGHT)
        t = 0 if rho is None else rho.shape[1]
        room = places(1 + 2 * t, n)
        over, push, wide = room[0], room[1 : 1 + t].reshape(n, t), room[1 + t :].reshape(n, t)
        np.divide(1.0, self.root, out=over)
        over[some] = 0.0
        if rho is not None:
            np.multiply(rho.mid, over[:, None], out=push)
            np.multiply(rho.rad, over[:, None], out=wide)
        sums, room = BlockSums(Ball(push), d, rows), places(rows, d)
        for part in parts:
            B, A, root = room[: part.stop - part.start], self.table[part], self.root[part]
            A = np.subtract(A, self.centre, out=B) if moved else A
            np.multiply(A, root[:, None], out=B)
            sums.add(part, B)
            found[:d, :d] += B.T @ B  # NumPy forms half of it
            found[d:, :d] += root @ B
        found[:d, d:], found[d:, d:] = found[d:, :d].T, self.root @ self.root
        if rho is None:
            return found, None
        lengths = np.sqrt(np.diag(found)[:d] * (1.0 + 4 * gamma(n + 12)) + n * ETA)
        # The radius of ρ, widened for the rounding of A (see `_widened`), over √s; the quotient, and √s A, are rounded
        # too, by 4u of ρ at most. No quotient of what is known to ETA is larger than 2¹⁰ of it.
        size = columns_lengths(push)
        known = 7 * UNIT * size + (1.0 + 8 * UNIT) * columns_lengths(wide) + n * ETA / _SLIGHT
        pull = sums.finish(lengths, known)
        lost = n * ETA * (lengths[:, None] + size)  # of factors, by underflow: no Σ|ρ| is above n times their length
        pull = Ball(pull.mid, pull.rad + lost)
        if len(some):
            assert self._widened is not None
            pull = pull + block_sums(self._blocks_of(some), self._widened[some], d)
        return found, self._with_total(pull, rho)

    def _blocks_of(self, some: Array) -> Iterator[tuple[slice, Array]]:
        """Some rows of the columns of A at level zero, in blocks."""
        for part in row_blocks(len(some), len(self.centre)):
            yield part, self.table[some[part]] - self.centre

    @property
    def _rounded_residuals(self) -> Ball | None:
        """ρ, where it is not exact."""
        return None if self.residuals is None or self.residuals.exact else self.residuals

    @cached_property
    def _widened(self) -> Ball | None:
        """ρ for products with A, which is known to a relative error of u: as if ρ were known to 3u less well."""
        rho = self._rounded_residuals
        if rho is None:
            return None
        rad = np.abs(rho.mid)
        rad *= 3 * UNIT
        rad += rho.rad * (1.0 + 4 * UNIT)
        rad += ETA
        return Ball(rho.mid, rad)

    def _with_total(self, q: Ball, rho: Ball) -> Ball:
        """The sums of columns times ρ, and those of the column of ones, if there is one."""
        if not self.fit_intercept:
            return q
        totals = [run_sum(rho[:, t]) for t in range(rho.shape[1])]
        return Ball(np.vstack([q.mid, [b.mid for b in totals]]), np.vstack([q.rad, [b.rad for b in totals]]))

    def _levelled(self) -> tuple[Frame, Array]:
        """The frame with columns scaled by their largest entries, and the lengths of the columns of √s A·2^−half."""
        X, root, (n, d), level = self.table, self.root, self.table.shape, self.level.copy()
        if scipy.sparse.issparse(X):  # centring would fill the zeros
            level[:d] = _exponents(np.asarray(abs(X).max(axis=0).toarray()).ravel())
            data = np.ldexp(X.data, -level[X.indices])
            X = scipy.sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape)
            X = scipy.sparse.hstack([X, np.ones((n, 1))], format="csr") if self.fit_intercept else X
            size = np.asarray(np.sqrt(X.multiply(X).T @ np.square(root))).ravel()
        else:
            level[:d], size = _levels(X, self.centre, root)
            size = np.append(size, np.sqrt(np.square(root).sum())) if self.fit_intercept else size
        frame = replace(self, table=X, level=level, faint=np.zeros(len(level), dtype=bool))
        doubtful = np.flatnonzero(~(size >= _FAINT * np.sqrt(n)))  # too small to be told by their length
        for j, a in zip(doubtful, frame.columns(doubtful).T):
            size[j] = scipy.linalg.norm(root * a, check_finite=False)
            frame.faint[j] = np.abs(root * a).max(initial=0.0) < _FAINT and np.any((a != 0.0) & (root > 0.0))
        return frame, size

    def columns(self, at: Array) -> Array:
        """Some columns of A, dense."""
        if scipy.sparse.issparse(self.table):
            return np.asarray(self.table[:, at].toarray())
        A, own = np.ones((len(self.root), len(at))), at[at < len(self.centre)]
        A[:, : len(own)] = times_power(self.table[:, own] - self.centre[own], -self.level[own])
        return A

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """A, dense, in blocks of rows, each overwritten by the next."""
        (n, d), scaled = (len(self.root), len(self.centre)), bool(np.any(self.level))
        parts = row_blocks(n, len(self.level))
        room = np.empty((parts[0].stop if parts else 0, len(self.level)))
        for part in parts:
            if scipy.sparse.issparse(self.table):
                yield part, self.table[part].toarray()
                continue
            A = room[: part.stop - part.start]
            np.subtract(self.table[part], self.centre, out=A[:, :d])
            if scaled:
                times_power(A[:, :d], -self.level[:d], out=A[:, :d])
            A[:, d:] = 1.0
            yield part, A

    def scaled_blocks(self) -> Iterator[tuple[slice, Array]]:
        """√s A D⁻¹ in blocks of rows; every entry has a relative error of at most 4u."""
        for part, A in self.blocks():
            yield part, times_power(self.root[part, None] * A, self.level + self.half - self.power)

    def matrix(self) -> Array:
        """√s A D⁻¹, dense (NaN where underflow took more than the last digits)."""
        found = np.empty((len(self.root), len(self.level)))
        for part, B in self.scaled_blocks():
            found[part] = B
        found[:, self.faint] = np.nan
        return found

    @cached_property
    def gram(self) -> Array:
        """BᵀB of the matrix B above."""
        if self.products is not None:
            move = self.half - self.power
            return np.asarray(np.ldexp(self.products, np.add.outer(move, move)))
        G = np.zeros((len(self.level), len(self.level)))
        for _, B in self.scaled_blocks():
            G += B.T @ B
        G[self.faint] = np.nan
        return G

    def spread(self, theta: Array) -> float:
        """Σ ‖Bⱼ‖ |θⱼ| ≥ ‖|B| |θ|‖ for the columns of the matrix B above, as a rough figure."""
        return float(np.sqrt(np.diag(self.gram)) @ np.abs(theta))

    def ridge(self, strength: float) -> Array:
        """The diagonal D⁻²·strength on the columns, zero on the offset."""
        found: Array = np.ldexp(strength, -2 * self.power)
        found[len(self.centre) :] = 0.0
        return found

    def half_gradient(self, X: Matrix) -> Ball:
        """D⁻¹Aᵀρ, (columns, t), with the rounding of A itself (exact residuals give it rounded once)."""
        assert self.residuals is not None
        rho = self._rounded_residuals
        if rho is None:
            q, total = dot_t(X, self.residuals), self.residuals.sum(axis=0)
            if self.fit_intercept:
                q = Ball(np.vstack([(q - total.reshape(1, -1) * self.centre[:, None]).mid, total.mid]))
            return rounded(shifted(q, -self.power[:, None]))
        q = self.pull
        if q is None:
            assert self._widened is not None
            sparse, wide = scipy.sparse.issparse(self.table), self._widened
            q = dot_t(self.table, wide) if sparse else block_sums(self.blocks(), wide, len(self.level))
        # A loses to underflow no more than ETA a number, times Σ|ρ|, which is at most n times the length of ρ.
        size = columns_lengths(rho.mid) + columns_lengths(np.broadcast_to(rho.rad, rho.shape))
        lost = ETA * (1.0 + 2.0 * len(rho) * size)
        return shifted(Ball(q.mid, q.rad + lost), (self.level - self.power)[:, None])


def product_blocks(n: int, d: int) -> list[slice]:
    """n rows of d numbers in blocks for products of columns."""
    least, most = _PRODUCT
    return row_blocks(n, d, min(most, max(least, _CELLS // max(1, d))))


def middle(X: Array, root: Array) -> Array:
    """Means of the columns, from some of the rows: any centre serves, and near the middle H is conditioned best.

    Zero, which saves a copy of the table, where the squares of means over deviations sum to no more than one: that
    makes the condition number of the columns and the ones at most (3 + √5)/2 times as large.
    """
    # The squares of errors of means over deviations sum to about one over the rows for each column.
    enough = min(_SAMPLE, max(_LEAST, _ROWS_A_COLUMN * X.shape[1]))
    some = slice(None, None, max(1, len(X) // enough))
    for rows in (some, slice(None)):
        square = np.square(root[rows])
        if square.sum() > 0:
            share, some_rows = square / square.sum(), np.array(X[rows])
            mean = np.asarray(np.nan_to_num(share @ some_rows, nan=0.0, posinf=0.0, neginf=0.0))
            with np.errstate(all="ignore"):
                some_rows -= mean
                near = np.square(mean) / (share @ np.square(some_rows, out=some_rows))
            return np.zeros(len(mean)) if near.sum() <= 1.0 else mean
    return np.zeros(X.shape[1])


def _levels(X: Array, centre: Array, root: Array) -> tuple[Array, Array]:
    """Of the columns of X − c the exponent of the largest entry, and the length of √s(X − c)·2^−exponent."""
    high, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for part in row_blocks(*X.shape):
            A = X[part] - centre
            np.maximum(high, np.abs(A).max(axis=0, initial=0.0), out=high)
            A *= root[part, None]
            squares += np.einsum("ij,ij->j", A, A)
        level = _exponents(high)
        # Squares of very large or small numbers overflow or vanish: of such columns nothing is said (length zero).
        tame = (squares > 1e-200) & (squares < 1e200)
        return level, np.where(tame, np.ldexp(np.sqrt(np.where(tame, squares, 0.0)), -level), 0.0)


def _exponents(size: Array) -> Array:
    """e with size about 2^e (0 where the size is zero or not a number)."""
    return np.where(np.isfinite(size) & (size > 0), np.frexp(size)[1], 0).astype(int)


@dataclass(frozen=True)
class Factor:
    """T with ‖TᵀHT − I‖ ≤ ε < 1."""

    T: Array
    epsilon: float


def factor_of(frame: Frame, strength: float = 0.0) -> Factor | None:
    """T for H = D⁻¹(AᵀSA + strength)D⁻¹, cheaply where the condition number allows, else by QR; None: no T."""
    G, ridge = frame.gram, frame.ridge(strength)
    if not np.all(np.isfinite(G)):
        return None
    return _gram_factor(G, len(frame.root), ridge) or _qr_factor(frame.matrix(), ridge)


def _gram_factor(G: Array, n: int, ridge: Array) -> Factor | None:
    """T from a Cholesky factor of the Gram matrix of n rows: cheap, for condition numbers up to about 1e6."""
    p, H = len(G), G + np.diag(ridge)
    try:
        T = scipy.linalg.solve_triangular(np.linalg.cholesky(H), np.eye(p), lower=True).T
    except (np.linalg.LinAlgError, ValueError):
        return None
    M = T.T @ H @ T
    size = np.linalg.norm(T)
    # |BᵀB − G| ≤ γ|B|ᵀ|B| entrywise, whose norm is at most that of the diagonal's outer product.
    wrong = gamma(n + 12) * float(np.trace(G)) * 1.01 + 2 * UNIT * float(np.abs(H).sum()) + n * p * _VANISHED
    rounding = gamma(2 * p + 4) * float(np.linalg.norm(np.abs(T.T) @ np.abs(H) @ np.abs(T)))
    epsilon = float(np.linalg.norm(M - np.eye(p))) + rounding + wrong * float(size**2) * 1.01
    return Factor(T, epsilon) if epsilon < 0.5 else None


def _qr_factor(B: Array, ridge: Array) -> Factor | None:
    """T from a QR factor of B itself: for condition numbers up to about 1e14."""
    p = B.shape[1]
    if np.any(ridge > 0):
        B = np.vstack([B, np.diag(np.sqrt(ridge))])
    if B.shape[0] < p:
        return None
    R = np.linalg.qr(B, mode="r")
    if not np.all(np.isfinite(R)) or np.any(np.diag(R) == 0.0):
        return None
    with np.errstate(all="ignore"):
        T = scipy.linalg.solve_triangular(R, np.eye(p), check_finite=False)
        Q = B @ T
        slack = gamma(p + 12) * float(np.linalg.norm(np.abs(B) @ np.abs(T))) + B.size * ETA * float(np.abs(T).sum())
        size = float(np.linalg.norm(Q))
        epsilon = float(np.linalg.norm(Q.T @ Q - np.eye(p))) + gamma(len(B) + 4) * size**2
        epsilon += 2 * size * slack + slack**2
    return Factor(T, epsilon) if epsilon < 0.5 else None
