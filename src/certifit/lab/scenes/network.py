"""A small network on exclusive or, and the boxes in which its labels are proved."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Answer, Areas, Curve, Formula, Frame, Layer, Lines, Panel, Proof, Raster, Series
from certifit.lab._scene import Choice, Preset, Probe, Scene, Shown, Slider, square

if TYPE_CHECKING:
    from certifit.neural import MLPClassifier


def solve(
    X: np.ndarray, y: np.ndarray, *, units: int, layers: int, activation: str, alpha: float, iterations: int, seed: int
) -> tuple[MLPClassifier, Callable[[int], MLPClassifier]]:
    """The trained network, and the same one after fewer iterations."""

    def after(count: int) -> MLPClassifier:
        shape = (units,) * layers
        model = cf.neural.MLPClassifier(
            shape, activation, solver="lbfgs", alpha=alpha, max_iter=count, random_state=seed, trace=True
        )
        return model.fit(X, y)

    return after(iterations), after


def report(
    answer: tuple[MLPClassifier, Callable[[int], MLPClassifier]], X: np.ndarray, y: np.ndarray, **params: object
) -> dict[str, object]:
    """Objective, gradient, errors and the radii in which labels are proved."""
    model, _ = answer
    radius = model.certified_radius(X)
    return {
        "objective": float(model.certificate_.value),
        "norm of the gradient": float(model.certificate_.gradient),
        "parameters": int(model.certificate_.parameters),
        "training errors": int(np.sum(model.predict(X) != y)),
        "median radius": float(np.median(radius)),
        "proved": bool(model.certificate_.holds),
    }


class Network(Scene):
    """Steps are iterations of L-BFGS."""

    title = "Network"
    order = 16
    page = "families/neural"
    about = (
        "Hidden units each draw a soft line, and the output unit combines them: with a few units the network "
        "solves exclusive or, which no single line can. Training follows the gradient of all rows at once by "
        "L-BFGS. The objective is not convex, so the distance to the best network is not known. What is "
        "proved is about predictions: in the square around each point no place gets another label. Dashed lines are "
        "the hidden units of the first layer."
    )
    controls = (
        Slider("units", "hidden units", 1, 16, 6, step=1),
        Slider("layers", "hidden layers", 1, 3, 1, step=1),
        Choice("activation", "activation", ("tanh", "relu", "logistic")),
        Slider("alpha", "penalty α", 1e-4, 10, 0.1, log=True),
        Slider("iterations", "iterations at most", 5, 200, 60, step=5),
        Slider("seed", "seed", 0, 20, 0, step=1),
    )
    presets = (
        Preset("exclusive or", _presets.corners(10, 0.3, 1), view=(-2.4, 2.4, -1.8, 1.8)),
        Preset("ring", _presets.rings(30, 0.2, 0), view=(-3.2, 3.2, -2.4, 2.4)),
        Preset("moons", _presets.moons(30, 0.12, 1), {"units": 8, "activation": "relu"}, view=(-2, 3, -1.5, 2.25)),
    )

    def hurried(self, params: dict[str, Any]) -> dict[str, Any]:
        """While a point is dragged, the first iterations only."""
        return {**params, "iterations": min(params["iterations"], 15), "layers": params["layers"]}

    def steps(self, shown: Shown) -> int:
        """The start and every iteration."""
        return max(1, len(shown.answer[0].trace_))

    def frame(self, shown: Shown, step: int) -> Frame:
        """The network after some iterations."""
        board, (final, after) = shown.board, shown.answer
        last = step == self.steps(shown) - 1
        model = final if last else after(max(1, step))
        G, shape = board.grid(96, 48)
        p = model.predict_proba(G)[:, 1].reshape(shape)
        layers: list[Layer] = [Raster(p, "diverging", 0.0, 1.0, (0.25, 0.5, 0.75), 0.4)]
        units = [line for w, b in zip(model.coefs_[0].T, model.intercepts_[0]) for line in board.line(w, float(b))]
        layers.append(Lines(units, "muted", 1, dash=True, name="hidden units"))
        row = final.trace_[step]
        caption = f"Iteration {step}: the training objective is {row.objective:.4g}."
        if board.quick:
            caption += " Training continues when you release the point."
        panels: list[Panel] = [_falls(final, step), _formula(model)]
        answers: Any = ()
        stop = ""
        if last and not board.quick:
            radius = model.certified_radius(board.X)
            layers.append(Areas([square(x[0], x[1], r) for x, r in zip(board.X, radius)], "good", 0.04, edge=True))
            guess = model.predict(board.X)
            answers = [
                Answer(board.label(int(g)), bool(r > 0), f"no other label within {r:.3g} in each coordinate")
                for g, r in zip(guess, radius)
            ]
            boxes = model.certify_radius(board.X, radius)
            panels += [Proof.of(boxes), Proof.of(model.certificate_)]
            if boxes.holds:
                stop = "Proved: inside the squares no label changes. The distance to the best network is not known."
        elif board.quick:
            panels.append(Proof.later())
        return Frame(layers, panels, caption, stop, answers)

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """Probability and proved radius at a place."""
        final, after = shown.answer
        model = final if step == self.steps(shown) - 1 else after(max(1, step))
        at = np.array([[x, y]])
        r = float(model.certified_radius(at)[0])
        lines = [
            f"probability of {shown.board.label(1)}: {float(model.predict_proba(at)[0, 1]):.4f}",
            f"label proved within {r:.3g}",
        ]
        return Probe(lines, [Areas([square(x, y, r)], "good", 0.25, edge=True)])


def _falls(model: MLPClassifier, step: int) -> Curve:
    values = [float(v) for v in model.trace_["objective"]]
    series = [Series("objective", np.arange(len(values)), values, "class1")]
    return Curve("training", series, "iteration", "objective", log=True, at=step)


def _formula(model: MLPClassifier) -> Formula:
    name = {"tanh": r"\tanh", "relu": r"\text{relu}", "logistic": r"\sigma"}[model.activation]
    sizes = [2, *[w.shape[1] for w in model.coefs_]]
    parts = " + ".join(f"{a}\\cdot{b}+{b}" for a, b in pairwise(sizes))
    count = sum(a * b + b for a, b in pairwise(sizes))
    return Formula("the network", [rf"a_{{l+1}} = {name}(a_l W_l + b_l)", rf"{parts} = {count}\ \text{{parameters}}"])
