"""The way of a descent over the function that it descends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from certifit._trace import Trace
from certifit._types import Array, Axes, MatrixLike
from certifit.plot._style import drawing, figure, palette

_LEVELS = 14
_FINE = 160  # points of a side


def _path(steps: Trace | MatrixLike) -> Array:
    """The points, one a row."""
    if isinstance(steps, Trace):
        if not len(steps) or "theta" not in steps.to_dict():
            raise ValueError("This trace does not hold the points of a descent: use gradient_descent(..., trace=True).")
        steps = np.array([np.atleast_1d(row["theta"]) for row in steps])
    points = np.asarray(steps, dtype=float)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or points.shape[1] not in (1, 2) or not len(points):
        raise ValueError(f"A picture needs points of one or two coordinates; these have shape {points.shape}.")
    return points


@drawing
def descent(f: Callable[[Array], float], steps: Trace | MatrixLike, ax: Axes | None = None) -> Axes:
    """The points of a descent: on the curve of f in one dimension, over its contours in two.

    Parameters
    ----------
    f : callable
        The function that was minimised; takes θ, an array of one or two numbers.
    steps : Trace or array-like of shape (k,), (k, 1) or (k, 2)
        The trace of `certifit.solvers.gradient_descent`, or the points themselves.
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.solvers import gradient_descent
    >>> f = lambda t: float(t[0] ** 2 + 10.0 * t[1] ** 2)
    >>> slope = lambda t: np.array([2.0 * t[0], 20.0 * t[1]])
    >>> found = gradient_descent(f, slope, np.array([3.0, 1.0]), step=0.08, trace=True)
    >>> ax = descent(f, found.trace)
    >>> len(ax.lines[0].get_xdata()) == len(found.trace)
    True
    """
    points = _path(steps)
    _, ax = figure(ax)
    margin = 0.15 * np.ptp(points, axis=0) + 1e-3 * (1.0 + np.abs(points).max(axis=0))
    sides = [np.linspace(a, b, _FINE) for a, b in zip(points.min(axis=0) - margin, points.max(axis=0) + margin)]
    colours = palette()
    if points.shape[1] == 1:
        ax.plot(points[:, 0], [float(f(p)) for p in points], "o-", color=colours.colours[1], markersize=4, zorder=3)
        ax.plot(sides[0], [float(f(np.array([t]))) for t in sides[0]], color=colours.colours[0])
        ax.set(xlabel="θ", ylabel="f(θ)")
    else:
        ax.plot(*points.T, "o-", color=colours.colours[1], markersize=4, zorder=3)
        heights = np.array([[float(f(np.array([a, b]))) for a in sides[0]] for b in sides[1]])
        _contours(ax, sides, heights, colours.colours[0])
        ax.set(xlabel="θ₁", ylabel="θ₂")
    ax.plot(*_ends(points, f), "s", color=colours.ink, markersize=6, ls="none", zorder=4)
    return ax


def _ends(points: Array, f: Callable[[Array], float]) -> tuple[Array, Array]:
    """First and last point, as coordinates of the picture."""
    ends = points[[0, -1]]
    return (ends[:, 0], np.array([float(f(p)) for p in ends])) if points.shape[1] == 1 else (ends[:, 0], ends[:, 1])


def _contours(ax: Axes, sides: list[Array], heights: Array, colour: str) -> None:
    """Lines of equal height, closer near the bottom, where the last steps are."""
    low, high = float(heights.min()), float(heights.max())
    levels = low + (high - low) * np.linspace(0.03, 1.0, _LEVELS) ** 2
    if high > low:
        ax.contour(*sides, heights, levels=levels, colors=[colour], linewidths=0.8, alpha=0.6)
