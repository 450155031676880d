"""A Markov decision process."""

import numpy as np

from certifit.exercises._base import exercise, numbers


@exercise("value-iteration", "decisions")
def value_iteration(rng: np.random.Generator) -> dict[str, object]:
    """The value of waiting.

    There are two states. In state 0 you may stay (reward r0, you remain there) or go (reward 0, you reach state 1).
    In state 1 every action gives reward r1 and leads back to state 0 with probability p; otherwise you remain. With
    discount γ, what are the values of both states under the best policy, and is it best to go in state 0?
    """
    r0, r1 = float(rng.integers(1, 4)), float(rng.integers(3, 9))
    p, gamma = float(rng.choice([0.25, 0.5, 0.75])), float(rng.choice([0.5, 0.8, 0.9]))
    stay = r0 / (1 - gamma)

    def second(first: float) -> float:
        return (r1 + gamma * p * first) / (1 - gamma * (1 - p))

    # going: V0 = γV1 and V1 = r1 + γ(pV0 + (1 − p)V1)
    v1 = r1 / (1 - gamma * (1 - p) - gamma**2 * p)
    go = bool(gamma * v1 > stay)
    values = [gamma * v1, v1] if go else [stay, second(stay)]
    other = [stay, second(stay)] if go else [gamma * v1, v1]
    slips = {"That is the value of the other policy.": {"values": other}}
    asks = {"values": "two numbers", "go": "True or False"}
    data = {"r0": r0, "r1": r1, "p": p, "gamma": gamma}
    hint = "Solve the two equations of each policy and compare."
    return {"data": data, "asks": asks, "mark": numbers({"values": values, "go": go}, slips), "hint": hint}
