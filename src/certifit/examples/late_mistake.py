"""One wrong label at the end: the plain perceptron swings, the averaged one hardly moves.

A perceptron that has seen a hundred good rows meets one with a wrong label last. The plain perceptron predicts with
its last weights, which this one row has just moved; the averaged perceptron predicts with the mean of all weights on
the way, in which one step counts for little.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Array, Figure, Record
from certifit.linear_model import AveragedPerceptron, Perceptron
from certifit.plot import palette


def rows(n: int = 100, seed: int = 3) -> tuple[Array, Array]:
    """Two clouds, and at the end a row far inside one of them with the label of the other."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    X = rng.normal(size=(n, 2)) * 0.7 + np.outer(y, [1.6, 0.6])
    return np.vstack([X, [2.6, -1.8]]), np.append(y, -1)


def run(say: Callable[[str], object] = print) -> Record:
    """Fit both with and without the last row."""
    X, y = rows()
    options: dict[str, Any] = {"shuffle": False, "max_iter": 1, "tol": None}
    found: Record = {"X": X, "y": y}
    for name, kind in (("plain", Perceptron), ("averaged", AveragedPerceptron)):
        before, after = kind(**options).fit(X[:-1], y[:-1]), kind(**options).fit(X, y)
        a, b = (m.coef_[0] / np.linalg.norm(m.coef_[0]) for m in (before, after))
        found[name] = {"before": before, "after": after, "turned": float(np.degrees(np.arccos(np.clip(a @ b, -1, 1))))}
        share = after.score(X[:-1], y[:-1])
        angle = found[name]["turned"]
        say(f"the {name} perceptron turns by {angle:.1f} degrees; {share:.0%} of the good rows stay right")
    return found


def draw(numbers: Record) -> Figure:
    """Both lines before and after the last row."""
    import matplotlib.pyplot as plt

    X, y = numbers["X"], numbers["y"]
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
    x = np.array([-4.0, 4.5])
    for ax, name in zip(axes, ("plain", "averaged")):
        for label, marker in ((-1, "o"), (1, "s")):
            ax.plot(*X[:-1][y[:-1] == label].T, marker, markersize=4, alpha=0.7)
        ax.plot(*X[-1], "X", color=palette().ink, markersize=11, label="the late, wrong row")
        for when, dash in (("before", "--"), ("after", "-")):
            m = numbers[name][when]
            w, b = m.coef_[0], m.intercept_[0]
            ax.plot(x, -(w[0] * x + b) / w[1], dash, color=palette().ink, label=f"{when} it")
        ax.set(title=f"{name}: turns by {numbers[name]['turned']:.0f}°", xlabel="x₁", xlim=(-4, 4.5), ylim=(-3.5, 3.5))
    axes[0].set_ylabel("x₂")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    return figure
