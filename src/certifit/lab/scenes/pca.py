"""Principal components: axes, projection, what is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Answer, Arrows, Curve, Dots, Formula, Frame, Layer, Lines, Panel, Proof, Series, within
from certifit.lab._scene import Board, LabError, Preset, Probe, Scene, Shown, Slider, Switch

if TYPE_CHECKING:
    from certifit.decomposition import PCA


def solve(X: np.ndarray, y: np.ndarray, *, own: bool, angle: float) -> PCA:
    """One component, and the variance kept along any other direction."""
    return cf.decomposition.PCA(1).fit(X)


def report(answer: PCA, X: np.ndarray, y: np.ndarray, *, own: bool, angle: float) -> dict[str, object]:
    """The axis, what it keeps and what is lost."""
    certificate = answer.certificate_
    direction = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    found = {
        "mean": np.array2string(answer.mean_, precision=5),
        "axis": np.array2string(answer.components_[0], precision=5),
        "variance kept": float(certificate.value),
        "largest possible": float(certificate.bound),
        "reconstruction error": float(answer.reconstruction_error(X).mean()),
    }
    if own:
        found["kept by your axis"] = float(np.var((X - X.mean(axis=0)) @ direction, ddof=1))
    return found | {"proved": bool(certificate.holds)}


class Components(Scene):
    """Steps: mean, axis, projection, loss."""

    title = "Principal components"
    order = 11
    page = "families/pca"
    about = (
        "The first principal component is the direction in which the points vary most; projecting on it loses "
        "least. Turn an axis of your own and watch how much it retains: no direction beats the component, and a "
        "certificate proves it. The mean is subtracted first. Distances count in the units of the axes as they "
        "are, so changing a unit changes the component."
    )
    labels = ("point",)
    controls = (
        Switch("own", "an axis of your own", False),
        Slider("angle", "its angle in degrees", 0, 180, 90, step=1, when=("own", (True,))),
    )
    presets = (
        Preset("a tilted cloud", _presets.tilted(60, 0.55, 0.5, 1)),
        Preset("nearly a line", _presets.tilted(40, 0.1, -0.9, 2), {"own": True, "angle": 20}),
        Preset("round: any axis will do", _presets.tilted(80, 1.0, 0.0, 3), {"own": True}),
    )

    def check(self, board: Board) -> None:
        """Points at different places are needed."""
        if len(np.unique(board.X, axis=0)) < 2:
            raise LabError("Draw at least two points at different places.")

    def steps(self, shown: Shown) -> int:
        """Mean, axis, projection, loss."""
        return 4

    def frame(self, shown: Shown, step: int) -> Frame:
        """Up to this step."""
        board, model = shown.board, shown.answer
        mean, axis = model.mean_, _axis(shown)
        back = mean + ((board.X - mean) @ axis)[:, None] * axis
        lost = float(np.sum((board.X - back) ** 2) / len(board.X))
        layers: list[Layer] = []
        if step >= 1:
            layers.append(
                Lines(
                    board.line([-axis[1], axis[0]], float(axis[1] * mean[0] - axis[0] * mean[1])),
                    "accent",
                    2.5,
                    name="axis",
                )
            )
            length = 2 * np.sqrt(_kept(board, axis))
            layers.append(Arrows([mean], [mean + length * axis], "accent"))
        if step >= 2:
            layers.append(Dots(back, "accent", size=0.6))
        if step >= 3:
            layers.append(Lines([np.array([p, q]) for p, q in zip(board.X, back)], "muted", 1.2, name="lost"))
        layers.append(Dots([mean], "ink", "cross", 1.5))
        words = (
            f"The mean of the points: ({mean[0]:.4g}, {mean[1]:.4g}).",
            f"The axis keeps a variance of {_kept(board, axis):.4g} of {np.var(board.X, axis=0, ddof=1).sum():.4g}.",
            "Each point is replaced by the nearest one on the axis: one number instead of two.",
            f"What is lost: the mean squared distance from the axis is {lost:.4g}.",
        )
        panels: list[Panel] = [_formula(mean, axis), _turned(shown)]
        panels.append(Proof.later() if board.quick else Proof.of(model.certificate_))
        stop = ""
        if step == 3 and not board.quick and model.certificate_.holds and not shown["own"]:
            stop = f"Proved within {within(model.certificate_.relative_gap)}: no direction keeps more."
        answers = [Answer("", None, f"{np.linalg.norm(p - q):.4g} from the axis") for p, q in zip(board.X, back)]
        return Frame(layers, panels, words[step], stop, answers)

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """Score of a place and its distance from the axis."""
        axis, mean = _axis(shown), shown.answer.mean_
        score = float((np.array([x, y]) - mean) @ axis)
        foot = mean + score * axis
        return Probe(
            [f"score {score:.4g}", f"{np.hypot(*(np.array([x, y]) - foot)):.4g} from the axis"],
            [Lines([[[x, y], foot]], "accent", 1.5)],
        )


def _axis(shown: Shown) -> np.ndarray:
    if not shown["own"]:
        return np.asarray(shown.answer.components_[0])
    turned = np.deg2rad(shown["angle"])
    return np.array([np.cos(turned), np.sin(turned)])


def _kept(board: Board, axis: np.ndarray) -> float:
    return float(np.var(board.X @ axis, ddof=1))


def _formula(mean: np.ndarray, axis: np.ndarray) -> Formula:
    return Formula(
        "score of a point", [rf"u = {axis[0]:.3g}\,(x_1 {-mean[0]:+.3g}) {axis[1]:+.3g}\,(x_2 {-mean[1]:+.3g})"]
    )


def _turned(shown: Shown) -> Curve:
    """Variance kept by every direction."""
    angles = np.arange(0, 181, 3)
    radians = np.deg2rad(angles)
    kept = [_kept(shown.board, np.array([np.cos(t), np.sin(t)])) for t in radians]
    best = float(shown.answer.explained_variance_[0])
    axis = _axis(shown)
    at = float(np.rad2deg(np.arctan2(axis[1], axis[0])) % 180)
    series = [
        Series("kept", angles, kept, "class0"),
        Series("no direction keeps more", [0, 180], [best, best], "good", dash=True),
    ]
    return Curve("variance kept", series, "angle of the axis", "variance", at=at)
