"""A diagonal boundary: a line needs two numbers, a tree a staircase.

The classes are divided by x₁ = x₂. A tree splits by one column at a time, so it can only build a staircase, whose
steps become finer as rows are added; logistic regression draws the line at once. On a boundary along the axes it is
the other way round. No learner is best for every shape.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Figure, Record
from certifit.linear_model import LogisticRegression
from certifit.plot import decision_regions
from certifit.tree import DecisionTreeClassifier


def run(say: Callable[[str], object] = print) -> Record:
    """Fit a tree and a line to both shapes, and judge them on a fine grid."""
    rng = np.random.default_rng(0)
    X, grid = rng.uniform(size=(300, 2)), rng.uniform(size=(20_000, 2))
    shapes: dict[str, Callable[[Any], Any]] = {
        "diagonal": lambda A: A[:, 0] > A[:, 1],
        "a box": lambda A: (A[:, 0] > 0.5) & (A[:, 1] > 0.4),
    }
    found: Record = {"X": X}
    for name, rule in shapes.items():
        tree = DecisionTreeClassifier().fit(X, rule(X))
        line = LogisticRegression(C=1e4).fit(X, rule(X))
        scores = {"tree": tree.score(grid, rule(grid)), "line": line.score(grid, rule(grid))}
        found[name] = {"tree": tree, "line": line, "y": rule(X), "leaves": int(tree.get_n_leaves()), "right": scores}
        leaves = found[name]["leaves"]
        say(f"{name}: a tree of {leaves} leaves is right on {scores['tree']:.1%}, the line on {scores['line']:.1%}")
    return found


def draw(numbers: Record) -> Figure:
    """Regions of tree and line for both shapes."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(8, 8), sharex=True, sharey=True)
    for row, name in zip(axes, ("diagonal", "a box")):
        for ax, kind in zip(row, ("tree", "line")):
            decision_regions(numbers[name][kind], numbers["X"], numbers[name]["y"], ax=ax)
            more = f", {numbers[name]['leaves']} leaves" if kind == "tree" else ""
            ax.set_title(f"{name}, {kind}{more}")
            if ax.get_legend():
                ax.get_legend().remove()
    figure.tight_layout()
    return figure
