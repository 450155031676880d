"""Bayes' rule."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("candy-bag", "probability")
def candy_bag(rng: np.random.Generator) -> dict[str, object]:
    """The bag of candy.

    There are five kinds of bags, with these shares of lime candy and these prior probabilities. After n limes in a
    row from one bag, what are the posterior probabilities of the five kinds, and how probable is it that the next one
    is lime?
    """
    lime, prior = np.array([0.0, 0.25, 0.5, 0.75, 1.0]), np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    n = int(rng.integers(2, 7))
    joint = prior * lime**n
    posterior = joint / joint.sum()
    flat = lime**n / (lime**n).sum()
    slips = {
        "Did you multiply by the prior?": {"posterior": flat},
        "Divide by the sum, so that the probabilities add up to one.": {"posterior": joint},
        "Average over the posterior, not over the most probable kind.": {
            "posterior": posterior, "next_lime": float(lime[np.argmax(posterior)])
        },
    }  # fmt: skip
    expected = {"posterior": posterior, "next_lime": float(posterior @ lime)}
    asks = {"posterior": "five numbers", "next_lime": "a number"}
    data = {"lime": lime, "prior": prior, "n": n}
    return {"data": data, "asks": asks, "mark": numbers(expected, slips), "hint": "prior × likelihood, then normalise."}
