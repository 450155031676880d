"""The gradient of the logistic loss."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("logistic-gradient", "logistic regression")
def logistic_gradient(rng: np.random.Generator) -> dict[str, object]:
    """The gradient of logistic regression.

    Labels are −1 and +1. What is the gradient of (1/n) Σ log(1 + exp(−y(w·x + b))), with respect to w and b, at the
    given point?
    """
    X = rng.integers(-3, 4, size=(4, 2)).astype(float)
    y = np.array([1, -1, 1, -1])
    w, b = rng.integers(-1, 2, size=2).astype(float), float(rng.integers(-1, 2))
    slope = -y / (1 + np.exp(y * (X @ w + b)))
    gw, gb = X.T @ slope / 4, float(slope.mean())
    ahead = -y / (1 + np.exp(-y * (X @ w + b)))
    slips = {
        "Did you add up instead of averaging?": {"gw": 4 * gw, "gb": 4 * gb},
        "Check the sign of the gradient.": {"gw": -gw, "gb": -gb},
        "The factor is σ(−yz), not σ(yz).": {"gw": X.T @ ahead / 4, "gb": float(ahead.mean())},
    }
    asks = {"gw": "two numbers", "gb": "a number"}
    hint = "The derivative of log(1 + exp(−m)) is −σ(−m)."
    return {
        "data": {"X": X, "y": y, "w": w, "b": b},
        "asks": asks,
        "mark": numbers({"gw": gw, "gb": gb}, slips),
        "hint": hint,
    }
