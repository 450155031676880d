"""A kernel and its feature map."""

from typing import Any

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("quadratic-kernel", "margins and kernels")
def quadratic_kernel(rng: np.random.Generator) -> dict[str, object]:
    """A kernel is an inner product of features.

    For K(x, z) = (x·z + 1)² in two dimensions, what is K(x, z), and what is the feature vector
    φ(x) = (x₁², x₂², √2x₁x₂, √2x₁, √2x₂, 1)? The inner product φ(x)·φ(z) must be K(x, z).
    """
    x, z = rng.integers(-3, 4, size=(2, 2)).astype(float)
    r = 2**0.5
    phi = [x[0] ** 2, x[1] ** 2, r * x[0] * x[1], r * x[0], r * x[1], 1.0]
    plain = [x[0] ** 2, x[1] ** 2, x[0] * x[1], x[0], x[1], 1.0]
    slips: dict[str, Any] = {
        "The mixed and linear features carry √2.": {"phi": plain},
        "Is the 1 inside the square?": {"value": float((x @ z) ** 2)},
    }
    expected = {"value": float((x @ z + 1) ** 2), "phi": phi}
    asks = {"value": "K(x, z)", "phi": "six numbers"}
    return {
        "data": {"x": x, "z": z},
        "asks": asks,
        "mark": numbers(expected, slips),
        "hint": "Expand (x₁z₁ + x₂z₂ + 1)².",
    }
