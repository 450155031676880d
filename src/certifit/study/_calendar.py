"""What a date says besides how long ago it was: year, month, weekday, hour."""

from __future__ import annotations

import numpy as np

from certifit._types import Array

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = tuple(f"{h:02d}" for h in range(24))
PARTS = {"year": (), "month": MONTHS, "weekday": WEEKDAYS, "hour": HOURS}
"""The parts of a date, and the names of their values where they come round again."""


def parts_of(days: Array) -> dict[str, Array]:
    """Year, and numbers of month, weekday and hour from 0, of days since 1970 (NaN where missing).

    Examples
    --------
    >>> found = parts_of(np.array([0.0, 59.75, np.nan]))  # Thursday 1 January 1970; Sunday 1 March, 18:00
    >>> found["year"], found["month"], found["weekday"], found["hour"]
    (array([1970., 1970.,   nan]), array([ 0.,  2., nan]), array([ 3.,  6., nan]), array([ 0., 18., nan]))
    """
    known = np.isfinite(days) & (np.abs(days) < 1e7)
    seconds = np.round(np.where(known, days, 0.0) * 86_400.0).astype(np.int64)  # 18:00 must not become 17:59
    whole = seconds // 86_400
    months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    found = {
        "year": 1970 + months // 12,
        "month": months % 12,
        "weekday": (whole + 3) % 7,  # 1970 began on a Thursday
        "hour": (seconds % 86_400) // 3_600,
    }
    return {name: np.where(known, values, np.nan) for name, values in found.items()}
