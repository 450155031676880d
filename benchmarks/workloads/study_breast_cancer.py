"""A whole study: the breast-cancer table (569 × 30), ten folds, five inside."""

from __future__ import annotations

from benchmarks import nested
from benchmarks.harness import Entry

WHAT = "the breast-cancer table (569 × 30), ten folds, five inside"
GOAL = "at least 20 times nested GridSearchCV"


def entries() -> list[Entry]:
    """certifit's study; the same models and grids in nested searches of scikit-learn."""
    return nested.entries("breast_cancer")
