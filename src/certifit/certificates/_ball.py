"""Numbers with a proved error bound: the only arithmetic that certificates rely on.

A `Ball` holds arrays ``mid`` and ``rad`` and stands for all real numbers within ``rad`` of ``mid``. Every
operation returns a ball that contains the exact result, whatever the operands' true values are.

Two dtypes, one set of rules:

- float64: each operation adds its rounding error, u = 2⁻⁵³ of the result (γₖ = ku/(1−ku) for a dot product of
  length k in any order, with or without fused multiply-add), and ``exp``/``log`` are taken as good to 4 ulp;
- rationals (object arrays of `fractions.Fraction`, or of python-flint's ``fmpq`` when it is installed): u = 0.

NumPy's ufuncs dispatch here, so formulas written for arrays (`losses`, `regularizers`) run unchanged.
A NaN or an overflow makes the radius NaN or infinite: comparisons with it are then False, never a proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse
import scipy.special

from certifit._types import Array, Matrix, Numeric
from certifit.certificates._blocks import ENTRIES, row_blocks, rows_of_block
from certifit.certificates._long_sum import long_sum

UNIT = 2.0**-53
ETA = 2.0**-1070  # more than any error of underflow in one operation
_ULPS = 4.0  # accuracy granted to exp, log and similar functions, in units in the last place
_NARROW = 2.0**-10  # radii up to this let a function be computed once, at the middle


@cache
def _exact() -> Any:
    """The type of rationals: python-flint's where it is installed (the same numbers, faster), loaded on first use."""
    try:
        from flint import fmpq
    except ImportError:
        return Fraction
    return fmpq


def rational(x: Numeric) -> Numeric:
    """The exact rational value of a float or integer."""
    numerator, denominator = float(x).as_integer_ratio()
    return _exact()(numerator, denominator)


def quotient(numerator: int, denominator: int) -> Numeric:
    """The exact rational numerator/denominator."""
    return _exact()(numerator, denominator)


def rationals(x: Numeric) -> Array:
    """An object array of exact rationals (finite input only).

    Parameters
    ----------
    x : number or array

    Examples
    --------
    >>> str(rationals(0.5) + rationals(0.25))
    '3/4'
    """
    x = np.asarray(x.toarray() if scipy.sparse.issparse(x) else x)
    if x.dtype == object:
        return x
    out = np.empty(x.shape, dtype=object)
    out.ravel()[:] = [rational(v) for v in x.ravel()] if x.ndim else rational(x.item())
    return out


def to_float(x: Numeric) -> Numeric:
    """Nearest float (or float array) of a rational (or object array).

    Parameters
    ----------
    x : rational or object array

    Examples
    --------
    >>> float(to_float(rationals(0.1)))
    0.1
    """
    if isinstance(x, np.ndarray):
        return x if x.dtype != object else np.array([to_float(v) for v in x.ravel()], dtype=float).reshape(x.shape)
    if isinstance(x, (float, np.floating)):
        return float(x)
    exact = Fraction(x) if isinstance(x, (int, Fraction)) else Fraction(int(x.p), int(x.q))
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def gamma(k: int) -> float:
    """γₖ = ku/(1 − ku), rounded up: the relative error of a dot product of length k.

    Parameters
    ----------
    k : int ≥ 0

    Examples
    --------
    >>> 1.1e-14 < gamma(100) < 1.2e-14
    True
    """
    return k * UNIT / (1.0 - 2.0 * k * UNIT) * (1.0 + 8 * UNIT)


def is_exact(*arrays: Any) -> bool:
    return any(getattr(a, "dtype", None) == np.dtype(object) for a in arrays)


def _zero(radius: Array) -> bool:
    """Whether one float, zero, is the radius of all numbers, which then need no terms for it."""
    return radius.ndim == 0 and radius.dtype != object and radius == 0.0


def _signs(x: Ball) -> bool:
    """Whether all numbers are ±1, exactly; a look at the first one answers for most balls."""
    if not _zero(x.rad) or x.exact or x.mid.size == 0 or abs(x.mid.flat[0]) != 1.0:
        return False
    return x.mid.ndim == 0 or bool(np.all(np.abs(x.mid) == 1.0))


def rounded_up(radius: Numeric) -> Numeric:
    """A radius that also covers the rounding made in computing it (a dozen operations or fewer)."""
    return radius if is_exact(radius) else radius * (1.0 + 16.0 * UNIT) + ETA


def _eta_unless_zero(x: Array) -> Array:
    """ETA for numbers other than zero (chosen, not multiplied: products of numbers so small are slow)."""
    return np.where(x != 0.0, ETA, 0.0)


def shares(size: Array, k: int) -> Array:
    """γₖ of sizes that are multiplied by anything later on: where that is less than the least float, it is not zero."""
    return np.asarray(gamma(k) * size + _eta_unless_zero(size))


def _products(A: Matrix, b: Array, v: Array) -> tuple[Array, Array]:
    """A @ b and |A| @ v in one read of A, without a full copy of |A|."""
    if scipy.sparse.issparse(A):
        return np.asarray(A @ b), np.asarray((A if A.data.min(initial=0.0) >= 0.0 else abs(A)) @ v)
    if np.ndim(A) != 2 or np.size(A) <= ENTRIES:
        return np.asarray(A @ b), np.asarray(np.abs(A) @ v)
    mid, rad = (np.empty((len(A), *b.shape[1:])) for _ in range(2))
    room = np.empty((min(len(A), rows_of_block(A.shape[1])), A.shape[1]))
    for part in row_blocks(*A.shape):
        rows = A[part]
        mid[part] = rows @ b
        rad[part] = np.abs(rows, out=room[: len(rows)]) @ v
    return mid, rad


class Ball:
    """Real numbers known to lie within ``rad`` of ``mid`` (see the module docstring).

    Parameters
    ----------
    mid : array
    rad : array ≥ 0, default=0.0
        Radius, of the shape of the middle.

    Examples
    --------
    >>> third = Ball(1.0) / Ball(3.0)
    >>> bool(third.contains(1 / 3)), float(third.rad) < 1e-16
    (True, True)
    """

    __array_priority__ = 1000
    __slots__ = ("mid", "rad")

    def __init__(self, mid: Numeric, rad: Numeric = 0.0) -> None:
        self.mid = np.asarray(mid)
        if self.mid.dtype != object:
            self.mid = self.mid.astype(float, copy=False)
            self.rad = np.asarray(rad, dtype=float)
        else:
            self.rad = np.asarray(rad, dtype=object) if not isinstance(rad, float) else rationals(rad)

    @classmethod
    def between(cls, low: Numeric, high: Numeric) -> Ball:
        """The smallest ball around an interval whose ends are already rounded outward.

        Parameters
        ----------
        low, high : array
            Ends of the interval, low ≤ high.
        """
        low, high = np.asarray(low), np.asarray(high)
        exact = is_exact(low, high)
        half = rational(0.5) if exact else 0.5
        mid = low * half + high * half
        rad = np.maximum(high - mid, mid - low)
        return cls(mid, rad if exact else rounded_up(rad + UNIT * np.abs(mid)))

    # -- what is known ------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of middles."""
        return self.mid.shape

    @property
    def exact(self) -> bool:
        """Whether middles are rationals and radii zero."""
        return self.mid.dtype == object

    @property
    def upper(self) -> Array:
        """A number that is certainly not below the value."""
        high = self.mid + self.rad
        return high if self.exact else np.asarray(high + 2 * UNIT * np.abs(high) + ETA)

    @property
    def lower(self) -> Array:
        """A number that is certainly not above the value."""
        low = self.mid - self.rad
        return low if self.exact else np.asarray(low - 2 * UNIT * np.abs(low) - ETA)

    @property
    def magnitude(self) -> Array:
        """A number that is certainly not below the absolute value."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    def contains(self, x: Numeric) -> Numeric:
        """Whether the number or array x lies inside, entry by entry."""
        return (self.lower <= x) & (x <= self.upper)

    def __repr__(self) -> str:
        return f"Ball({to_float(self.mid)!r} ± {to_float(self.rad)!r})"

    def __len__(self) -> int:
        return len(self.mid)

    def __getitem__(self, index: Any) -> Ball:
        return Ball(self.mid[index], np.broadcast_to(self.rad, self.mid.shape)[index])

    def reshape(self, *shape: int) -> Ball:
        """The same numbers in another ``shape``."""
        return Ball(self.mid.reshape(*shape), np.broadcast_to(self.rad, self.mid.shape).reshape(*shape))

    @property
    def T(self) -> Ball:
        """The transpose."""
        return Ball(self.mid.T, np.broadcast_to(self.rad, self.mid.shape).T)

    # -- arithmetic ---------------------------------------------------------------------------------
    def _rounded(self, mid: Array, rad: Numeric) -> Ball:
        if mid.dtype == object:
            return Ball(mid, rad)
        if mid.ndim == 0 or np.ndim(rad) > mid.ndim:
            return Ball(mid, rounded_up(rad + UNIT * np.abs(mid)))
        room = np.abs(mid)  # the same in place: most of the time goes into memory that is taken anew
        room *= UNIT
        room += rad
        room *= 1.0 + 16.0 * UNIT
        room += ETA
        return Ball(mid, room)

    def _meet(self, other: Numeric) -> tuple[Ball, Ball]:
        """Both operands as balls of one dtype: exact as soon as one of them is."""
        other = ball(other, like=self)
        return ball(self, like=other), other

    def __add__(self, other: Numeric) -> Ball:
        self, other = self._meet(other)
        return self._rounded(np.asarray(self.mid + other.mid), self.rad + other.rad)

    def __neg__(self) -> Ball:
        return Ball(-self.mid, self.rad)

    def __sub__(self, other: Numeric) -> Ball:
        return self + (-ball(other, like=self))

    def __rsub__(self, other: Numeric) -> Ball:
        return (-self).__add__(other)

    def __mul__(self, other: Numeric) -> Ball:
        self, other = self._meet(other)
        if _signs(self) or _signs(other):  # such a product is not rounded
            return Ball(np.asarray(self.mid * other.mid), other.rad if _signs(self) else self.rad)
        rad = 0.0 if _zero(other.rad) else np.abs(self.mid) * other.rad
        if not _zero(self.rad):
            rad = rad + (np.abs(other.mid) + other.rad) * self.rad
        return self._rounded(np.asarray(self.mid * other.mid), rad)

    def __truediv__(self, other: Numeric) -> Ball:
        self, other = self._meet(other)
        room = np.abs(other.mid) - other.rad
        if not np.all(room > 0):
            if self.exact:
                raise ZeroDivisionError("division by a ball that contains zero")
            room = np.where(room > 0, room, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            mid = np.asarray(self.mid / other.mid)
        lost = 0 if self.exact or _zero(other.rad) else ETA  # by underflow: much, over little room
        return self._rounded(mid, (self.rad + lost + (np.abs(mid) + lost) * other.rad) / room)

    def __rtruediv__(self, other: Numeric) -> Ball:
        return ball(other, like=self) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def __abs__(self) -> Ball:
        return Ball(np.abs(self.mid), self.rad)

    def square(self) -> Ball:
        """x², never below zero."""
        rad = (2 * np.abs(self.mid) + self.rad) * self.rad
        return self._rounded(np.asarray(self.mid * self.mid), rad)

    def maximum(self, other: Numeric) -> Ball:
        """The larger of this and the number or ball ``other``, entry by entry."""
        self, other = self._meet(other)
        rad = np.maximum(self.rad, other.rad)
        rad = np.where(self.lower > other.upper, self.rad, np.where(other.lower > self.upper, other.rad, rad))
        return Ball(np.maximum(self.mid, other.mid), rad)

    def minimum(self, other: Numeric) -> Ball:
        """The smaller of this and the number or ball ``other``, entry by entry."""
        return -((-self).maximum(-ball(other, like=self)))

    def sum(self, axis: int | None = None) -> Ball:
        """The sum over all entries, or along ``axis``, with the rounding of the additions."""
        if self.exact:
            rad = np.broadcast_to(self.rad, self.mid.shape)
            return Ball(np.asarray(self.mid.sum(axis=axis)), np.asarray(rad.sum(axis=axis)))
        if axis is None:
            total, lost = long_sum(self.mid)
            k = self.mid.size
            error = UNIT * abs(total) + gamma(k + 4) * lost * (1.0 + 2 * gamma(k + 4))
            rad = k * self.rad if self.rad.ndim == 0 else (1.0 + gamma(k)) * np.broadcast_to(self.rad, self.shape).sum()
            return Ball(np.asarray(total), rounded_up(np.asarray(rad + error)))
        rad = np.broadcast_to(self.rad, self.mid.shape)
        k = self.mid.shape[axis]
        error = gamma(k) * np.abs(self.mid).sum(axis=axis) + (1.0 + gamma(k)) * rad.sum(axis=axis)
        return Ball(self.mid.sum(axis=axis), rounded_up(error))

    def max(self) -> Ball:
        """The largest entry."""
        return Ball.between(self.lower.max(), self.upper.max())

    def monotone(self, function: Callable[[Array], Array]) -> Ball:
        """The image under an increasing function that is accurate to 4 ulp."""
        low, high = self._outward()
        with np.errstate(all="ignore"):
            low, high = function(low), function(high)
            low = low - 2 * _ULPS * UNIT * np.abs(low) - ETA
            high = high + 2 * _ULPS * UNIT * np.abs(high) + ETA
        return Ball.between(rationals(low), rationals(high)) if self.exact else Ball.between(low, high)

    def _outward(self) -> tuple[Array, Array]:
        """Float ends that enclose the ball."""
        low, high = np.asarray(to_float(self.lower)), np.asarray(to_float(self.upper))
        return (np.nextafter(low, -np.inf), np.nextafter(high, np.inf)) if self.exact else (low, high)

    def _spread(self) -> Array | None:
        """At least e^r − 1 for the radius r, where that is small: one value of a function then does, instead of two.

        In the radius, e^x, log(1 + e^x) and 1/(1 + e^−x) change by at most e^r − 1 times their slope at the middle.
        """
        narrow = not self.exact and bool(np.all(self.rad <= _NARROW))
        return self.rad * (1.0 + 2 * _NARROW) if narrow else None

    def exponential(self) -> Ball:
        """The exponential function, e^x."""
        spread = self._spread()
        if spread is None:
            return self.monotone(np.exp)
        with np.errstate(all="ignore"):
            mid = np.exp(self.mid)
            return Ball(mid, rounded_up(mid * (spread + 2 * (_ULPS + 1) * UNIT)))

    def sigmoid(self) -> Ball:
        """1/(1 + e^−x)."""
        spread = self._spread()
        return self.monotone(scipy.special.expit) if spread is None else self._logistic(spread)[1]

    def softplus(self) -> tuple[Ball, Ball]:
        """log(1 + e^x) and its slope, 1/(1 + e^−x), from one exponential."""
        spread = self._spread()
        return (_logaddexp(ball(0.0, like=self), self), self.sigmoid()) if spread is None else self._logistic(spread)

    def _logistic(self, spread: Array) -> tuple[Ball, Ball]:
        """The same at the middle, from e^−|x|, which never overflows; NumPy's exp is vectorised, expit is not."""
        with np.errstate(all="ignore"):
            e = np.exp(-np.abs(self.mid))
            share = 2 * (_ULPS + 2) * UNIT  # of e, and what the sum and the quotient are rounded by
            mid = np.maximum(e, self.mid >= 0.0) / (1.0 + e)  # e ≤ 1; choosing by a mask takes several times as long
            slope = Ball(mid, rounded_up(mid * (spread * ((1.0 - mid) + share) + share)))  # in brackets at least 1 − it
            value = np.maximum(self.mid, 0.0) + np.log1p(e)
            return Ball(value, rounded_up(mid * spread + value * (4 * (_ULPS + 1) * UNIT))), slope

    def entropy(self) -> Ball:
        """−x log x, with 0 log 0 = 0; the ball is cut at zero."""
        if not self.exact and _zero(self.rad):
            x = np.maximum(self.mid, 0.0)
            found = -x * np.log(x + (x == 0.0))
            return Ball(found, np.abs(found) * (2 * (_ULPS + 2) * UNIT) + _eta_unless_zero(found))
        low, high = self._outward()
        low = np.maximum(low, 0.0)
        peak = np.exp(-1.0)
        with np.errstate(all="ignore"):
            ends = scipy.special.entr(low), scipy.special.entr(high)
            top = np.where((low <= peak) & (peak <= high), peak, np.maximum(*ends))
            bottom = np.minimum(*ends)
            slack = 2 * (_ULPS + 2) * UNIT
            top, bottom = top + slack * np.abs(top) + ETA, bottom - slack * np.abs(bottom) - ETA
        return Ball.between(rationals(bottom), rationals(top)) if self.exact else Ball.between(bottom, top)

    # -- NumPy's ufuncs -----------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Numeric:
        if method != "__call__" or kwargs:
            return NotImplemented
        unary = _UNARY.get(ufunc.__name__)
        if unary is not None and len(inputs) == 1:
            return unary(inputs[0])
        binary = _BINARY.get(ufunc.__name__)
        if binary is None:
            return NotImplemented
        return binary(*Ball._meet(ball(inputs[0]), inputs[1]))

    def __matmul__(self, other: Numeric) -> Ball:
        return dot(self, other)

    def __rmatmul__(self, other: Numeric) -> Ball:
        return dot(other, self)


def _logaddexp(a: Ball, b: Ball) -> Ball:
    if a.exact:
        return a.maximum(b) + (-abs(a - b)).monotone(lambda t: np.log1p(np.exp(t)))
    if a.mid.ndim == 0 and a.mid == 0.0 and _zero(a.rad) and b._spread() is not None:  # log(1 + e^b)
        return b.softplus()[0]
    low, high = np.logaddexp(a.lower, b.lower), np.logaddexp(a.upper, b.upper)
    slack = 2 * _ULPS * UNIT
    return Ball.between(low - slack * np.abs(low) - ETA, high + slack * np.abs(high) + ETA)


def _power(a: Ball, b: Ball) -> Ball:
    # x^p for x ≥ 0 and one positive exponent p: increasing in x.
    exponent = float(to_float(b.mid).ravel()[0])
    return a.maximum(0.0).monotone(lambda t: np.power(np.maximum(t, 0.0), exponent))


_UNARY: dict[str, Callable[[Ball], Ball]] = {
    "negative": Ball.__neg__,
    "absolute": Ball.__abs__,
    "square": Ball.square,
    "exp": Ball.exponential,
    "log": lambda x: x.monotone(np.log),
    "log1p": lambda x: x.monotone(np.log1p),
    "expm1": lambda x: x.monotone(np.expm1),
    "sqrt": lambda x: x.maximum(0.0).monotone(lambda t: np.sqrt(np.maximum(t, 0.0))),
}
_BINARY: dict[str, Callable[[Ball, Ball], Ball]] = {
    "add": Ball.__add__,
    "subtract": Ball.__sub__,
    "multiply": Ball.__mul__,
    "divide": Ball.__truediv__,
    "maximum": Ball.maximum,
    "minimum": Ball.minimum,
    "logaddexp": _logaddexp,
    "power": _power,
}


def ball(x: Numeric, like: Ball | None = None) -> Ball:
    """x as a ball of radius zero (exact rationals when ``like`` is exact).

    Parameters
    ----------
    x : number or array
    like : Ball, default=None
        Whose arithmetic to use; error-bounded floats when None.

    Examples
    --------
    >>> third = ball(1.0) / 3.0
    >>> 0 < float(third.rad) < 1e-15
    True
    """
    if isinstance(x, Ball):
        if like is not None and like.exact and not x.exact:
            return Ball(rationals(x.mid), rationals(x.rad))
        return x
    return Ball(rationals(x)) if like is not None and like.exact else Ball(x)


def shifted(x: Ball, power: Numeric) -> Ball:
    """x·2^power, entry by entry.

    Examples
    --------
    >>> float(shifted(Ball(3.0), -1).mid)
    1.5
    """
    if x.exact:
        whole = np.broadcast_to(np.asarray(power), x.shape)
        factor = np.empty(x.shape, dtype=object)
        factor.ravel()[:] = [quotient(2 ** max(int(k), 0), 2 ** max(-int(k), 0)) for k in whole.ravel()]
        return Ball(np.asarray(x.mid * factor), np.asarray(x.rad * factor))
    return Ball(np.ldexp(x.mid, power), np.ldexp(x.rad, power) + ETA)


def dot(A: Numeric, B: Numeric) -> Ball:
    """A @ B with its rounding bound; either may be an array, a sparse matrix (A only) or a ball.

    Parameters
    ----------
    A : array, sparse matrix or Ball
    B : array or Ball

    Examples
    --------
    >>> product = dot(np.array([[0.1, 0.2]]), np.array([3.0, 4.0]))
    >>> abs(float(product.mid[0]) - 1.1) < 1e-15, float(product.rad[0]) < 1e-15
    (True, True)
    """
    a, a_rad = (A.mid, A.rad) if isinstance(A, Ball) else (A, None)
    b, b_rad = (B.mid, B.rad) if isinstance(B, Ball) else (np.asarray(B), None)
    if is_exact(a, b):
        a, b = rationals(a), rationals(b)
        rad: Any = rationals(np.zeros(()))
        if b_rad is not None:
            rad = rad + np.abs(a) @ rationals(np.broadcast_to(b_rad, b.shape))
        if a_rad is not None:
            full = rationals(np.broadcast_to(a_rad, a.shape))
            size = np.abs(b) if b_rad is None else np.abs(b) + b_rad
            rad = rad + full @ size
        return Ball(np.asarray(a @ b), rad)
    k = a.shape[-1]
    size = np.abs(b)
    inner = shares(size, k + 2)
    if b_rad is not None:
        inner = inner + np.broadcast_to(b_rad, b.shape)
    mid, rad = _products(a, b, inner)
    if a_rad is not None and np.any(a_rad):
        rad = rad + np.broadcast_to(a_rad, a.shape) @ (size if b_rad is None else size + b_rad)
    return Ball(mid, rounded_up(rad * (1.0 + 2 * gamma(k + 2)) + k * ETA))
