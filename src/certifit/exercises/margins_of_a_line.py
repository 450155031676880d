"""Functional and geometric margins."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("margins-of-a-line", "margins and kernels")
def margins_of_a_line(rng: np.random.Generator) -> dict[str, object]:
    """Functional and geometric margins.

    What are the functional margins y(w·x + b) of the rows, and what is the geometric margin of the whole set?
    """
    w, b = rng.integers(1, 5, size=2).astype(float), float(rng.integers(-3, 4))
    X = rng.integers(-5, 6, size=(5, 2)).astype(float)
    y = np.where(rng.random(5) < 0.5, 1, -1)
    functional = y * (X @ w + b)
    length = float(np.linalg.norm(w))
    slips = {
        "Divide by ‖w‖.": {"functional": functional, "geometric": float(functional.min())},
        "The margin of the set is the smallest, sign included.": {
            "geometric": float(np.abs(functional).min()) / length
        },
    }
    expected = {"functional": functional, "geometric": float(functional.min()) / length}
    asks = {"functional": "five numbers", "geometric": "a number"}
    return {
        "data": {"X": X, "y": y, "w": w, "b": b},
        "asks": asks,
        "mark": numbers(expected, slips),
        "hint": "‖w‖ counts.",
    }
