"""k-means depends on its start; a lower bound shows how much better any clustering could be.

Four groups of points, twenty starts at random rows. Lloyd's iterations end in several different clusterings, some of
them far more expensive than others, and nothing in the cost alone says which is good. A lower bound on the cost of
every clustering into four parts does: the best start is proved to be optimal to rounding, the worst one is not.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Array, Figure, Record
from certifit.cluster import KMeans
from certifit.judge import certify_clusters
from certifit.plot import palette

STARTS = 20


def _rows() -> Array:
    rng = np.random.default_rng(2)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 5.0], [6.0, 5.0]])
    return np.vstack([c + rng.normal(scale=0.45, size=(30, 2)) for c in centres])


def run(say: Callable[[str], object] = print) -> Record:
    """Tell the story; return the costs of all starts, the bound, and the best and the worst clustering."""
    X = _rows()
    models = [KMeans(4, init="random", n_init=1, random_state=s).fit(X) for s in range(STARTS)]
    costs = np.array([m.inertia_ for m in models])
    best, worst = models[int(costs.argmin())], models[int(costs.argmax())]
    bound, above = float(best.certificate_.bound), float(best.certificate_.excess)
    several = len(np.unique(costs.round(6)))
    say(f"{STARTS} starts end at {several} different costs, {costs.min():.2f} to {costs.max():.2f}.")
    say(f"No clustering into four parts costs less than {bound:.2f}: the best one is at most {above:.1e}")
    say(f"above the smallest possible cost; the worst is {costs.max() / bound - 1:.0%} above the bound.")
    judged = certify_clusters(worst.labels_, X)
    say(f"The certificate of the worst: {judged.claim}")
    return {
        "X": X,
        "costs": costs,
        "bound": bound,
        "best": (best.labels_, best.cluster_centers_),
        "worst": (worst.labels_, worst.cluster_centers_),
        "excess": above,
    }


def draw(numbers: Record) -> Figure:
    """The best and the worst clustering, and the costs of all starts above the bound."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained")
    for ax, name in zip(axes, ("best", "worst")):
        labels, centres = numbers[name]
        for c in range(4):
            ax.plot(*numbers["X"][labels == c].T, "os^D"[c], color=palette().colours[c], alpha=0.6)
        ax.plot(*centres.T, "*", color=palette().ink, ms=13, ls="none")
        ax.set(xlabel="x₁", ylabel="x₂", title=f"{name} of {STARTS} starts", aspect="equal")
    axes[2].plot(np.sort(numbers["costs"]), "o", color=palette().colours[0], label="cost")
    axes[2].axhline(numbers["bound"], color=palette().colours[1], label="proved: none costs less")
    axes[2].set(xlabel="starts, sorted by cost", ylabel="cost", ylim=(0, None), title="starts against the bound")
    axes[2].legend()
    return figure
