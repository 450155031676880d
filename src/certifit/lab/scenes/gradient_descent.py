"""Gradient descent on a curve and on a contour plot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit.lab._frame import (
    Arrows,
    Curve,
    Dots,
    Formula,
    Frame,
    Layer,
    Lines,
    Panel,
    Proof,
    Raster,
    Series,
    tex,
    within,
)
from certifit.lab._scene import Board, Choice, LabError, Preset, Probe, Scene, Shown, Slider

_STARTS = 12


def solve(X: np.ndarray, y: np.ndarray, *, function: str, step: float, decay: str, steps: int) -> Any:
    """Walk downhill from every point: the function, and for each walk its places and why it ended."""
    from certifit.exceptions import DivergenceError
    from certifit.solvers import gradient_descent

    # value, gradient, dimensions, least value (None: not known), largest curvature L (None: none everywhere)
    functions: dict[str, Any] = {
        "bowl": (lambda t: float(t @ t) / 2, lambda t: t, 1, 0.0, 1.0),
        "two valleys": (
            lambda t: float((t[0] ** 2 - 2) ** 2 / 8 + t[0] / 4),
            lambda t: np.array([(t[0] ** 2 - 2) * t[0] / 2 + 0.25]),
            1,
            None,
            None,
        ),
        "narrow valley": (
            lambda t: float(t[0] ** 2 + 10 * t[1] ** 2) / 2,
            lambda t: np.array([t[0], 10 * t[1]]),
            2,
            0.0,
            10.0,
        ),
        "banana": (
            lambda t: float((1 - t[0]) ** 2 + 5 * (t[1] - t[0] ** 2) ** 2),
            lambda t: np.array([2 * (t[0] - 1) - 20 * t[0] * (t[1] - t[0] ** 2), 10 * (t[1] - t[0] ** 2)]),
            2,
            0.0,
            None,
        ),
    }
    f, slope, dimensions, least, curvature = functions[function]
    powers = {"constant": 0.0, "falling as 1/√t": 0.5, "falling as 1/t": 1.0}
    size: Any = step if decay == "constant" else (lambda t: step * t ** -powers[decay])
    walks = []
    for start in X:
        places: list[Any] = []

        def gradient(theta: np.ndarray, places: list[Any] = places) -> np.ndarray:
            places.append(theta.copy())
            return np.asarray(slope(theta))

        bound = None if least is None else (lambda theta: least)
        try:
            found = gradient_descent(f, gradient, start[:dimensions], size, 1e-9, max_iter=steps, lower_bound=bound)
            ended = found.status
        except DivergenceError as error:
            ended = str(error)
        walks.append((np.array(places), ended))
    return (f, slope, dimensions, least, curvature), walks


def report(answer: Any, X: np.ndarray, y: np.ndarray, **params: object) -> dict[str, object]:
    """Of the first walk: where it ended, and how far above the least value that is."""
    (f, slope, _, least, curvature), walks = answer
    places, ended = walks[0]
    end = places[-1]
    found = {
        "steps": len(places) - 1,
        "ended": ended,
        "f at the end": f(end),
        "slope there": float(np.linalg.norm(slope(end))),
    }
    found |= {} if least is None else {"above the least value by": f(end) - least}
    return found | ({} if curvature is None else {"largest safe step 2/L": 2.0 / curvature})


class GradientDescent(Scene):
    """Steps are steps."""

    title = "Gradient descent"
    order = 3
    page = "families/losses"
    about = (
        "From each start the walk follows the negative gradient, which points straight downhill, by a step size "
        "times its length. With a step below 1/L, where L is the largest curvature, every step goes down; between "
        "1/L and 2/L the walk swings from side to side, and above 2/L it diverges. A small change of the value "
        "proves nothing: only a lower bound on the minimum shows how much is left. In a landscape with two "
        "valleys the end depends on the start."
    )
    labels = ("start",)
    controls = (
        Choice("function", "function", ("narrow valley", "bowl", "two valleys", "banana")),
        Slider("step", "step size", 0.005, 2.5, 0.17, log=True),
        Choice("decay", "steps are", ("constant", "falling as 1/√t", "falling as 1/t")),
        Slider("steps", "steps at most", 1, 200, 60, step=1),
    )
    presets = (
        Preset("narrow valley", [[-3.2, 1.1, 0]]),
        Preset(
            "two starts, two valleys",
            [[-3, 0, 0], [3, 0, 0]],
            {"function": "two valleys", "step": 0.12},
            view=(-4, 4, -1, 5),
        ),
        Preset("diverging", [[-1, 0, 0]], {"function": "bowl", "step": 2.05}, view=(-4, 4, -1, 5)),
        Preset("banana", [[-1.5, 2, 0]], {"function": "banana", "step": 0.02, "steps": 200}),
    )

    def check(self, board: Board) -> None:
        """A walk needs a start."""
        if not 1 <= len(board.X) <= _STARTS:
            raise LabError(f"Draw one to {_STARTS} points to start from.")

    def steps(self, shown: Shown) -> int:
        """Of the longest walk."""
        return max(len(places) for places, _ in shown.answer[1])

    def frame(self, shown: Shown, step: int) -> Frame:
        """Every walk up to this step."""
        board, ((f, slope, dimensions, least, _), walks) = shown.board, shown.answer
        layers = _ground(board, f, dimensions)
        for k, (places, _) in enumerate(walks):
            path = _lifted(places[: step + 1], f, dimensions)
            near = path[np.all(np.abs(path) < 1e6, axis=1)]
            tone = f"class{k % 8}"
            layers += [Lines([near], tone, 2), Dots(near[-40:], tone, size=0.55)]
            if len(near) > 1:
                layers.append(Arrows(near[-2:-1], near[-1:], tone))
        places, ended = walks[0]
        here = places[min(step, len(places) - 1)]
        g = slope(here)
        eta = _size(shown, step + 1)
        last = step >= len(places) - 1
        caption = f"Step {min(step, len(places) - 1)}: f = {f(here):.4g}, slope of length {np.linalg.norm(g):.3g}."
        if last:
            caption += f" {_ended(ended)}"
        panels: list[Panel] = [_formula(here, g, eta), _values(walks, f, step, least)]
        if last and not board.quick:
            panels.append(_proof(f(here), least, ended))
        done = last and ended == "converged" and least is not None
        stop = (
            f"Proved within {within(f(here) - least)} of the least value: nothing further can be gained."
            if done
            else ""
        )
        return Frame(layers, panels, caption, stop)

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """Value and slope at a place."""
        f, slope, dimensions, _, _ = shown.answer[0]
        theta = np.array([x, y])[:dimensions]
        g = slope(theta)
        foot = np.array([[x, f(theta)]]) if dimensions == 1 else np.array([[x, y]])
        return Probe(
            [f"f = {f(theta):.4g}", f"slope ({', '.join(f'{v:.3g}' for v in g)})"], [Dots(foot, "accent", size=0.8)]
        )


def _size(shown: Shown, t: int) -> float:
    power = {"constant": 0.0, "falling as 1/√t": 0.5, "falling as 1/t": 1.0}[shown["decay"]]
    return float(shown["step"] * t**-power)


def _lifted(places: np.ndarray, f: Callable[[np.ndarray], np.ndarray], dimensions: int) -> np.ndarray:
    """Places in the plane; on a curve, with the value as height."""
    if dimensions == 2:
        return places
    with np.errstate(over="ignore"):
        return np.column_stack([places[:, 0], [f(t) for t in places]])


def _ground(board: Board, f: Callable[[np.ndarray], np.ndarray], dimensions: int) -> list[Layer]:
    """The curve, or level lines of the function."""
    if dimensions == 1:
        xs = np.linspace(board.view[0], board.view[1], 200)
        return [Lines([np.column_stack([xs, [f(np.array([x])) for x in xs]])], "ink", 2.5, name="f")]
    G, shape = board.grid(64, 40)
    values = np.array([f(t) for t in G]).reshape(shape)
    top = float(np.quantile(values, 0.9))
    return [Raster(np.sqrt(values), "sequential", 0.0, np.sqrt(top), np.sqrt(top) * np.linspace(0.17, 1, 9))]


def _formula(here: np.ndarray, g: np.ndarray, eta: float) -> Formula:
    def column(v: np.ndarray) -> str:
        return tex(v[0], 4) if len(v) == 1 else f"({tex(v[0])},\\ {tex(v[1])})"

    return Formula(
        "the next step",
        [
            r"\theta \leftarrow \theta - \eta\nabla f(\theta)",
            rf"\theta = {column(here)},\quad \eta = {tex(eta)}",
            rf"\nabla f = {column(g)}",
            rf"\theta - \eta\nabla f = {column(here - eta * g)}",
        ],
    )


def _values(walks: Any, f: Callable[[np.ndarray], np.ndarray], step: int, least: np.ndarray) -> Curve:
    series = []
    for k, (places, _) in enumerate(walks):
        values = np.array([f(t) for t in places]) - (least or 0.0)
        series.append(Series(f"start {k + 1}", np.arange(len(values)), values, f"class{k % 8}"))
    name = "f" if least is None else "f − least value"
    return Curve(
        "how much is left" if least is not None else "the value", series, "step", name, log=least is not None, at=step
    )


def _ended(ended: str) -> str:
    words = {"converged": "It has arrived.", "max_iter": "The steps are used up."}
    return words.get(ended, ended)


def _proof(value: float, least: np.ndarray, ended: str) -> Proof:
    if ended not in ("converged", "max_iter"):
        return Proof(ended, False)
    if least is None:
        return Proof("This function has no known lower bound: that it changes little proves nothing.", False)
    claim = f"f cannot be less than {least:g}, so at most {value - least:.2e} can still be gained."
    return Proof(claim, True, {"value": value, "bound": least, "gap": value - least})
