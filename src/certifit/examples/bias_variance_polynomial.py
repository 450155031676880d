"""A polynomial of growing degree: the training error falls, the test error turns.

Forty noisy points of a sine wave are fitted by polynomials of degree 0 to 9, over many training sets. The error on
the training points only falls. The expected error on new outcomes is bias² + variance + noise, to the last digit: the
bias falls with the degree, the variance rises, and the best degree lies where their sum is least.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from certifit._types import Array, Figure, Pipeline, Record
from certifit.linear_model import LinearRegression
from certifit.model_selection import bias_variance
from certifit.plot import bias_variance as stack
from certifit.plot import style

DEGREES = tuple(range(10))
NOISE = 0.3
ROUNDS = 80


def truth(X: Array) -> Array:
    """E[y | x]."""
    return np.sin(np.pi * X[:, 0])


def draw_rows(rng: np.random.Generator) -> tuple[Array, Array]:
    """A training set of 40 rows."""
    X = rng.uniform(-1, 1, size=(40, 1))
    return X, truth(X) + NOISE * rng.normal(size=40)


def model(degree: int) -> Pipeline:
    """Polynomial regression; degree 0 is the mean."""
    return make_pipeline(PolynomialFeatures(degree), LinearRegression(fit_intercept=False))


def run(say: Callable[[str], object] = print) -> Record:
    """Tell the story; return each degree's parts."""
    points = np.linspace(-0.9, 0.9, 91)[:, None]
    rng = np.random.default_rng(1)
    sets = [draw_rows(rng) for _ in range(20)]
    rows: list[dict[str, Any]] = []
    say(f"{'degree':>6}  {'training':>9}  {'test':>8}  = {'bias²':>8} + {'variance':>8} + {'noise':>6}")
    for degree in DEGREES:
        training = float(np.mean([np.mean((model(degree).fit(X, y).predict(X) - y) ** 2) for X, y in sets]))
        parts = bias_variance(model(degree), points, draw=draw_rows, truth=(truth, NOISE**2), rounds=ROUNDS)
        rows.append({"degree": degree, "training": training, "parts": parts})
        say(
            f"{degree:>6}  {training:>9.4f}  {parts.total:>8.4f}  = {parts.bias2:>8.4f} + {parts.variance:>8.4f}"
            f" + {parts.noise:>6.4f}"
        )
    best = min(rows, key=lambda row: row["parts"].total)["degree"]
    say(f"The training error falls to the end; the test error is least at degree {best}.")
    return {
        "degrees": list(DEGREES),
        "training": [row["training"] for row in rows],
        "parts": [row["parts"] for row in rows],
        "best": best,
    }


def draw(numbers: Record) -> Figure:
    """The parts stacked, and the training error beside them."""
    shown = [i for i, p in enumerate(numbers["parts"]) if p.total < 1.0]
    with style():
        ax = stack([numbers["parts"][i] for i in shown], [numbers["degrees"][i] for i in shown], name="degree")
        ax.plot(range(len(shown)), [numbers["training"][i] for i in shown], "s--", color="C2", label="training error")
        ax.legend()
        picture: Figure = ax.figure
        return picture
