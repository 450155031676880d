"""Whether hyperplanes separate the classes, pair by pair, and whether one odd row is what stands in the way."""

from __future__ import annotations

import warnings

import numpy as np

from certifit._types import Array, Record
from certifit.geometry import Separability, separability

_CLASSES = 6  # classes whose pairs are asked for one by one
_WITNESSES = 40  # rows that are tried as the odd one
_CELLS = 100_000  # of a table in which an odd row is sought


def told(Z: Array, y: Array) -> Record:
    """The verdict in a word, a sentence and whether it is proved; for several classes pair by pair.

    Examples
    --------
    >>> found = told(np.array([[0.0], [1.0], [5.0], [2.0], [3.0]]), np.array(["a", "a", "a", "b", "b"]))
    >>> found["verdict"], found["odd_row"]
    ('overlapping', 2)
    """
    with warnings.catch_warnings(action="ignore"):
        found = separability(Z, y)
        if len(found.classes) == 2:
            return _two(found, Z, y) if found.holds else _equal_rows(Z, y) or _plain(found)
        if len(found.classes) <= _CLASSES:
            return _pairs(found)
    return _plain(found)


def _equal_rows(Z: Array, y: Array) -> Record | None:
    """Two rows of different classes that are equal in every feature: no hyperplane has them on two sides."""
    _, which = np.unique(Z, axis=0, return_inverse=True)
    first = np.full(which.max() + 1, -1)
    first[which[::-1]] = np.arange(len(y))[::-1]
    odd = np.flatnonzero(y != y[first[which]])
    if not len(odd):
        return None
    a, b = int(first[which[odd[0]]]), int(odd[0])
    text = f"No hyperplane separates the classes: rows {a} and {b} are equal in every feature and differ in the class."
    return {"verdict": "not separable", "text": text, "holds": True}


def _plain(found: Separability) -> Record:
    """What is not proved is not claimed."""
    if not found.holds:
        text = (
            "Whether a hyperplane separates the classes could not be decided in floating-point arithmetic "
            "(certifit separable --exact decides it, for a small table)."
        )
        return {"verdict": "undecided", "text": text, "holds": False}
    return {"verdict": str(found.verdict), "text": found.certificate.claim, "holds": True}


def _two(found: Separability, Z: Array, y: Array) -> Record:
    out, rows = _plain(found), found.rows
    if rows is None or len(rows) > _WITNESSES or Z.size > _CELLS:
        return out
    every = np.arange(len(y))
    # Only a witness can be the odd row, and none is if the classes are not separable without all of them.
    tried = rows if _separable(Z, y, ~np.isin(every, rows)) else rows[:0]
    for i in tried:
        if _separable(Z, y, every != i):
            verb = "touch" if found.verdict == "touching" else "overlap"
            out["odd_row"] = int(i)
            out["text"] += f" Row {i} alone makes the classes {verb}: without it they are separable."
            break
    return out


def _separable(Z: Array, y: Array, rest: Array) -> bool:
    if len(np.unique(y[rest])) < 2:
        return False
    without = separability(Z[rest], y[rest])
    return bool(without.holds and without.verdict == "separable")


def _pairs(found: Separability) -> Record:
    pairs = {f"{a} and {b}": pair for (a, b), pair in found.pairs.items()}
    by_word: dict[str, list[str]] = {}
    for name, pair in pairs.items():
        by_word.setdefault(str(pair.verdict) if pair.holds else "undecided", []).append(name)
    text = "; ".join(f"{word}: {', '.join(names)}" for word, names in sorted(by_word.items()))
    return {
        "verdict": next(iter(by_word)) if len(by_word) == 1 else f"pair by pair: {text}",
        "text": f"Pair by pair, by a hyperplane: {text}.",
        "holds": all(pair.holds for pair in pairs.values()),
        "pairs": {name: {"verdict": str(p.verdict), "holds": bool(p.holds)} for name, p in pairs.items()},
    }
