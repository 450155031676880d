"""The chosen model: refitted on all rows, looked into, proved."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from certifit import metrics
from certifit._types import Array, BaseEstimator, Pipeline, Record
from certifit.files import certificates_of
from certifit.study import _separable
from certifit.study._drivers import as_chosen
from certifit.study._effects import effects, own_units
from certifit.study._judge import Answers, answers_of, score
from certifit.study._plan import Work
from certifit.study._runner import Result, choose_and_fit, fit_weighted, make_pipeline

if TYPE_CHECKING:
    from certifit.certificates import Certificate

_POINTS = 1_500  # of a scatter plot
_STEPS = 200  # of a ROC curve
_CURVES = 6  # classes whose ROC curves still make one picture
_SIZES = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
_SEPARABILITY_CELLS = 500_000


def refit(result: Result, work: Work, allowance: float = float("inf")) -> tuple[Any, dict[str, Any], str]:
    """The candidate on all rows: the fitted pipeline, its parameters, and how they were chosen.

    By a search on all rows; when that would take more seconds than allowed, by the estimate, the choice of most folds
    is taken.
    """
    grid = result.candidate.parameters(len(work.y), len(work.schema.columns))
    classes = 0 if work.classes is None else len(work.classes)
    needed = result.candidate.seconds(len(work.y), work.features, classes)
    with warnings.catch_warnings(action="ignore"):
        if grid and result.pieces and needed > allowance:
            chosen = _most_chosen(result)
            settings = {name: chosen[name.split("__")[-1]] for name in grid}
            pipeline = make_pipeline(result.candidate, work).set_params(**settings)
            fit_weighted(pipeline, work.X, work.y, work.weights)
            return pipeline, chosen, "the choice of most folds: the time budget is too short for another search"
        pipeline, chosen = choose_and_fit(result.candidate, work, np.arange(len(work.y)))
    return pipeline, chosen, "cross-validation on all rows" if grid else "nothing to choose"


def _most_chosen(result: Result) -> Record:
    """The combination of parameters that most folds chose, the first of equals."""
    choices = [result.pieces[k].chosen for k in sorted(result.pieces)]
    return max(choices, key=choices.count)


@dataclass(frozen=True)
class HeldOut:
    """Rows that were held out (all of them, unless a design in time keeps the first ones for training), and answers."""

    rows: Array
    y: Array
    said: Answers
    weights: Array | None = None


def held_out_answers(result: Result, work: Work) -> HeldOut:
    """What the candidate said about every held-out row when it had not seen it.

    Scores of different folds come from different models on different scales: they are given as ranks in their fold.
    """
    pieces = [result.pieces[k].answers for k in range(len(work.folds))]
    said = [p for p in pieces if p is not None]

    def gather(parts: Sequence[Array | None]) -> Array | None:
        if any(p is None for p in parts):
            return None
        whole: list[Array] = [p for p in parts if p is not None]
        if len({p.shape[1:] for p in whole}) > 1:
            return None  # a class was absent from some training fold
        out = np.empty((len(work.y), *whole[0].shape[1:]), dtype=np.result_type(*whole))
        for (_, test), part in zip(work.folds, whole):
            out[test] = part
        return out

    labels = gather([s.labels for s in said])
    assert labels is not None
    rows = np.unique(np.concatenate([test for _, test in work.folds]))
    ranks = [None if s.scores is None else rankdata(s.scores) / (len(s.scores) + 1.0) for s in said]
    answers = Answers(labels, gather(ranks), gather([s.probabilities for s in said])).take(rows)
    return HeldOut(rows, work.y[rows], answers, work.weights_of(rows))


# -- figures of held-out answers --------------------------------------------------------------------
def class_figures(y: Array, said: Answers, labels: Array, curves: bool = True, positive: Any = None) -> Record:
    """Confusion matrix; recall and precision per class and accuracy, with exact binomial intervals; ROC for two.

    Of two classes the rarer one is the positive one unless another is named.
    """
    index = {str(c): k for k, c in enumerate(labels)}
    matrix = np.zeros((len(labels), len(labels)), dtype=int)
    np.add.at(matrix, ([index[str(v)] for v in y], [index[str(v)] for v in said.labels]), 1)
    rows = []
    for k, c in enumerate(labels):
        rows.append(
            {
                "label": str(c),
                "rows": int(matrix[k].sum()),
                "recall": share(int(matrix[k, k]), int(matrix[k].sum())),
                "precision": share(int(matrix[k, k]), int(matrix[:, k].sum())),
            }
        )
    out: dict[str, Any] = {
        "labels": [str(c) for c in labels],
        "matrix": matrix.tolist(),
        "classes": rows,
        "accuracy": share(int(np.trace(matrix)), len(y)),
        "commonest": {
            "label": str(labels[matrix.sum(axis=1).argmax()]),
            "share": float(matrix.sum(axis=1).max() / len(y)),
        },
    }
    if not curves:  # the same score for every row ranks nothing
        return out
    if len(labels) == 2 and said.scores is not None:
        first = matrix[0].sum() < matrix[1].sum() if positive is None else str(positive) == str(labels[0])
        scores = -said.scores if first else said.scores  # scores speak for the last class
        out["roc"] = _roc(y == labels[0 if first else 1], scores, labels[0 if first else 1], band=True)
    elif len(labels) <= _CURVES and said.probabilities is not None and said.probabilities.shape[1] == len(labels):
        out["rocs"] = [_roc(y == c, said.probabilities[:, k], c) for k, c in enumerate(labels)]
    return out


def share(hits: int, total: int) -> Record:
    """A share with its exact (Clopper-Pearson) 95 % interval."""
    if total == 0:
        return {"value": None, "interval": [0.0, 1.0], "of": 0}
    figure = metrics.share(hits, total)
    limits = figure.interval(0.95)
    return {"value": float(figure), "interval": [limits.low, limits.high], "of": total}


def _roc(positive: Array, scores: Array, label: Any, band: bool = False) -> Record:
    """The curve at a readable number of points; with bands also precision against recall."""
    curve = metrics.roc(positive, scores)
    keep = np.unique(np.linspace(0, len(curve.fpr) - 1, min(len(curve.fpr), _STEPS)).astype(int))
    limits = curve.interval(0.95)
    out = {
        "positive": str(label),
        "fpr": _five(curve.fpr[keep]),
        "tpr": _five(curve.tpr[keep]),
        "pooled_auc": float(curve.auc),
        "interval": [limits.low, limits.high],
        "method": limits.method,
    }
    if band:
        low, high = curve.band(0.95)
        out |= {"low": _five(low[keep]), "high": _five(high[keep]), "precision": _precision(curve, keep)}
    return out


def _precision(curve: metrics.Roc, keep: Array) -> dict[str, Any]:
    """Precision at each recall, with limits from the bands of both shares at the same threshold.

    The shares of both classes above a threshold lie within (log(2/a) / 2n)^½ of the truth at all thresholds together
    (Dvoretzky, Kiefer and Wolfowitz; Massart), each with probability 1 − a = √0.95.
    """
    a = 1.0 - np.sqrt(0.95)
    share = curve.n_positive / (curve.n_positive + curve.n_negative)
    up, across = (np.sqrt(np.log(2 / a) / (2 * n)) for n in (curve.n_positive, curve.n_negative))
    keep = keep[curve.tpr[keep] > 0]
    t, f = curve.tpr[keep], curve.fpr[keep]

    def precision(t: Array, f: Array) -> list[float]:
        t, f = np.clip(t, 0, 1), np.clip(f, 0, 1)
        hits = share * t
        return _five(hits / np.maximum(hits + (1 - share) * f, 1e-12))

    low, high = precision(t - up, f + across), precision(t + up, f - across)
    return {"recall": _five(t), "precision": precision(t, f), "low": low, "high": high, "share": float(share)}


def _five(values: Array) -> list[float]:
    return [round(float(v), 5) for v in values]


def value_figures(y: Array, said: Answers, seed: int) -> Record:
    """Errors in the target's units, and points of predicted against true values."""
    residual = y - said.labels
    rows = np.sort(np.random.default_rng(seed).permutation(len(y))[:_POINTS])
    return {
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "mae": float(np.mean(np.abs(residual))),
        "spread": float(np.std(y)),
        "within": [float(v) for v in np.quantile(residual, [0.05, 0.95])],
        "true": [float(f"{v:.6g}") for v in y[rows]],
        "predicted": [float(f"{v:.6g}") for v in said.labels[rows]],
    }


# -- learning curve -----------------------------------------------------------------------------------
def learning_curve(result: Result, work: Work, deadline: float) -> list[Record]:
    """Score on training and held-out rows for growing training sets.

    Every fold takes part with the parameters that it chose itself, so that the curve ends at the score of the
    comparison; sizes for which some fold has too few rows, or no time is left, are left out.
    """
    if work.time is not None:  # training sets of different folds have different sizes
        return []
    rng = np.random.default_rng(work.seed)
    orders = [rng.permutation(train) for train, _ in work.folds]
    points = []
    for part in _SIZES:
        scores: list[tuple[float, float]] = []
        size = round(part * min(len(o) for o in orders))
        for k, (order, (_, test)) in enumerate(zip(orders, work.folds)):
            rows = order if part == 1.0 else order[:size]
            if time.monotonic() > deadline or not _enough(work, rows):
                break
            scores.append(_learn(as_chosen(result, k, work), work, rows, test))
        if len(scores) == len(work.folds):
            if part == 1.0:
                scores = [(train, result.pieces[k].score) for k, (train, _) in enumerate(scores)]
            train, held = np.mean(scores, axis=0)
            if np.isfinite(train) and np.isfinite(held):
                spread = float(np.std([s[1] for s in scores], ddof=1))
                points.append({"rows": int(size), "train": float(train), "held_out": float(held), "spread": spread})
    return points


def _enough(work: Work, rows: Array) -> bool:
    if work.task != "classification":
        return len(rows) >= 5
    return len(np.unique(work.y[rows])) == len(np.unique(work.y)) and len(rows) >= 5


def _scored(model: BaseEstimator, work: Work, rows: Array) -> float:
    return score(work.measure, work.y[rows], answers_of(model, work.X[rows]), work.classes, work.weights_of(rows))


def _learn(model: BaseEstimator, work: Work, rows: Array, test: Array) -> tuple[float, float]:
    try:
        with warnings.catch_warnings(action="ignore"):
            fit_weighted(model, work.X[rows], work.y[rows], work.weights_of(rows))
            return _scored(model, work, rows), _scored(model, work, test)
    except ValueError:  # too few rows for this model (k-NN with more neighbours than rows)
        return float("nan"), float("nan")


# -- what the model looks at ----------------------------------------------------------------------------
def inside(pipeline: Pipeline, work: Work) -> Record:
    """Coefficients (with intervals where they mean something), or the tree; nothing for other models."""
    model = pipeline.steps[-1][1]
    names = feature_names(pipeline)
    coef = getattr(model, "coef_", None)
    if coef is not None and not callable(coef):
        table = np.atleast_2d(np.asarray(coef, dtype=float))
        if table.shape[1] == len(names):
            found = {"kind": "coefficients", "names": names, "rows": _rows(model, table), "values": _lists(table)}
            one_of_two = len(table) == 1 and hasattr(model, "classes_")
            found |= {"towards": str(model.classes_[-1])} if one_of_two else {}
            return found | {"own": own_units(pipeline), "effects": effects(pipeline, work)}
    text = _tree_text(model, names)
    if text:
        return {"kind": "tree", "text": text, "drawn": drawn(model, names)}
    return {"kind": "importance"}


def _rows(model: BaseEstimator, table: Array) -> list[str]:
    if len(table) == 1:
        return [""]
    return [str(c) for c in getattr(model, "classes_", range(len(table)))][: len(table)]


def _lists(table: Array) -> list[list[float]]:
    return [[float(v) for v in row] for row in table]


def feature_names(pipeline: Pipeline) -> list[str]:
    """Names of what the last step sees."""
    encoder = pipeline.steps[0][1]
    names = [str(n) for n in encoder.get_feature_names_out()]
    for name, step in pipeline.steps[1:-1]:
        try:
            names = [str(n) for n in step.get_feature_names_out(names)]
        except (AttributeError, TypeError, ValueError):
            names = [f"{name} {j + 1}" for j in range(pipeline.steps[-1][1].n_features_in_)]
    return names


def _tree_text(model: BaseEstimator, names: list[str]) -> str:
    if not type(model).__name__.startswith("DecisionTree"):
        return ""
    from certifit.tree import export_text

    return in_plain_words(str(export_text(model, feature_names=names, form="words")), names)


_DRAWN = 3  # splits below each other in the picture of a tree


def drawn(model: BaseEstimator, names: list[str]) -> list[dict[str, Any]]:
    """The top of a tree as a list of nodes, parents first: depth, split or prediction, fraction of rows."""
    from certifit.tree._export import answer, split

    tree = model.tree_
    whole = float(tree.weighted_n_node_samples[0])
    found: list[dict[str, Any]] = []

    def add(node: int, depth: int, parent: int | None, yes: bool) -> None:
        leaf, cut = bool(tree.children_left[node] < 0), depth >= _DRAWN
        asked = "" if leaf else in_plain_words(split(model, node, names)[0], names)
        text = answer(model, node) if leaf or cut else asked
        row = {"depth": depth, "parent": parent, "yes": yes, "text": text, "leaf": leaf, "cut": cut and not leaf}
        found.append(row | {"share": float(tree.weighted_n_node_samples[node]) / whole})
        if not leaf and not cut:
            here = len(found) - 1
            add(int(tree.children_left[node]), depth + 1, here, True)
            add(int(tree.children_right[node]), depth + 1, here, False)

    add(0, 0, None, True)
    return found


def in_plain_words(text: str, names: list[str]) -> str:
    """Splits on 0/1 features in plain words: colour = red, colour ≠ red, age is missing, age is there."""
    for name in sorted(names, key=len, reverse=True):
        if " = " in name:
            column, _, level = name.rpartition(" = ")
            yes, no = name, f"{column} ≠ {level}"
        elif name.endswith(" is missing"):
            yes, no = name, name.removesuffix("missing") + "there"
        else:
            continue
        text = text.replace(f"{name} <= 0.5", no).replace(f"{name} > 0.5", yes)
    return text


# -- proofs ------------------------------------------------------------------------------------------------
def proofs(pipeline: Pipeline, work: Work, deadline: float = float("inf")) -> Record:
    """Certificates of the fit in words and figures, labels that are certain, and whether the classes overlap."""
    Z = pipeline[:-1].transform(work.X)
    model = pipeline.steps[-1][1]
    out: dict[str, Any] = {"certificates": [told(c) for c in certificates_of(pipeline)]}
    certain = _certain(model, Z)
    if certain is not None:
        out["certain"] = certain
    small = Z.size <= _SEPARABILITY_CELLS and not np.isnan(Z).any()
    if work.task == "classification" and small and time.monotonic() < deadline:
        out["separability"] = _separable.told(Z, work.y)
    return out


def told(certificate: Certificate) -> Record:
    """A certificate as the record holds it."""
    record = certificate.to_dict()
    del record["evidence"]  # in the model file; here the words and figures
    return record | {"text": str(certificate)}


def _certain(model: BaseEstimator, Z: Array) -> dict[str, int] | None:
    if not hasattr(model, "certain"):
        return None
    try:
        mask = np.asarray(model.certain(Z))
    except (AttributeError, NotImplementedError, ValueError):
        return None
    return {"labels": int(mask.sum()), "of": len(mask)}
