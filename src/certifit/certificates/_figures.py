"""Proved numbers: what a certificate states, and what a re-check must find."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

Sense = Literal["upper", "lower", "about", "roughly", "equal"]


@dataclass(frozen=True)
class ProvedNumber:
    """A proved number: what to state, and what a re-check must find.

    ``upper``: the truth is at most this; ``lower``: at least this; ``about``: a float result that a re-check
    reproduces to 1e-9; ``roughly``: an estimate that it reproduces to 10 %; ``equal``: a count or a word.
    """

    stated: Any
    proved: Any
    sense: Sense

    def supports(self, stated: Any) -> bool:
        """Whether this (freshly proved) figure backs a stated one."""
        if self.sense == "equal":
            return isinstance(stated, bool) == isinstance(self.proved, bool) and bool(stated == self.proved)
        if not isinstance(stated, (int, float)) or isinstance(stated, bool) or math.isnan(stated):
            return False
        if math.isinf(stated) and stated != self.proved:
            return False  # true of every number, or of none
        if isinstance(self.proved, int) and not (isinstance(stated, int) and stated >= 0):
            return False  # a count
        if self.sense == "upper":
            return bool(self.proved <= stated)
        if self.sense == "lower":
            return bool(self.proved >= stated)
        slack = 1e-9 if self.sense == "about" else 0.1
        if not (math.isfinite(stated) and math.isfinite(self.proved)):
            return bool(stated == self.proved)
        return bool(abs(stated - self.proved) <= slack * abs(self.proved) + 1e-300)


def upper(value: Any) -> ProvedNumber:
    """An upper bound from a ball; stated one radius wider, so that another machine's rounding proves it too."""
    mid, rad = _ends(value)
    return ProvedNumber(_widen(mid + 2 * rad), _widen(mid + rad), "upper")


def lower(value: Any) -> ProvedNumber:
    """A lower bound from a ball (see `upper`)."""
    mid, rad = _ends(value)
    return ProvedNumber(0.0 - _widen(2 * rad - mid), 0.0 - _widen(rad - mid), "lower")  # 0 − x: zero has no sign


def about(value: Any) -> ProvedNumber:
    """A float that a re-check reproduces."""
    mid, _ = _ends(value)
    return ProvedNumber(mid, mid, "about")


def roughly(value: Any) -> ProvedNumber:
    """An estimate (of a condition number, say) that a re-check reproduces to 10 %."""
    return replace(about(value), sense="roughly")


def equal(value: Any) -> ProvedNumber:
    """A count or a word that a re-check finds again."""
    return ProvedNumber(value, value, "equal")


def at_least(count: int) -> ProvedNumber:
    """A count that a re-check reaches, or exceeds with finer arithmetic."""
    return ProvedNumber(count, count, "lower")


def _ends(value: Any) -> tuple[float, float]:
    from certifit.certificates._ball import Ball, to_float

    if isinstance(value, Ball):
        return float(to_float(value.mid)), float(np.nextafter(to_float(value.rad), np.inf))
    mid = float(to_float(value))
    return mid, 0.0 if mid or value == 0 else float(np.nextafter(0.0, 1.0))  # a rational below the smallest float


def above(x: Any) -> Any:
    """Floats that are not below: floats as they are, rationals rounded up (zero alone to zero).

    Examples
    --------
    >>> from certifit.certificates._ball import quotient
    >>> float(above(quotient(1, 10**400)))
    5e-324
    """
    from certifit.certificates._ball import to_float

    x = np.asarray(x)
    return np.where(x == 0, 0.0, np.nextafter(to_float(x), np.inf)) if x.dtype == object else x


def _widen(x: float) -> float:
    return float(np.nextafter(x * (1.0 + 4e-16) if x > 0 else x * (1.0 - 4e-16), np.inf)) if x else 0.0
