"""The candy bag: learning as a change of belief.

A bag of cherry and lime candies is one of five kinds, from all cherry to all lime. Candies are drawn, and all of
them are lime. The posterior over the five kinds is computed after each draw, and with it the probability that the
next candy is lime. The Bayesian prediction grows steadily; the most probable kind jumps; maximum likelihood is sure
after a single candy. Every posterior is proved.
"""

from collections.abc import Callable

from certifit._types import Figure, Record
from certifit.bayes import HypothesisSpace

PRIORS = {"h1": 0.1, "h2": 0.2, "h3": 0.4, "h4": 0.2, "h5": 0.1}
LIME = {"h1": 0.0, "h2": 0.25, "h3": 0.5, "h4": 0.75, "h5": 1.0}
DRAWS = 10


def bag() -> HypothesisSpace:
    """Five kinds of bag with their priors."""
    return HypothesisSpace(PRIORS, {h: {"cherry": 1.0 - p, "lime": p} for h, p in LIME.items()})


def run(say: Callable[[str], object] = print) -> Record:
    """Draw ten limes and watch the belief move; the posterior after the last one has a certificate."""
    space, limes = bag(), ["lime"] * DRAWS
    path = space.posteriors(limes)
    lime_next = [space.predict(limes[:k])["lime"] for k in range(DRAWS + 1)]
    most_probable = [space.map(limes[:k]) for k in range(DRAWS + 1)]
    certificate = space.certify(limes)
    evidence, last = space.evidence(limes), path[-1]
    say("draws  " + "  ".join(f"P({h})" for h in PRIORS) + "  next lime  most probable")
    for k, posterior in enumerate(path):
        shares = "  ".join(f"{p:.3f}" for p in posterior.values())
        say(f"{k:>5}  {shares}      {lime_next[k]:.3f}             {most_probable[k]}")
    say(f"P(ten limes) = {evidence:.5f}, P(h4 | ten limes) = {last['h4']:.5f}")
    say(f"maximum likelihood says {space.ml(limes[:1])} after one candy")
    say(str(certificate))
    return {
        "posteriors": path,
        "lime_next": lime_next,
        "map": most_probable,
        "ml_after_one": space.ml(limes[:1]),
        "evidence": evidence,
        "certificate": certificate,
    }


def draw(numbers: Record) -> Figure:
    """Beliefs on the left, predictions on the right."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    steps = range(len(numbers["posteriors"]))
    for h, p in LIME.items():
        left.plot(steps, [q[h] for q in numbers["posteriors"]], marker="o", ms=3, label=f"{p:.0%} lime")
    left.set(xlabel="limes drawn", ylabel="posterior probability", title="Which bag is it?")
    left.legend(fontsize=8)
    right.plot(steps, numbers["lime_next"], marker="o", ms=3, label="Bayesian")
    by_map = [LIME[h] for h in numbers["map"]]
    right.plot(steps, by_map, marker="s", ms=3, ls=":", label="most probable bag only")
    right.set(xlabel="limes drawn", ylabel="P(next is lime)", title="What comes next?", ylim=(0.4, 1.03))
    right.legend(fontsize=8)
    return figure
