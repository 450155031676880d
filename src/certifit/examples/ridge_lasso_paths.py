"""Ridge shrinks every coefficient, the lasso sets them to zero one after the other.

Ten columns, of which three matter. As the penalty grows, ridge coefficients shrink together and none is ever zero; the
lasso's reach zero at definite strengths and stay there (here: the columns are nearly uncorrelated), those of the
useless columns first. Every point of both paths comes with a proved gap.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Figure, Record
from certifit.linear_model import Ridge, lasso_path
from certifit.plot import palette, style

TRUE = np.array([3.0, -2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def run(say: Callable[[str], object] = print) -> Record:
    """Tell the story; return strengths, both paths, and where each lasso coefficient enters."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 10))
    y = X @ TRUE + rng.normal(size=100)
    X, y = X - X.mean(axis=0), y - y.mean()
    alphas, lasso, gaps = lasso_path(X, y, alphas=80, eps=1e-4, tol=1e-10)
    strengths = np.logspace(5, -1, 80)
    fits = [Ridge(a, fit_intercept=False).fit(X, y) for a in strengths]
    ridge = np.stack([m.coef_ for m in fits], axis=1)
    enters = [float(alphas[row != 0].max(initial=0.0)) for row in lasso]
    order = np.argsort(enters)[::-1]
    say(f"lasso: {len(alphas)} strengths, largest gap {gaps.max():.0e}")
    say("columns enter in the order " + ", ".join(f"x{j}" for j in order))
    worst = max(m.certificate_.relative_gap for m in fits)
    zeros = int(np.count_nonzero(ridge == 0))
    say(f"ridge: {len(strengths)} strengths, largest relative gap {worst:.0e}; {zeros} coefficients are zero")
    half = int(np.argmin(np.abs(alphas - 0.3)))
    say(f"at α = {alphas[half]:.2f} the lasso keeps {np.count_nonzero(lasso[:, half])} columns")
    return {
        "alphas": alphas,
        "lasso": lasso,
        "strengths": strengths,
        "ridge": ridge,
        "order": [int(j) for j in order],
        "gap": float(gaps.max()),
        "ridge_gap": float(worst),
        "kept": int(np.count_nonzero(lasso[:, half])),
    }


def draw(numbers: Record) -> Figure:
    """Both paths side by side; the three columns that matter in colour."""
    import matplotlib.pyplot as plt

    with style():
        fig, axes = plt.subplots(1, 2, figsize=(8.0, 3.4), sharey=True, layout="constrained")
        for ax, name, where in zip(axes, ("ridge", "lasso"), ("strengths", "alphas")):
            for j, line in enumerate(numbers[name]):
                colour = f"C{j}" if TRUE[j] else palette().faint
                ax.plot(numbers[where], line, color=colour, label=f"w{j}" if TRUE[j] else None)
            ax.axhline(0, color=palette().faint, linewidth=0.8, zorder=0)
            ax.set(xscale="log", xlabel="strength α", title=name)
        axes[0].set_ylabel("coefficient")
        axes[0].legend(loc="upper right")
        return fig
