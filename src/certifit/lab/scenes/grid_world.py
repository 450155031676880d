"""A grid world: values that close in from both sides, and what to do in every square."""

from __future__ import annotations

from typing import Any

import numpy as np

import certifit as cf
from certifit.lab._frame import Areas, Arrows, Curve, Formula, Frame, Labels, Layer, Lines, Panel, Proof, Series, Table
from certifit.lab._scene import Board, Choice, LabError, Preset, Probe, Scene, Shown, Slider, square

_WAYS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}


def solve(
    X: np.ndarray, y: np.ndarray, *, across: int, up: int, noise: float, price: float, discount: float, method: str
) -> Any:
    """The world that the points paint, and its best plan after any number of sweeps."""
    squares = [["."] * across for _ in range(up)]
    for (x, height), kind in zip(X, y):
        column, row = int(np.floor(x)), up - 1 - int(np.floor(height))
        if 0 <= column < across and 0 <= row < up:
            squares[row][column] = "#+-"[int(kind) % 3]
    world = cf.reinforcement.grid_world(
        ["".join(row) for row in squares], noise=noise, living_reward=-price, discount=discount
    )

    def after(sweeps: int) -> Any:
        return cf.reinforcement.value_iteration(world, method=method, max_iter=sweeps, trace=True)

    return after(10_000), after, world


def report(answer: Any, X: np.ndarray, y: np.ndarray, **params: object) -> dict[str, object]:
    """The value of the lower left square, the sweeps, and what the policy can lose."""
    plan, _, world = answer
    first = max((s for s in world.states if s != "end"), key=lambda s: (s[0], -s[1]))
    return {
        "squares": len(world.states) - 1,
        "sweeps": int(plan.n_iter),
        f"value of square {first}": float(plan.values[world.states.index(first)]),
        "what to do there": str(plan.policy[world.states.index(first)]),
        "loss at most": float(plan.certificate.loss),
        "proved": bool(plan.certificate.holds),
    }


class World(Scene):
    """Steps are sweeps."""

    title = "Grid world"
    order = 15
    page = "families/reinforcement"
    about = (
        "A robot in a world of squares wants to reach a goal and keep out of pits; now and then it slips to the "
        "side, and every step has a cost. Each sweep improves what is known of every square from what is known "
        "of its neighbours. From the largest and smallest change of a sweep follow bounds of the best possible "
        "values on both sides; when they meet, the policy is proved best. Paint walls, goals and pits with the "
        "pointer."
    )
    labels = ("wall", "goal", "pit")
    axes = ("column", "row")
    controls = (
        Slider("across", "columns", 2, 12, 4, step=1),
        Slider("up", "rows", 2, 9, 3, step=1),
        Slider("noise", "slip to either side", 0.0, 0.4, 0.1, step=0.01),
        Slider("price", "price of a step", 0.0, 2.0, 0.04, step=0.01),
        Slider("discount", "discount", 0.5, 0.99, 0.95, step=0.01),
        Choice("method", "sweeps", ("jacobi", "gauss_seidel", "auto")),
    )
    presets = (
        Preset("twelve squares", [[1.5, 1.5, 0], [3.5, 2.5, 1], [3.5, 1.5, 2]], view=(-0.2, 4.2, -0.15, 3.15)),
        Preset(
            "a cliff",
            [[7.5, 0.5, 1], *[[c + 0.5, 0.5, 2] for c in range(1, 7)]],
            {"across": 8, "up": 4, "noise": 0.05, "price": 0.02},
            view=(-0.2, 8.2, -1, 5),
        ),
        Preset(
            "rooms",
            [*[[4.5, r + 0.5, 0] for r in (0, 1, 3, 4, 5)], [8.5, 5.5, 1], [2.5, 3.5, 2], [6.5, 2.5, 2]],
            {"across": 9, "up": 6, "discount": 0.97},
            view=(-0.2, 9.2, -0.5, 6.5),
        ),
    )

    def check(self, board: Board) -> None:
        """Without a goal or a pit nothing is earned."""
        if not np.any(np.isin(board.y, (1, 2))):
            raise LabError("Paint at least one goal or pit.")

    def steps(self, shown: Shown) -> int:
        """Sweeps, at most forty of them one by one, then the end."""
        return min(int(shown.answer[0].n_iter), 40) + 1

    def _plan(self, shown: Shown, step: int) -> tuple[Any, int]:
        plan, after, _ = shown.answer
        if step == self.steps(shown) - 1:
            return plan, int(plan.n_iter)
        return after(step + 1), step + 1

    def frame(self, shown: Shown, step: int) -> Frame:
        """Values and policy after some sweeps."""
        board, (final, _, world) = shown.board, shown.answer
        plan, sweeps = self._plan(shown, step)
        last = step == self.steps(shown) - 1
        layers = _map(shown, plan)
        gap = float(np.max(plan.upper - plan.lower))
        caption = f"After {sweeps} sweeps the best values are known to within {gap:.3g} in every square."
        panels: list[Panel] = [_bounds(final, sweeps), _table(world, plan)]
        panels.append(Formula("one sweep", [r"V(s) \leftarrow \max_a\ r(s,a) + \gamma\sum_{s'} p(s'\mid s,a)\,V(s')"]))
        panels.append(Proof.later() if board.quick else Proof.of(plan.certificate))
        stop = ""
        if last and not board.quick and plan.certificate.holds:
            loss = float(plan.certificate.loss)
            stop = f"Proved: this policy loses at most {loss:.1e} against the best; nothing further can be gained."
        return Frame(layers, panels, caption, stop)

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe | None:
        """Bounds of a square."""
        world = shown.answer[2]
        plan, _ = self._plan(shown, step)
        square = (shown["up"] - 1 - int(np.floor(y)), int(np.floor(x)))
        if square not in world.states:
            return None
        i = world.states.index(square)
        between = f"proved between {plan.lower[i]:.4g} and {plan.upper[i]:.4g}"
        return Probe([f"value {plan.values[i]:.4g}", between, f"go {plan.policy[i]}"])


def _map(shown: Shown, plan: Any) -> list[Layer]:
    """Squares in the colour of their value, walls, arrows and numbers."""
    world, up, across = shown.answer[2], shown["up"], shown["across"]
    top = max(float(np.max(np.abs(plan.values))), 1e-12)
    layers: list[Layer] = []
    starts, ends, at, words = [], [], [], []
    for i, state in enumerate(world.states):
        if state == "end":
            continue
        x, y = state[1] + 0.5, up - 1 - state[0] + 0.5
        value = float(plan.values[i])
        tone = "class2" if value >= 0 else "class1"
        layers.append(Areas([square(x, y, 0.48)], tone, max(0.04, 0.55 * abs(value) / top)))
        at.append([x, y + 0.24])
        words.append(f"{value:.2f}")
        if str(plan.policy[i]) in _WAYS:
            dx, dy = _WAYS[str(plan.policy[i])]
            starts.append([x - 0.16 * dx, y - 0.12 - 0.16 * dy])
            ends.append([x + 0.2 * dx, y - 0.12 + 0.2 * dy])
    walls = [square(c + 0.5, up - r - 0.5, 0.5) for r in range(up) for c in range(across) if world.squares[r][c] == "#"]
    frame = [[0, 0], [across, 0], [across, up], [0, up], [0, 0]]
    return [
        *layers,
        Areas(walls, "ink", 0.55),
        Lines([frame], "ink", 2),
        Arrows(starts, ends, "ink"),
        Labels(at, words),
    ]


def _bounds(plan: Any, sweeps: int) -> Curve:
    gaps = [max(float(g), 1e-16) for g in plan.trace["gap"]]
    series = [Series("width of the bounds", np.arange(1, len(gaps) + 1), gaps, "good")]
    return Curve("the bounds close in", series, "sweep", "width", log=True, at=sweeps)


def _table(world: Any, plan: Any) -> Table:
    """The squares whose values are least certain."""
    order = np.argsort(-(plan.upper - plan.lower), kind="stable")[:6]
    rows = [
        [str(world.states[i]), f"{plan.lower[i]:.3g}", f"{plan.upper[i]:.3g}", str(plan.policy[i])]
        for i in order
        if world.states[i] != "end"
    ]
    return Table("bounds of the best value", ["square", "at least", "at most", "go"], rows)
