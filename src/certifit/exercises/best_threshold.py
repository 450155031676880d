"""The best split of a stump."""

import numpy as np

from certifit.exercises._base import Answer, Verdict, exercise


def _impurity(labels: np.ndarray) -> float:
    p = float(np.mean(labels)) if len(labels) else 0.0
    return len(labels) * 2 * p * (1 - p)


@exercise("best-threshold", "trees")
def best_threshold(rng: np.random.Generator) -> dict[str, object]:
    """The best threshold of a stump.

    Which split x ≤ t makes the Gini impurity of the two sides, weighted by their numbers of rows, smallest? Any t
    between the right two values will do.
    """
    x = np.sort(rng.choice(30, size=8, replace=False)).astype(float)
    label = (x + rng.normal(size=8) * 6 > 15).astype(int)
    label[0], label[-1] = 0, 1
    cuts = (x[1:] + x[:-1]) / 2
    cost = [_impurity(label[x <= t]) + _impurity(label[x > t]) for t in cuts]

    def mark(answer: Answer) -> Verdict:
        t = float(answer["t"])
        if not x[0] <= t < x[-1]:
            return Verdict(False, "All rows are on one side of that threshold.")
        own = _impurity(label[x <= t]) + _impurity(label[x > t])
        if own <= min(cost) + 1e-9:
            return Verdict(True, f"No threshold leaves less impurity than {own / 8:.4f}.")
        return Verdict(False, f"It leaves {own / 8:.4f}, and there is a threshold that leaves {min(cost) / 8:.4f}.")

    hint = "Only thresholds between neighbouring values matter: seven candidates."
    return {"data": {"x": x, "y": label}, "asks": {"t": "a threshold"}, "mark": mark, "hint": hint}
