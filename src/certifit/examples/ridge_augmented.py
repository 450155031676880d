"""Ridge is least squares on augmented data.

The penalty α‖w‖² is the squared error of d made-up rows: row j has √α in column j, zeros elsewhere, and target 0. Least
squares on the longer table is ridge on the shorter one, to rounding. The offset must not be penalised, so the columns
and the target are centred first; adding √α rows below a column of ones instead would shrink the offset too, which is
a different (and worse) fit.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Array, Axes, Figure, Record
from certifit.linear_model import LinearRegression, Ridge
from certifit.plot import palette

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
    return np.asarray(LinearRegression(fit_intercept=False).fit(rows, targets).coef_)


def run(say: Callable[[str], object] = print) -> Record:
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
    return {
        "alphas": list(ALPHAS),
        "path": path,
        "augmented": other,
        "apart": apart,
        "offset": kept,
        "offset_penalised": float(shrunk),
        "one_column": _one_column(),
    }


def _one_column() -> Record:
    """A small centred table of one column, and the slope that each of three penalties leaves."""
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(-3, 3, size=12))
    x -= x.mean()
    y = 1.5 * x + rng.normal(scale=0.8, size=12)
    y -= y.mean()
    alphas = (0.0, 9.0, 36.0)
    return {"x": x, "y": y, "alphas": alphas, "slopes": [float(augmented(x[:, None], y, a)[0]) for a in alphas]}


def draw(numbers: Record) -> Figure:
    """Left, one column: the made-up row at (√α, 0) pulls the line down. Right: both forms fall on one path."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
    _pulled(left, numbers["one_column"])
    for j, (line, other) in enumerate(zip(np.asarray(numbers["path"]).T, np.asarray(numbers["augmented"]).T)):
        right.plot(numbers["alphas"], line, color=f"C{j}", label="ridge" if j == 0 else None)
        right.plot(
            numbers["alphas"], other, "o", color=f"C{j}", markerfacecolor="none", ms=7,
            label="least squares on augmented rows" if j == 0 else None,
        )  # fmt: skip
    right.axhline(0, color=palette().faint, linewidth=0.8, zorder=0)
    right.set(xscale="log", xlabel="α", ylabel="coefficient", title="six columns: rings on the lines")
    right.set_ylim(top=1.45 * right.get_ylim()[1])
    right.legend(loc="upper right")
    return figure


def _pulled(ax: Axes, one: Record) -> None:
    """The rows of one column, the made-up row of each penalty, and the lines that they leave."""
    reach = max(one["x"].max(), max(np.sqrt(one["alphas"]))) * 1.08
    ends = np.array([one["x"].min(), reach])
    ax.plot(one["x"], one["y"], "o", color=palette().faint, label="centred data", zorder=1)
    ax.axhline(0, color=palette().faint, linewidth=0.8, zorder=0)
    for i, (alpha, slope) in enumerate(zip(one["alphas"], one["slopes"])):
        ax.plot(ends, slope * ends, color=f"C{i}", label=f"α = {alpha:g}: slope {slope:.2f}")
        if alpha:
            at = float(np.sqrt(alpha))
            ax.plot([at], [0.0], "s", color=f"C{i}", ms=9, zorder=4)
            ax.annotate("", (at, 0.85 * slope * at), (at, 0.25), arrowprops={"arrowstyle": "<-", "color": f"C{i}"})
    ax.set(xlabel="x", ylabel="y", title="a made-up row (√α, 0) pulls the line down")
    ax.legend()
