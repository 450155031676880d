"""Ridge is least squares on augmented data.

The penalty α‖w‖² is the squared error of d made-up rows: row j has √α in column j, zeros elsewhere, and target 0. Least
squares on the longer table is ridge on the shorter one, to rounding. The offset must not be penalised, so the columns
and the target are centred first; adding √α rows below a column of ones instead would shrink the offset too, which is
a different (and worse) fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Array, Record
from certifit.linear_model import LinearRegression, Ridge

ALPHAS = tuple(float(a) for a in np.logspace(-3, 4, 15))


def _data() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) + 2.0
    return X, X @ np.array([3.0, -2.0, 1.0, 0.0, 0.5, 0.0]) + 10.0 + rng.normal(size=40)


def augmented(X: Array, y: Array, alpha: float) -> Array:
    """Ridge coefficients by least squares on centred data with √α·I below."""
    d = X.shape[1]
    rows = np.vstack([X - X.mean(axis=0), np.sqrt(alpha) * np.eye(d)])
    targets = np.concatenate([y - y.mean(), np.zeros(d)])
    return LinearRegression(fit_intercept=False).fit(rows, targets).coef_


def run(say: Callable[[str], Any] = print) -> Record:
    """Tell the story; return both paths and how far apart they are."""
    X, y = _data()
    path = np.array([Ridge(alpha=a).fit(X, y).coef_ for a in ALPHAS])
    other = np.array([augmented(X, y, a) for a in ALPHAS])
    apart = float(np.abs(path - other).max() / np.abs(path).max())
    say(f"{len(ALPHAS)} penalties from {ALPHAS[0]:g} to {ALPHAS[-1]:g}: ridge and augmented least squares")
    say(f"differ by {apart:.1e} of the largest coefficient.")
    alpha = 10.0
    ones = np.column_stack([X, np.ones(len(X))])
    padded = np.vstack([ones, np.sqrt(alpha) * np.eye(7)])
    shrunk = LinearRegression(fit_intercept=False).fit(padded, np.concatenate([y, np.zeros(7)])).coef_[-1]
    kept = float(Ridge(alpha=alpha).fit(X, y).intercept_)
    say(f"Penalising the column of ones too (α = {alpha:g}) moves the offset from {kept:.2f} to {shrunk:.2f}.")
    return {"alphas": list(ALPHAS), "path": path, "apart": apart, "offset": kept, "offset_penalised": float(shrunk)}


def draw(numbers: Record) -> Any:
    """The coefficients' paths, which both forms share."""
    from certifit.plot import figure, palette, style

    with style():
        fig, ax = figure()
        for j, line in enumerate(np.asarray(numbers["path"]).T):
            ax.plot(numbers["alphas"], line, label=f"w{j}")
        ax.axhline(0, color=palette().faint, linewidth=0.8, zorder=0)
        ax.set(xscale="log", xlabel="α", ylabel="coefficient", title=f"two forms, apart by {numbers['apart']:.0e}")
        ax.legend(ncols=2)
        return fig
