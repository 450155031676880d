"""Nearest neighbours."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("nearest-neighbours", "neighbours")
def nearest_neighbours(rng: np.random.Generator) -> dict[str, object]:
    """Three nearest neighbours.

    Which three rows are nearest to the query in Euclidean distance (nearest first), and which class do they elect?
    """
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    while True:
        X, query = rng.integers(0, 10, size=(8, 2)).astype(float), rng.integers(0, 10, size=2).astype(float)
        squares = ((X - query) ** 2).sum(axis=1)
        if len(np.unique(squares)) == 8:
            break
    near = np.argsort(squares)[:3]
    blocks = np.argsort(np.abs(X - query).sum(axis=1), kind="stable")[:3]
    slips = {"Is that the sum of absolute differences?": {"rows": blocks}} if not np.array_equal(blocks, near) else {}
    expected = {"rows": near, "label": int(y[near].sum() >= 2)}
    asks = {"rows": "three row numbers, counted from 0", "label": "0 or 1"}
    hint = "Squared distances order the rows as distances do."
    return {"data": {"X": X, "y": y, "query": query}, "asks": asks, "mark": numbers(expected, slips), "hint": hint}
