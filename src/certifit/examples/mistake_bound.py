"""Mistakes of the perceptron against (R/γ)².

Points on the unit circle with a strip of half-width γ around a line left empty: R = 1 and the margin is γ by
construction. However the rows are ordered, a perceptron started at zero makes at most (R/γ)² mistakes. The example
counts them for ever narrower strips and for a hundred orders each, and shows that the bound needs the start at zero.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Array, Figure, Record
from certifit.linear_model import Perceptron
from certifit.plot import palette

MARGINS = (0.5, 0.3, 0.2, 0.1, 0.05)


def circle(gamma: float, n: int = 60, seed: int = 0) -> tuple[Array, Array]:
    """Points on the unit circle, at least γ from a slanted line through the origin; two of them exactly γ away."""
    rng = np.random.default_rng(seed)
    height = np.concatenate([[gamma, gamma], rng.uniform(gamma, 1.0, n - 2)])
    sign = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    along = np.sqrt(1.0 - height**2) * np.where(np.arange(n) % 4 < 2, 1.0, -1.0)
    u, v = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    return np.outer(sign * height, u) + np.outer(along, v), sign.astype(int)


def run(say: Callable[[str], None] = print, orders: int = 100) -> Record:
    """Count mistakes for several margins and many orders of the rows."""
    ask: dict[str, Any] = {"fit_intercept": False, "tol": None, "max_iter": 10_000}
    rows = []
    say("  margin   (R/γ)²   proved bound   most mistakes   median")
    for gamma in MARGINS:
        X, y = circle(gamma)
        counts = [Perceptron(random_state=k, **ask).fit(X, y).mistakes_ for k in range(orders)]
        c = Perceptron(random_state=0, **ask).fit(X, y).certificate_
        rows.append((gamma, 1.0 / gamma**2, c.bound, max(counts), float(np.median(counts))))
        say("  {:6.2f}  {:7.0f}  {:13.2f}  {:14d}  {:7.0f}".format(*rows[-1]))
    X, y = circle(0.3)
    far = Perceptron(random_state=0, **ask).fit(X, y, coef_init=[[-60.0, -80.0]])
    from_zero = rows[1][1]
    say(
        f"Started 100 away on the wrong side at margin 0.3: {far.mistakes_} mistakes, more than {from_zero:.0f}; "
        f"the bound for that start is {far.certificate_.bound:.0f}."
    )
    return {
        "rows": np.array(rows),
        "far_mistakes": far.mistakes_,
        "far_bound": far.certificate_.bound,
        "holds": bool(c.holds and far.certificate_.holds),
    }


def draw(numbers: Record) -> Figure:
    """Mistakes and bound over the margin."""
    import matplotlib.pyplot as plt

    gamma, _, bound, most, median = numbers["rows"].T
    figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    axes.loglog(gamma, bound, "-", color=palette().ink, label="proved bound (R/γ)²")
    axes.loglog(gamma, most, "C1o-", label="most mistakes of 100 orders")
    axes.loglog(gamma, median, "C0s-", label="median")
    axes.set(xlabel="margin γ", ylabel="mistakes", title="Perceptron mistakes on the unit circle")
    axes.set_xticks(gamma, [f"{g:g}" for g in gamma], minor=False)
    axes.set_xticks([], minor=True)
    axes.legend()
    return figure
