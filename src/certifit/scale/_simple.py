"""Families that one pass of sums decides: naive Bayes, principal components, standardising, encodings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from certifit._types import BaseEstimator
from certifit.certificates.class_sums import ClassTotals, Counts, means_and_variances
from certifit.certificates.mixed_sums import Layout, MixedSums, MixedTotals
from certifit.certificates.moments import near
from certifit.certificates.sums import Block, Grid, Statistic
from certifit.decomposition import _spectrum as roads
from certifit.decomposition._covariance import Covariance
from certifit.exceptions import TableError
from certifit.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB
from certifit.naive_bayes._columns import choose_kinds
from certifit.naive_bayes._statistics import ClassCounts, ClassMoments, MixedStatistics
from certifit.parallel import one_thread
from certifit.preprocessing._scaler import Moments
from certifit.scale._job import Job, name_features
from certifit.scale._quick import QuickClassMoments, QuickMoments

_LEVELS = 10_000  # different values of a column to encode


def fit_gaussian(job: Job, model: BaseEstimator) -> None:
    """Gaussian naive Bayes from sums of x and x² by class."""
    seen = job.look(labels=True)
    assert seen.classes is not None
    grid = seen.grid
    statistic = QuickClassMoments(seen.classes, grid, seen.weight_exponent)
    found = job.run(statistic, task="moments by class", rows=seen.rows)
    mean, variance, _, _ = means_and_variances(found, grid.centre)
    total = found.weight.mid
    name_features(model, job.plan.numbers)
    scatter = np.maximum(variance.mid, 0.0) * total[:, None]
    model._adopt_seen(ClassMoments(total, grid.centre + mean.mid, scatter), seen.classes)
    job.promise(model, "gaussian-sums", {**model._class_evidence(), **model._evidence(), **seen.sums, "digits": 3})


def fit_counting(job: Job, model: BaseEstimator) -> None:
    """Bernoulli, multinomial, complement and categorical naive Bayes from counts."""
    seen = job.look(labels=True, squares=False)
    assert seen.classes is not None
    d = len(job.plan.numbers)
    name_features(model, job.plan.numbers)
    kinds: dict[type, str] = {BernoulliNB: "bernoulli", CategoricalNB: "categorical"}
    kind = kinds.get(type(model), "multinomial")
    spec: dict[str, Any] = {"model": kind}
    if np.any(seen.low < 0.0) and kind != "bernoulli":
        raise ValueError(f"Negative values in data passed to {type(model).__name__} (input X).")
    if kind == "bernoulli":
        spec["binarize"] = None if model.binarize is None else float(model.binarize)
    sizes = None
    if kind == "categorical":
        sizes = model._sizes(np.vstack([seen.high, seen.high]))
        spec["n_categories"] = [int(v) for v in sizes]
    statistic = Counts(seen.classes, spec, d, seen.weight_exponent)
    found: ClassTotals = job.run(statistic, task="counts", rows=seen.rows)
    if not found.inside:
        raise ValueError("CategoricalNB needs integers, the codes of the categories.")
    cells = near(found.total, 0.0).mid
    if kind == "bernoulli":  # off and on stand side by side
        cells = cells[:, d:]
    model._adopt_seen(ClassCounts(found.weight.mid, cells, sizes), seen.classes)
    complement = isinstance(model, ComplementNB)
    evidence = {**model._class_evidence(), **model._evidence(), "columns": d, **seen.weights}
    job.promise(model, "complement-sums" if complement else "counted-sums", evidence)


def fit_mixed(job: Job, model: BaseEstimator) -> None:
    """Naive Bayes on columns of several kinds: the values of the categories first, then sums and counts by class."""
    names = [*job.plan.numbers, *job.plan.words]
    order = _in_order(job, names)
    implied: Any = ["categorical" if c in job.plan.words else job.source.truth(c) for c in order]
    asked: Any = {"numeric": model.numeric, "categorical": model.categorical, "boolean": model.boolean}
    kinds: dict[str, str] = dict(zip(order, choose_kinds([np.zeros(0)] * len(order), implied, order, asked)))
    for name in job.plan.words:
        if kinds[name] == "numeric":
            raise TableError(f"Column {name!r} is listed as numeric, but contains strings.")
    name_features(model, order)
    seen = job.look(labels=True, gaps=True)
    assert seen.classes is not None
    numeric = [j for j, name in enumerate(names) if kinds[name] == "numeric"]
    discrete = [names.index(name) for name in order if kinds[name] != "numeric"]
    levels = job.run(Levels(discrete), task="values", rows=seen.rows) if discrete else []
    model._kinds = [kinds[name] for name in order]
    model._words = [_category_names(model, values, kinds[names[j]], names[j]) for values, j in zip(levels, discrete)]
    numeric.sort(key=lambda j: order.index(names[j]))
    layout = Layout(tuple(numeric), tuple(discrete), tuple(map(tuple, model._words)))
    grid = type(seen.grid)(seen.grid.centre[numeric], seen.grid.exponent[numeric])
    found = job.run(MixedSums(seen.classes, layout, grid, seen.weight_exponent), task="sums by class", rows=seen.rows)
    model._adopt_seen(_mixed_statistics(found, layout, grid), seen.classes)
    own: dict[str, Any] = {"numeric": np.array(numeric, dtype=int), "discrete": np.array(discrete, dtype=int)}
    own |= {"centre": grid.centre, "exponent": grid.exponent, "digits": 3}
    job.promise(model, "mixed-sums", {**model._class_evidence(), **model._evidence(), **own, **seen.weights})


def _category_names(model: BaseEstimator, values: list[Any], kind: str, name: str) -> list[str]:
    known = [v for v in values if v is not None and v == v]
    column = np.array(known, dtype=float if all(isinstance(v, float) for v in known) else object)
    return list(model._name_categories(column, kind, name))


def _mixed_statistics(found: MixedTotals, layout: Layout, grid: Grid) -> MixedStatistics:
    a, total = len(layout.numeric), found.sums.weight.mid
    weight, mean, variance = found.moments(a)
    scatter = np.maximum(variance.mid, 0.0) * weight.mid
    numbers = ClassMoments(weight.mid, np.where(weight.mid > 0.0, grid.centre + mean.mid, 0.0), scatter)
    counts = ClassCounts(total, found.cells(3 * a).mid, np.array(layout.sizes, dtype=np.int64))
    return MixedStatistics(total, numbers, counts)


def fit_pca(job: Job, model: BaseEstimator) -> None:
    """Principal components from second moments."""
    job.ignore_target()
    seen = job.look(labels=False)
    d = len(job.plan.numbers)
    if seen.rows < max(2, d):
        raise ValueError(f"In partitions PCA needs at least as many rows as columns ({d}), and two.")
    model._check_count((seen.rows, d), "covariance_eigh")
    found = job.run(QuickMoments(seen.grid, seen.digits), task="moments", rows=seen.rows)
    scatter = found.centred()
    with one_thread():
        spectrum = roads.by_covariance(Covariance(float(found.rows), found.mean, scatter.mid), None)
    name_features(model, job.plan.numbers)
    model._name(spectrum, (found.rows, d), "covariance_eigh", np.float64)
    spread = float(np.trace(scatter.mid)) / (found.rows - 1)
    off = float(np.linalg.norm(np.broadcast_to(scatter.rad, scatter.shape))) / (found.rows - 1)
    evidence = {
        "components": np.asarray(model.components_, dtype=float),
        "variances": np.asarray(model.explained_variance_, dtype=float),
        "mean": np.asarray(model.mean_, dtype=float),
        "slack": (64.0 * 2.0**-52 + 32.0 * d * 2.0**-53) * spread + 2.0 * off,
        **seen.sums,
    }
    job.promise(model, "component-sums", evidence)


def fit_standardizer(job: Job, model: BaseEstimator) -> None:
    """Means and spreads, each rounded once from exact sums."""
    if model.ddof not in (0, 1):
        raise ValueError(f"ddof must be 0 or 1, got {model.ddof}.")
    job.ignore_target()
    seen = job.look(labels=False)
    found = job.run(QuickMoments(seen.grid, 3), task="moments", rows=seen.rows)
    room = max(found.rows - model.ddof, 1)
    spread = np.sqrt(np.maximum(np.diag(found.centred().mid), 0.0) / room)
    name_features(model, job.plan.numbers)
    model.constant_ = ~(seen.low < seen.high)
    model.mean_ = np.where(model.constant_, seen.low, found.mean)
    model.scale_ = np.where(model.constant_ | (spread == 0.0), 1.0, spread)


def fit_scaler(job: Job, model: BaseEstimator) -> None:
    """Means and variances under the names of scikit-learn's scaler, weighted where rows are."""
    job.ignore_target()
    seen = job.look(labels=False)
    found = job.run(QuickMoments(seen.grid, 3, seen.weight_exponent), task="moments", rows=seen.rows)
    flat = ~(seen.low < seen.high)
    scatter = np.where(flat, 0.0, np.maximum(np.diag(found.centred().mid), 0.0))
    total = np.full(len(flat), seen.total)
    name_features(model, job.plan.numbers)
    model._adopt(Moments(total, np.where(flat, seen.low, found.mean), scatter), seen.mass is not None)


class Levels(Statistic):
    """The different values of some columns, by their place in a block: numbers first, words after them."""

    def __init__(self, places: Sequence[int]) -> None:
        self.places = list(places)
        self.found: list[set[Any]] = [set() for _ in self.places]

    def add(self, block: Block) -> None:
        columns = [*block.X, *block.words]
        for k, column in enumerate(columns[j] for j in self.places):
            values = np.unique(column) if column.dtype != object else set(column.tolist())
            self.found[k].update(values.tolist() if isinstance(values, np.ndarray) else values)
            self._limit()

    def _limit(self) -> None:
        if max(map(len, self.found), default=0) > _LEVELS:
            raise TableError(f"A column has more than {_LEVELS} different values: it is not categorical.")

    def merge(self, other: Levels) -> Levels:
        for mine, its in zip(self.found, other.found):
            mine |= its
        self._limit()
        return self

    def finish(self) -> list[list[Any]]:
        return [sorted(values, key=lambda v: (v is None or v != v, str(type(v)), v)) for values in self.found]


def fit_encoder(job: Job, model: BaseEstimator) -> None:
    """An encoder learns the values of each column and nothing else: it is fitted to a table of these."""
    import pandas as pd

    names = [*job.plan.numbers, *job.plan.words]
    levels = job.run(Levels(range(len(names))), task="values")
    rows = max(map(len, levels))
    columns = {
        name: [values[min(i, len(values) - 1)] for i in range(rows)] for name, values in zip(names, levels)
    }  # the last value again, where others have more
    fitted = model.fit(pd.DataFrame(columns)[_in_order(job, names)])
    assert fitted is model


def _in_order(job: Job, names: list[str]) -> list[str]:
    return [c for c in job.source.columns if c in set(names)]
