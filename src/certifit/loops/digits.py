"""Numbers cut into digits of 21 bits, and their sums by class: what `certificates.sums` does with NumPy.

The digits are those of ``Side.slices``, bit for bit; one read of the numbers gives all of them. A NaN makes the digits
NaN (and so every sum of them), an infinite number shows in the largest of its column.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit
from certifit.loops._tiers import tiered

_PLACE = 2097152.0  # 2²¹
_LANES = 16
_PART = 1024  # rows that stay in the nearest cache


@njit()
def _largest(values, c, count, most):
    """The largest size of the first numbers minus c; NaN is passed over. ``most`` is scratch: lanes become vectors."""
    whole = count - count % _LANES
    for lane in range(_LANES):
        most[lane] = 0.0
    for start in range(0, whole, _LANES):
        for lane in range(_LANES):
            size = abs(values[start + lane] - c)
            most[lane] = size if size > most[lane] else most[lane]
    found = 0.0
    for i in range(whole, count):
        size = abs(values[i] - c)
        found = size if size > found else found
    for lane in range(_LANES):
        found = max(found, most[lane])
    return found


@njit()
def _digits(values, c, s, left, out, place):
    """All digits of (values − c) · s; ``left`` is scratch. What is cut off the last digit is not kept."""
    last, count = out.shape[0] - 1, out.shape[2]
    first = out[0, place]
    for i in range(count):
        value = (values[i] - c) * s
        digit = np.trunc(value)
        first[i] = digit
        left[i] = (value - digit) * _PLACE
    for k in range(1, last + 1):
        here = out[k, place]
        if k == last:
            for i in range(count):
                here[i] = np.trunc(left[i])
        else:
            for i in range(count):
                digit = np.trunc(left[i])
                here[i] = digit
                left[i] = (left[i] - digit) * _PLACE


@njit(fastmath={"nsz", "reassoc"})
def _sum_of(values, member):
    """The sum of whole numbers over the members of a class (zeros and ones): exact in any order."""
    total = 0.0
    for i in range(len(member)):
        total += values[i] * member[i]
    return total


@njit(fastmath={"nsz", "reassoc"})
def _next_digit(left, out, member):
    """The next digit of the first numbers: written, and taken off them. Its sum over all, and over the members.

    Sums are of whole numbers, what is taken off is exact: the order of operations changes nothing.
    """
    total, own = 0.0, 0.0
    for i in range(len(member)):
        digit = np.trunc(left[i])
        out[i] = digit
        left[i] = (left[i] - digit) * _PLACE
        total += digit
        own += digit * member[i]
    return total, own


@njit()
def _add_by_class(left, out, member, start, stop, total):
    """Add the next digit of numbers up by class; what is of no other class is of the first."""
    second = 1 if len(total) > 1 else 0
    rest, own = _next_digit(left, out, member[second, start:stop])
    if second:
        total[1] += own
        rest -= own
    for code in range(2, len(total)):
        own = _sum_of(out, member[code, start:stop])
        total[code] += own
        rest -= own
    total[0] += rest


@tiered(lambda X, root, centre, scale, start, out, place, largest: 1e-7 * len(X) * out.shape[2] * (2 + len(out)))
@njit()
def cut(X, root, centre, scale, start, out, place, largest):
    """Digits of (x − centre) · root for the rows from ``start`` on of columns X (d, m).

    ``root`` has a factor for each row, or none at all; ``scale`` is 2^(21 − exponent). Digits and the largest size of
    each column are written to ``out`` (digits, columns, rows) and ``largest`` from column ``place`` on.
    """
    count = out.shape[2]
    left, lanes = np.empty(count), np.empty(_LANES)
    for j in range(X.shape[0]):
        values = X[j, start : start + count]
        if root.shape[0]:
            factor, c = root[start : start + count], centre[j]
            for i in range(count):
                left[i] = (values[i] - c) * factor[i]
            largest[place + j] = _largest(left, 0.0, count, lanes)
            _digits(left, 0.0, scale[j], left, out, place + j)
        else:
            largest[place + j] = _largest(values, centre[j], count, lanes)
            _digits(values, centre[j], scale[j], left, out, place + j)


@tiered(lambda X, member, centre, first, second, total, largest: 2e-6 * X.size)
@njit()
def class_sums(X, member, centre, first, second, total, largest):
    """Sums by class of the digits of t = x − centre and of t².

    X is (d, m), with m at most 2³², so that sums of digits are exact. ``member`` (classes, m) is one where a row is of
    a class, zero elsewhere; every row is of one class. ``first`` and ``second`` are 2^(21 − exponent) of t and of t².
    The sums, whole numbers, are added to ``total`` (classes, digits, 2d), and the largest sizes of t and t² in each
    column written to ``largest``.
    """
    d, m = X.shape
    t, q, digit, lanes = np.empty(_PART), np.empty(_PART), np.empty(_PART), np.empty(_LANES)
    for j in range(d):
        c, a, b = centre[j], first[j], second[j]
        most = 0.0
        for start in range(0, m, _PART):
            count = min(_PART, m - start)
            values = X[j, start : start + count]
            for i in range(count):
                t[i] = values[i] - c
            most = max(most, _largest(t, 0.0, count, lanes))
            for i in range(count):
                q[i] = t[i] * t[i] * b
                t[i] *= a
            for k in range(total.shape[1]):
                _add_by_class(t, digit, member, start, start + count, total[:, k, j])
                _add_by_class(q, digit, member, start, start + count, total[:, k, d + j])
        largest[j], largest[d + j] = most, most * most  # rounding keeps the order, so this is the largest square


def warm() -> None:
    """Compile every loop."""
    X, one = np.zeros((1, 2)), np.ones(1)
    class_sums(X, np.ones((1, 2)), one, one, one, np.zeros((1, 1, 2)), np.zeros(2))
    for writable in (True, False):
        X.flags.writeable = writable
        cut(X, np.ones(2), one, one, 0, np.empty((1, 1, 2)), 0, np.empty(1))
