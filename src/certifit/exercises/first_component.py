"""Principal components."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from certifit.exercises._base import exercise, judged
from certifit.judge import certify_components

if TYPE_CHECKING:
    from certifit.certificates import Certificate


@exercise("first-component", "unsupervised learning")
def first_component(rng: np.random.Generator) -> dict[str, object]:
    """The first principal component.

    Which direction of length one keeps the most variance of these points?
    """
    X = rng.integers(-4, 5, size=(6, 2)) * [3.0, 1.0] + rng.integers(3, 12, size=2)
    turn = float(rng.uniform(0.3, 1.2))
    X = np.round(X @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]), 1)

    def certify(u: npt.ArrayLike) -> Certificate:
        v = np.asarray(u, dtype=float)
        if v.shape != (2,) or abs(float(np.linalg.norm(v)) - 1) > 1e-3:
            raise ValueError("u must be two numbers, and of length one.")
        return certify_components([v / np.linalg.norm(v)], X)

    hint = "Centre the points; u is the eigenvector of the larger eigenvalue of the covariance matrix."
    return {"data": {"X": X}, "asks": {"u": "two numbers"}, "mark": judged(certify, X), "hint": hint}
