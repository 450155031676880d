"""Nearest neighbours: k, metric, weights, and fewer points for the same answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Curve, Frame, Layer, Lines, Marks, Panel, Proof, Raster, Series, Table
from certifit.lab._scene import Board, Choice, LabError, Preset, Probe, Scene, Shown, Slider, labelled

if TYPE_CHECKING:
    from certifit.neighbors import CondensedNeighbors, EditedNeighbors, KNeighborsClassifier

    Answered = tuple[KNeighborsClassifier, np.ndarray, CondensedNeighbors | EditedNeighbors | None]


def solve(X: np.ndarray, y: np.ndarray, *, k: int, metric: str, weights: str, keep: str) -> Answered:
    """The classifier, the points it answers from, and what chose them."""
    power = {"euclidean": 2, "manhattan": 1}[metric]
    chooser = {"condensed": cf.neighbors.CondensedNeighbors, "edited": cf.neighbors.EditedNeighbors}.get(keep)
    chosen = None if chooser is None else chooser(p=power).fit(X, y)
    rows = np.arange(len(y)) if chosen is None else np.sort(chosen.prototype_indices_)
    model = cf.neighbors.KNeighborsClassifier(min(k, len(rows)), weights=weights, p=power).fit(X[rows], y[rows])
    return model, rows, chosen


def report(answer: Answered, X: np.ndarray, y: np.ndarray, **params: object) -> dict[str, object]:
    """Points kept, errors and the proof."""
    model, rows, chosen = answer
    certificate = model.certificate_ if chosen is None else chosen.certificate_
    return {
        "points kept": len(rows),
        "training errors": int(np.sum(model.predict(X) != y)),
        "unavoidable errors": int(model.certificate_.unavoidable),
        "proved": bool(certificate.holds),
    }


class Neighbors(Scene):
    """Steps are numbers of neighbours."""

    title = "Nearest neighbours"
    order = 8
    page = "families/neighbors"
    about = (
        "A place gets the label that most of its k nearest points have; there is nothing to learn beforehand. One "
        "neighbour follows every point, many neighbours smooth the border; stepping goes from one up to k. "
        "Condensing keeps a few points with which the nearest neighbour still predicts the same label for every "
        "training point, editing drops points that their neighbours outvote; both are proved point by point. Hover "
        "to see the neighbours, proved to be the nearest."
    )
    labels = ("A", "B", "C")
    many = True
    controls = (
        Slider("k", "neighbours k", 1, 25, 5, step=1),
        Choice("metric", "distance", ("euclidean", "manhattan")),
        Choice("weights", "votes", ("uniform", "distance")),
        Choice("keep", "keep", ("all points", "condensed", "edited")),
    )
    presets = (
        Preset("moons", _presets.moons(30, 0.2, 1), view=(-2, 3, -1.5, 2.25)),
        Preset("three clouds", _presets.clouds([(-1.5, -1), (1.5, -0.8), (0, 1.4)], 20, 0.9, 2)),
        Preset("condensed", _presets.clouds([(-1.2, -0.3), (1.2, 0.3)], 40, 0.8, 6), {"k": 1, "keep": "condensed"}),
    )

    def check(self, board: Board) -> None:
        """Somebody must be near."""
        if len(board.y) < 2:
            raise LabError("Draw at least two points.")

    def steps(self, shown: Shown) -> int:
        """From one neighbour to k."""
        return int(shown.answer[0].n_neighbors)

    def frame(self, shown: Shown, step: int) -> Frame:
        """The regions for this many neighbours."""
        board, (model, rows, chosen) = shown.board, shown.answer
        k = step + 1
        asked = _with(model, k, board, rows)
        G, shape = board.grid(110, 64)
        layers: list[Layer] = [Raster(asked.predict(G).reshape(shape), strength=0.22)]
        dropped = np.setdiff1d(np.arange(len(board.y)), rows)
        if len(dropped):
            layers.append(Marks(dropped, "faint"))
        predicted = asked.predict(board.X)
        wrong = np.flatnonzero(predicted != board.y)
        layers.append(Marks(wrong, "ring", "bad"))
        words = f"{k} neighbour{'s' if k > 1 else ''}"
        caption = f"{words}: {len(wrong)} of {len(board.y)} points get another label than their own (circled)."
        panels: list[Panel] = [_kept(board, rows)]
        stop = ""
        if not board.quick:
            panels.append(_errors(shown, step))
            certificate = model.certificate_ if chosen is None else chosen.certificate_
            panels.append(Proof.of(certificate))
            if k == self.steps(shown) and chosen is not None and certificate.holds:
                stop = "Proved: kept are exactly the points that their neighbours confirm."
                if shown["keep"] == "condensed":
                    stop = (
                        f"Proved: with one nearest neighbour, the {len(rows)} points kept predict what all of them do."
                    )
        else:
            panels.append(Proof.later())
        return Frame(layers, panels, caption, stop, labelled(board, predicted))

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """The neighbours of a place, with the proof that no other point is nearer."""
        board, (model, rows, _) = shown.board, shown.answer
        asked = _with(model, step + 1, board, rows)
        at = np.array([[x, y]])
        distance, near = asked.kneighbors(at)
        points = rows[near[0]]
        proof = asked.certificate_for(at)
        names = ", ".join(f"{board.label(c)} {int(np.sum(board.y[points] == c))}" for c in np.unique(board.y[points]))
        lines = [
            f"predicted {board.label(int(asked.predict(at)[0]))}: {names}",
            f"the farthest of them is {distance[0, -1]:.4g} away",
            "proved: no other point is nearer" if proof.holds else "not proved",
        ]
        return Probe(
            lines, [Lines([[[x, y], board.X[p]] for p in points], "accent", 1.5), Marks(points, "ring", "accent")]
        )


def _with(model: KNeighborsClassifier, k: int, board: Board, rows: np.ndarray) -> KNeighborsClassifier:
    """The same model with another number of neighbours."""
    if k == model.n_neighbors:
        return model
    return cf.neighbors.KNeighborsClassifier(k, weights=model.weights, p=model.p).fit(board.X[rows], board.y[rows])


def _kept(board: Board, rows: np.ndarray) -> Table:
    counts = [[board.label(c), int(np.sum(board.y == c)), int(np.sum(board.y[rows] == c))] for c in np.unique(board.y)]
    return Table("points", ["class", "drawn", "kept"], counts)


def _errors(shown: Shown, step: int) -> Curve:
    """Errors by the number of neighbours; a point is its own nearest, so k = 1 has none."""
    board, (model, rows, _) = shown.board, shown.answer
    ks = np.arange(1, model.n_neighbors + 1)
    models = [_with(model, int(k), board, rows) for k in ks]
    wrong = [int(np.sum(m.predict(board.X) != board.y)) for m in models]
    out = [int(np.sum(m.predict(None) != board.y[rows])) if len(rows) > k else np.nan for k, m in zip(ks, models)]
    series = [
        Series("training errors", ks, wrong, "class0", dots=True),
        Series("left out one at a time", ks, out, "accent", dots=True),
    ]
    return Curve("errors", series, "neighbours", "points", at=step + 1)
