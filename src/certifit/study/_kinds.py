"""What each column of a table is: number, boolean, category, date, text; or identifier, constant (not used).

Free text of several words becomes one 0/1 column for each of the words that many rows have (`certifit.files._text`).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from certifit._arrow import pa, pc
from certifit._types import Array
from certifit.files import Column, _cells, _text

_FEW_WORDS = 0.01  # a column with at most this fraction of words among numbers is a column of numbers
_MANY_LEVELS = 0.5  # more levels than this fraction of the rows: no category
_LONG = 6  # words of a text on average: a name or a title has fewer
SHORT = "free text of a few words (--keep uses its words)"
_MOST_WORDS = 300
_WORD_CELLS = 20_000_000  # numbers that the words of one text may take
_WORD_ROWS = 3  # that must have a word, and that must lack it
_ID_NAME = re.compile(r"(?i:(^|[_\W])(id|uuid|guid|index|row|key|nr|no|code)$|^unnamed|^id[_\W])|[a-z]I[dD]$")


@dataclass(frozen=True)
class Found:
    """A column's kind, or why it is not used; and what a person should know about it."""

    name: str
    column: Column | None
    why: str = ""
    missing: int = 0
    distinct: int = 0
    notes: tuple[str, ...] = field(default=())
    words: tuple[Column, ...] = ()  # of a text

    @property
    def kind(self) -> str:
        return "text" if self.words else self.column.kind if self.column is not None else self.why

    @property
    def columns(self) -> tuple[Column, ...]:
        """What is read of it: one column, one for each word of a text, or none."""
        return self.words or (() if self.column is None else (self.column,))


def find_kind(name: str, cells: pa.ChunkedArray, as_category: bool = False) -> Found:
    """Look at all cells of a column and say what it is."""
    if pa.types.is_nested(cells.type) or pa.types.is_binary(cells.type) or pa.types.is_large_binary(cells.type):
        return Found(name, None, f"cells of type {cells.type} cannot be used")
    if pa.types.is_null(cells.type):
        return Found(name, None, "empty", len(cells))
    words = _cells.stripped(cells)
    missing = int(words.null_count)
    present = len(words) - missing
    distinct = int(pc.count_distinct(words, mode="only_valid").as_py())
    if present == 0:
        return Found(name, None, "empty", missing)
    if distinct == 1:
        return Found(name, None, f"constant (always {pc.drop_null(words)[0].as_py()!r})", missing, 1)
    if not as_category:
        for attempt in (_boolean, _number, _date):
            found = attempt(name, cells, words, missing, distinct)
            if found is not None:
                return found
    return _category(name, words, missing, distinct, as_category)


def _boolean(name: str, cells: pa.ChunkedArray, words: pa.ChunkedArray, missing: int, distinct: int) -> Found | None:
    if distinct > 2:
        return None
    _, bad = _cells.booleans(cells)
    return None if bad.any() else Found(name, Column(name, "boolean"), "", missing, distinct)


def _number(name: str, cells: pa.ChunkedArray, words: pa.ChunkedArray, missing: int, distinct: int) -> Found | None:
    if _cells.is_dated(cells):
        return None
    text, present, comma = _cells.is_text(cells), len(words) - missing, False
    if text:
        zeros, _ = _cells.matches(cells, "code")
        if zeros:  # 01234 is a code: as a number it would lose its zero
            return None
        commas, _ = _cells.matches(cells, "comma")
        comma = commas >= 0.5 * present
    values, bad = _cells.numbers(cells, comma)
    notes: list[str] = []
    if bad.any():
        strange = np.unique(np.array(words.filter(pa.array(bad)).to_pylist(), dtype=str))
        blank = set(strange) <= set(_cells.BLANKS)
        share = bad.sum() / present
        if not (blank and share < 0.5) and share > _FEW_WORDS:
            return None
        shown = ", ".join(repr(str(s)) for s in strange[:3])
        count = int(bad.sum())
        notes.append(
            f"{count} cell{'s' * (count > 1)} of {name!r} {'are not numbers' if count > 1 else 'is not a number'}"
            f" ({shown}): counted as missing"
        )
        missing += count
    if np.isnan(values).all():
        return None
    lost = int(np.isnan(values).sum()) - missing
    if lost > 0:
        notes.append(
            f"{lost} cell{'s' * (lost > 1)} of {name!r} {'are' if lost > 1 else 'is'} infinite or beyond the largest"
            " number: counted as missing"
        )
        missing += lost
    if text and (unit := _cells.unit(cells)):
        notes.append(f"the cells of {name!r} contain {unit!r}: read as numbers without it")
    if _looks_like_identifier(name, values):
        return Found(name, None, "identifier (counts or names the rows)", missing, distinct)
    return Found(name, Column(name, "number", comma=comma), "", missing, distinct, tuple(notes))


def _looks_like_identifier(name: str, values: Array) -> bool:
    """Integers, each once, that run on by one, or whose column is called like an identifier."""
    if np.isnan(values).any() or len(values) < 20 or np.any(values != np.floor(values)):
        return False
    ordered = np.sort(values)
    steps = np.diff(ordered)
    if not steps.all():
        return False
    return bool(np.all(steps == 1) and np.array_equal(ordered, values)) or bool(_ID_NAME.search(name))


def _date(name: str, cells: pa.ChunkedArray, words: pa.ChunkedArray, missing: int, distinct: int) -> Found | None:
    if _cells.is_dated(cells):
        return Found(name, Column(name, "date"), "", missing, distinct)
    if not _cells.is_text(cells):
        return None
    sample = words.drop_null().slice(0, 50)
    for pattern in _cells.DATES:
        if _cells.days(sample, pattern)[1].any():
            continue
        _, bad = _cells.days(cells, pattern)
        if bad.mean() <= _FEW_WORDS:
            notes = [f"{int(bad.sum())} cells of {name!r} are not dates: counted as missing"] if bad.any() else []
            if pattern == "%m/%d/%Y" and not _cells.days(cells, "%d/%m/%Y")[1].any():
                notes.append(f"the dates of {name!r} could be month/day or day/month: read as month/day")
            return Found(
                name, Column(name, "date", pattern=pattern), "", missing + int(bad.sum()), distinct, tuple(notes)
            )
    return None


def _category(name: str, words: pa.ChunkedArray, missing: int, distinct: int, asked: bool) -> Found:
    present = len(words) - missing
    if not asked and present >= 20 and distinct > _MANY_LEVELS * present:
        spaced = pc.mean(pc.match_substring_regex(words, r"\S\s+\S+\s+\S").cast("float64")).as_py() or 0.0
        if spaced > 0.3 or (pc.mean(pc.utf8_length(words)).as_py() or 0.0) > 40:
            long = (pc.mean(pc.count_substring_regex(words, r"\S+")).as_py() or 0.0) >= _LONG
            return text(name, words, missing, distinct) if long else Found(name, None, SHORT, missing, distinct)
        return Found(name, None, "identifier (nearly every row has its own value)", missing, distinct)
    categories = tuple(sorted(pc.unique(words.drop_null()).to_pylist()))
    return Found(name, Column(name, "category", categories), "", missing, distinct)


def text(name: str, words: pa.ChunkedArray, missing: int, distinct: int) -> Found:
    """A text as one 0/1 column for each bucket of words that enough rows have, named after its commonest word.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.array(["a very good film", "good fun", "bad film", "dull", "good", "so bad", "bad"])
    >>> [c.name for c in text("review", cells, 0, 7).columns]
    ['review: bad', 'review: good']
    """
    analyse = _text.analyser().build_analyzer()
    rows: Counter[str] = Counter()
    for cell in _text.texts(words):
        rows.update(set(analyse(cell)))
    share = np.diff(_text.presence(words, _text.BUCKETS).indptr)
    known = sorted(rows, key=lambda w: (-rows[w], w))
    found = _text.analyser().transform(known).tocsr().indices if known else np.empty(0, dtype=int)
    called = {int(b): w for w, b in reversed(list(zip(known, found)))}  # the commonest word of a bucket names it
    used = [b for b in called if _WORD_ROWS <= share[b] <= len(words) - _WORD_ROWS]
    used.sort(key=lambda b: (-share[b], called[b]))
    most = max(30, min(_MOST_WORDS, _WORD_CELLS // max(len(words), 1)))
    columns = tuple(
        Column(f"{name}: {called[b]}", "boolean", text=name, bucket=b, buckets=_text.BUCKETS) for b in used[:most]
    )
    if not columns:
        return Found(name, None, "free text without words that some rows have and others lack", missing, distinct)
    note = (
        f"{name!r} is text: each of its {len(columns)} most common words is a 0/1 column "
        f"(words are hashed into {_text.BUCKETS:,} buckets, so that a few share one)"
    )
    return Found(name, None, "", missing, distinct, (note,), columns)
