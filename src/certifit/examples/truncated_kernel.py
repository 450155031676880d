"""A kernel with infinitely many features, truncated after a few.

The Gaussian kernel in one dimension is an inner product of the features exp(−x²/2) xᵏ/√k!, k = 0, 1, 2, …. The first
few of them give almost the same kernel, and ridge regression on them almost the same curve as kernel ridge
regression, which never writes the features down.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Array, Figure, Record
from certifit.kernel_ridge import KernelRidge
from certifit.linear_model import Ridge
from certifit.plot import palette


def features(x: Array, count: int) -> Array:
    """The first features of exp(−(x − z)²/2)."""
    columns, term = [], np.exp(-0.5 * np.square(x))
    for k in range(count):
        columns.append(term)
        term = term * x / np.sqrt(k + 1.0)
    return np.column_stack(columns)


def run(say: Callable[[str], object] = print) -> Record:
    """Errors of the kernel and of the fitted curve, as features are added."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-2.5, 2.5, 40))
    y = np.sin(2 * x) + 0.2 * rng.normal(size=40)
    grid = np.linspace(-2.5, 2.5, 200)
    kernel = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5).fit(x[:, None], y)
    curve = kernel.predict(grid[:, None])
    exact = np.exp(-0.5 * (x[:, None] - x) ** 2)
    counts, off_kernel, off_curve, curves = [2, 4, 6, 8, 12, 16, 24], [], [], {}
    for count in counts:
        F = features(x, count)
        off_kernel.append(float(np.abs(F @ F.T - exact).max()))
        fit = Ridge(alpha=0.1, fit_intercept=False).fit(F, y)
        curves[count] = fit.predict(features(grid, count))
        off_curve.append(float(np.abs(curves[count] - curve).max()))
        say(f"{count:2d} features: kernel off by {off_kernel[-1]:.1e}, curve off by {off_curve[-1]:.1e}")
    return {
        "x": x,
        "y": y,
        "grid": grid,
        "curve": curve,
        "counts": counts,
        "kernel": off_kernel,
        "off": off_curve,
        "curves": curves,
    }


def draw(numbers: Record) -> Figure:
    """The curves, and how fast they become one."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.8))
    left.plot(numbers["x"], numbers["y"], "o", markersize=3, color=palette().faint)
    for count in (4, 8, 12):
        left.plot(numbers["grid"], numbers["curves"][count], label=f"{count} features")
    left.plot(numbers["grid"], numbers["curve"], "--", color=palette().ink, label="the kernel itself")
    left.set(xlabel="x", ylabel="y", title="a few features draw the kernel's curve")
    left.legend(fontsize=8)
    right.semilogy(numbers["counts"], numbers["kernel"], "o-", label="kernel")
    right.semilogy(numbers["counts"], numbers["off"], "s-", label="curve")
    right.set(xlabel="features", ylabel="largest difference", title="every feature more brings it nearer")
    right.legend()
    figure.tight_layout()
    return figure
