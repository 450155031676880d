"""Pegasos: cheap steps, a gap that falls like 1/t.

Stochastic subgradient descent on the soft-margin objective takes one row at a time with steps 1/(λt). Each step is as
cheap as a perceptron's; the distance to the optimum, which duality proves, falls like 1/t: quickly at first, slowly
after.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Figure, Record
from certifit.judge import certify_coefficients
from certifit.svm import PegasosSVC


def run(say: Callable[[str], object] = print) -> Record:
    """The proved gap after more and more passes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.where(X @ rng.normal(size=5) + 0.5 * rng.normal(size=300) > 0, 1, -1)
    passes, gaps = [1, 2, 5, 10, 20, 50, 100, 200], []
    for k in passes:
        model = PegasosSVC(alpha=0.05, max_iter=k, tol=0.0, random_state=0).fit(X, y)
        judged = certify_coefficients(
            model.coef_[0], float(model.intercept_[0]), X, y, loss="hinge", regularizer="half_l2", lam=0.05
        )
        gaps.append(float(judged.gap))
    slope = float(np.polyfit(np.log(passes), np.log(gaps), 1)[0])
    say(f"proved gap after {passes[0]} pass: {gaps[0]:.3f}, after {passes[-1]}: {gaps[-1]:.5f}")
    say(f"on logarithmic axes the gap falls with slope {slope:.2f}")
    return {"passes": passes, "gaps": gaps, "slope": slope}


def draw(numbers: Record) -> Figure:
    """The gap against the number of passes."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 4))
    passes, gaps = np.array(numbers["passes"]), np.array(numbers["gaps"])
    ax.loglog(passes, gaps, "o-", label="proved gap")
    ax.loglog(passes, gaps[0] * passes[0] / passes, "--", label="1/t")
    ax.set(xlabel="passes over the rows", ylabel="distance to the optimum, at most")
    ax.legend()
    figure.tight_layout()
    return figure
