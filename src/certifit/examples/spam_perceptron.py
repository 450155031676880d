"""Spam by perceptron: six e-mails, five words, four mistakes.

Each e-mail is a row of zeros and ones: which of five words it contains. The perceptron starts at zero, goes through the
e-mails in order and moves at every mistake. Four moves later it classifies all six, and the certificate bounds the
number of mistakes for any order of the e-mails.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Figure, Record
from certifit.geometry import margins
from certifit.linear_model import Perceptron

WORDS = ("and", "viagra", "the", "of", "nigeria")
MAILS = np.array(
    [[1, 1, 0, 1, 1], [0, 0, 1, 1, 0], [0, 1, 1, 0, 0], [1, 0, 0, 1, 0], [1, 0, 1, 0, 1], [1, 0, 1, 1, 0]], dtype=float
)
SPAM = np.array([1, -1, 1, -1, 1, -1])


def run(say: Callable[[str], None] = print) -> Record:
    """Train on the six e-mails in order, step by step."""
    say("Six e-mails, five words (" + ", ".join(WORDS) + "); + is spam.")
    model = Perceptron(shuffle=False, trace=True, tol=None, max_iter=10).fit(MAILS, SPAM)
    for k, m in enumerate(model.trace_, 1):
        w = ", ".join(f"{v:g}" for v in m.after)
        say(
            f"  mistake {k}: e-mail {m.row + 1} ({'+' if m.label > 0 else '-'}) scores {m.score:g}; "
            f"now w = ({w}), b = {m.intercept_after:g}"
        )
    after = margins(MAILS, SPAM, model.coef_[0], model.intercept_[0])
    say(f"Pass {model.n_iter_} makes no mistake; the smallest functional margin is {after.set_functional:g}.")
    say(str(model.certificate_))
    return {
        "w": model.coef_[0],
        "b": float(model.intercept_[0]),
        "mistakes": model.mistakes_,
        "rows": [m.row for m in model.trace_],
        "history": np.array([np.append(m.after, m.intercept_after) for m in model.trace_]),
        "passes": model.n_iter_,
        "bound": model.certificate_.bound,
        "functional": after.functional,
        "certificate": model.certificate_,
    }


def draw(numbers: Record) -> Figure:
    """The weights after each mistake."""
    import matplotlib.pyplot as plt

    history = np.vstack([np.zeros(6), numbers["history"]])
    figure, axes = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
    image = axes.imshow(history.T, cmap="RdBu_r", vmin=-2, vmax=2, aspect="auto")
    axes.set_yticks(range(6), [*WORDS, "offset"])
    axes.set_xticks(range(len(history)), ["start", *(f"e-mail {r + 1}" for r in numbers["rows"])])
    for (i, j), v in np.ndenumerate(history):
        axes.text(i, j, f"{v:g}", ha="center", va="center", color="white" if abs(v) > 1.4 else "black")
    axes.set_title("Weights after each mistake")
    figure.colorbar(image, ax=axes, label="weight")
    return figure
