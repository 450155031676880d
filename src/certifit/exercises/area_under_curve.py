"""The area under the ROC curve."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("area-under-curve", "evaluation")
def area_under_curve(rng: np.random.Generator) -> dict[str, object]:
    """The area under the ROC curve, by pairs.

    In what fraction of the pairs of a positive and a negative row does the positive row have the higher score? Ties
    count one half.
    """
    y = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0])
    score = rng.integers(0, 8, size=9) + 2 * y
    apart = score[y == 1][:, None] - score[y == 0]
    auc = float(np.mean(apart > 0) + 0.5 * np.mean(apart == 0))
    slips = {
        "Ties count one half.": {"auc": float(np.mean(apart > 0))},
        "Positive rows should score higher, not lower.": {"auc": 1 - auc},
    }
    data = {"y": y, "score": score}
    hint = "There are 20 pairs."
    return {"data": data, "asks": {"auc": "a number"}, "mark": numbers({"auc": auc}, slips), "hint": hint}
