"""The comparison of a study: the breast-cancer table (569 × 30), ten folds, five inside."""

from __future__ import annotations

from benchmarks import nested
from benchmarks.harness import Entry

WHAT = "the breast-cancer table (569 × 30), ten folds, five inside"
GOAL = "the same models at least 20 times as fast as in nested GridSearchCV"


def entries() -> list[Entry]:
    """The same models and grids on both sides; a whole study beside them."""
    return nested.entries("breast_cancer")
