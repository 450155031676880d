"""Every boolean function is a tree, and some need a large one.

A tree that splits by one input at a time can represent any truth table. How large it gets depends on the
function: "all of them" needs one split per input, parity needs 2^d − 1, because without the last input
nothing is known: at the root of a parity tree every split has a gain of exactly zero. Greedy growing is not
optimal: where one input chooses which other input counts, three splits suffice, but the choosing input has no gain
on its own, so the greedy tree needs more splits.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Figure, Record
from certifit.tree import DecisionTreeClassifier, draw_tree, information_gain

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "and": lambda X: X.all(axis=1),
    "or": lambda X: X.any(axis=1),
    "majority": lambda X: 2 * X.sum(axis=1) > X.shape[1],
    "parity": lambda X: X.sum(axis=1) % 2 == 1,
    "one input chooses": lambda X: np.where(X[:, 0], X[:, 1], X[:, -1]),
}


def run(say: Callable[[str], object] = print, inputs: int = 5) -> Record:
    """Splits needed by five functions of so many inputs, and the best gain at the root."""
    X = np.array(list(itertools.product([False, True], repeat=inputs)))
    say(f"All {len(X)} rows of the truth table of {inputs} inputs:")
    splits, gains, trees = {}, {}, {}
    for name, function in FUNCTIONS.items():
        y = np.asarray(function(X), dtype=bool)
        tree = DecisionTreeClassifier(criterion="entropy").fit(X, y)
        assert tree.score(X, y) == 1.0
        splits[name] = tree.get_n_leaves() - 1
        gains[name] = max(information_gain(y, column) for column in X.T)
        trees[name] = tree
        say(f"  {name:<18} {splits[name]:>3} splits; the best first one gains {gains[name]:.3f} bits")
    say("Where one input chooses, 3 splits would do; that input has no gain alone, so greedy growing uses it late.")
    say("Parity is the worst case: 2^d − 1 splits, and the first has no gain at all.")
    return {"inputs": inputs, "splits": splits, "gains": gains, "trees": trees}


def draw(numbers: Record) -> Figure:
    """Trees of three inputs for two functions, and how many splits each function needs."""
    import matplotlib.pyplot as plt

    small = run(say=lambda line: None, inputs=3)
    figure = plt.figure(figsize=(14, 8))
    grid = figure.add_gridspec(2, 2, height_ratios=[1, 1.15], hspace=0.25, wspace=0.4)
    names = ["a", "b", "c"]
    draw_tree(small["trees"]["majority"], feature_names=names, ax=figure.add_subplot(grid[0, 0]),
              fontsize=8, title="majority of three")  # fmt: skip
    draw_tree(small["trees"]["parity"], feature_names=names, ax=figure.add_subplot(grid[1, :]),
              fontsize=8, title="parity of three")  # fmt: skip
    bars = figure.add_subplot(grid[0, 1])
    counts = dict(sorted(numbers["splits"].items(), key=lambda item: item[1]))
    bars.barh(list(counts), list(counts.values()), color="C0", height=0.6)
    for place, count in enumerate(counts.values()):
        bars.text(count + 0.4, place, str(count), va="center")
    bars.set_title(f"splits for {numbers['inputs']} inputs", loc="left")
    bars.spines[["top", "right"]].set_visible(False)
    return figure
