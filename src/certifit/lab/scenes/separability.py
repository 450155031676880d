"""Can a line separate the classes? The proof, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Areas, Dots, Frame, Layer, Lines, Marks, Panel, Proof
from certifit.lab._scene import Board, Choice, Preset, Probe, Scene, Shown, labelled


def solve(X: np.ndarray, y: np.ndarray, *, rigor: str, line: str) -> Any:
    """The verdict with its evidence, and the machine of widest margin where there is one."""
    verdict = cf.separability(X, y, rigor=rigor)
    widest = cf.svm.HardMarginSVC().fit(X, y) if line == "widest margin" and verdict.verdict == "separable" else None
    return verdict, widest


def report(answer: Any, X: np.ndarray, y: np.ndarray, **params: object) -> dict[str, object]:
    """The verdict, and the margin or the number of points in the mixture."""
    verdict, widest = answer
    found = {"verdict": verdict.verdict, "proved": bool(verdict.holds)}
    if verdict.verdict == "separable":
        return found | {"margin": float(verdict.margin if widest is None else widest.margin_)}
    return found | {"points in the proof": len(verdict.rows)}


class Separability(Scene):
    """Points, hulls, proof."""

    title = "Separability"
    order = 2
    page = "families/separability"
    about = (
        "Either some line has the classes on its two sides, or the convex hulls of the classes share a point, and "
        "no line can separate them. Both verdicts come with evidence that a few lines "
        "of arithmetic check. Where the hulls only touch, floating-point numbers cannot decide; choose exact "
        "arithmetic. The line of the proof is some separating line; the one of widest margin is the hard-margin "
        "support vector machine."
    )
    controls = (
        Choice("rigor", "arithmetic", ("float", "exact")),
        Choice("line", "line shown", ("of the proof", "widest margin")),
    )
    presets = (
        Preset("overlapping", _presets.clouds([(-0.7, 0), (0.7, 0.3)], 12, 0.8, 1)),
        Preset("separable", _presets.clouds([(-1.2, -0.6), (1.2, 0.8)], 15, 0.5, 3), {"line": "widest margin"}),
        Preset("touching", [[-2, 0, 0], [-1, 1, 0], [0, 0, 0], [0, 0, 1], [1, -1, 1], [2, 1, 1]], {"rigor": "exact"}),
    )

    def steps(self, shown: Shown) -> int:
        """Points, hulls, proof."""
        return 3

    def frame(self, shown: Shown, step: int) -> Frame:
        """Up to this step."""
        board, (verdict, _) = shown.board, shown.answer
        if step == 0:
            return Frame([], [board.counts()], "The points. Can a line have one class on each side?")
        hulls: list[Layer] = [Areas([h], f"class{k}", 0.16, edge=True) for k in (0, 1) if len(h := _hull(board, k)) > 1]
        if step == 1:
            return Frame(
                hulls, [board.counts()], "Around each class its convex hull: all weighted averages of its points."
            )
        layers, caption = _separator(shown) if verdict.verdict == "separable" else _mixture(shown)
        panels: list[Panel] = [Proof.of(verdict.certificate), board.counts()]
        answers = (
            ()
            if verdict.w is None
            else labelled(board, board.X @ verdict.w + verdict.b > 0, [verdict.holds] * len(board.y))
        )
        stop = f"Proved: {verdict.verdict}." if verdict.holds else ""
        return Frame(hulls + layers, panels, caption, stop, answers)

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe | None:
        """The distance from the line."""
        w, b = _line(shown)
        if w is None or step < 2:
            return None
        return Probe([f"distance from the line {(w @ [x, y] + b) / np.hypot(*w):.4g}"])


def _hull(board: Board, k: int) -> np.ndarray:
    """Corners of the convex hull of a class, in order."""
    points = np.unique(board.X[board.y == k], axis=0)
    if len(points) < 3 or np.linalg.matrix_rank(points - points[0], tol=1e-12 * board.width) < 2:
        return points[[0, -1]] if len(points) > 1 else points
    from scipy.spatial import ConvexHull

    return np.asarray(points[ConvexHull(points).vertices])


def _line(shown: Shown) -> tuple[np.ndarray, float]:
    verdict, widest = shown.answer
    if widest is not None:
        return widest.coef_[0], float(widest.intercept_[0])
    return verdict.w, verdict.b


def _separator(shown: Shown) -> tuple[list[Layer], str]:
    """The line and its margin on either side."""
    board = shown.board
    w, b = _line(shown)
    functional = (board.X @ w + b) * np.where(board.y == board.y.max(), 1, -1)
    least = float(functional.min())
    margin = least / float(np.hypot(*w))
    layers: list[Layer] = [
        Lines(board.line(w, b), "ink", 2.5, name="separating line"),
        Lines(
            [*board.line(w, b, least), *board.line(w, b, -least)], "muted", 1.5, dash=True, name=f"margin {margin:.3g}"
        ),
        Marks(np.flatnonzero(functional <= least * (1 + 1e-6)), tone="accent"),
    ]
    return layers, f"Separable: every point is on its side, and the nearest (circled) are {margin:.4g} away."


def _mixture(shown: Shown) -> tuple[list[Layer], str]:
    """The point that both hulls share, and the points that it is a mixture of."""
    board, verdict = shown.board, shown.answer[0]
    if verdict.rows is None or verdict.multipliers is None:
        return [], f"{verdict.verdict.capitalize()}, but not proved in this arithmetic."
    rows = np.asarray(verdict.rows)
    weights = np.asarray(verdict.multipliers)[rows] if len(verdict.multipliers) == len(board.y) else verdict.multipliers
    first = board.y[rows] == board.y.min()
    share = np.where(first, weights, 0.0)
    shared = (share / share.sum()) @ board.X[rows] if share.sum() > 0 else board.X[rows].mean(axis=0)
    words = {"touching": "The hulls only touch", "overlapping": "The hulls overlap"}[verdict.verdict]
    layers: list[Layer] = [
        Lines([np.array([p, shared]) for p in board.X[rows]], "accent", 1.2, dash=True, name="mixture"),
        Marks(rows, tone="accent"),
        Dots([shared], "accent", "star", 1.4),
    ]
    said = "the star is a weighted average of the circled points of either class, so no line separates them."
    return layers, f"{words}: {said}"
