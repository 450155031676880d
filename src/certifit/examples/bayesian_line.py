"""Bayesian straight line: the posterior closes in, point by point.

Points come from y = −0.3 + 0.5 x with noise of standard deviation 0.2. The prior over slope and offset is broad;
each point narrows it. Lines drawn from the posterior show what is still possible, and the predictive interval is wide
where there are no data. The most probable line is the ridge solution; with twenty points its uncertainty is small. When
noise and prior are not known, the evidence finds both precisions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Figure, Record
from certifit.bayes import BayesianLinearRegression, Powers
from certifit.linear_model import Ridge
from certifit.plot import palette

TRUE = (-0.3, 0.5)
NOISE = 0.2
SIZES = (1, 2, 20)


def points(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The first n points of the line."""
    rng = np.random.default_rng(7)
    x = rng.uniform(-1, 1, (max(SIZES), 1))
    y = TRUE[0] + TRUE[1] * x[:, 0] + NOISE * rng.normal(size=max(SIZES))
    return x[:n], y[:n]


def known(n: int) -> BayesianLinearRegression:
    """The posterior after n points, noise and prior known; the offset is a weight like any other."""
    model = BayesianLinearRegression(
        basis=Powers(1, constant=True), fit_intercept=False, noise_precision=1 / NOISE**2, weight_precision=2.0
    )
    return model.fit(*points(n))


def run(say: Callable[[str], object] = print) -> Record:
    """Fit after 1, 2 and 20 points: posterior mean and standard deviations, lines drawn from it, predictive band."""
    grid = np.linspace(-1, 1, 101)[:, None]
    stages: dict[int, dict[str, Any]] = {}
    for n in SIZES:
        model = known(n)
        low, high = model.interval(grid, 0.95)
        std = np.sqrt(np.diag(model.sigma_))
        lines = model.posterior_.rvs(6, random_state=0) @ Powers(1, constant=True)(grid).T
        stages[n] = {
            "mean": model.coef_,
            "std": std,
            "lines": lines,
            "low": low,
            "high": high,
            "fit": model.predict(grid),
        }
        say(f"{n:>3} points: offset {model.coef_[0]:+.3f} ± {std[0]:.3f}, slope {model.coef_[1]:+.3f} ± {std[1]:.3f}")
    x, y = points(max(SIZES))
    full = known(max(SIZES))
    ridge = Ridge(alpha=full.lambda_ / full.alpha_, fit_intercept=False).fit(full.features(x), y)
    distance = float(np.abs(ridge.coef_ - full.coef_).max())
    say(f"most probable line and ridge line differ by {distance:.1e}")
    free = BayesianLinearRegression().fit(x, y)
    say(f"the evidence finds noise {free.alpha_**-0.5:.3f} (true {NOISE}) and slope {free.coef_[0]:.3f}")
    say(str(full.certificate_))
    return {
        "stages": stages,
        "grid": grid[:, 0],
        "x": x[:, 0],
        "y": y,
        "ridge_distance": distance,
        "noise_found": free.alpha_**-0.5,
        "certificate": full.certificate_,
    }


def draw(numbers: Record) -> Figure:
    """One panel per number of points."""
    import matplotlib.pyplot as plt

    stages, grid = numbers["stages"], numbers["grid"]
    figure, panels = plt.subplots(1, len(stages), figsize=(11, 3.4), sharey=True, layout="constrained")
    for ax, (n, s) in zip(panels, stages.items()):
        ax.fill_between(grid, s["low"], s["high"], alpha=0.2, label="95 % of new points")
        ax.plot(grid, s["lines"].T, color="C1", lw=0.7)
        ax.plot(grid, s["fit"], color="C0", label="posterior mean")
        ax.plot(grid, TRUE[0] + TRUE[1] * grid, ":", color=palette().ink, label="truth")
        ax.plot(numbers["x"][:n], numbers["y"][:n], "o", color=palette().ink, ms=4)
        ax.set(title=f"{n} point{'s' if n > 1 else ''}", xlabel="x", ylim=(-2.5, 2.5))
    panels[0].set_ylabel("y")
    panels[0].legend(fontsize=8)
    return figure
