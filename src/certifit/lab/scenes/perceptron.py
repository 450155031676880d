"""The perceptron, mistake by mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import certifit as cf
from certifit._types import BaseEstimator
from certifit.lab import _presets
from certifit.lab._frame import Answer, Arrows, Curve, Formula, Frame, Layer, Lines, Marks, Panel, Proof, Raster, Series
from certifit.lab._scene import Board, Choice, Preset, Probe, Scene, Shown, Slider, labelled

if TYPE_CHECKING:
    from certifit._trace import TraceRow
    from certifit.linear_model import Perceptron as PlainPerceptron


def solve(
    X: np.ndarray, y: np.ndarray, *, kind: str, order: str, passes: int, w1: float, w2: float, b: float
) -> tuple[PlainPerceptron, BaseEstimator]:
    """The mistakes of a plain perceptron, and the model that predicts."""
    shuffle = order == "permuted"
    plain = cf.linear_model.Perceptron(shuffle=shuffle, tol=None, max_iter=passes, trace=True)
    plain.fit(X, y, coef_init=[[w1, w2]], intercept_init=[b])
    relatives = {"averaged": cf.linear_model.AveragedPerceptron, "voted": cf.linear_model.VotedPerceptron}
    if kind not in relatives:
        return plain, plain
    return plain, relatives[kind](shuffle=shuffle, max_iter=passes).fit(X, y)


def report(
    answer: tuple[PlainPerceptron, BaseEstimator], X: np.ndarray, y: np.ndarray, **params: object
) -> dict[str, object]:
    """The weights, the mistakes and what is proved about them."""
    plain, model = answer
    certificate = plain.certificate_
    return {
        "weights": np.array2string(plain.coef_[0], precision=6),
        "offset": float(plain.intercept_[0]),
        "mistakes": len(plain.trace_),
        "mistake bound": float(certificate.bound),
        "training errors": int(np.sum(model.predict(X) != y)),
        "proved": bool(certificate.holds),
    }


class Perceptron(Scene):
    """Steps are mistakes."""

    title = "Perceptron"
    order = 1
    page = "families/perceptron"
    about = (
        "The perceptron goes through the points and moves its line whenever a point lies on the wrong side: it "
        "adds the point to the weights, or takes it away. If some line separates the classes, the number of "
        "mistakes is bounded, whatever the order of the points; the bound is shown. If none does, it never "
        "stops, and that is proved too. The averaged and the voted perceptron combine all lines of the run; they "
        "start at zero."
    )
    controls = (
        Choice("kind", "predict by", ("last line", "averaged", "voted")),
        Choice("order", "order of points", ("as drawn", "permuted")),
        Slider("passes", "passes at most", 1, 50, 10, step=1),
        Slider("w1", "start w₁", -5, 5, 0, step=0.5),
        Slider("w2", "start w₂", -5, 5, 0, step=0.5),
        Slider("b", "start b", -5, 5, 0, step=0.5),
    )
    presets = (
        Preset("separable", _presets.clouds([(-1.2, -0.6), (1.3, 0.9)], 20, 0.55, 3)),
        Preset("overlapping", _presets.clouds([(-0.6, 0), (0.6, 0.3)], 20, 0.8, 1)),
        Preset("exclusive or", _presets.corners(1, 0.0, 0), {"passes": 5}),
    )

    def steps(self, shown: Shown) -> int:
        """The start, then one for each mistake."""
        return len(shown.answer[0].trace_) + 1

    def frame(self, shown: Shown, step: int) -> Frame:
        """The line before and after one mistake; at the end, what was reached."""
        board, (plain, model) = shown.board, shown.answer
        trace, last = plain.trace_, step == len(plain.trace_)
        row = trace[step - 1] if step else None
        w = np.array([shown["w1"], shown["w2"]]) if row is None else row.after
        b = shown["b"] if row is None else row.intercept_after
        layers: list[Layer] = []
        if last:
            G, shape = board.grid(120)
            layers.append(Raster(model.predict(G).reshape(shape), strength=0.18))
        layers += _line(board, w, b)
        panels: list[Panel] = []
        if row is None:
            caption = f"The start: w = ({w[0]:g}, {w[1]:g}), b = {b:g}. Step to see the first mistake."
        else:
            layers.append(Lines(board.line(row.before, row.intercept_before), "muted", dash=True, name="line before"))
            layers.append(Marks([int(row.row)], tone="accent"))
            caption = (
                f"Mistake {step} of {len(trace)}, pass {row.sweep}: the circled point of class "
                f"{board.label(int(board.y[row.row]))} had the score {row.score:.3g}; the line moves."
            )
            panels.append(_move(row, board))
        panels += [_count(shown, step), Proof.later() if board.quick else Proof.of(plain.certificate_)]
        return Frame(layers, panels, caption, self._stop(shown) if last else "", self._answers(shown) if last else ())

    def _stop(self, shown: Shown) -> str:
        if shown.board.quick:
            return ""
        model, board = shown.answer[0], shown.board
        certificate = model.certificate_
        scores = np.where(board.y == board.y.max(), 1, -1) * (board.X @ model.coef_[0] + model.intercept_[0])
        if certificate.holds and "never stop" in certificate.claim:
            return "Proved: it will never stop, because no line separates these points."
        if certificate.holds and np.all(scores > 0):
            bound = int(certificate.bound)
            return (
                f"Every point is on its side, so nothing further changes. Proved: at most {bound} mistakes can happen."
            )
        return ""

    def _answers(self, shown: Shown) -> list[Answer]:
        return labelled(shown.board, shown.answer[1].predict(shown.board.X))

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """The score at a place."""
        plain = shown.answer[0]
        row = plain.trace_[step - 1] if step else None
        w = np.array([shown["w1"], shown["w2"]]) if row is None else row.after
        b = shown["b"] if row is None else row.intercept_after
        score = float(w @ [x, y] + b)
        return Probe([f"score w·x + b = {score:.4g}", f"side of {shown.board.label(int(score > 0))}"])


def _line(board: Board, w: np.ndarray, b: float) -> list[Layer]:
    """The line, and its normal as an arrow that points to class B."""
    paths = board.line(w, b)
    if not paths:
        return []
    middle = np.mean(paths[0], axis=0)
    length = 0.12 * board.width / max(float(np.hypot(*w)), 1e-300)
    return [
        Lines(paths, "ink", 2.5, name="w·x + b = 0"),
        Arrows([middle], [middle + length * np.asarray(w)], "ink", name=f"w, towards {board.label(1)}"),
    ]


def _move(row: TraceRow, board: Board) -> Formula:
    """The move of this mistake, with its numbers."""
    sign = "+" if row.label > 0 else "-"
    x = board.X[int(row.row)]

    def pair(v: np.ndarray) -> str:
        return f"({v[0]:.3g},\\ {v[1]:.3g})"

    return Formula(
        "this move",
        [
            rf"y\,(w\cdot x + b) = {row.label * row.score:.3g} \le 0",
            rf"w \leftarrow {pair(row.before)} {sign} {pair(x)} = {pair(row.after)}",
            rf"b \leftarrow {row.intercept_before:.3g} {sign} 1 = {row.intercept_after:.3g}",
        ],
    )


def _count(shown: Shown, step: int) -> Curve:
    """Mistakes made, and how many are still possible."""
    made = np.arange(len(shown.answer[0].trace_) + 1)
    series = [Series("mistakes made", made, made, "accent")]
    bound = np.inf if shown.board.quick else float(shown.answer[0].certificate_.bound)
    if np.isfinite(bound):
        series.append(Series("mistakes still possible", made, bound - made, "good"))
    return Curve("mistakes", series, "mistake", "count", log=np.isfinite(bound) and bound > 50, at=step)
