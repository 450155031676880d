"""The nearest neighbour against the best possible classifier

Two classes on a line, each normal, one unit either side of zero: the Bayes rule (the sign) errs with
probability Φ(−1) = 0.1587, and nothing errs less. Cover and Hart proved that the nearest neighbour, given
enough rows, errs at most 2R(1 − R) = 0.267 where the best errs R. Precisely, its error tends to E[2η(1 − η)]
with η = P(class 1 | x), which lies between R and that bound. Here the training set grows, and 1-NN is seen
to settle at that limit, while more neighbours come closer to R.
"""

from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from certifit._types import Array, Figure, Record
from certifit.neighbors import KNeighborsClassifier
from certifit.plot import palette

SIZES = (30, 100, 300, 1000, 3000, 10_000)


def draw_rows(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """n rows of the two-normal distribution."""
    y = rng.integers(0, 2, size=n)
    return rng.normal(loc=2.0 * y - 1.0)[:, None], y


def run(say: Callable[[str], object] = print) -> Record:
    """Errors of 1-NN and 25-NN on growing training sets, beside the three known numbers."""
    bayes = float(norm.cdf(-1.0))

    def eta(x: float) -> float:
        return float(1.0 / (1.0 + np.exp(-2.0 * x)))

    def density(x: float) -> float:
        return float(0.5 * (norm.pdf(x - 1.0) + norm.pdf(x + 1.0)))

    limit = float(quad(lambda x: 2 * eta(x) * (1 - eta(x)) * density(x), -12, 12)[0])
    bound = 2 * bayes * (1 - bayes)
    say(f"Bayes error {bayes:.4f}; limit of 1-NN {limit:.4f}; Cover and Hart's bound {bound:.4f}")
    rng = np.random.default_rng(0)
    Q, truth = draw_rows(10_000, rng)
    errors: dict[str, list[float]] = {"1": [], "25": []}
    for n in SIZES:
        repeats = max(1, 1000 // n)
        for k in ("1", "25"):
            seen = []
            for _ in range(repeats):
                X, y = draw_rows(n, rng)
                seen.append(1.0 - KNeighborsClassifier(n_neighbors=int(k)).fit(X, y).score(Q, truth))
            errors[k].append(float(np.mean(seen)))
        say(f"{n:>6} rows: 1-NN errs {errors['1'][-1]:.4f}, 25-NN {errors['25'][-1]:.4f}")
    say("1-NN does not reach the Bayes error however many rows there are; the bound holds.")
    return {"bayes": bayes, "limit": limit, "bound": bound, "sizes": list(SIZES), "errors": errors}


def draw(numbers: Record) -> Figure:
    """Error against the number of rows, with the three levels."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    axes.axhspan(numbers["bayes"], numbers["bound"], color=palette().faint, alpha=0.3, label="between R and 2R(1 − R)")
    axes.axhline(numbers["bayes"], color=palette().ink, lw=1, label=f"Bayes error R = {numbers['bayes']:.3f}")
    axes.axhline(numbers["limit"], color="C1", lw=1, ls="--", label=f"limit of 1-NN = {numbers['limit']:.3f}")
    axes.semilogx(numbers["sizes"], numbers["errors"]["1"], "o-", color="C1", label="1-NN")
    axes.semilogx(numbers["sizes"], numbers["errors"]["25"], "s-", color="C0", label="25-NN")
    axes.set(xlabel="training rows", ylabel="error on 10 000 fresh rows", ylim=(0.13, 0.34))
    axes.set_title("The error of the nearest neighbour is at most twice the Bayes error")
    axes.legend(frameon=False, fontsize=9)
    return figure
