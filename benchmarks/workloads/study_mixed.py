"""A whole study: 5 000 × 20 numbers and categories, five folds, five inside."""

from __future__ import annotations

from benchmarks import nested
from benchmarks.harness import Entry

WHAT = "5 000 × 20 numbers and categories, five folds, five inside"
GOAL = "at least 5 times nested GridSearchCV"


def entries() -> list[Entry]:
    """certifit's study; the same models and grids in nested searches of scikit-learn."""
    return nested.entries("mixed")
