"""Least squares."""

import numpy as np

from certifit.exercises._base import exercise, judged
from certifit.judge import certify_coefficients


@exercise("normal-equations", "least squares")
def normal_equations(rng: np.random.Generator) -> dict[str, object]:
    """The normal equations.

    Find w and b with the smallest mean of (w·x + b − y)².
    """
    X = rng.integers(-5, 6, size=(6, 2)).astype(float)
    y = (X @ rng.integers(-3, 4, size=2) + rng.integers(-3, 4, size=6)).astype(float)
    mark = judged(lambda w, b: certify_coefficients(w, b, X, y, loss="squared", lam=0.0), X, y)
    asks = {"w": "two numbers", "b": "a number"}
    return {
        "data": {"X": X, "y": y},
        "asks": asks,
        "mark": mark,
        "hint": "Append a column of ones and solve WᵀWθ = Wᵀy.",
    }
