"""Play tennis: which split is most informative?

Fourteen Saturday mornings with their outlook, temperature, humidity and wind, and whether tennis was played (Quinlan
1986). The information gain of each column says which to split first; the tree grows until every leaf is pure. A split
here has two branches, so a column with three values is split by groups: overcast or not.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Array, Figure, Record
from certifit.tree import DecisionTreeClassifier, draw_tree, entropy, export_text, information_gain

COLUMNS = ("outlook", "temperature", "humidity", "wind")
_DAYS = """
sunny hot high weak no
sunny hot high strong no
overcast hot high weak yes
rain mild high weak yes
rain cool normal weak yes
rain cool normal strong no
overcast cool normal strong yes
sunny mild high weak no
sunny cool normal weak yes
rain mild normal weak yes
sunny mild normal strong yes
overcast mild high strong yes
overcast hot normal weak yes
rain mild high strong no
"""


def table() -> tuple[Array, Array]:
    """The fourteen days: words by column, and whether tennis was played."""
    cells = np.array([line.split() for line in _DAYS.strip().splitlines()], dtype=object)
    return cells[:, :4], cells[:, 4].astype(str)


def run(say: Callable[[str], object] = print) -> Record:
    """Gains of the four columns, the tree, and the way of a sunny, cool, humid, windy day through it."""
    X, y = table()
    gains = {name: information_gain(y, X[:, j]) for j, name in enumerate(COLUMNS)}
    say(f"Tennis was played on nine of fourteen days: an entropy of {entropy(y):.3f} bits.")
    for name, gain in sorted(gains.items(), key=lambda item: -item[1]):
        say(f"    splitting by {name:<12} gains {gain:.3f} bits")
    tree = DecisionTreeClassifier(criterion="entropy", categorical_features=[0, 1, 2, 3]).fit(X, y)
    say("The tree (each split has two branches):")
    say(export_text(tree, feature_names=COLUMNS, form="words"))
    told = tree.explain(["sunny", "cool", "high", "strong"])
    say(f"A sunny, cool, humid and windy day: {told.prediction}, after {len(told.splits)} splits.")
    say(str(tree.certificate_))
    return {
        "entropy": entropy(y),
        "gains": gains,
        "tree": tree,
        "errors": int(np.count_nonzero(tree.predict(X) != y)),
        "leaves": tree.get_n_leaves(),
        "prediction": told.prediction,
        "certified": tree.certificate_.holds,
    }


def draw(numbers: Record) -> Figure:
    """The gains as bars beside the tree."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(14, 5.2), width_ratios=[1, 2.9])
    gains = dict(sorted(numbers["gains"].items(), key=lambda item: item[1]))
    left.barh(list(gains), list(gains.values()), color="C0", height=0.6)
    for place, gain in enumerate(gains.values()):
        left.text(gain + 0.004, place, f"{gain:.3f}", va="center")
    left.set_xlim(0, 0.31)
    left.set_xlabel("information gain in bits")
    left.set_title("The first split", loc="left")
    left.spines[["top", "right"]].set_visible(False)
    draw_tree(
        numbers["tree"],
        feature_names=COLUMNS,
        ax=right,
        fontsize=9,
        highlight=["sunny", "cool", "high", "strong"],
        title="A sunny, cool, humid and windy day",
    )
    figure.tight_layout()
    return figure
