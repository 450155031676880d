"""The same filter inside and outside the folds, on pure noise.

Columns and targets are independent draws: the best any model can do is R² = 0. The filter keeps the columns that
correlate best with the target. As a step of the pipeline it sees the training rows only, and cross-validation says
what is true. Applied once to all rows, before the folds are made, it has seen the held-out targets, and the same
cross-validation reports a positive R² for pure noise. The experiment is repeated on twenty data sets.
"""

from collections.abc import Callable

import numpy as np
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from certifit._types import Array, Figure, Record
from certifit.linear_model import LinearRegression
from certifit.plot import figure, palette, style
from certifit.preprocessing import CorrelationFilter

KEPT = 8
SETS = 20


def _r_squared(y: Array, predicted: Array) -> float:
    return 1.0 - float(np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2))


def run(say: Callable[[str], object] = print) -> Record:
    """Tell the story; return R² of both ways on every data set."""
    inside, outside = [], []
    folds = KFold(5, shuffle=True, random_state=0)
    for seed in range(SETS):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 1000)), rng.normal(size=60)
        right = make_pipeline(CorrelationFilter(KEPT), LinearRegression())
        inside.append(_r_squared(y, cross_val_predict(right, X, y, cv=folds)))
        chosen = CorrelationFilter(KEPT).fit_transform(X, y)  # the mistake: held-out targets took part
        outside.append(_r_squared(y, cross_val_predict(LinearRegression(), chosen, y, cv=folds)))
    say(f"{SETS} data sets of noise, {KEPT} of 1000 columns kept, 5 folds")
    say(f"filter outside the folds: R² from {min(outside):.2f} to {max(outside):.2f}, mean {np.mean(outside):.2f}")
    say(f"filter inside the folds:  R² from {min(inside):.2f} to {max(inside):.2f}, mean {np.mean(inside):.2f}")
    return {"inside": inside, "outside": outside}


def draw(numbers: Record) -> Figure:
    """Every data set as a point in both columns."""
    with style():
        fig, ax = figure(size=(5.0, 3.2))
        ax.axhline(0.0, color=palette().faint, linewidth=0.8, label="nothing to learn")
        for i, name in enumerate(("outside", "inside")):
            spread = np.linspace(-0.15, 0.15, len(numbers[name]))
            ax.plot(i + spread, numbers[name], "o", color=f"C{1 - i}", alpha=0.8)
        ax.set_xticks([0, 1], ["filter outside the folds", "filter inside the folds"])
        ax.set(ylabel="cross-validated R² on noise", xlim=(-0.5, 1.5))
        ax.legend()
        return fig
