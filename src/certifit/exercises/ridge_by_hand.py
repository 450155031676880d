"""Ridge regression."""

import numpy as np

from certifit.exercises._base import exercise, judged
from certifit.judge import certify_coefficients


@exercise("ridge-by-hand", "least squares")
def ridge_by_hand(rng: np.random.Generator) -> dict[str, object]:
    """Ridge regression by hand.

    Find w and b with the smallest value of (1/n) Σ (w·x + b − y)² + λ‖w‖². The offset b is not penalised.
    """
    X = rng.integers(-5, 6, size=(5, 2)).astype(float) + rng.integers(1, 4, size=2)
    y = (X @ rng.integers(1, 4, size=2) + rng.integers(-3, 8, size=5)).astype(float)
    lam = float(rng.choice([0.5, 1.0, 2.0]))
    mark = judged(lambda w, b: certify_coefficients(w, b, X, y, loss="squared", regularizer="l2", lam=lam), X, y)
    asks = {"w": "two numbers", "b": "a number"}
    hint = "Centre the columns and y first; then (XᵀX + nλI)w = Xᵀy."
    return {"data": {"X": X, "y": y, "lam": lam}, "asks": asks, "mark": mark, "hint": hint}
