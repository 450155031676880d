"""The parameter at which a falling, piecewise linear quantity is zero.

The multipliers of a soft-margin machine are piecewise linear in its cost, those of a tube in its width. So is what they
are short of a wanted sum, and the secant through two points of one piece ends the search.
"""

from __future__ import annotations

from collections.abc import Callable

_MOST = 80  # values looked at
_NARROW = 1e-13  # relative width of a bracket at whose ends the problem is the same to rounding


def crossing(
    value: Callable[[float], float],
    low: tuple[float, float],
    high: tuple[float, float],
    small: Callable[[float], float],
) -> tuple[float, float]:
    """Two parameters between which a falling function changes its sign; both the same where it is small enough.

    ``low`` and ``high`` are (parameter, value), the value ≥ 0 at the first and ≤ 0 at the second; ``small`` tells, at a
    parameter, the size of a value that counts as zero.

    Examples
    --------
    >>> crossing(lambda t: 3.0 - 2.0 * t, (0.0, 3.0), (4.0, -5.0), lambda t: 1e-12)
    (1.5, 1.5)
    """
    (a, at_a), (b, at_b) = low, high
    for t, at in (low, high):
        if abs(at) <= small(t):
            return t, t
    kept, weight_a, weight_b = 0, 1.0, 1.0
    for step in range(_MOST):
        # The secant; an end that stays twice counts half (Illinois), and every fourth step halves the bracket.
        up, down = at_a * weight_a, -at_b * weight_b
        t = a + (b - a) * up / (up + down) if up + down > 0.0 and step % 4 != 3 else 0.5 * (a + b)
        if not a < t < b:
            t = 0.5 * (a + b)
        if not a < t < b or b - a <= _NARROW * max(abs(a), abs(b)):
            break
        at = value(t)
        if abs(at) <= small(t):
            return t, t
        if at > 0.0:
            a, at_a, weight_a = t, at, 1.0
            weight_b = 0.5 * weight_b if kept == 1 else 1.0
            kept = 1
        else:
            b, at_b, weight_b = t, at, 1.0
            weight_a = 0.5 * weight_a if kept == -1 else 1.0
            kept = -1
    return a, b
