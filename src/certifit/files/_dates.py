"""Year, month, weekday and hour of a day's number, by sums, products and floors alone: for exports.

The proleptic Gregorian calendar in years that begin in March, so that the leap day is the last (H. Hinnant, "chrono-
compatible low-level date algorithms", days_from_civil). All numbers are whole and far below 2⁵³: floats are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MARCH = 719_468.0  # days from 1 March of the year 0 to 1970
_ERA = 146_097.0  # days of 400 years


def parts(of: Callable[..., Any], days: Any) -> dict[str, Any]:
    """Year, and month, weekday and hour from 0, of days since 1970 (with their fraction).

    ``of`` is how a language of formulas says a + b, a − b, a · b and ⌊a/b⌋: ``of("+", a, b)``, and so on with "-", "*"
    and "//", where b is a formula or a number; ``of("<=", a, b, yes, no)`` is ``yes`` where a ≤ b, else ``no``.
    """
    seconds = of("//", of("+", of("*", days, 86_400.0), 0.5), 1.0)
    whole = of("//", seconds, 86_400.0)
    hour = of("//", of("-", seconds, of("*", whole, 86_400.0)), 3_600.0)
    week = of("+", whole, 3.0)  # 1970 began on a Thursday
    weekday = of("-", week, of("*", of("//", week, 7.0), 7.0))
    z = of("+", whole, _MARCH)
    era = of("//", z, _ERA)
    day = of("-", z, of("*", era, _ERA))  # of its 400 years
    leaps = of("+", of("-", day, of("//", day, 1_460.0)), of("//", day, 36_524.0))
    year = of("//", of("-", leaps, of("//", day, 146_096.0)), 365.0)
    before = of("-", of("+", of("*", year, 365.0), of("//", year, 4.0)), of("//", year, 100.0))
    month = of("//", of("+", of("*", of("-", day, before), 5.0), 2.0), 153.0)  # 0 is March
    civil = of("<=", month, 9.5, of("+", month, 2.0), of("-", month, 10.0))
    full = of("+", year, of("*", era, 400.0))
    return {"year": of("<=", month, 9.5, full, of("+", full, 1.0)), "month": civil, "weekday": weekday, "hour": hour}
