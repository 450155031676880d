"""Decision regions of k nearest neighbours for growing k

Two interleaved half-moons with noise. With k = 1 every training row determines the class around it, islands included,
and the training error is zero; with more neighbours the border grows smooth; with nearly all rows voting it
disappears. Leave-one-out error, from one search, is large at both ends.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Array, Figure, Record
from certifit.neighbors import KNeighborsClassifier
from certifit.plot import palette

KS = (1, 9, 45, 151)


def rows(n: int = 160, noise: float = 0.32) -> tuple[Array, Array]:
    """Two noisy half-moons."""
    rng = np.random.default_rng(4)
    y = np.arange(n) % 2
    angle = rng.uniform(0, np.pi, n)
    X = np.column_stack(
        [np.where(y, 1 - np.cos(angle), np.cos(angle)), np.where(y, 0.4 - np.sin(angle), np.sin(angle))]
    )
    return X + noise * rng.normal(size=(n, 2)), y


def run(say: Callable[[str], object] = print) -> Record:
    """Training and leave-one-out error, and how rough the border is, for each k."""
    X, y = rows()
    sides = np.linspace(-2.2, 3.2, 161), np.linspace(-1.8, 2.2, 121)
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    training, left_out, border, regions = [], [], [], []
    for k in KS:
        model = KNeighborsClassifier(n_neighbors=k).fit(X, y)
        region = model.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
        training.append(1.0 - model.score(X, y))
        left_out.append(1.0 - model.score(None, y))
        border.append(int((np.diff(region, axis=0) != 0).sum() + (np.diff(region, axis=1) != 0).sum()))
        regions.append(region)
        say(
            f"k = {k:>3}: training error {training[-1]:.3f}, leave-one-out {left_out[-1]:.3f}, "
            f"border of {border[-1]} cell edges"
        )
    proof = KNeighborsClassifier(n_neighbors=9).fit(X, y).certificate_for([[0.5, 0.2]])
    say(proof.claim)
    return {
        "k": list(KS),
        "training": training,
        "left_out": left_out,
        "border": border,
        "proved": proof.holds,
        "regions": regions,
        "sides": sides,
        "X": X,
        "y": y,
    }


def draw(numbers: Record) -> Figure:
    """One map for each k."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(numbers["k"]), figsize=(13, 3.5), layout="constrained", sharey=True)
    for i, (axes, k) in enumerate(zip(panels, numbers["k"])):
        levels, shades = [-0.5, 0.5, 1.5], ["C0", "C1"]
        axes.contourf(*numbers["sides"], numbers["regions"][i], levels=levels, colors=shades, alpha=0.22)
        for c, marker in ((0, "o"), (1, "s")):
            axes.plot(*numbers["X"][numbers["y"] == c].T, marker, color=f"C{c}", ms=3.5, mec=palette().paper, mew=0.4)
        axes.set_title(f"k = {k}\ntraining {numbers['training'][i]:.1%}, leave-one-out {numbers['left_out'][i]:.1%}")
        axes.set(xticks=[], yticks=[])
    return figure
