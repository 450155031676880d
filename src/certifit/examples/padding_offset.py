"""A column of ones is an offset, until somebody penalises it.

θ·x + θ₀ is (θ, θ₀)·(x, 1): least squares on padded rows without an offset gives the same line as least squares with
one. With a penalty the two differ, because the padded form also shrinks θ₀, and the difference grows with the distance
of the data from zero. Padding with a large number instead of one makes the penalty on the offset negligible again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Record
from certifit.linear_model import LinearRegression, Ridge
from certifit.preprocessing import PadOnes

VALUES = (1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)


def run(say: Callable[[str], Any] = print) -> Record:
    """Tell the story; return how far apart the forms are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ np.array([1.0, -2.0, 0.5]) + 20.0 + rng.normal(size=60)
    offset = LinearRegression().fit(X, y)
    padded = LinearRegression(fit_intercept=False).fit(PadOnes().fit_transform(X), y)
    apart = float(np.abs(padded.coef_ - np.append(offset.coef_, offset.intercept_)).max())
    say(f"least squares: offset {offset.intercept_:.4f}, weight of the ones {padded.coef_[-1]:.4f}; apart {apart:.0e}")
    alpha = 5.0
    kept = float(Ridge(alpha).fit(X, y).intercept_)
    found = []
    for value in VALUES:
        pad = PadOnes(value).fit(X)
        weight = float(Ridge(alpha, fit_intercept=False).fit(pad.transform(X), y).coef_[-1])
        found.append(weight * value)
        say(f"ridge, padded with {value:>6g}: offset {weight * value:8.4f}   (unpenalised: {kept:.4f})")
    return {"apart": apart, "offset": kept, "values": list(VALUES), "padded": found}


def draw(numbers: Record) -> Any:
    """The offset of padded ridge against the number padded with."""
    from certifit.plot import figure, palette, style

    with style():
        fig, ax = figure()
        ax.axhline(numbers["offset"], color=palette().faint, linewidth=0.8, label="offset not penalised")
        ax.plot(numbers["values"], numbers["padded"], "o-", color="C0", label="padded, penalised")
        ax.set(xscale="log", xlabel="padded with", ylabel="offset")
        ax.legend()
        return fig
