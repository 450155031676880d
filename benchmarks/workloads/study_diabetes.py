"""A whole study: the diabetes table (442 × 10), ten folds, five inside."""

from __future__ import annotations

from benchmarks import nested
from benchmarks.harness import Entry

WHAT = "the diabetes table (442 × 10), ten folds, five inside"
GOAL = "at least 20 times nested GridSearchCV"


def entries() -> list[Entry]:
    """certifit's study; the same models and grids in nested searches of scikit-learn."""
    return nested.entries("diabetes")
