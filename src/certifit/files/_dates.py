"""Year, month, weekday and hour of a day's number, by sums, products and floors alone: for exports.

The proleptic Gregorian calendar in years that begin in March, so that the leap day is the last (H. Hinnant, "chrono-
compatible low-level date algorithms", days_from_civil). All numbers are whole and far below 2⁵³: floats are exact.
"""

from __future__ import annotations

from typing import Any, Protocol

_MARCH = 719_468.0  # days from 1 March of the year 0 to 1970
_ERA = 146_097.0  # days of 400 years


class Arithmetic(Protocol):
    """What a language of formulas can do; ``b`` is a formula or a number."""

    def plus(self, a: Any, b: Any) -> Any:
        """a + b."""

    def minus(self, a: Any, b: Any) -> Any:
        """a − b."""

    def times(self, a: Any, b: float) -> Any:
        """a · b."""

    def floor_of_ratio(self, a: Any, b: float) -> Any:
        """⌊a / b⌋."""

    def choose(self, a: Any, b: float, yes: Any, no: Any) -> Any:
        """``yes`` where a ≤ b, else ``no``."""


def parts(of: Arithmetic, days: Any) -> dict[str, Any]:
    """Year, and month, weekday and hour from 0, of days since 1970 (with their fraction).

    Parameters
    ----------
    of : Arithmetic
    days : formula
    """
    seconds = of.floor_of_ratio(of.plus(of.times(days, 86_400.0), 0.5), 1.0)
    whole = of.floor_of_ratio(seconds, 86_400.0)
    hour = of.floor_of_ratio(of.minus(seconds, of.times(whole, 86_400.0)), 3_600.0)
    week = of.plus(whole, 3.0)  # 1970 began on a Thursday
    weekday = of.minus(week, of.times(of.floor_of_ratio(week, 7.0), 7.0))
    z = of.plus(whole, _MARCH)
    era = of.floor_of_ratio(z, _ERA)
    day = of.minus(z, of.times(era, _ERA))  # of its 400 years
    leaps = of.minus(
        of.plus(of.minus(day, of.floor_of_ratio(day, 1_460.0)), of.floor_of_ratio(day, 36_524.0)),
        of.floor_of_ratio(day, 146_096.0),
    )
    year = of.floor_of_ratio(leaps, 365.0)
    before = of.minus(of.plus(of.times(year, 365.0), of.floor_of_ratio(year, 4.0)), of.floor_of_ratio(year, 100.0))
    month = of.floor_of_ratio(of.plus(of.times(of.minus(day, before), 5.0), 2.0), 153.0)  # 0 is March
    civil = of.choose(month, 9.5, of.plus(month, 2.0), of.minus(month, 10.0))
    full = of.plus(year, of.times(era, 400.0))
    return {
        "year": of.choose(month, 9.5, full, of.plus(full, 1.0)),
        "month": civil,
        "weekday": weekday,
        "hour": hour,
    }
