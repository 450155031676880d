"""Pictures of decisions: a grid world with its values and its policy."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Axes
from certifit.plot._style import drawing, figure, palette

_ARROWS = {"up": "↑", "right": "→", "down": "↓", "left": "←"}


@drawing
def grid_values(plan: Any, ax: Axes | None = None) -> Axes:
    """A grid world as a map: the value of each square and an arrow for the best action; walls are dark.

    Parameters
    ----------
    plan : Plan or Learned with a ``mdp`` that is a GridWorld
        From `certifit.reinforcement.value_iteration` or `policy_iteration`.
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.reinforcement import grid_world, value_iteration
    >>> ax = grid_values(value_iteration(grid_world([".+", ".#"], discount=0.9)))
    >>> [text.get_text() for text in ax.texts][0]
    '0.90\\n→'
    """
    squares = getattr(getattr(plan, "mdp", None), "squares", None)
    if squares is None:
        raise ValueError("grid_values draws plans of a grid_world; this one has no map.")
    _, ax = figure(ax)
    shape = len(squares), len(squares[0])
    values, words = np.full(shape, np.nan), {}
    for state, value, action in zip(plan.mdp.states, plan.values, plan.policy):
        if state != "end":
            values[state] = value
            words[state] = f"{value:.2f}\n{_ARROWS.get(action, '●')}"
    size = float(np.nanmax(np.abs(values))) or 1.0
    from matplotlib.colors import LinearSegmentedColormap

    colours = [palette().colours[1], palette().paper, palette().colours[0]]
    shades = LinearSegmentedColormap.from_list("values", colours).with_extremes(bad=palette().ink)
    ax.imshow(values, cmap=shades, vmin=-1.6 * size, vmax=1.6 * size)
    for (i, j), word in words.items():
        ax.text(j, i, word, ha="center", va="center", color=palette().ink)
    ax.set(xticks=[], yticks=[])
    return ax
