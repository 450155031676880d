"""The iterations of an algorithm as a picture, at once or one after another."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from certifit._trace import Trace
from certifit._types import Axes, BaseEstimator
from certifit.plot._style import drawing, figure, palette

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation

_PLAIN = (
    ("gap", "gap to the optimum"),
    ("objective", "objective"),
    ("score", "score of the mistake"),
    ("gain", "gain of the split"),
    ("distance", "distance from the query"),
    ("mean", "posterior mean"),
)
_MARKED = {"gain": ("chosen", "other splits", "chosen split"), "distance": ("votes", "other rows", "k nearest rows")}


@drawing
def trace(model: BaseEstimator, ax: Axes | None = None, label: str | None = None) -> Axes:
    """The iterations of a fit with ``trace=True``: the proved gap on a logarithmic axis, or the objective without one.

    Traces without either show what their algorithm measures: the gain of every split of a tree, the distances of a
    search for neighbours, the probabilities of hypotheses, the mistakes in each pass of a perceptron.

    Parameters
    ----------
    model : fitted estimator with ``trace_``, or a `certifit.Trace`
        If several binary problems or targets were fitted, each has its own line.
    ax : matplotlib Axes, default=None
    label : str, default=None

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> trace(LogisticRegression(trace=True).fit(X, y)).get_yscale()
    'log'
    """
    table = getattr(model, "trace_", model)
    if not isinstance(table, Trace) or not len(table):
        raise ValueError("There is no trace to draw: fit an estimator that iterates with trace=True.")
    _, ax = figure(ax)
    shares = [name for name in table.columns if name.startswith("P(")]
    if shares:
        return _shares(table, shares, ax)
    if {"sweep", "row", "label", "before"} <= set(table.columns):
        return _mistakes(table, ax)
    what, name = _drawn(table)
    if what in _MARKED and _MARKED[what][0] in table.columns:
        return _marked(table, what, name, ax)
    return _lines(table, what, name, ax, label)


def _lines(table: Trace, what: str, name: str, ax: Axes, label: str | None) -> Axes:
    """One line, or one for each machine, target or number of a vector."""
    several = next((c for c in ("machine", "target") if len({str(v) for v in table.to_dict().get(c, [])}) > 1), None)
    for which in dict.fromkeys(table[several]) if several else [None]:
        rows = [r for r in table if (several is None or r[several] == which) and r[what] is not None]
        values = np.array([np.atleast_1d(np.asarray(r[what], dtype=float)) for r in rows])
        if what == "gap":  # a gap of nothing has no place on a logarithmic axis: a tenth of the least one stands for it
            some = values[np.isfinite(values) & (values > 0)]
            values = np.maximum(values, some.min() / 10 if len(some) else 1e-16)
        said = " ".join(str(part) for part in (label, several, which) if part is not None)
        for column in values.T:
            size = 3.0 if len(rows) > 40 else None
            ax.plot([r.iteration for r in rows], column, "o-", label=said or None, markersize=size)
    ax.set(yscale="log" if what == "gap" else "linear", xlabel="outcomes seen" if what == "mean" else "iteration",
           ylabel=name)  # fmt: skip
    ax.locator_params(axis="x", integer=True)
    if label or several:
        ax.legend()
    return ax


def _marked(table: Trace, what: str, name: str, ax: Axes) -> Axes:
    """Points, those that counted in another colour; nodes of a tree are divided by lines."""
    flag, plain, marked = _MARKED[what]
    for wanted, said, colour in ((False, plain, 0), (True, marked, 1)):
        rows = [r for r in table if bool(r[flag]) == wanted]
        size = 7 if wanted else 4
        ax.plot([r.iteration for r in rows], [r[what] for r in rows], "o", color=palette().colours[colour],
                markersize=size, label=said)  # fmt: skip
    if "node" in table.columns:
        ends = [b.iteration - 0.5 for a, b in pairwise(table) if a.node != b.node]
        ax.vlines(ends, 0, 1, transform=ax.get_xaxis_transform(), color=palette().faint, linewidth=0.8, zorder=0)
    ax.set(
        xlabel="split (lines divide the nodes)" if "node" in table.columns else "rank, nearest first",
        ylabel=name,
        ylim=(0, None),
    )
    ax.legend()
    return ax


def _mistakes(table: Trace, ax: Axes) -> Axes:
    """How many mistakes each pass of a perceptron made, for each target."""
    several = len({str(v) for v in table.to_dict().get("target", [])}) > 1
    for which in dict.fromkeys(table["target"]) if several else [None]:
        passes = [int(r.sweep) for r in table if r.sweep is not None and (not several or r["target"] == which)]
        if passes:
            every = np.arange(min(passes), max(passes) + 1)
            count = [passes.count(int(p)) for p in every]
            ax.plot(every, count, "o-", label=f"target {which}" if several else None)
    ax.locator_params(axis="x", integer=True)
    ax.locator_params(axis="y", integer=True)
    ax.set(xlabel="pass over the rows", ylabel="mistakes in the pass", ylim=(0, None))
    if several:
        ax.legend()
    return ax


def _shares(table: Trace, names: list[str], ax: Axes) -> Axes:
    """The probability of each hypothesis, outcome by outcome."""
    for name in names:
        ax.plot(table["iteration"], table[name], "o-", label=f"P({name[2:-1]} | outcomes)")
    ax.locator_params(axis="x", integer=True)
    ax.set(xlabel="outcomes seen", ylabel="posterior probability", ylim=(-0.03, 1.03))
    ax.legend()
    return ax


def trace_animation(model: BaseEstimator, ax: Axes | None = None, interval: int = 300) -> FuncAnimation:
    """The picture of `trace`, iteration by iteration.

    Parameters
    ----------
    model : fitted estimator with ``trace_``, or a `certifit.Trace`
    ax : matplotlib Axes, default=None
    interval : int ≥ 1, default=300
        Milliseconds from one iteration to the next.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        ``.save("steps.gif", writer="pillow")`` writes it; ``.to_jshtml()`` shows it in a notebook.

    Examples
    --------
    >>> from certifit.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> film = trace_animation(LogisticRegression(trace=True).fit(X, y))
    >>> film._draw_was_started = True       # nothing is drawn here
    """
    from matplotlib.animation import FuncAnimation

    table = getattr(model, "trace_", model)
    ax = trace(table, ax)
    lines = [(line, np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in ax.get_lines()]
    times = np.unique(np.concatenate([x for _, x, _ in lines]))
    ax.set(xlim=ax.get_xlim(), ylim=ax.get_ylim())  # the frame stays while the points come

    def show(frame: int) -> list[Any]:
        until = times[min(frame, len(times) - 1)]
        for line, x, y in lines:
            line.set_data(x[x <= until], y[x <= until])
        return [line for line, _, _ in lines]

    return FuncAnimation(ax.figure, show, frames=len(times), interval=interval, blit=False, repeat_delay=2000)


def _drawn(table: Trace) -> tuple[str, str]:
    """The column worth drawing: the gap if it is known, else the objective, else what the algorithm measures."""
    for column, name in _PLAIN:
        values = [v for v in table.to_dict().get(column, []) if v is not None]
        if any(np.all(np.isfinite(np.asarray(v, dtype=float))) for v in values):
            return column, name
    raise ValueError("This trace has neither a gap nor an objective to draw.")
