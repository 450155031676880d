"""Smallest x + y on the unit circle: a Lagrange multiplier and the dual value, as numbers.

Minimise x + y subject to x² + y² = 1. The Lagrangian x + y + β(x² + y² − 1) is stationary where 1 + 2βx = 0 and
1 + 2βy = 0, so x = y = −1/(2β), and the circle fixes β = 1/√2: x = y = −1/√2. For β > 0 the Lagrangian is convex, and
its least value g(β) = −1/(2β) − β is a lower bound for the problem; the best of these bounds, at β = 1/√2, is −√2,
which the point reaches: strong duality, although the circle is not a convex set.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Array, Figure
from certifit.plot import palette


def dual(beta: Array) -> Array:
    """Least value of the Lagrangian for β > 0."""
    return -1.0 / (2.0 * beta) - beta


def run(say: Callable[[str], object] = print) -> dict[str, float]:
    """Tell the story; return the point, the multiplier and both values."""
    from scipy.optimize import minimize_scalar

    angle = minimize_scalar(lambda t: np.cos(t) + np.sin(t), bounds=(0.0, 2.0 * np.pi), options={"xatol": 1e-12}).x
    best = minimize_scalar(lambda b: -dual(b), bounds=(1e-3, 10.0), options={"xatol": 1e-12})
    beta, bound = float(best.x), -float(best.fun)
    x = y = -1.0 / (2.0 * beta)
    say(f"walking round the circle, x + y is least at ({np.cos(angle):.6f}, {np.sin(angle):.6f})")
    say(f"the best lower bound g(β) = −1/(2β) − β is at β = {beta:.6f}, with value {bound:.6f}")
    say(f"its stationary point is x = y = {x:.6f}, on the circle (x² + y² = {x * x + y * y:.6f})")
    say(f"x + y there is {x + y:.6f}: no gap, so both are optimal")
    return {"x": x, "y": y, "multiplier": beta, "primal": x + y, "dual": bound, "walked": float(np.cos(angle))}


def draw(numbers: dict[str, float]) -> Figure:
    """The circle with the level line that touches it, and the lower bounds g(β)."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    t = np.linspace(0.0, 2.0 * np.pi, 200)
    left.plot(np.cos(t), np.sin(t), color=palette().ink)
    s = np.linspace(-1.6, 0.4, 2)
    for level in (numbers["primal"], -0.7, 0.0):
        left.plot(s, level - s, linestyle="--", linewidth=0.8, label=f"x + y = {level:.3f}")
    left.plot(numbers["x"], numbers["y"], "o", color="C1")
    left.set(title="the level line touches at the solution", xlabel="x", ylabel="y", aspect="equal", ylim=(-1.6, 1.2))
    left.legend(fontsize=8)
    beta = np.linspace(0.15, 3.0, 200)
    right.plot(beta, dual(beta))
    right.axhline(numbers["primal"], color=palette().ink, linewidth=0.8, label="least x + y")
    right.plot(numbers["multiplier"], numbers["dual"], "o", color="C1")
    right.set(title="lower bounds g(β); the best one is reached", xlabel="β", ylabel="g(β)")
    right.legend(fontsize=8)
    figure.tight_layout()
    return figure
