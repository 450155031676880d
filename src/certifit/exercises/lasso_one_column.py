"""The lasso."""

import numpy as np

from certifit.exercises._base import exercise, judged
from certifit.judge import certify_coefficients


@exercise("lasso-one-column", "least squares")
def lasso_one_column(rng: np.random.Generator) -> dict[str, object]:
    """The lasso with one column.

    Find w and b with the smallest value of (1/n) Σ (wx + b − y)² + λ|w|.
    """
    x = rng.integers(-4, 5, size=6).astype(float)
    x[0] = x[1] + 1 + abs(x[1])
    y = rng.integers(1, 4) * x + rng.integers(-2, 3, size=6)
    lam = float(rng.choice([0.5, 1.0, 2.0]))
    X = x[:, None]
    mark = judged(
        lambda w, b: certify_coefficients(np.ravel(w), b, X, y, loss="squared", regularizer="l1", lam=lam), X, y
    )
    hint = "Centre x and y. The slope of the loss at w = 0 decides whether w is zero; then shrink by soft thresholding."
    return {
        "data": {"x": x, "y": y, "lam": lam},
        "asks": {"w": "a number", "b": "a number"},
        "mark": mark,
        "hint": hint,
    }
