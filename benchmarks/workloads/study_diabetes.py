"""The comparison of a study: the diabetes table (442 × 10), ten folds, five inside."""

from __future__ import annotations

from benchmarks import nested
from benchmarks.harness import Entry

WHAT = "the diabetes table (442 × 10), ten folds, five inside"
GOAL = "the same models at least 20 times as fast as in nested GridSearchCV"


def entries() -> list[Entry]:
    """The same models and grids on both sides; a whole study beside them."""
    return nested.entries("diabetes")
