"""Maximum likelihood."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("gaussian-likelihood", "probability")
def gaussian_likelihood(rng: np.random.Generator) -> dict[str, object]:
    """Maximum likelihood of a normal distribution.

    Which mean and which variance make these numbers most probable?
    """
    x = rng.integers(0, 20, size=6).astype(float)
    slips = {
        "Maximum likelihood divides by n, not by n − 1.": {"mean": float(x.mean()), "variance": float(x.var(ddof=1))},
        "That is the standard deviation: square it.": {"mean": float(x.mean()), "variance": float(x.std())},
    }
    expected = {"mean": float(x.mean()), "variance": float(x.var())}
    asks = {"mean": "a number", "variance": "a number"}
    return {"data": {"x": x}, "asks": asks, "mark": numbers(expected, slips), "hint": "Set both derivatives to zero."}
