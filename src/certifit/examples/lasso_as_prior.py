"""The lasso as a prior: the MAP estimate under a Laplace prior.

With y = wx + noise and a Laplace prior on w, exp(−|w|/s), the logarithm of the posterior is the squared loss plus |w|
times a constant: its maximum is the lasso estimate, which may be exactly zero. A normal prior gives ridge, whose
estimate never is.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Figure, Record
from certifit.linear_model import LinearModel


def run(say: Callable[[str], object] = print) -> Record:
    """The maximum of the posterior on a fine grid, beside the fits."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=30)
    grid = np.linspace(-0.5, 1.0, 30_001)
    found: Record = {"grid": grid}
    for name, slope in (("weak", 0.1), ("strong", 0.5)):
        y = slope * x + 0.5 * rng.normal(size=30)
        errors = np.array([np.mean((w * x - y) ** 2) for w in grid[::10]])
        quadratic = np.polyfit(grid[::10], errors, 2)
        loss = np.polyval(quadratic, grid)
        lam = 0.5
        for penalty, prior in (("l1", np.abs(grid)), ("l2", grid**2)):
            curve = -(loss + lam * prior)
            fit = LinearModel("squared", penalty, lam=lam, fit_intercept=False, tol=1e-12).fit(x[:, None], y)
            part = {"curve": curve, "top": float(grid[np.argmax(curve)]), "fit": float(fit.coef_[0])}
            found[f"{name} {penalty}"] = part
            kind = "Laplace prior, lasso" if penalty == "l1" else "normal prior, ridge"
            say(f"{name} slope, {kind}: top of the posterior {part['top']:.3f}, fit {part['fit']:.3f}")
    return found


def draw(numbers: Record) -> Figure:
    """Log-posteriors and their tops."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
    for ax, name in zip(axes, ("weak", "strong")):
        for penalty, words in (("l1", "Laplace prior (lasso)"), ("l2", "normal prior (ridge)")):
            part = numbers[f"{name} {penalty}"]
            line = ax.plot(numbers["grid"], part["curve"], label=words)[0]
            ax.plot(part["fit"], part["curve"].max(), "o", color=line.get_color())
        ax.axvline(0.0, linewidth=0.7, color="gray")
        ax.set(title=f"{name} slope: the fits are the tops", xlabel="w", ylabel="log posterior + constant")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    return figure
