"""The dual of a support vector machine."""

import numpy as np

from certifit.exercises._base import exercise, judged
from certifit.judge import certify_dual


@exercise("svm-three-points", "margins and kernels")
def svm_three_points(rng: np.random.Generator) -> dict[str, object]:
    """The dual of a support vector machine with three points.

    Find the multipliers α, each between 0 and C and with Σ αy = 0, that maximise Σ α − ½‖Σ αyx‖².
    """
    shift = rng.integers(-2, 3, size=2).astype(float)
    far = float(rng.integers(2, 5))
    X = np.array([[0.0, 0.0], [far, 0.0], [far, float(rng.integers(1, 4))]]) + shift
    y = np.array([-1, 1, 1])
    C = float(rng.choice([0.05, 10.0]))
    mark = judged(lambda alpha: certify_dual(alpha, X, y, C=C), X, y)
    hint = "Guess which α are zero or C, use Σ αy = 0, and maximise over what is left."
    return {"data": {"X": X, "y": y, "C": C}, "asks": {"alpha": "three numbers"}, "mark": mark, "hint": hint}
