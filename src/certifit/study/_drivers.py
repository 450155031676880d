"""What drives the predictions: importance on held-out rows, and how the answer moves with one column.

Importance of a column (or of columns that say nearly the same): the loss of score on a fold's held-out rows when its
cells are shuffled among them, by the model of that fold, averaged over a few shuffles. The interval is over the folds,
corrected for their overlapping training rows. Partial dependence: the mean prediction of the chosen model when a column
is set to a value in every row; the thin lines are single rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from certifit._limits import corrected_limits, held_out_share
from certifit._types import Array, BaseEstimator, Named, Pipeline, Record
from certifit.files import Column
from certifit.study._judge import Answers, answers_of, score
from certifit.study._plan import Work
from certifit.study._runner import Result, fit_weighted, make_pipeline

_ALIKE = 0.8  # rank correlation from which columns are shuffled together
_SHUFFLES = 3
_ROWS = 1_000  # held-out rows of a fold, at most
_TOGETHER = 10_000  # shuffled rows that a model answers at once
_MOST = 6  # columns whose dependence is drawn
_SAMPLE = 300  # rows that a partial dependence is averaged over
_LINES = 25  # of them drawn one by one
_STEPS = 15
_LEVELS = 8


def as_chosen(result: Result, k: int, work: Work) -> Any:
    """The candidate's unfitted pipeline with the parameters that fold k chose."""
    chosen = result.pieces[k].chosen
    names = result.candidate.parameters(len(work.folds[k][0]), len(work.schema.columns))
    return make_pipeline(result.candidate, work).set_params(**{n: chosen[n.split("__")[-1]] for n in names})


# -- importance ---------------------------------------------------------------------------------------
def importance(result: Result, work: Work, deadline: float = float("inf")) -> Record:
    """Loss of held-out score per group of columns, with intervals, most important first; nothing when time is up."""
    groups = alike(work)
    rng = np.random.default_rng(work.seed)
    lost = np.full((len(work.folds), len(groups)), np.nan)
    for k, (train, test) in enumerate(work.folds):
        model = as_chosen(result, k, work)
        rows = np.sort(rng.permutation(test)[:_ROWS])
        with warnings.catch_warnings(action="ignore"):
            fit_weighted(model, work.X[train], work.y[train], work.weights_of(train))
        held = _Held.of(model, work.X[rows])
        (whole,) = _scores(held.model, work, rows, [held.whole])
        many = max(_TOGETHER // (_SHUFFLES * len(rows)), 1)
        for first in range(0, len(groups), many):
            if time.monotonic() > deadline:
                return {}
            some = groups[first : first + many]
            tables = [held.shuffled(columns, rng) for columns in some for _ in range(_SHUFFLES)]
            left = np.reshape(_scores(held.model, work, rows, tables), (len(some), _SHUFFLES))
            lost[k, first : first + many] = whole - left.mean(axis=1)
    held_out = held_out_share(work.folds)
    names = [c.source for c in work.schema.columns]
    found: list[dict[str, Any]] = []
    for g, columns in enumerate(groups):
        low, high, _ = corrected_limits(lost[:, g], held_out, 0.95)
        found.append(
            {
                "columns": list(dict.fromkeys(names[j] for j in columns)),
                "lost": float(lost[:, g].mean()),
                "interval": [low, high],
            }
        )
    found.sort(key=lambda row: -row["lost"])
    return {"importance": found}


def _scores(model: BaseEstimator, work: Work, rows: Array, tables: Sequence[Array]) -> list[float]:
    """The score of these rows for each table of their columns, all of which the model answers at once."""
    said = answers_of(model, np.concatenate(tables))
    y, weights, n = work.y[rows], work.weights_of(rows), len(rows)
    parts = (said.take(slice(at, at + n)) for at in range(0, n * len(tables), n))
    return [score(work.measure, y, part, work.classes, weights) for part in parts]


@dataclass(frozen=True)
class _Held:
    """Held-out rows as features, made once, and the rest of the model: a shuffled column shuffles its features.

    Of a linear model only the scores are kept: the columns change them by their own features times the coefficients,
    and the other columns, however many, need not be looked at again. `model` then answers for tables of scores.
    """

    features: Array
    owner: Array  # the column of each feature
    model: Any
    coef: Array | None  # (features, scores) of a linear model
    whole: Array  # what `model` answers for

    @classmethod
    def of(cls, pipeline: Pipeline, X: Array) -> _Held:
        encoder, last = pipeline.steps[0][1], pipeline.steps[-1][1]
        Z = np.asarray(encoder.transform(X))
        coef = getattr(last, "coef_", None)
        if len(pipeline.steps) > 2:
            return cls(Z, encoder.owners_, pipeline[1:], None, Z)
        if not isinstance(coef, np.ndarray) or coef.shape[-1] != Z.shape[1]:
            return cls(Z, encoder.owners_, last, None, Z)
        table = np.atleast_2d(coef).T
        scores = object.__new__(type(last))
        scores.__dict__.update(last.__dict__)  # `copy.copy` would prove the fit first
        scores.coef_ = np.eye(table.shape[1], dtype=coef.dtype).reshape(*coef.shape[:-1], table.shape[1])
        scores.n_features_in_ = table.shape[1]
        return cls(Z, encoder.owners_, scores, table, Z @ table)

    def shuffled(self, columns: Sequence[int], rng: np.random.Generator) -> Array:
        """The rows with some columns shuffled together, so that what they say of each other stays true."""
        mine, order = np.flatnonzero(np.isin(self.owner, columns)), rng.permutation(len(self.features))
        others = self.features[np.ix_(order, mine)]
        if self.coef is not None:
            return np.asarray(self.whole + (others - self.features[:, mine]) @ self.coef[mine])
        out = self.features.copy()
        out[:, mine] = others
        return out


def alike(work: Work) -> list[list[int]]:
    """Columns in groups whose ranks are correlated by 0.8 or more with each other.

    Texts and categories of more than two levels, which have no order, stand alone.
    """
    columns = work.schema.columns
    ordered = [j for j, c in enumerate(columns) if _has_order(c) and np.nanstd(work.X[:, j]) > 0]
    texts = [
        [j for j, c in enumerate(columns) if c.text == t] for t in dict.fromkeys(c.text for c in columns if c.text)
    ]
    alone = [*([j] for j, c in enumerate(columns) if j not in set(ordered) and not c.text), *texts]
    if len(ordered) < 2:
        return sorted([*([j] for j in ordered), *alone])
    part = work.X[np.random.default_rng(work.seed).permutation(len(work.y))[:5_000]][:, ordered]
    filled = np.where(np.isnan(part), np.nanmedian(part, axis=0), part)
    ranks = rankdata(filled, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        far = 1.0 - np.abs(np.nan_to_num(np.corrcoef(ranks, rowvar=False)))
    np.fill_diagonal(far, 0.0)
    label = fcluster(linkage(squareform(far, checks=False), "complete"), 1.0 - _ALIKE, "distance")
    together = [[ordered[i] for i in np.flatnonzero(label == g)] for g in np.unique(label)]
    return sorted(together + alone)


def _has_order(c: Column) -> bool:
    return not c.text and (c.kind != "category" or len(c.categories) <= 2)


# -- dependence ---------------------------------------------------------------------------------------
def dependence(pipeline: Pipeline, work: Work, order: Sequence[str], deadline: float = float("inf")) -> list[Record]:
    """Partial dependence, and single rows, of the first few columns named; none for classes without probabilities."""
    rng = np.random.default_rng(work.seed)
    sample = work.X[np.sort(rng.permutation(len(work.y))[:_SAMPLE])]
    if work.task == "classification" and _curves(answers_of(pipeline, sample[:1]), work) is None:
        return []
    found = []
    for name in [n for n in order if n in work.schema.names][:_MOST]:
        if time.monotonic() > deadline:
            break
        j = work.schema.names.index(name)
        column = work.schema.columns[j]
        grid, shown = _grid(work.X[:, j], column)
        if len(grid) > 1:
            found.append(_moved(pipeline, work, sample, j, grid) | {"column": name, "kind": column.kind, "at": shown})
    return found


def _moved(pipeline: Pipeline, work: Work, sample: Array, j: int, grid: Array) -> Record:
    """The answers when column j takes each value of the grid in every row."""
    answers = []
    for v in grid:
        moved = sample.copy()
        moved[:, j] = v
        answers.append(_curves(answers_of(pipeline, moved), work))
    values = np.array(answers)  # (grid, labels, rows)
    labels = _labels(work)
    out: dict[str, Any] = {
        "curves": [{"label": label, "mean": _rounded(values[:, c].mean(axis=1))} for c, label in enumerate(labels)]
    }
    if len(labels) == 1:
        n = values.shape[2]  # drawn rows are spread over the table, which may be sorted
        out["rows"] = [_rounded(values[:, 0, i]) for i in np.unique(np.linspace(0, n - 1, min(_LINES, n)).astype(int))]
    return out


def _rounded(values: Array) -> list[float]:
    return [float(f"{v:.5g}") for v in values]


def _labels(work: Work) -> list[str]:
    if work.task != "classification":
        return [work.schema.target.name if work.schema.target else "prediction"]
    assert work.classes is not None
    return [str(work.positive)] if len(work.classes) == 2 else [str(c) for c in work.classes][:4]


def _curves(said: Answers, work: Work) -> Array | None:
    """What is drawn, one row per label: the prediction, or probabilities; None where there are none."""
    if work.task != "classification":
        return np.asarray(said.labels, dtype=float)[None]
    if said.probabilities is None or work.classes is None or said.probabilities.shape[1] != len(work.classes):
        return None
    if len(work.classes) == 2:
        return said.probabilities[:, np.flatnonzero(work.classes == work.positive)].T
    return said.probabilities[:, :4].T


def _grid(x: Array, column: Column) -> tuple[Array, list[Any]]:
    """Values that a column is set to, and how they are shown."""
    seen = x[~np.isnan(x)]
    if column.kind == "category":
        counts = np.bincount(seen[seen >= 0].astype(int), minlength=len(column.categories))
        codes = np.argsort(-counts, kind="stable")[: min(_LEVELS, int((counts > 0).sum()))]
        return codes.astype(float), [column.categories[int(c)] for c in codes]
    if column.kind == "boolean":
        return np.array([0.0, 1.0]), ["no", "yes"]
    values = np.unique(seen)
    if len(values) > _STEPS:
        low, high = np.quantile(seen, [0.05, 0.95])
        values = np.unique(np.linspace(low, high, _STEPS))
    if column.kind == "date":
        return values, [str(np.datetime64(int(v), "D")) for v in np.floor(values)]
    return values, [float(f"{v:.6g}") for v in values]


def most_important(found: Named) -> list[str]:
    """The leading columns, one of each group that are alike."""
    return [row["columns"][0] for row in found.get("importance", [])]
