"""Entropy and information gain."""

import numpy as np

from certifit.exercises._base import exercise, numbers


def _entropy(counts: np.ndarray) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())


@exercise("information-gain", "trees")
def information_gain(rng: np.random.Generator) -> dict[str, object]:
    """Information gain of a split.

    The table counts rows by class (columns) on both sides of a split (rows). What is the entropy before the
    split, in bits, and what is the information gain?
    """
    table = rng.integers(1, 9, size=(2, 2))
    whole, sides = _entropy(table.sum(axis=0)), [_entropy(side) for side in table]
    share = table.sum(axis=1) / table.sum()
    gain = whole - float(share @ sides)
    ln2 = float(np.log(2))
    slips = {
        "Is the logarithm to base 2?": {"entropy": whole * ln2, "gain": gain * ln2},
        "Weight the two sides by their numbers of rows.": {"entropy": whole, "gain": whole - float(np.mean(sides))},
    }
    asks = {"entropy": "bits", "gain": "bits"}
    hint = "−Σ p log₂ p before, minus the average of both sides after."
    mark = numbers({"entropy": whole, "gain": gain}, slips)
    return {"data": {"table": table}, "asks": asks, "mark": mark, "hint": hint}
