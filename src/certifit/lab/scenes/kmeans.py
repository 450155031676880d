"""k-means: centres that move, and how far the best clustering can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Answer, Arrows, Curve, Dots, Formula, Frame, Layer, Lines, Panel, Proof, Raster, Series
from certifit.lab._scene import Board, Choice, LabError, Preset, Probe, Scene, Shown, Slider

if TYPE_CHECKING:
    from certifit.cluster import KMeans


def solve(X: np.ndarray, y: np.ndarray, *, k: int, init: str, seed: int, starts: int) -> KMeans:
    """The clustering with its trace."""
    return cf.cluster.KMeans(min(k, len(X)), init=init, n_init=starts, random_state=seed, trace=True).fit(X)


def report(answer: KMeans, X: np.ndarray, y: np.ndarray, **params: object) -> dict[str, object]:
    """The cost, and what no clustering can go below."""
    certificate = answer.certificate_
    return {
        "cost": float(answer.inertia_),
        "proved lower bound": float(certificate.bound),
        "at most above the best": f"{100 * certificate.excess:.3g} %" if certificate.bound > 0 else "not bounded",
        "iterations": int(answer.n_iter_),
        "proved": bool(certificate.holds),
    }


class Clusters(Scene):
    """Steps are iterations."""

    title = "k-means"
    order = 14
    page = "families/clustering"
    about = (
        "Each point goes to its nearest centre, each centre to the mean of its points, and so on until nothing "
        "moves; then single points move where that lowers the cost. The end depends on the start and need not be "
        "the best clustering. A lower bound on the cost of every clustering proves how far it can be from the "
        "best: tight where clusters are well separated, loose where they overlap. Labels are not used here."
    )
    labels = ("point",)
    controls = (
        Slider("k", "clusters k", 1, 8, 3, step=1),
        Choice("init", "start", ("k-means++", "random")),
        Slider("starts", "starts", 1, 20, 1, step=1),
        Slider("seed", "seed", 0, 20, 0, step=1),
    )
    presets = (
        Preset("three clouds", _presets.unlabelled([(-1.8, -1), (1.7, -1.2), (0.1, 1.5)], 25, 0.5, 3)),
        Preset(
            "a bad start",
            _presets.unlabelled([(-2, -1.2), (2, -1.2), (-2, 1.2), (2, 1.2)], 15, 0.35, 3),
            {"k": 4, "init": "random", "seed": 1},
        ),
        Preset("one cloud", _presets.unlabelled([(0, 0)], 80, 1.0, 1)),
    )

    def check(self, board: Board) -> None:
        """A cluster needs a point."""
        if len(np.unique(board.X, axis=0)) < 2:
            raise LabError("Draw at least two points at different places.")

    def hurried(self, params: dict[str, Any]) -> dict[str, Any]:
        """While a point is dragged, one start."""
        return {**params, "starts": 1}

    def steps(self, shown: Shown) -> int:
        """Iterations."""
        return max(1, len(shown.answer.trace_))

    def frame(self, shown: Shown, step: int) -> Frame:
        """Centres and regions after an iteration."""
        board, model = shown.board, shown.answer
        last = step == self.steps(shown) - 1
        centres = _centres(shown, step)
        G, shape = board.grid(110, 64)
        near = _nearest(G, centres)
        own = _nearest(board.X, centres)
        layers: list[Layer] = [Raster(near.reshape(shape), strength=0.2)]
        layers.append(Lines([np.array([x, centres[c]]) for x, c in zip(board.X, own)], "muted", 0.8))
        if step:
            layers.append(Arrows(_centres(shown, step - 1), centres, "ink"))
        layers += [Dots([c], f"class{i % 8}", "star", 1.7) for i, c in enumerate(centres)]
        row = model.trace_[step] if len(model.trace_) else None
        cost = float(np.sum((board.X - centres[own]) ** 2))
        caption = f"Cost {cost:.4g}."
        if row is not None:
            count = int(row.changed)
            what = f"{count} points change their cluster, and the centres move to the means"
            if row.phase != "Lloyd":
                what = f"{count} single points move where that lowers the cost" if count else "no single point can gain"
            caption = f"Iteration {step + 1}: {what}. {caption}"
        panels: list[Panel] = [
            Formula("the cost", [rf"\sum_i \min_j \lVert x_i - c_j\rVert^2 = {cost:.5g}"]),
            _costs(shown, step),
        ]
        panels.append(Proof.later() if board.quick else Proof.of(model.certificate_))
        stop = ""
        if last and not board.quick and model.certificate_.holds:
            excess = float(model.certificate_.excess)
            stop = f"Proved within {100 * excess:.2g} % of the best possible clustering." if excess < 10 else ""
        answers = [
            Answer(f"cluster {c + 1}", None, f"{np.hypot(*(x - centres[c])):.4g} from its centre")
            for x, c in zip(board.X, own)
        ]
        return Frame(layers, panels, caption, stop, answers)

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """The nearest centre."""
        centres = _centres(shown, step)
        at = np.array([[x, y]])
        c = int(_nearest(at, centres)[0])
        return Probe(
            [f"nearest: cluster {c + 1}, {np.hypot(*(at[0] - centres[c])):.4g} away"],
            [Lines([[at[0], centres[c]]], "accent", 1.5)],
        )


def _centres(shown: Shown, step: int) -> np.ndarray:
    trace = shown.answer.trace_
    if not len(trace) or step == len(trace) - 1:
        return np.asarray(shown.answer.cluster_centers_)
    return np.asarray(trace[step].centres)


def _nearest(X: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return np.asarray(np.argmin(((X[:, None, :] - centres[None]) ** 2).sum(axis=2), axis=1))


def _costs(shown: Shown, step: int) -> Curve:
    costs = [float(v) for v in shown.answer.trace_["objective"]] or [float(shown.answer.inertia_)]
    t = np.arange(1, len(costs) + 1)
    series = [Series("cost", t, costs, "class1", dots=True)]
    if not shown.board.quick:
        bound = float(shown.answer.certificate_.bound)
        series.append(Series("proved lower bound", t, [bound] * len(t), "good", dash=True))
    return Curve("cost and lower bound", series, "iteration", "cost", at=step + 1)
