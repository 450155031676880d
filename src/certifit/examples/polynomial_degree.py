"""Polynomials of growing degree on one data set, and what a penalty does to the largest.

Sixteen noisy points of a wave are fitted by polynomials of degree 0 to 12. The training error only falls; the error on
new points falls, turns, and rises. A polynomial of degree 12 with a ridge or lasso penalty uses the same basis and
does not overfit: it is not the number of columns that hurts but the freedom to use them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from certifit._types import Array, Axes, Estimator, Figure, Pipeline, Predictor, Record
from certifit.linear_model import Lasso, LinearRegression, Ridge
from certifit.plot import palette
from certifit.preprocessing import PolynomialBasis, Standardizer

DEGREES = tuple(range(13))


def wave(x: Array) -> Array:
    """The truth behind the noise."""
    return np.sin(1.5 * np.pi * x)


def _rows(n: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=n)
    return x[:, None], wave(x) + 0.3 * rng.normal(size=n)


def fitted(degree: int, X: Array, y: Array, last: Estimator | None = None) -> Pipeline:
    """A polynomial of this degree by least squares (or by another regressor)."""
    if degree == 0:
        return LinearRegression().fit(np.zeros_like(X), y)
    basis = PolynomialBasis(degree, include_one=False)
    return make_pipeline(basis, Standardizer(), LinearRegression() if last is None else last).fit(X, y)


def run(say: Callable[[str], object] = print) -> Record:
    """Tell the story; return training and test errors per degree, and those of the penalised fits."""
    X, y = _rows(16, 0)
    new_X, new_y = _rows(2000, 1)

    def error(model: Predictor, A: Array, b: Array) -> float:
        return float(np.mean((model.predict(A) - b) ** 2))

    models = [fitted(k, X, y) for k in DEGREES]
    training, test = [error(m, X, y) for m in models], [error(m, new_X, new_y) for m in models]
    say(f"{'degree':>6}  {'training error':>14}  {'test error':>10}")
    for k in DEGREES:
        say(f"{k:>6}  {training[k]:>14.4f}  {test[k]:>10.4g}")
    best = int(np.argmin(test))
    say(f"The training error falls to the end; the test error is least at degree {best}.")
    penalised = {}
    for name, last in (("ridge", Ridge(0.05)), ("lasso", Lasso(0.01, tol=1e-8))):
        model = fitted(DEGREES[-1], X, y, last)
        penalised[name] = error(model, new_X, new_y)
        used = int(np.count_nonzero(model[-1].coef_))
        say(f"degree {DEGREES[-1]} with a {name} penalty: test error {penalised[name]:.4f}, {used} columns used")
    grid = np.linspace(-1, 1, 201)[:, None]
    curves = {k: models[k].predict(grid) for k in (1, best, DEGREES[-1])}
    return {
        "degrees": list(DEGREES),
        "training": training,
        "test": test,
        "best": best,
        "penalised": penalised,
        "points": (X[:, 0], y),
        "grid": grid[:, 0],
        "curves": curves,
    }


def draw(numbers: Record) -> Figure:
    """Three of the curves over the points, and the errors against the degree below them."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(9.0, 5.8), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.0, 1.25))
    top, bottom = parts
    words = ("too stiff", "about right", "too free")
    for i, (ax, (degree, curve), word) in enumerate(zip(top.subplots(1, 3), numbers["curves"].items(), words)):
        _curve(ax, numbers, np.asarray(curve), f"degree {degree}: {word}", legend=i == 0)
    _errors(bottom.subplots(), numbers)
    return figure


def _curve(ax: Axes, numbers: Record, curve: Array, title: str, legend: bool) -> None:

    x, y = numbers["points"]
    ax.plot(numbers["grid"], wave(numbers["grid"]), color=palette().faint, linestyle="--", label="truth")
    ax.plot(numbers["grid"], np.clip(curve, -8, 8), color="C1", label="fit")
    ax.plot(x, y, "o", color=palette().ink, label="training points")
    ax.set(ylim=(-2, 2), title=title, xlabel="x", ylabel="y", xticks=[], yticks=[])
    if legend:
        ax.legend(loc="lower right", fontsize=8)


def _errors(ax: Axes, numbers: Record) -> None:

    degrees, test, best = numbers["degrees"], numbers["test"], numbers["best"]
    ax.plot(degrees, numbers["training"], "o-", color="C0")
    ax.plot(degrees, test, "o-", color="C1")
    ax.fill_between(degrees, numbers["training"], test, color=palette().colours[1], alpha=0.1, linewidth=0)
    ax.text(degrees[5], numbers["training"][5] * 0.6, "on the training points", color="C0", ha="right")
    ax.text(degrees[-2] - 0.3, test[-2] * 1.4, "on new points", color="C1", ha="right")
    for i, (name, value) in enumerate(numbers["penalised"].items()):
        ax.plot(
            degrees[-1], value, "sD"[i], color=f"C{2 + i}", ms=8, label=f"degree {degrees[-1]} with {name}, new points"
        )
    ax.plot(best, test[best], "*", color="C1", ms=16, label=f"least error on new points: degree {best}")
    ax.axvline(best, color=palette().faint, linewidth=0.8, zorder=0)
    ax.set(yscale="log", xlabel="degree", ylabel="mean squared error")
    ax.legend(loc="upper left")
