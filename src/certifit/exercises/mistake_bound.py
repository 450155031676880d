"""Novikoff's bound."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("mistake-bound", "linear classifiers")
def mistake_bound(rng: np.random.Generator) -> dict[str, object]:
    """How many mistakes can the perceptron make?

    The vector u separates the rows through the origin. What is the radius R = max ‖x‖, the margin γ of u (u has to be
    scaled to length one first), and the largest number of mistakes a perceptron that starts at zero can make?
    """
    u = rng.choice([-1.0, 1.0], size=2) * rng.integers(1, 5, size=2)
    X = rng.integers(-5, 6, size=(6, 2)).astype(float)
    X = X[np.abs(X @ u) > 0.5]
    y = np.sign(X @ u).astype(int)
    R, raw = float(np.linalg.norm(X, axis=1).max()), float(np.min(y * (X @ u)))
    margin = raw / float(np.linalg.norm(u))
    slips = {
        "Is u scaled to length one before the margin is taken?": {"margin": raw},
        "The bound is the square of R/γ.": {"margin": margin, "bound": R / margin},
    }
    expected = {"radius": R, "margin": margin, "bound": (R / margin) ** 2}
    asks = {"radius": "R", "margin": "γ", "bound": "(R/γ)²"}
    return {
        "data": {"X": X, "y": y, "u": u},
        "asks": asks,
        "mark": numbers(expected, slips),
        "hint": "γ = min y(u·x)/‖u‖.",
    }
