"""Logistic regression."""

import numpy as np

from certifit.exercises._base import exercise, judged
from certifit.judge import certify_coefficients


@exercise("logistic-fit", "logistic regression")
def logistic_fit(rng: np.random.Generator) -> dict[str, object]:
    """Fit a logistic regression with your own program.

    Find w and b with the smallest value of (1/n) Σ log(1 + exp(−y(w·x + b))) + λ‖w‖², by any method.
    """
    X = np.round(rng.normal(size=(30, 2)) + np.array([1.0, 0.0]), 2)
    y = np.where(X @ rng.normal(size=2) + rng.normal(size=30) > 0.5, 1, -1)
    y[:2] = 1, -1
    mark = judged(lambda w, b: certify_coefficients(w, b, X, y, loss="logistic", regularizer="l2", lam=0.1), X, y)
    asks = {"w": "two numbers", "b": "a number"}
    hint = "Compare your gradient with certifit.solvers.check_gradient, and let descent run until it hardly moves."
    return {"data": {"X": X, "y": y, "lam": 0.1}, "asks": asks, "mark": mark, "hint": hint}
