"""Six labels for two moons: unlabelled rows reveal the classes.

Two crescents of 200 rows, of which three each have a label. A linear classifier that sees the six labelled rows alone
cuts both crescents in two. Label propagation walks from row to row along the crescents; its scores solve one linear
system, and the certificate bounds their error, so that a label is called certain only where it is the exact solution's.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Figure, Record
from certifit.linear_model import LogisticRegression
from certifit.plot import palette
from certifit.semi_supervised import LabelPropagation


def run(say: Callable[[str], object] = print) -> Record:
    """Tell the story; return the rows, both answers, and the proved error."""
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, np.pi, size=200)
    group = np.repeat([0, 1], 100)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X[group == 1] = [1.0, 0.4] - X[group == 1]
    X += rng.normal(scale=0.08, size=X.shape)
    known = np.concatenate([rng.choice(np.flatnonzero(group == c), size=3, replace=False) for c in (0, 1)])
    y = np.full(200, -1)
    y[known] = group[known]
    alone = LogisticRegression().fit(X[known], group[known])
    model = LabelPropagation(kernel="knn", n_neighbors=7).fit(X, y)
    right = float(np.mean(model.transduction_ == group)), float(np.mean(alone.predict(X) == group))
    say(f"Six labelled rows alone: {right[1]:.0%} right. With the other 194 as a graph: {right[0]:.0%} right.")
    say(f"{int(model.certain_.sum())} of 200 labels are proved to be those of the exact solution; scores are")
    say(f"within {model.certificate_.error:.0e} of it.")
    return {
        "X": X,
        "group": group,
        "known": known,
        "scores": model.label_distributions_[:, 1],
        "certain": model.certain_,
        "right": right,
        "line": (alone.coef_[0], float(alone.intercept_[0])),
    }


def draw(numbers: Record) -> Figure:
    """Left the line through six rows, right the scores along the crescents."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import LinearSegmentedColormap

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.6), layout="constrained", sharey=True)
    X, known = numbers["X"], numbers["known"]
    w, b = numbers["line"]
    ends = np.array([X[:, 0].min(), X[:, 0].max()])
    left.plot(*X.T, "o", color=palette().faint)
    left.plot(ends, -(w[0] * ends + b) / w[1], color=palette().ink)
    left.set(ylim=(X[:, 1].min() - 0.2, X[:, 1].max() + 0.2))
    shades = LinearSegmentedColormap.from_list("classes", palette().colours[:2])
    right.scatter(*X.T, c=numbers["scores"], cmap=shades, s=18)
    for ax, share, name in zip((left, right), numbers["right"][::-1], ("six rows alone", "labels walk along the rows")):
        for c, marker in ((0, "o"), (1, "s")):
            some = known[numbers["group"][known] == c]
            ax.plot(*X[some].T, marker, color=palette().colours[c], ms=10, mec=palette().ink, ls="none")
        ax.set(xlabel="x₁", ylabel="x₂", title=f"{name}: {share:.0%} right")
    return figure
