"""One bandwidth hides the second peak, another invents dozens; leave-one-out chooses.

Rows of a mixture of two normal distributions. A wide kernel smooths both peaks into one, a narrow one has a peak for
every row. The leave-one-out likelihood prefers neither: its best bandwidth
is much nearer to the truth than both. Each density comes with bounds that are proved, not estimated.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Array, Figure, Record
from certifit.density import KernelDensity, choose_bandwidth
from certifit.plot import palette

GRID = np.geomspace(0.03, 3.0, 40)


def _truth(x: Array) -> Array:
    return np.asarray(
        (np.exp(-0.5 * (x + 1.5) ** 2 / 0.25) / 0.5 + np.exp(-0.5 * (x - 1.0) ** 2)) / (2.0 * np.sqrt(2.0 * np.pi))
    )


def run(say: Callable[[str], object] = print) -> Record:
    """Tell the story; return the likelihoods, three densities and how wide their bounds are."""
    rng = np.random.default_rng(0)
    n = 200
    x = np.where(rng.uniform(size=n) < 0.5, -1.5 + 0.5 * rng.normal(size=n), 1.0 + rng.normal(size=n))[:, None]
    choice = choose_bandwidth(x, GRID)
    points = np.linspace(-4.5, 5.0, 300)
    curves, errors, width = {}, [], 0.0
    for h in (float(GRID[0]), float(choice.best), float(GRID[-1])):
        model = KernelDensity(bandwidth=h).fit(x)
        low, high = model.bounds(points[:, None])
        curves[h] = np.exp(model.score_samples(points[:, None]))
        width = max(width, float(np.max((high - low) / high.max())))
        away = np.abs(curves[h] - _truth(points))
        errors.append(float(away.mean() * np.ptp(points)))
        say(f"bandwidth {h:.2f}: peaks {_peaks(curves[h])}, area between it and the truth {errors[-1]:.2f}")
    say(f"The proved bounds are never more than {width:.0e} of the highest density apart.")
    return {
        "x": x[:, 0],
        "points": points,
        "truth": _truth(points),
        "curves": curves,
        "peaks": [_peaks(c) for c in curves.values()],
        "errors": errors,
        "width": width,
        "bandwidths": GRID,
        "likelihood": choice.log_likelihood,
        "best": float(choice.best),
    }


def _peaks(curve: Array) -> int:
    inner = curve[1:-1]
    return int(np.sum((inner > curve[:-2]) & (inner > curve[2:]) & (inner > 0.25 * curve.max())))


def draw(numbers: Record) -> Figure:
    """Three bandwidths against the truth, and the likelihood of each bandwidth."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(12.0, 3.2), layout="constrained")
    for ax, (h, curve), word in zip(axes, numbers["curves"].items(), ("too narrow", "chosen by the rows", "too wide")):
        ax.fill_between(numbers["points"], numbers["truth"], color=palette().faint, alpha=0.5, linewidth=0)
        ax.plot(numbers["points"], curve, color=palette().colours[1])
        ax.plot(numbers["x"], np.zeros(len(numbers["x"])), "|", color=palette().ink, alpha=0.4)
        ax.set(
            xlabel="x", ylabel="density", ylim=(-0.02, 1.3 * float(numbers["truth"].max())), title=f"{h:.2f}: {word}"
        )
    axes[3].semilogx(numbers["bandwidths"], numbers["likelihood"], color=palette().colours[0])
    axes[3].axvline(numbers["best"], color=palette().colours[1])
    axes[3].set(
        xlabel="bandwidth",
        ylabel="leave-one-out log likelihood",
        title="chosen by leave-one-out likelihood",
        ylim=(-4, -1),
    )
    return figure
