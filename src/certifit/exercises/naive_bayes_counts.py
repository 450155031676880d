"""Naive Bayes."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("naive-bayes-counts", "probability")
def naive_bayes_counts(rng: np.random.Generator) -> dict[str, object]:
    """Naive Bayes from counts.

    Features are 0 or 1. Estimate P(xⱼ = 1 | class) with add-one smoothing, (count + 1)/(rows + 2), and the classes by
    their shares. What are the two lines of estimates, and what is the probability of class 1 for the query?
    """
    X, y = rng.integers(0, 2, size=(8, 3)), np.array([0, 0, 0, 1, 1, 1, 1, 1])
    query = rng.integers(0, 2, size=3)
    share = np.array([3, 5]) / 8

    def posterior(theta: np.ndarray) -> float:
        joint = share * np.prod(np.where(query == 1, theta, 1 - theta), axis=1)
        return float(joint[1] / joint.sum()) if joint.sum() > 0 else float("nan")

    theta = np.array([(X[y == k].sum(axis=0) + 1) / (np.sum(y == k) + 2) for k in (0, 1)])
    plain = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
    one = np.array([(X[y == k].sum(axis=0) + 1) / (np.sum(y == k) + 1) for k in (0, 1)])
    slips = {"Did you leave the smoothing out?": {"theta": plain}, "Add 2 below: there are two values.": {"theta": one}}
    expected = {"theta": theta, "p": posterior(theta)}
    asks = {"theta": "two lines of three numbers, class 0 first", "p": "a number"}
    hint = "Multiply the class's share by θ or 1 − θ for each feature."
    return {"data": {"X": X, "y": y, "query": query}, "asks": asks, "mark": numbers(expected, slips), "hint": hint}
