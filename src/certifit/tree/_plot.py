"""A picture of a tree."""
from __future__ import annotations
from typing import Any
def plot_tree(decision_tree: Any) -> Any:
    raise NotImplementedError
