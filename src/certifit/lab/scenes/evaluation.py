"""Evaluation: a threshold, the four counts, the ROC curve, and how sure it all is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Curve, Formula, Frame, Layer, Lines, Marks, Panel, Proof, Raster, Series, Table, within
from certifit.lab._scene import Board, Preset, Probe, Scene, Shown, Slider, labelled

if TYPE_CHECKING:
    from certifit.metrics import Confusion


def solve(X: np.ndarray, y: np.ndarray, *, threshold: float, level: float) -> Any:
    """Probabilities of a logistic fit, judged on the points at a threshold."""
    model = cf.linear_model.LogisticRegression(C=1.0).fit(X, y)
    chance = model.predict_proba(X)[:, 1]
    counts = cf.metrics.confusion(y, (chance > threshold).astype(int), labels=[0, 1], positive=1)
    return model, chance, counts, cf.metrics.roc(y, chance)


def report(answer: Any, X: np.ndarray, y: np.ndarray, *, threshold: float, level: float) -> dict[str, object]:
    """Counts, shares and intervals at the chosen threshold."""
    _, _, counts, curve = answer
    found: dict[str, Any] = {"TP": int(counts.tp), "FP": int(counts.fp), "TN": int(counts.tn), "FN": int(counts.fn)}
    for name in ("accuracy", "precision", "recall"):
        found[name] = float(getattr(counts, name))
    found["interval of the accuracy"] = str(counts.accuracy.interval(level))
    return found | {"area under the ROC curve": float(curve.auc), "interval of the area": str(curve.interval(level))}


class Evaluation(Scene):
    """Steps are thresholds, from strict to lenient."""

    title = "Evaluation"
    order = 13
    page = "families/evaluation"
    about = (
        "A classifier that gives probabilities becomes one that decides by a threshold: every threshold trades "
        "missed positives for false alarms, and the ROC curve shows all trades at once. Stepping moves the "
        "threshold down through the points. Figures from few points are uncertain themselves, so each has an "
        "interval. The points evaluated here are the training points, so the figures are optimistic: for an "
        "unbiased estimate, use points that the model has not seen."
    )
    labels = ("negative", "positive")
    controls = (
        Slider("threshold", "threshold", 0.01, 0.99, 0.5, step=0.01),
        Slider("level", "level of the intervals", 0.5, 0.99, 0.95, step=0.01),
    )
    presets = (
        Preset("overlapping", _presets.clouds([(-0.7, -0.3), (0.8, 0.4)], 40, 1.0, 2)),
        Preset("few positives", _presets.uneven(60, 10, 3), {"threshold": 0.3}),
        Preset("hardly separable", _presets.clouds([(-0.2, 0), (0.2, 0.1)], 40, 1.1, 4)),
    )

    def steps(self, shown: Shown) -> int:
        """The chosen threshold comes last; before it, a walk along the ROC curve."""
        return len(_walk(shown)) + 1

    def frame(self, shown: Shown, step: int) -> Frame:
        """The counts at one threshold."""
        board, (model, chance, counts, curve) = shown.board, shown.answer
        last = step == len(_walk(shown))
        limit = float(shown["threshold"] if last else _walk(shown)[step])
        predicted = (chance > limit).astype(int)
        here = counts if last else cf.metrics.confusion(board.y, predicted, labels=[0, 1], positive=1)
        G, shape = board.grid()
        w, b = model.coef_[0], float(model.intercept_[0])
        clipped = min(max(limit, 1e-12), 1 - 1e-12)
        layers: list[Layer] = [
            Raster(model.predict_proba(G)[:, 1].reshape(shape), "diverging", 0.0, 1.0, (), 0.3),
            Lines(board.line(w, b, float(np.log(clipped / (1 - clipped)))), "ink", 2.5, name=f"threshold {limit:.2f}"),
            Marks(np.flatnonzero(predicted != board.y), "ring", "bad"),
        ]
        caption = (
            f"Threshold {limit:.3f}: {here.fn} missed and {here.fp} false alarms (circled) among {len(board.y)} points."
        )
        panels: list[Panel] = [_counts(board, here), _roc(curve, here, shown)]
        if not board.quick:
            panels.append(_shares(here, shown["level"]))
            panels.append(_formula(here))
            panels.append(Proof.of(model.certificate_))
        stop = ""
        if last and not board.quick and model.certificate_.holds:
            gap = within(model.certificate_.gap)
            stop = f"Proved: the model behind these figures is within {gap} of the smallest training objective."
        return Frame(layers, panels, caption, stop, labelled(board, predicted))

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """The probability here."""
        p = float(shown.answer[0].predict_proba(np.array([[x, y]]))[0, 1])
        return Probe([f"probability of {shown.board.label(1)}: {p:.4f}"])


def _walk(shown: Shown) -> np.ndarray:
    """Thresholds between neighbouring scores, at most 40, from high to low."""
    scores = np.unique(shown.answer[1])[::-1]
    between = np.concatenate([[1.0], (scores[1:] + scores[:-1]) / 2, [0.0]])
    return np.asarray(between[np.unique(np.linspace(0, len(between) - 1, min(40, len(between))).round().astype(int))])


def _counts(board: Board, here: Confusion) -> Table:
    negative, positive = board.label(0), board.label(1)
    rows = [[f"is {positive}", int(here.tp), int(here.fn)], [f"is {negative}", int(here.fp), int(here.tn)]]
    return Table("confusion matrix", ["", f"called {positive}", f"called {negative}"], rows)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def _roc(curve: Any, here: Confusion, shown: Shown) -> Curve:
    x, y = _share(here.fp, here.fp + here.tn), _share(here.tp, here.tp + here.fn)
    series = [
        Series("ROC", curve.fpr, curve.tpr, "class0"),
        Series("chance", [0, 1], [0, 1], "muted", dash=True),
        Series("this threshold", [x], [y], "accent", dots=True),
    ]
    if not shown.board.quick:
        low, high = curve.band(shown["level"])
        series += [
            Series("band, lower end", curve.fpr, low, "class5", dash=True),
            Series("band, upper end", curve.fpr, high, "class5", dash=True),
        ]
    return Curve("ROC curve", series, "false positive rate", "true positive rate (recall)", at=x)


def _shares(here: Confusion, level: float) -> Table:
    rows = []
    for name in ("accuracy", "precision", "recall", "specificity"):
        try:
            figure = getattr(here, name)
            interval = figure.interval(level)
            rows.append([name, f"{float(figure):.3f}", f"{interval.low:.3f} to {interval.high:.3f}"])
        except (ValueError, ZeroDivisionError):
            rows.append([name, "undefined", ""])
    return Table(f"figures with {100 * level:.0f} % intervals", ["figure", "value", "interval"], rows)


def _formula(here: Confusion) -> Formula:
    return Formula(
        "with these counts",
        [
            rf"\text{{precision}} = \frac{{TP}}{{TP+FP}} = \frac{{{int(here.tp)}}}{{{int(here.tp + here.fp)}}}",
            rf"\text{{recall}} = \frac{{TP}}{{TP+FN}} = \frac{{{int(here.tp)}}}{{{int(here.tp + here.fn)}}}",
        ],
    )
