"""Figures of a confusion matrix."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("confusion-figures", "evaluation")
def confusion_figures(rng: np.random.Generator) -> dict[str, object]:
    """Figures of a confusion matrix.

    Class 1 is the positive class. What are accuracy, precision, recall and F₁ of these predictions?
    """
    y = np.repeat([1, 0], [int(rng.integers(4, 8)), int(rng.integers(8, 13))])
    predicted = np.where(rng.random(len(y)) < 0.75, y, 1 - y)
    predicted[0], predicted[1], predicted[-1], predicted[-2] = 1, 0, 0, 1
    tp, fp = int(np.sum((y == 1) & (predicted == 1))), int(np.sum((y == 0) & (predicted == 1)))
    fn, tn = int(np.sum((y == 1) & (predicted == 0))), int(np.sum((y == 0) & (predicted == 0)))
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    f1 = 2 * tp / (2 * tp + fp + fn)
    expected = {"accuracy": (tp + tn) / len(y), "precision": precision, "recall": recall, "f1": f1}
    slips = {
        "Precision looks at what was predicted positive, recall at what is positive.": {
            "precision": recall,
            "recall": precision,
        },
        "F₁ is the harmonic mean.": {"precision": precision, "recall": recall, "f1": (precision + recall) / 2},
        "Class 1 is the positive class.": {"precision": tn / (tn + fn), "recall": tn / (tn + fp)},
    }
    if precision == recall:
        slips = {}
    asks = dict.fromkeys(expected, "a number")
    data = {"y": y, "predicted": predicted}
    return {"data": data, "asks": asks, "mark": numbers(expected, slips), "hint": "Count TP, FP, FN and TN first."}
