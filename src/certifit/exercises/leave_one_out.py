"""Cross-validation."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("leave-one-out", "evaluation")
def leave_one_out(rng: np.random.Generator) -> dict[str, object]:
    """Leave-one-out cross-validation of the mean.

    The model predicts the mean of its training targets. What is its mean squared error on the training rows, and what
    is it by leave-one-out cross-validation?
    """
    y = rng.integers(0, 15, size=5).astype(float)
    if np.ptp(y) == 0:
        y[0] += 3
    n, train = len(y), float(y.var())
    loo = float(np.mean([(y[i] - np.delete(y, i).mean()) ** 2 for i in range(n)]))
    slips = {
        "Each row must be predicted by the mean of the others.": {"training": train, "loo": train},
        "Average the squared errors over the rows.": {"training": train * n, "loo": loo * n},
    }
    asks = {"training": "a number", "loo": "a number"}
    mark = numbers({"training": train, "loo": loo}, slips)
    return {"data": {"y": y}, "asks": asks, "mark": mark, "hint": "Without row i the mean is (nȳ − yᵢ)/(n − 1)."}
