"""A Poisson regression with a constant rate."""

import numpy as np

from certifit.exercises._base import exercise, judged
from certifit.judge import certify_coefficients


@exercise("poisson-rate", "generalized linear models")
def poisson_rate(rng: np.random.Generator) -> dict[str, object]:
    """A rate for each of two groups.

    Counts are Poisson with log-rate wx + b, where x is 0 or 1. Which w and b maximise the likelihood?
    """
    x = np.repeat([0.0, 1.0], 4)
    y = np.concatenate([rng.integers(1, 6, size=4), rng.integers(4, 12, size=4)]).astype(float)
    X = x[:, None]
    mark = judged(lambda w, b: certify_coefficients(np.ravel(w), b, X, y, loss="poisson", lam=0.0), X, y)
    hint = "At x = 0 the fitted rate is the mean of the first group: b is its logarithm."
    return {"data": {"x": x, "y": y}, "asks": {"w": "a number", "b": "a number"}, "mark": mark, "hint": hint}
