"""Choosing features outside the folds looks like skill on pure noise.

Fifty rows, two thousand columns of noise, labels by the toss of a coin: nothing can be learned, and half of all
predictions must be wrong. Yet anyone who first picks the twenty columns that correlate best with *all* labels and then
cross-validates will see nearly perfect accuracy, because the held-out labels influenced the selection. With the
selection inside the folds (as a step of the pipeline) the accuracy is what it should be. `leakage_check`
distinguishes the two without knowing that the labels are noise.
"""

from collections.abc import Callable

import numpy as np
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from certifit._types import Array, Figure, Record
from certifit.model_selection import cross_validate, leakage_check
from certifit.plot import figure, palette, style

KEPT = 20


def choose(X: Array, y: Array) -> Array:
    """The columns that correlate best with the labels: all labels, which is the mistake."""
    return X[:, np.argsort(-np.abs((X - X.mean(axis=0)).T @ (y - y.mean())))[:KEPT]]


def run(say: Callable[[str], object] = print) -> Record:
    """Tell the story; return the accuracies and what the check found."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2000)), rng.permutation(np.arange(50) % 2)
    near = KNeighborsClassifier(3)
    inside = make_pipeline(SelectKBest(f_classif, k=KEPT), near)
    wrong = cross_validate(near, choose(X, y), y, cv=5, random_state=0)
    right = cross_validate(inside, X, y, cv=5, random_state=0)
    say(f"columns chosen outside the folds: accuracy {wrong.mean():.2f}, {wrong.interval()}")
    say(f"columns chosen inside the folds:  accuracy {right.mean():.2f}, {right.interval()}")
    caught = leakage_check(near, X, y, prepare=choose, rounds=10)
    cleared = leakage_check(inside, X, y, rounds=10)
    say(f"outside: {caught}")
    say(f"inside:  {cleared}")
    return {
        "outside": float(wrong.mean()),
        "inside": float(right.mean()),
        "outside_interval": tuple(wrong.interval()),
        "inside_interval": tuple(right.interval()),
        "caught": caught,
        "cleared": cleared,
    }


def draw(numbers: Record) -> Figure:
    """Both accuracies with their intervals, and the scores on permuted labels behind the check."""
    with style():
        fig, ax = figure(size=(5.6, 3.2))
        ax.axhline(0.5, color=palette().faint, linewidth=0.8, label="nothing to learn")
        for i, (name, check) in enumerate((("outside", "caught"), ("inside", "cleared"))):
            low, high = numbers[f"{name}_interval"]
            ax.plot([i, i], [low, min(high, 1.0)], color=f"C{1 - i}")
            ax.plot(i, numbers[name], "o", color=f"C{1 - i}", markersize=7)
            spread = np.linspace(0.12, 0.3, len(numbers[check].permuted))
            ax.plot(i + spread, numbers[check].permuted, ".", color=f"C{1 - i}", alpha=0.6)
        ax.set_xticks([0, 1], ["columns chosen outside", "columns chosen inside"])
        ax.set(ylabel="accuracy on noise", xlim=(-0.4, 1.5), ylim=(0, 1.05), title="dots: labels permuted")
        ax.legend(loc="lower right")
        return fig
