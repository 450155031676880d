"""Perceptron or maximum margin: both separate the classes, only one maximises the distance.

A perceptron stops at the first line that makes no mistake, and which one that is depends on the order of the rows.
The hard-margin machine finds the line with the greatest distance to the nearest row, one and the same for every
order, with a proof that no other line keeps more.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Figure, Record
from certifit.geometry import margins
from certifit.linear_model import Perceptron
from certifit.plot import palette
from certifit.svm import HardMarginSVC


def run(say: Callable[[str], object] = print) -> Record:
    """Twenty orders of the same rows."""
    rng = np.random.default_rng(1)
    y = np.repeat([-1, 1], 20)
    X = rng.normal(size=(40, 2)) * 0.55 + np.outer(y, [1.2, 0.5])
    X = X[y * (X @ [1.0, 0.4]) > 0.25]
    y = np.sign(X @ [1.0, 0.4]).astype(int)
    lines, reached = [], []
    for _ in range(20):
        order = rng.permutation(len(y))
        model = Perceptron(shuffle=False, tol=None).fit(X[order], y[order])
        lines.append((model.coef_[0], float(model.intercept_[0])))
        reached.append(margins(X, y, *lines[-1]).set_geometric)
    best = HardMarginSVC().fit(X, y)
    say(f"margins of the perceptron over 20 orders: {min(reached):.3f} to {max(reached):.3f}")
    say(f"the largest margin of any line: {best.margin_:.3f}, proved")
    return {"X": X, "y": y, "lines": lines, "margins": reached, "best": best, "margin": float(best.margin_)}


def draw(numbers: Record) -> Figure:
    """All lines of the perceptron, and the one in the middle."""
    import matplotlib.pyplot as plt

    X, y = numbers["X"], numbers["y"]
    figure, ax = plt.subplots(figsize=(6, 4.6))
    for label, marker in ((-1, "o"), (1, "s")):
        ax.plot(*X[y == label].T, marker, markersize=5)
    x = np.array([-3.0, 3.0])
    for w, b in numbers["lines"]:
        ax.plot(x, -(w[0] * x + b) / w[1], color=palette().faint, linewidth=0.8)
    w, b, m = (
        numbers["best"].coef_[0],
        float(numbers["best"].intercept_[0]),
        numbers["margin"] * np.linalg.norm(numbers["best"].coef_[0]),
    )
    ax.plot(x, -(w[0] * x + b) / w[1], color=palette().ink, linewidth=2, label="largest margin")
    for side in (-m, m):
        ax.plot(x, -(w[0] * x + b + side) / w[1], "--", color=palette().ink, linewidth=0.8)
    ax.set(
        xlim=(-3, 3), ylim=(-2.5, 2.5), xlabel="x₁", ylabel="x₂", title="twenty perceptrons and the line in the middle"
    )
    ax.legend()
    figure.tight_layout()
    return figure
