"""A world of squares: walls, goals and pits, and actions that sometimes slip sideways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from certifit.reinforcement._mdp import MDP

_MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
_SIDES = {"up": ("left", "right"), "down": ("left", "right"), "left": ("up", "down"), "right": ("up", "down")}


class GridWorld(MDP):
    """An `MDP` whose states are the squares (row, column) of a map, and one state "end" after a goal or pit.

    Parameters
    ----------
    squares : sequence of str
        The map, a string for each row.
    transitions : dict
    discount : float in [0, 1]

    Examples
    --------
    >>> world = grid_world([".+", "#-"], noise=0.1)
    >>> world.states, world.squares
    ([(0, 0), (0, 1), (1, 1), 'end'], ['.+', '#-'])
    """

    def __init__(self, squares: Sequence[str], transitions: Mapping[Any, Any], discount: float) -> None:
        self.squares = list(squares)
        super().__init__(transitions, discount=discount, normalise=True)


def grid_world(
    squares: Sequence[str],
    *,
    discount: float = 0.9,
    noise: float = 0.0,
    living_reward: float = 0.0,
    rewards: Mapping[str, float] | None = None,
) -> GridWorld:
    """A grid world from a map: "." is free, "#" a wall; leaving a goal "+" or pit "-" earns its reward and ends.

    Parameters
    ----------
    squares : sequence of str
        The map, a string for each row, all of one length.
    discount : float in [0, 1], default=0.9
    noise : float in [0, 0.5], default=0.0
        Probability of slipping to the left of the intended direction, and the same to the right. A move into a wall
        or beyond the border has no effect.
    living_reward : float in (−∞, ∞), default=0.0
        For every step.
    rewards : dict, default={"+": 1, "-": −1}
        Of the squares that end it.

    Returns
    -------
    GridWorld

    References
    ----------
    S. Russell, P. Norvig, Artificial Intelligence, chapter on sequential decisions: its world of 4 × 3 squares is
    ``grid_world(["...+", ".#.-", "...."], noise=0.1, living_reward=-0.04)``.

    Examples
    --------
    >>> from certifit.reinforcement import value_iteration
    >>> world = grid_world(["...+", ".#.-", "...."], noise=0.1, living_reward=-0.04, discount=0.999999)
    >>> float(value_iteration(world, tol=1e-4).values[0].round(3))
    0.812
    """
    ends = {"+": 1.0, "-": -1.0} if rewards is None else dict(rewards)
    if not squares or len({len(row) for row in squares}) != 1:
        raise ValueError("squares must be strings of one length, one for each row of the map.")
    strange = sorted({c for row in squares for c in row} - {".", "#", *ends})
    if strange:
        raise ValueError(f"The map holds {strange[0]!r}; allowed are '.', '#' and {', '.join(map(repr, ends))}.")
    if not 0.0 <= noise <= 0.5:
        raise ValueError(f"noise must lie between 0 and 0.5, not {noise!r}.")
    free = {(i, j): c for i, row in enumerate(squares) for j, c in enumerate(row) if c != "#"}
    transitions: dict[Any, Any] = {}
    for at, c in free.items():
        if c in ends:
            transitions[at] = {"exit": [(1.0, "end", ends[c])]}
            continue
        transitions[at] = {}
        for action in _MOVES:
            ways = [(action, 1.0 - 2.0 * noise), *((side, noise) for side in _SIDES[action])]
            transitions[at][action] = [(p, _to(at, way, free), living_reward) for way, p in ways if p > 0]
    transitions["end"] = {}
    return GridWorld(squares, transitions, discount)


def _to(at: tuple[int, int], way: str, free: Mapping[tuple[int, int], str]) -> tuple[int, int]:
    there = (at[0] + _MOVES[way][0], at[1] + _MOVES[way][1])
    return there if there in free else at
