"""Generative or discriminative: naive Bayes and logistic regression on the same growing data.

Gaussian naive Bayes models each class and applies Bayes' rule; logistic regression learns the
boundary alone. With few rows the strong assumption of naive Bayes helps: it needs of the order of log d rows, where
logistic regression needs of the order of d. With many rows it depends on the assumption. Where columns are
independent within the classes, both come to the Bayes error; where they are not, naive Bayes stays above it and the
two curves cross.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

from certifit._types import Estimator, Figure, Record
from certifit.linear_model import LogisticRegression
from certifit.naive_bayes import GaussianNB
from certifit.plot import palette

SIZES = (40, 80, 160, 320, 640, 1280, 2560)
COLUMNS = 20
REPEATS = 8
TEST = 4000


def world(correlation: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Half the distance between the class means, a factor of the shared covariance, and the Bayes error.

    All pairs of columns correlate alike, which naive Bayes cannot see.
    """
    covariance = np.full((COLUMNS, COLUMNS), correlation)
    np.fill_diagonal(covariance, 1.0)
    shift = 0.25 * np.where(np.arange(COLUMNS) % 3 == 0, -1.0, 1.0)
    distance = float(np.sqrt(shift @ np.linalg.solve(covariance, shift)))
    return shift, np.linalg.cholesky(covariance), float(scipy.stats.norm.sf(distance))


def sample(n: int, correlation: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """n rows of two equally frequent classes."""
    shift, factor, _ = world(correlation)
    y = np.arange(n) % 2
    return rng.normal(size=(n, COLUMNS)) @ factor.T + (2 * y[:, None] - 1) * shift, y


def curve(make: Callable[[], Estimator], correlation: float) -> list[float]:
    """Mean test error for each number of training rows; every model sees the same data."""
    errors = np.zeros((REPEATS, len(SIZES)))
    for repeat in range(REPEATS):
        rng = np.random.default_rng(repeat)
        X, y = sample(max(SIZES), correlation, rng)
        X_test, y_test = sample(TEST, correlation, rng)
        for k, n in enumerate(SIZES):
            errors[repeat, k] = np.mean(make().fit(X[:n], y[:n]).predict(X_test) != y_test)
    return [float(error) for error in errors.mean(axis=0)]


def run(
    say: Callable[[str], object] = print, discriminative: Callable[[], Estimator] = lambda: LogisticRegression(C=1000.0)
) -> Record:
    """Error curves of both models with independent and with correlated columns, and the Bayes error."""
    found: dict[str, Any] = {"sizes": list(SIZES)}
    for name, correlation in (("independent", 0.0), ("correlated", 0.1)):
        generative = curve(GaussianNB, correlation)
        other = curve(discriminative, correlation)
        bayes = world(correlation)[2]
        found[name] = {"naive Bayes": generative, "logistic regression": other, "Bayes error": bayes}
        say(f"{name} columns (Bayes error {bayes:.3f})")
        say("   rows  naive Bayes  logistic regression")
        for n, a, b in zip(SIZES, generative, other):
            say(f"  {n:>5}        {a:.3f}                {b:.3f}")
    return found


def draw(numbers: Record) -> Figure:
    """Two panels of learning curves."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for ax, name in zip(panels, ("independent", "correlated")):
        curves = numbers[name]
        for model, marker in (("naive Bayes", "o"), ("logistic regression", "s")):
            ax.plot(numbers["sizes"], curves[model], marker=marker, ms=4, label=model)
        ax.axhline(curves["Bayes error"], color=palette().ink, ls=":", label="Bayes error")
        ax.set(xscale="log", xlabel="training rows", title=f"{name} columns")
    panels[0].set_ylabel("test error")
    panels[1].legend(fontsize=8)
    return figure
