"""The comparison of a study: 5 000 × 20 numbers and categories, five folds, five inside."""

from __future__ import annotations

from benchmarks import nested
from benchmarks.harness import Entry

WHAT = "5 000 × 20 numbers and categories, five folds, five inside"
GOAL = "the same models at least 5 times as fast as in nested GridSearchCV"


def entries() -> list[Entry]:
    """The same models and grids on both sides; a whole study beside them."""
    return nested.entries("mixed")
