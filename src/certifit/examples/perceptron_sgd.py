"""The perceptron is stochastic gradient descent with step one.

The perceptron loss of a point is max(0, −y(w·x + b)). One step of gradient descent with step 1 on the loss of one point
moves w by yx when the point is on the wrong side and not at all otherwise: the perceptron's update. The solution is not
unique; other orders and other starts end in other separators, as the example shows with the same six points.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Array, Figure, Matrix, Record
from certifit.geometry import margins
from certifit.linear_model import Perceptron
from certifit.losses import get_loss
from certifit.plot import palette

POINTS = np.array([[2.0, 1.0], [1.0, 3.0], [3.0, 3.0], [-1.0, 0.5], [0.0, -1.0], [-2.0, -1.0]])
SIDES = np.array([1, 1, 1, -1, -1, -1])


def descend(X: Matrix, y: Array, passes: int) -> tuple[Array, float]:
    """SGD with step 1 on the perceptron loss; at the kink its slope is taken as −y."""
    loss, w, b = get_loss("perceptron"), np.zeros(X.shape[1]), 0.0
    for _ in range(passes):
        for x, s in zip(X, y.astype(float)):
            score = np.array([x @ w + b])
            slope = -s if score[0] == 0 else float(loss.slope(score, np.array([s]))[0])
            w, b = w - slope * x, b - slope
    return w, b


def run(say: Callable[[str], None] = print) -> Record:
    """Compare the two, then change order and start."""
    ask: dict[str, Any] = {"shuffle": False, "tol": None, "max_iter": 20}
    w, b = descend(POINTS, SIDES, 20)
    model = Perceptron(**ask).fit(POINTS, SIDES)
    say(f"SGD with step 1:  w = {w.tolist()}, b = {b:g}")
    say(f"Perceptron:       w = {model.coef_[0].tolist()}, b = {model.intercept_[0]:g}")
    others = {
        "in order": model,
        "backwards": Perceptron(**ask).fit(POINTS[::-1], SIDES[::-1]),
        "from (3, -3)": Perceptron(**ask).fit(POINTS, SIDES, coef_init=[[3.0, -3.0]], intercept_init=[0.0]),
    }
    lines = {}
    for name, m in others.items():
        margin = margins(POINTS, SIDES, m.coef_[0], m.intercept_[0]).set_geometric
        lines[name] = (m.coef_[0], float(m.intercept_[0]), margin)
        say(f"  {name}: w = {m.coef_[0].tolist()}, b = {m.intercept_[0]:g}, geometric margin {margin:.4f}")
    return {"sgd": (w, b), "perceptron": (model.coef_[0], float(model.intercept_[0])), "lines": lines}


def draw(numbers: Record) -> Figure:
    """Three separators of the same points."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4.2), layout="constrained")
    for side, marker in ((1, "o"), (-1, "s")):
        fill = palette().ink if side > 0 else palette().paper
        axes.plot(*POINTS[side == SIDES].T, marker, color=palette().ink, mfc=fill, ms=8, ls="none")
    across = np.array([-3.5, 4.5])
    for name, (w, b, margin) in numbers["lines"].items():
        axes.plot(across, -(w[0] * across + b) / w[1], label=f"{name} (margin {margin:.2f})")
    axes.set(
        xlim=(-3.5, 4.5), ylim=(-3, 5), xlabel="x₁", ylabel="x₂", title="Perceptron: same points, different solutions"
    )
    axes.legend(loc="lower left", fontsize=8)
    return figure
