"""k-means."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("kmeans-step", "unsupervised learning")
def kmeans_step(rng: np.random.Generator) -> dict[str, object]:
    """One step of k-means.

    Assign every point to its nearest centre, then move each centre to the mean of its points. Where are the centres,
    and what is the sum of squared distances to the new ones?
    """
    while True:
        X, centres = rng.integers(0, 10, size=(7, 2)).astype(float), rng.integers(0, 10, size=(2, 2)).astype(float)
        far = ((X[:, None] - centres) ** 2).sum(axis=2)
        label = far.argmin(axis=1)
        if 0 < label.sum() < 7 and np.all(far[:, 0] != far[:, 1]):
            break
    new = np.array([X[label == k].mean(axis=0) for k in (0, 1)])
    cost = float(((X - new[label]) ** 2).sum())
    old = float(far.min(axis=1).sum())
    slips = {
        "Measure the distances to the new centres.": {"centres": new, "cost": old},
        "Take squared distances.": {"centres": new, "cost": float(np.sqrt(((X - new[label]) ** 2).sum(axis=1)).sum())},
    }
    asks = {"centres": "two points", "cost": "a number"}
    mark = numbers({"centres": new, "cost": cost}, slips)
    return {
        "data": {"X": X, "centres": centres},
        "asks": asks,
        "mark": mark,
        "hint": "First all assignments, then the means.",
    }
