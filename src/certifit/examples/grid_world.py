"""The optimal policy of a grid world

A robot that slips sideways one time in five wants to reach a goal and keep out of a pit. How long a way round is
worth it depends on what a step costs: four prices, four policies, each proved the best one in exact arithmetic.
"""

from collections.abc import Callable

from certifit._types import Figure, Record
from certifit.reinforcement import grid_world, policy_iteration

MAP = ["...+", ".#.-", "...."]
PRICES = (-2.0, -0.4, -0.04, -0.001)


def run(say: Callable[[str], object] = print) -> Record:
    """The best policy for each price of a step."""
    plans, proved = [], []
    for price in PRICES:
        world = grid_world(MAP, noise=0.1, living_reward=price, discount=0.999)
        plan = policy_iteration(world)
        proof = plan.certify(rigor="exact")
        plans.append(plan)
        proved.append(proof.holds and proof.loss == 0)
        beside = plan.policy[world.states.index((1, 2))]
        say(f"a step costs {-price:g}: beside the pit go {beside}; from the far corner {plan.values[7]:.3f}")
    say(proof.claim)
    return {"prices": list(PRICES), "plans": plans, "proved": proved}


def draw(numbers: Record) -> Figure:
    """A map for each price."""
    import matplotlib.pyplot as plt

    from certifit import plot

    figure, panels = plt.subplots(1, len(numbers["prices"]), figsize=(13, 3), layout="constrained")
    for axes, price, plan in zip(panels, numbers["prices"], numbers["plans"]):
        plot.grid_values(plan, ax=axes)
        axes.set_title(f"a step costs {-price:g}")
    return figure
