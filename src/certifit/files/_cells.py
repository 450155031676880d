"""Cells to numbers, words and days: the one place that says what a cell means.

Text cells are stripped. The tokens of `MISSING` mean "missing" everywhere; those of `BLANKS` only in a column
whose other cells are numbers or dates (``none`` may be a category elsewhere).
"""

from __future__ import annotations

import numpy as np

from certifit._arrow import pa, pc
from certifit._types import Array

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "?", "#N/A", "<NA>")
BLANKS = ("-", "--", ".", "none", "None", "NONE", "missing", "unknown", "Unknown", "nil")
TRUE = ("true", "yes", "y", "t", "ja", "oui")
FALSE = ("false", "no", "n", "f", "nein", "non")
DATES = (
    "%Y-%m-%d",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d-%m-%Y",
    "%d %b %Y",
    "%b %d, %Y",
)
_ZONE = r"(:\d{2})(\.\d+)?\s?(Z|UTC|[+-]\d{2}:?\d{2})?$"  # fractions of seconds and the zone of an ISO time
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"
_COMMA = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+$"
_COMMA_THOUSANDS = r"^[+-]?\d{1,3}(\.\d{3})+(,\d+)?$"
_INFINITE = r"^[+-]?(?i:inf|infinity)$"
_MONEY = "[$€£¥]"
_UNIT = rf"^([+-]?){_MONEY}\s*|\s*({_MONEY}|%)$"  # $ 3, 3 €, 3 %
_CODE = r"^[+-]?0\d+$"
_DAY = 86_400.0


def is_text(column: pa.ChunkedArray) -> bool:
    """Whether an Arrow column holds words (as every column of a CSV does)."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_dated(column: pa.ChunkedArray) -> bool:
    """Whether an Arrow column holds dates or times by its own type."""
    return bool(pa.types.is_date(column.type) or pa.types.is_timestamp(column.type))


def stripped(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Words without surrounding blanks, null where missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not is_text(column):
        column = _as_text(column)
    words = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    missing = pc.is_in(words, value_set=pa.array(MISSING, pa.large_string()))
    return pc.if_else(missing, pa.scalar(None, pa.large_string()), words)


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers as people write them: 3, not 3.0."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_finite(column), column, pa.scalar(None, column.type))
        small = pc.less(pc.abs(column), 2.0**53)
        if pc.all(pc.and_(pc.equal(pc.floor(column), column), small)).as_py() is not False:
            column = column.cast(pa.int64())
    if pa.types.is_boolean(column.type):
        return pc.if_else(column, "true", "false")
    return column.cast(pa.large_string())


def numbers(column: pa.ChunkedArray, comma: bool = False) -> tuple[Array, Array]:
    """Cells as float64 (NaN where missing), and a mask of the cells that are words instead."""
    if not is_text(column):
        if is_dated(column) or pa.types.is_nested(column.type):
            return np.full(len(column), np.nan), np.ones(len(column), dtype=bool)
        values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(float)
        values[~np.isfinite(values)] = np.nan
        return values, np.zeros(len(values), dtype=bool)
    words = _bare(stripped(column))
    if comma:
        words = pc.replace_substring(_ungrouped(words, _COMMA_THOUSANDS, "."), ",", ".")
    else:
        words = _ungrouped(words, _THOUSANDS, ",")
    good = pc.fill_null(pc.match_substring_regex(words, _NUMBER), False)
    kept = pc.replace_substring_regex(pc.if_else(good, words, pa.scalar(None, words.type)), r"^\+", "")
    values = pc.cast(kept, pa.float64()).to_numpy(zero_copy_only=False).astype(float)
    values[~np.isfinite(values)] = np.nan
    infinite = pc.fill_null(pc.match_substring_regex(words, _INFINITE), False)
    bad = pc.and_(pc.is_valid(words), pc.invert(pc.or_(good, infinite))).to_numpy(zero_copy_only=False)
    return values, np.asarray(bad, dtype=bool)


def _bare(words: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers without their unit of money, their per cent sign, or a typographer's minus."""
    if not pc.any(pc.match_substring_regex(words, rf"{_MONEY}|%|−")).as_py():
        return words
    return pc.replace_substring_regex(pc.replace_substring(words, "−", "-"), _UNIT, r"\1")


def _ungrouped(words: pa.ChunkedArray, pattern: str, mark: str) -> pa.ChunkedArray:
    """1,234,567 without the marks between its groups."""
    grouped = pc.fill_null(pc.match_substring_regex(words, pattern), False)
    return pc.if_else(grouped, pc.replace_substring(words, mark, ""), words)


def unit(column: pa.ChunkedArray) -> str:
    """The unit of money or the per cent sign that most present cells carry; nothing when they do not."""
    words = stripped(column)
    present = len(words) - words.null_count
    for mark in "%$€£¥":
        if 2 * (pc.sum(pc.match_substring(words, mark)).as_py() or 0) > present:
            return mark
    return ""


def matches(column: pa.ChunkedArray, what: str) -> tuple[int, int]:
    """How many of the present cells look like ``what`` ("code": leading zero, "comma": 1,5), and how many there are."""
    words = _bare(stripped(column))
    found = pc.sum(pc.match_substring_regex(words, {"code": _CODE, "comma": _COMMA}[what])).as_py()
    return int(found or 0), len(words) - words.null_count


def days(column: pa.ChunkedArray, pattern: str) -> tuple[Array, Array]:
    """Cells as days since 1970 (NaN where missing), and a mask of the cells that are no dates."""
    if is_dated(column):
        stamps, bad = column.cast(pa.timestamp("us")), np.zeros(len(column), dtype=bool)
    else:
        words = stripped(column)
        if "%H" in pattern:  # the clock on the wall there and then: hours and weekdays are those of the place
            words = pc.replace_substring_regex(words, pattern=_ZONE, replacement=r"\1")
        stamps = pc.strptime(words, format=pattern, unit="us", error_is_null=True)
        bad = pc.and_(pc.is_valid(words), pc.is_null(stamps)).to_numpy(zero_copy_only=False)
    micro = stamps.cast(pa.int64()).to_numpy(zero_copy_only=False).astype(float)
    return micro / 1e6 / _DAY, np.asarray(bad, dtype=bool)


def booleans(column: pa.ChunkedArray) -> tuple[Array, Array]:
    """Cells as 1 and 0 (NaN where missing), and a mask of the cells that are neither true nor false."""
    words = pc.utf8_lower(stripped(column))
    yes = pc.is_in(words, value_set=pa.array(TRUE, pa.large_string())).to_numpy(zero_copy_only=False)
    no = pc.is_in(words, value_set=pa.array(FALSE, pa.large_string())).to_numpy(zero_copy_only=False)
    values = np.where(yes, 1.0, np.where(no, 0.0, np.nan))
    bad = np.asarray(pc.is_valid(words).to_numpy(zero_copy_only=False), dtype=bool) & np.isnan(values)
    return values, bad


def codes(column: pa.ChunkedArray, categories: tuple[str, ...]) -> tuple[Array, Array]:
    """Cells as positions in ``categories`` (NaN where missing, −1 where unknown), and a mask of the unknown."""
    words = stripped(column)
    found = pc.index_in(words, value_set=pa.array(categories, pa.large_string()))
    present = np.asarray(pc.is_valid(words).to_numpy(zero_copy_only=False), dtype=bool)
    position = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(float)
    return np.where(present, position, np.nan), present & (position < 0)
