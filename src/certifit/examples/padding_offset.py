"""A column of ones is an offset, until it is penalised.

θ·x + θ₀ is (θ, θ₀)·(x, 1): least squares on padded rows without an offset gives the same line as least squares with
one. With a penalty the two differ, because the padded form also shrinks θ₀, and the difference grows with the distance
of the data from zero. Padding with a large number instead of one makes the penalty on the offset negligible again.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Array, Figure, Record
from certifit.linear_model import LinearRegression, Ridge
from certifit.plot import palette
from certifit.preprocessing import PadOnes

VALUES = (1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)


def run(say: Callable[[str], object] = print) -> Record:
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
    points, lines = _one_column()
    return {
        "apart": apart,
        "offset": kept,
        "values": list(VALUES),
        "padded": found,
        "points": points,
        "lines": lines,
    }


def _one_column() -> tuple[tuple[Array, Array], dict[str, tuple[float, float]]]:
    """Rows of one column far above zero; slope and offset of ridge, of ridge on padded rows, and padded with 100."""
    rng = np.random.default_rng(3)
    x = rng.uniform(0.5, 4.0, size=30)
    y = 12.0 - 1.0 * x + rng.normal(scale=0.6, size=30)
    alpha = 10.0
    plain = Ridge(alpha).fit(x[:, None], y)
    lines = {"ridge with an offset": (float(plain.coef_[0]), float(plain.intercept_))}
    for value in (1.0, 100.0):
        w = Ridge(alpha, fit_intercept=False).fit(PadOnes(value).fit_transform(x[:, None]), y).coef_
        lines[f"padded with {value:g}, all penalised"] = (float(w[0]), float(w[1] * value))
    return (x, y), lines


def draw(numbers: Record) -> Figure:
    """Left, one column: the padded line is pulled towards zero. Right: the offset against the number padded with."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
    x, y = numbers["points"]
    ends = np.array([-0.3, float(x.max()) * 1.05])
    left.plot(x, y, "o", color=palette().faint, label="data", zorder=1)
    for i, (name, (slope, offset)) in enumerate(numbers["lines"].items()):
        left.plot(ends, slope * ends + offset, "-" if i != 2 else "--", color=f"C{i}", label=name)
        left.plot([0.0], [offset], "o", color=f"C{i}", ms=7)
    left.axhline(0, color=palette().faint, linewidth=0.8, zorder=0)
    left.axvline(0, color=palette().faint, linewidth=0.8, zorder=0)
    left.set(xlabel="x", ylabel="y", ylim=(0, None), title="a penalised offset sinks, the slope turns")
    left.legend(loc="lower right")
    right.axhline(numbers["offset"], color="C0", label="offset not penalised")
    right.plot(numbers["values"], numbers["padded"], "o-", color="C1", label="weight of the column × its value")
    right.fill_between(
        numbers["values"], numbers["padded"], numbers["offset"], color=palette().colours[1], alpha=0.15, linewidth=0
    )
    right.set(xscale="log", xlabel="column filled with", ylabel="offset", title="a large number is hardly penalised")
    right.legend(loc="lower right")
    return figure
