"""Bias and variance."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("bias-and-variance", "evaluation")
def bias_and_variance(rng: np.random.Generator) -> dict[str, object]:
    """Bias, variance and noise.

    The same learner was trained on five samples; its predictions at one point are given, with the true mean of y
    there and the variance of the noise. What are the squared bias, the variance of the predictions (divide by 5) and
    the expected squared error?
    """
    truth, noise = float(rng.integers(2, 8)), float(rng.choice([0.25, 0.5, 1.0]))
    f = np.round(truth + rng.normal(size=5) + rng.choice([-1.0, 1.0]), 1)
    bias2, variance = float((f.mean() - truth) ** 2), float(f.var())
    slips = {
        "Square the bias.": {"bias2": float(abs(f.mean() - truth))},
        "Divide by 5 here, not by 4.": {"variance": float(f.var(ddof=1))},
        "The noise of y comes on top.": {"bias2": bias2, "variance": variance, "error": bias2 + variance},
    }
    expected = {"bias2": bias2, "variance": variance, "error": bias2 + variance + noise}
    asks = {"bias2": "a number", "variance": "a number", "error": "a number"}
    data = {"predictions": f, "truth": truth, "noise": noise}
    return {"data": data, "asks": asks, "mark": numbers(expected, slips), "hint": "Three parts that add up."}
