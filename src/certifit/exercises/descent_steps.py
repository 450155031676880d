"""Gradient descent."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("descent-steps", "logistic regression")
def descent_steps(rng: np.random.Generator) -> dict[str, object]:
    """Three steps of gradient descent.

    Minimise f(s, t) = a s² + c t² from the given point with step η. Where is it after three steps, and above which
    step does descent on this f diverge?
    """
    a, c = sorted(float(v) for v in rng.choice([0.5, 1.0, 2.0, 4.0], size=2, replace=False))
    start, eta = rng.integers(1, 5, size=2).astype(float), float(rng.choice([0.05, 0.1]))
    curve = np.array([2 * a, 2 * c])
    point = start * (1 - eta * curve) ** 3
    slips = {
        "Move against the gradient, not along it.": {"point": start * (1 + eta * curve) ** 3},
        "Three steps, not two.": {"point": start * (1 - eta * curve) ** 2},
        "The derivative of a s² is 2as.": {"point": start * (1 - eta * curve / 2) ** 3},
        "A step of 1/L is safe; divergence begins at 2/L.": {"point": point, "limit": 1 / curve.max()},
    }
    expected = {"point": point, "limit": 2 / float(curve.max())}
    asks = {"point": "two numbers", "limit": "a number"}
    hint = "Each coordinate is multiplied by the same number in every step."
    return {
        "data": {"a": a, "c": c, "start": start, "eta": eta},
        "asks": asks,
        "mark": numbers(expected, slips),
        "hint": hint,
    }
