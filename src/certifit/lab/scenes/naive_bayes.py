"""Naive Bayes: a bell for each class, and where they cross."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Dots, Formula, Frame, Layer, Lines, Panel, Proof, Raster, Table, tex_words
from certifit.lab._scene import Board, Choice, LabError, Preset, Probe, Scene, Shown, Slider, labelled

if TYPE_CHECKING:
    from certifit.naive_bayes import GaussianNB


def solve(X: np.ndarray, y: np.ndarray, *, prior: str, smoothing: float) -> GaussianNB:
    """The fit."""
    shares = None if prior == "shares of the points" else np.full(len(np.unique(y)), 1 / len(np.unique(y)))
    return cf.naive_bayes.GaussianNB(priors=shares, var_smoothing=smoothing).fit(X, y)


def report(answer: GaussianNB, X: np.ndarray, y: np.ndarray, **params: object) -> dict[str, object]:
    """Means, spreads, errors and the proof."""
    found: dict[str, Any] = {}
    for k, label in enumerate(answer.classes_):
        found[f"mean of {label}"] = np.array2string(answer.theta_[k], precision=5)
        found[f"variance of {label}"] = np.array2string(answer.var_[k], precision=5)
    found["training errors"] = int(np.sum(answer.predict(X) != y))
    return found | {"proved": bool(answer.certificate_.holds)}


class NaiveBayes(Scene):
    """Steps: the bell of each class, then the border."""

    title = "Naive Bayes"
    order = 9
    page = "families/naive_bayes"
    about = (
        "Naive Bayes learns how each class looks and turns that around by Bayes' rule. Within a class the two "
        "coordinates are assumed independent, so a class is a normal distribution whose ellipses are parallel to the "
        "axes, whatever the points look like. The boundary is where the densities, times class frequencies, are "
        "equal: a curve, or a line when the variances agree. It is proved that every mean, variance and class "
        "frequency is that of the points, with rounding bounded."
    )
    labels = ("A", "B", "C")
    many = True
    controls = (
        Choice("prior", "prior", ("shares of the points", "equal")),
        Slider("smoothing", "smoothing", 1e-9, 1.0, 1e-9, log=True),
    )
    presets = (
        Preset("wide and narrow", _presets.bells(25, 1)),
        Preset("three classes", _presets.clouds([(-1.5, -1), (1.5, -0.8), (0, 1.4)], 20, 0.7, 2)),
        Preset("exclusive or fools it", _presets.corners(12, 0.35, 3)),
    )

    def check(self, board: Board) -> None:
        """Every class needs a spread."""
        if len(np.unique(board.y)) < 2:
            raise LabError("Draw points of at least two classes.")
        if min(np.sum(board.y == k) for k in np.unique(board.y)) < 2:
            raise LabError("Draw at least two points of each class.")

    def steps(self, shown: Shown) -> int:
        """One for each class, then the border."""
        return len(shown.answer.classes_) + 1

    def frame(self, shown: Shown, step: int) -> Frame:
        """The bells so far; at the end, the border."""
        board, model = shown.board, shown.answer
        last = step == len(model.classes_)
        layers: list[Layer] = []
        if last:
            G, shape = board.grid()
            p = model.predict_proba(G)
            if p.shape[1] == 2:
                layers.append(Raster(p[:, 1].reshape(shape), "diverging", 0.0, 1.0, (0.1, 0.5, 0.9), 0.4))
            else:
                layers.append(Raster(model.classes_[np.argmax(p, axis=1)].reshape(shape), strength=0.22))
        for k in range(min(step + 1, len(model.classes_))):
            layers += _bell(model, k)
        k = min(step, len(model.classes_) - 1)
        name = board.label(int(model.classes_[k]))
        caption = f"Class {name}: mean and variance of each coordinate; ellipses at one and two standard deviations."
        if last:
            wrong = int(np.sum(model.predict(board.X) != board.y))
            caption = (
                f"Bayes' rule turns bells into probabilities. {wrong} of {len(board.y)} points are on the wrong side."
            )
        panels: list[Panel] = [_density(model, k, name), _means(board, model)]
        panels.append(Proof.later() if board.quick else Proof.of(model.certificate_))
        stop = ""
        if last and not board.quick and model.certificate_.holds:
            stop = "Proved: these are the means and variances; nothing further can be gained."
        answers = labelled(board, model.predict(board.X)) if last else ()
        return Frame(layers, panels, caption, stop, answers)

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """Probabilities at a place."""
        p = shown.answer.predict_proba(np.array([[x, y]]))[0]
        return Probe([f"probability of {shown.board.label(int(c))}: {v:.4f}" for c, v in zip(shown.answer.classes_, p)])


def _bell(model: GaussianNB, k: int) -> list[Layer]:
    t = np.linspace(0, 2 * np.pi, 73)
    circle = np.column_stack([np.cos(t), np.sin(t)])
    spread = np.sqrt(model.var_[k])
    tone = f"class{int(model.classes_[k]) % 8}"
    ellipses = [model.theta_[k] + r * spread * circle for r in (1, 2)]
    return [Lines(ellipses, tone, 2), Dots([model.theta_[k]], tone, "cross", 1.2)]


def _density(model: GaussianNB, k: int, name: str) -> Formula:
    (m1, m2), (v1, v2) = model.theta_[k], model.var_[k]
    lines = [
        rf"p(x\mid \text{{{tex_words(name)}}}) = N(x_1;\ {m1:.3g},\ {v1:.3g})",
        rf"\cdot\; N(x_2;\ {m2:.3g},\ {v2:.3g})",
        rf"P(\text{{{tex_words(name)}}}) = {model.class_prior_[k]:.3g}",
    ]
    return Formula("the bell of this class", lines)


def _means(board: Board, model: GaussianNB) -> Table:
    rows = [
        [board.label(int(c)), f"{m[0]:.4g}, {m[1]:.4g}", f"{v[0]:.4g}, {v[1]:.4g}"]
        for c, m, v in zip(model.classes_, model.theta_, np.sqrt(model.var_))
    ]
    return Table("means and standard deviations", ["class", "means", "deviations"], rows)
