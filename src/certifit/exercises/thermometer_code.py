"""Features."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("thermometer-code", "features")
def thermometer_code(rng: np.random.Generator) -> dict[str, object]:
    """One-hot and thermometer codes.

    A feature takes the ordered values 1 to m. Write the given value as a one-hot code of m bits and as a thermometer
    code of m bits, in which the first k bits are 1 for the value k. How far apart (Euclidean, squared) are the
    thermometer codes of j and k?
    """
    m = int(rng.integers(4, 7))
    j, k = (int(v) for v in rng.choice(np.arange(1, m + 1), size=2, replace=False))
    bits = np.arange(1, m + 1)
    one_hot, thermometer = (bits == k).astype(int), (bits <= k).astype(int)
    slips = {
        "The first k bits are 1, not all but the first.": {"thermometer": (bits < k).astype(int)},
        "Squared distance: count the bits that differ.": {"distance": abs(j - k) ** 0.5},
    }
    expected = {"one_hot": one_hot, "thermometer": thermometer, "distance": abs(j - k)}
    asks = {"one_hot": "m bits of k", "thermometer": "m bits of k", "distance": "a number"}
    return {
        "data": {"m": m, "j": j, "k": k},
        "asks": asks,
        "mark": numbers(expected, slips),
        "hint": "Neighbours differ in one bit.",
    }
