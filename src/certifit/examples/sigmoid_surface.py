"""The sigmoid surface: a plane of scores, bent into probabilities.

Logistic regression on two columns: the score is a plane over the rows, the sigmoid bends it into a step between 0 and
1. The longer the weight vector, the steeper the step; its direction determines the orientation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Figure, Record
from certifit.linear_model import LogisticRegression


def run(say: Callable[[str], object] = print) -> Record:
    """Three strengths of the penalty: three slopes of one step."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X @ [6.0, 4.0] + rng.logistic(size=120) > 0).astype(int)
    found: Record = {"X": X, "y": y, "models": {}}
    for C in (0.01, 1.0, 100.0):
        model = LogisticRegression(C=C).fit(X, y)
        found["models"][C] = model
        there = model.predict_proba([[1.0, 1.0]])[0, 1]
        say(f"C = {C:g}: ‖w‖ = {np.linalg.norm(model.coef_[0]):.2f}, probability at (1, 1) {there:.2f}")
    return found


def draw(numbers: Record) -> Figure:
    """The three surfaces."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(10, 3.6))
    line = np.linspace(-3, 3, 60)
    A, B = np.meshgrid(line, line)
    for k, (C, model) in enumerate(numbers["models"].items()):
        ax: Any = figure.add_subplot(1, 3, k + 1, projection="3d")
        P = model.predict_proba(np.column_stack([A.ravel(), B.ravel()]))[:, 1].reshape(A.shape)
        ax.plot_surface(A, B, P, cmap="coolwarm", vmin=0, vmax=1, linewidth=0, alpha=0.7)
        ax.scatter(*numbers["X"].T, numbers["y"], s=6, color="black", depthshade=False)
        length = float(np.linalg.norm(model.coef_[0]))
        ax.set(title=f"C = {C:g}: ‖w‖ = {length:.2g}", xlabel="x₁", ylabel="x₂", zlim=(0, 1))
        ax.view_init(elev=22, azim=-120)
    figure.subplots_adjust(left=0.02, right=0.97, bottom=0.05, top=0.9, wspace=0.1)
    return figure
