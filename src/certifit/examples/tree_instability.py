"""One row changes, the tree changes: instability.

A tree takes the best split at each node, by however little it wins. When two splits gain nearly the
same, a single row decides between them, and everything below is grown on other rows. Two columns here say
almost the same thing about the label. Of all single rows whose label might have been recorded wrongly, some
move the first split to the other column; the predictions for new points then differ far from that row.
The fit is proved right both times: instability is a property of trees, not a mistake in growing them.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Array, Figure, Record
from certifit.plot import palette
from certifit.tree import DecisionTreeClassifier


def table(n: int = 80, seed: int = 10) -> tuple[Array, Array]:
    """Two columns that tell nearly the same, and labels with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1.0, size=(n, 2))
    y = (X.sum(axis=1) + 0.12 * rng.normal(size=n) > 1.0).astype(int)
    return X, y


def run(say: Callable[[str], object] = print) -> Record:
    """Flip each label in turn; find the flip that changes the predictions most."""
    X, y = table()
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=3).fit(X, y)
    line = np.linspace(0.0, 1.0, 101)
    points = np.array([(a, b) for b in line for a in line])
    before = tree.predict(points)
    changed = np.zeros(len(y))
    roots = np.zeros(len(y), dtype=bool)
    for row in range(len(y)):
        other = y.copy()
        other[row] = 1 - other[row]
        again = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=3).fit(X, other)
        changed[row] = np.mean(again.predict(points) != before)
        roots[row] = again.tree_.feature[0] != tree.tree_.feature[0]
    worst = int(np.argmax(changed))
    flipped = y.copy()
    flipped[worst] = 1 - flipped[worst]
    after = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=3).fit(X, flipped)
    say(f"{len(y)} rows, two columns; the first split is on column {tree.tree_.feature[0]}.")
    say(f"Changing one label moves the first split to the other column for {roots.sum()} rows.")
    say(f"The worst single label (row {worst}) changes {100 * changed[worst]:.0f} % of the plane.")
    proved = tree.certificate_.holds and after.certificate_.holds
    say(f"Both trees are proved to have the best split at every node: {proved}.")
    return {
        "X": X,
        "y": y,
        "row": worst,
        "changed": changed,
        "roots": int(roots.sum()),
        "before": tree,
        "after": after,
        "certified": proved,
    }


def draw(numbers: Record) -> Figure:
    """The two partitions of the plane side by side; the changed row is circled."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    X, y, row = numbers["X"], numbers["y"], numbers["row"]
    line = np.linspace(0.0, 1.0, 401)
    points = np.array([(a, b) for b in line for a in line])
    colours = ListedColormap(palette().colours[:2])
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.4), sharey=True)
    share = 100 * numbers["changed"][row]
    for ax, tree, title in zip(
        axes,
        (numbers["before"], numbers["after"]),
        ("as measured", f"one label changed: {share:.0f} % of the plane follows"),
        strict=True,
    ):
        labels = y.copy()
        if ax is axes[1]:
            labels[row] = 1 - labels[row]
        ax.imshow(
            tree.predict(points).reshape(401, 401),
            origin="lower",
            extent=(0, 1, 0, 1),
            cmap=colours,
            alpha=0.25,
            vmin=0,
            vmax=1,
        )
        ax.scatter(*X.T, c=labels, cmap=colours, s=26, edgecolor=palette().paper, linewidth=0.6)
        ax.scatter(*X[row], s=230, facecolor="none", edgecolor=palette().ink, linewidth=2)
        ax.set_title(title, loc="left")
        ax.set_xlabel("column 0")
    axes[0].set_ylabel("column 1")
    figure.tight_layout()
    return figure
