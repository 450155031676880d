"""Support vector machines: margins, support vectors, and SMO pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Curve, Formula, Frame, Layer, Marks, Panel, Proof, Raster, Series, Table, within
from certifit.lab._scene import Choice, Preset, Probe, Scene, Shown, Slider, labelled

if TYPE_CHECKING:
    from certifit._trace import TraceRow
    from certifit.svm import SVC, HardMarginSVC


def solve(
    X: np.ndarray, y: np.ndarray, *, margin: str, C: float, kernel: str, gamma: float, degree: int
) -> SVC | HardMarginSVC:
    """The machine with its trace."""
    shape: dict[str, Any] = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": 1.0, "trace": True}
    if margin == "hard":
        return cf.svm.HardMarginSVC(**shape).fit(X, y)
    return cf.svm.SVC(C=C, **shape).fit(X, y)


def report(answer: SVC, X: np.ndarray, y: np.ndarray, *, margin: str, **params: object) -> dict[str, object]:
    """Primal and dual value, support vectors and the proof."""
    certificate = answer.certificate_
    return {
        "primal value": float(certificate.primal if margin == "hard" else certificate.value),
        "dual value": float(certificate.dual if margin == "hard" else certificate.bound),
        "support vectors": len(answer.support_),
        "training errors": int(np.sum(answer.predict(X) != y)),
        "proved": bool(certificate.holds),
    }


class SupportVectors(Scene):
    """Steps are those of SMO; the hard margin has one."""

    title = "Support vector machine"
    order = 6
    page = "families/svm"
    about = (
        "Of all separating lines, the hard margin takes the one farthest from the nearest points; the soft margin "
        "lets points fall short at a cost of C each. In the dual every point has a multiplier between 0 and C; "
        "SMO moves two of them at a time, and points with a positive one are the support vectors (circled). Any "
        "multipliers give a lower bound of the primal value, so the solution is proved once the two values meet. "
        "A kernel bends the line."
    )
    controls = (
        Choice("margin", "margin", ("soft", "hard")),
        Slider("C", "cost C", 0.01, 1000, 1.0, log=True, when=("margin", ("soft",))),
        Choice("kernel", "kernel", ("linear", "rbf", "poly")),
        Slider("gamma", "γ", 0.05, 20, 0.7, log=True, when=("kernel", ("rbf", "poly"))),
        Slider("degree", "degree", 2, 5, 2, step=1, when=("kernel", ("poly",))),
    )
    presets = (
        Preset("soft margin", _presets.clouds([(-1, -0.5), (1, 0.6)], 25, 0.75, 5)),
        Preset("hard margin", _presets.clouds([(-1.3, -0.6), (1.3, 0.9)], 20, 0.45, 3), {"margin": "hard"}),
        Preset(
            "moons", _presets.moons(25, 0.12, 0), {"kernel": "rbf", "C": 10, "gamma": 1.5}, view=(-2, 3, -1.5, 2.25)
        ),
        Preset("exclusive or", _presets.corners(1, 0.0, 0), {"margin": "hard", "kernel": "poly", "gamma": 1.0}),
    )

    def steps(self, shown: Shown) -> int:
        """The start and every move of a pair."""
        return 1 if shown["margin"] == "hard" else len(_moves(shown.answer)) + 2

    def frame(self, shown: Shown, step: int) -> Frame:
        """The machine of the multipliers so far."""
        board, model = shown.board, shown.answer
        last = step == self.steps(shown) - 1
        alpha, moved = _multipliers(shown, step, last)
        G, shape = board.grid(72, 28)
        f = model.decision_function(G) if last else _decision(shown, alpha, G)
        layers: list[Layer] = [Raster(f.reshape(shape), "diverging", -1.5, 1.5, (-1.0, 0.0, 1.0), 0.35)]
        layers.append(Marks(np.flatnonzero(alpha > 0), "ring", "ink"))
        if moved is not None:
            layers.append(Marks([int(moved.i), int(moved.j)], "ring", "accent"))
        panels: list[Panel] = []
        if moved is not None:
            panels.append(_move(moved))
        if shown["margin"] == "soft":
            panels.append(_values(model, step))
            panels.append(_cases(alpha, shown["C"]))
        panels.append(Proof.later() if board.quick else Proof.of(model.certificate_))
        caption, stop = self._words(shown, step, last, alpha)
        answers: Any = ()
        if last:
            sure = None if board.quick or shown["margin"] == "hard" else model.certain(board.X)
            answers = labelled(board, model.predict(board.X), sure)
        return Frame(layers, panels, caption, stop, answers)

    def _words(self, shown: Shown, step: int, last: bool, alpha: np.ndarray) -> tuple[str, str]:
        model, count = shown.answer, int(np.sum(alpha > 0))
        if shown["margin"] == "hard":
            caption = (
                f"The widest margin: {model.margin_:.4g} on either side, held by {count} support vectors (circled)."
            )
        elif step == 0:
            caption = "The start: all multipliers are zero, and so are the weights."
        elif last:
            caption = f"Done: {count} support vectors (circled). Thin lines are H⁻ and H⁺, where the score is −1 and 1."
        else:
            caption = f"Step {step} of {self.steps(shown) - 2}: two multipliers move, so that Σαy stays zero."
        if not last or shown.board.quick or not model.certificate_.holds:
            return caption, ""
        gap = within(float(model.certificate_.relative_gap))
        return caption, f"Proved within {gap} (relative) of the best machine: nothing further can be gained."

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """The score here."""
        last = step == self.steps(shown) - 1
        at = np.array([[x, y]])
        alpha = _multipliers(shown, step, last)[0]
        score = float((shown.answer.decision_function(at) if last else _decision(shown, alpha, at))[0])
        lines = [f"score {score:.4g}", f"predicted {shown.board.label(int(score > 0))}"]
        if last and shown["margin"] == "soft":
            lines[1] += ", proved" if bool(shown.answer.certain(at)[0]) else ", not proved"
        return Probe(lines)


def _moves(model: SVC) -> list[TraceRow]:
    """Rows of the trace in which a pair moved."""
    return [row for row in model.trace_ if row.i is not None and row.i == row.i]


def _multipliers(shown: Shown, step: int, last: bool) -> tuple[np.ndarray, TraceRow | None]:
    """Multipliers after some steps, and the move that led there."""
    model, alpha = shown.answer, np.zeros(len(shown.board.y))
    if last:
        alpha[model.support_] = np.abs(np.asarray(model.dual_coef_)).ravel()
        return alpha, None
    moves = _moves(model)[:step]
    for row in moves:
        alpha[int(row.i)], alpha[int(row.j)] = abs(row.alpha_i), abs(row.alpha_j)
    return alpha, moves[-1] if moves else None


def _decision(shown: Shown, alpha: np.ndarray, G: np.ndarray) -> np.ndarray:
    """The score of an unfinished machine, with the offset that serves its multipliers best."""
    X, sign = shown.board.X, np.where(shown.board.y == shown.board.y.max(), 1.0, -1.0)
    rows = np.flatnonzero(alpha)
    if not len(rows):
        return np.zeros(len(G))
    weights = (alpha * sign)[rows]
    here = shown.answer.kernel_(X, X[rows]) @ weights
    offsets = sign - here
    costs = np.maximum(0, 1 - sign * (here + offsets[:, None])).sum(axis=1)
    return np.asarray(shown.answer.kernel_(G, X[rows]) @ weights + offsets[np.argmin(costs)])


def _move(row: TraceRow) -> Formula:
    cut = r"\ \text{(cut at the box)}" if row.clipped else ""
    return Formula(
        "this pair",
        [
            rf"\alpha_{{{int(row.i)}}}: {abs(row.alpha_i_before):.4g} \to {abs(row.alpha_i):.4g}{cut}",
            rf"\alpha_{{{int(row.j)}}}: {abs(row.alpha_j_before):.4g} \to {abs(row.alpha_j):.4g}",
            rf"\text{{primal}} - \text{{dual}} = {row.gap:.4g}",
        ],
    )


def _values(model: SVC, step: int) -> Curve:
    """Primal and dual value approach each other."""
    rows = [model.trace_[0], *_moves(model), model.trace_[-1]]
    t = np.arange(len(rows))
    primal = np.array([row.objective for row in rows], dtype=float)
    dual = primal - np.array([row.gap for row in rows], dtype=float)
    best = np.minimum.accumulate(primal)
    series = [Series("primal value, best so far", t, best, "class1"), Series("dual value", t, dual, "class0")]
    return Curve("primal and dual value meet", series, "step", "value", at=step)


def _cases(alpha: np.ndarray, C: float) -> Table:
    zero, inside = int(np.sum(alpha == 0)), int(np.sum((alpha > 0) & (alpha < C * (1 - 1e-9))))
    rows = [
        ["α = 0: margin at least 1", zero],
        ["0 < α < C: margin exactly 1", inside],
        ["α = C: margin at most 1", len(alpha) - zero - inside],
    ]
    return Table("multipliers", ["case", "points"], rows)
