"""Logistic regression: probabilities, thresholds, and the likelihood that keeps increasing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Curve, Formula, Frame, Layer, Lines, Marks, Panel, Proof, Raster, Series, Table, within
from certifit.lab._scene import Board, Choice, Preset, Probe, Scene, Shown, Slider, Switch, labelled

if TYPE_CHECKING:
    from certifit.exceptions import NoOptimumError
    from certifit.linear_model import LogisticRegression

_STRETCH = 8  # doublings of w along which a likelihood without a maximum is shown


def solve(
    X: np.ndarray, y: np.ndarray, *, penalised: bool, C: float, decide: str, threshold: float, alarm: float, miss: float
) -> LogisticRegression | NoOptimumError:
    """The fit; on separable points without a penalty, the refusal with its proof instead."""
    from certifit.exceptions import NoOptimumError

    limit = threshold if decide == "threshold" else alarm / (alarm + miss)
    model = cf.linear_model.LogisticRegression(C=C if penalised else np.inf, threshold=limit, trace=True)
    try:
        return model.fit(X, y)
    except NoOptimumError as refusal:
        return refusal


def report(answer: Any, X: np.ndarray, y: np.ndarray, **params: object) -> dict[str, object]:
    """Coefficients, loss, mistakes and the proof."""
    if not hasattr(answer, "coef_"):
        direction = answer.certificate.evidence["weights"]
        return {
            "no finite optimum along": np.array2string(direction / np.abs(direction).max(), precision=4),
            "proved": bool(answer.certificate.holds),
        }
    certificate = answer.certificate_
    return {
        "weights": np.array2string(answer.coef_[0], precision=5),
        "offset": float(answer.intercept_[0]),
        "objective": float(certificate.value),
        "training errors": int(np.sum(answer.predict(X) != y)),
        "labels proved": int(answer.certain(X).sum()),
        "proved": bool(certificate.holds),
    }


class Logistic(Scene):
    """Steps are Newton's, or doublings of the weights where there is no optimum."""

    title = "Logistic regression"
    order = 5
    page = "families/logistic"
    about = (
        "A linear score is turned into a probability by the sigmoid, and the weights are those that make the "
        "labels most probable, minus a penalty of strength 1/C. The class is chosen where the probability passes "
        "a threshold, or where the expected cost of a mistake is smaller. A label is proved when it is certainly "
        "that of the exact optimum; hollow points are not. Without a penalty, on separable points, the likelihood "
        "keeps increasing and no fit exists."
    )
    controls = (
        Switch("penalised", "penalty", True),
        Slider("C", "C", 0.001, 1000, 1.0, log=True, when=("penalised", (True,))),
        Choice("decide", "decide by", ("threshold", "costs")),
        Slider("threshold", "threshold", 0.02, 0.98, 0.5, step=0.01, when=("decide", ("threshold",))),
        Slider("alarm", "cost of a false B", 0.1, 10, 1, log=True, when=("decide", ("costs",))),
        Slider("miss", "cost of a missed B", 0.1, 10, 5, log=True, when=("decide", ("costs",))),
    )
    presets = (
        Preset("two clouds", _presets.clouds([(-0.9, -0.4), (0.9, 0.5)], 30, 0.9, 2)),
        Preset("separable: no optimum", _presets.clouds([(-1.3, -0.6), (1.3, 0.9)], 20, 0.45, 3), {"penalised": False}),
        Preset("a missed B costs five", _presets.clouds([(-0.9, -0.4), (0.9, 0.5)], 30, 0.9, 2), {"decide": "costs"}),
    )

    def steps(self, shown: Shown) -> int:
        """Iterations, or doublings."""
        return _STRETCH if isinstance(shown.answer, Exception) else len(shown.answer.trace_)

    def frame(self, shown: Shown, step: int) -> Frame:
        """One of them."""
        return _endless(shown, step) if isinstance(shown.answer, Exception) else _fitted(shown, step)

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """The probability here."""
        w, b = _endless_weights(shown, step) if isinstance(shown.answer, Exception) else _weights(shown, step)
        p = 1 / (1 + np.exp(-float(w @ [x, y] + b)))
        lines = [f"probability of {shown.board.label(1)}: {p:.4f}"]
        if not isinstance(shown.answer, Exception) and step == len(shown.answer.trace_) - 1:
            sure = bool(shown.answer.certain(np.array([[x, y]]))[0])
            lines.append(
                f"predicted {shown.board.label(int(shown.answer.predict([[x, y]])[0]))}, "
                + ("proved" if sure else "not proved")
            )
        return Probe(lines)


def _weights(shown: Shown, step: int) -> tuple[np.ndarray, float]:
    """Weights after some iterations: the same fit, stopped there."""
    model = shown.answer
    if step == 0:
        return np.zeros(2), 0.0
    if step < len(model.trace_) - 1:
        model = cf.linear_model.LogisticRegression(**{**model.get_params(), "max_iter": step}).fit(
            shown.board.X, shown.board.y
        )
    return model.coef_[0], float(model.intercept_[0])


def _ground(board: Board, w: np.ndarray, b: float) -> Raster:
    G, shape = board.grid()
    p = 1 / (1 + np.exp(-np.clip(G @ w + b, -700, 700)))
    return Raster(p.reshape(shape), "diverging", 0.0, 1.0, (0.1, 0.25, 0.5, 0.75, 0.9), 0.4)


def _fitted(shown: Shown, step: int) -> Frame:
    board, model = shown.board, shown.answer
    last = step == len(model.trace_) - 1
    w, b = _weights(shown, step)
    row = model.trace_[step]
    limit = float(model.threshold)
    layers: list[Layer] = [_ground(board, w, b)]
    if limit != 0.5:
        cut = float(np.log(limit / (1 - limit)))
        layers.append(Lines(board.line(w, b, cut), "accent", 2.5, dash=True, name=f"threshold {limit:.2f}"))
    panels: list[Panel] = [_formula(w, b), _gaps(model, step)]
    answers: Any = ()
    stop = ""
    if last and not board.quick:
        sure = model.certain(board.X)
        answers = labelled(board, model.predict(board.X), sure)
        layers.append(Marks(np.flatnonzero(~sure), "hollow"))
        panels.append(_mistakes(board, model, shown))
        if model.certificate_.holds:
            stop = (
                f"Proved within {within(model.certificate_.gap)} of the least objective: nothing further can be gained."
            )
    elif last:
        answers = labelled(board, model.predict(board.X))
    panels.append(Proof.later() if board.quick else Proof.of(model.certificate_))
    caption = f"Iteration {step}: objective {row.objective:.5g}, at most {row.gap:.2g} above the least possible."
    return Frame(layers, panels, caption, stop, answers)


def _formula(w: np.ndarray, b: float) -> Formula:
    return Formula("the model", [r"P(B\mid x) = \frac{1}{1+e^{-z}}", rf"z = {w[0]:.3g}\,x_1 {w[1]:+.3g}\,x_2 {b:+.3g}"])


def _gaps(model: LogisticRegression, step: int) -> Curve:
    gaps = [max(g, 1e-18) for g in model.trace_["gap"]]
    return Curve(
        "the gap closes",
        [Series("proved gap", np.arange(len(gaps)), gaps, "good", dots=True)],
        "iteration",
        "gap",
        log=True,
        at=step,
    )


def _mistakes(board: Board, model: LogisticRegression, shown: Shown) -> Table:
    predicted = model.predict(board.X)
    a, b = board.label(0), board.label(1)
    rows = [
        [f"{t} as {p}", int(np.sum((board.y == i) & (predicted == j)))]
        for i, t in ((0, a), (1, b))
        for j, p in ((0, a), (1, b))
    ]
    if shown["decide"] == "costs":
        rows.append(["cost of all mistakes", shown["alarm"] * rows[1][1] + shown["miss"] * rows[2][1]])
    return Table(f"labels at threshold {model.threshold:.2f}", ["true class as predicted class", "points"], rows)


def _endless_weights(shown: Shown, step: int) -> tuple[np.ndarray, float]:
    direction = np.asarray(shown.answer.certificate.evidence["weights"], dtype=float)
    direction = direction / np.hypot(*direction[:2]) * 2.0**step
    return direction[:2], float(direction[2])


def _endless(shown: Shown, step: int) -> Frame:
    """Along the direction of the proof the likelihood rises without end."""
    board = shown.board
    sign = np.where(board.y == 1, 1.0, -1.0)
    loss = []
    for k in range(_STRETCH):
        w, b = _endless_weights(shown, k)
        loss.append(float(np.mean(np.logaddexp(0, -sign * (board.X @ w + b)))))
    w, b = _endless_weights(shown, step)
    curve = Series("mean loss", 2.0 ** np.arange(_STRETCH), np.maximum(loss, 1e-300), "accent", dots=True)
    panels: list[Panel] = [
        Curve("the loss keeps decreasing", [curve], "length of w", "mean loss", log=True, at=2.0**step),
        _formula(w, b),
        Proof.of(shown.answer.certificate),
    ]
    length = 2.0**step
    caption = f"No best fit exists. With w of length {length:g} the mean loss is {loss[step]:.2e}; longer is better."
    return Frame(
        [_ground(board, w, b)],
        panels,
        caption,
        "Proved: the likelihood keeps increasing. Add a penalty, or points that overlap.",
    )
