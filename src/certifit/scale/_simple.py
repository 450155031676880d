"""Families that one pass of sums decides: naive Bayes, principal components, standardising, encodings."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit.certificates.class_sums import ClassTotals, Counts, class_moments, means_and_variances
from certifit.certificates.moments import Moments, near
from certifit.certificates.sums import Block, Statistic
from certifit.decomposition import _spectrum as roads
from certifit.decomposition._covariance import Covariance
from certifit.exceptions import TableError
from certifit.naive_bayes import BernoulliNB, CategoricalNB, MultinomialNB
from certifit.naive_bayes._statistics import ClassCounts, ClassMoments
from certifit.parallel import one_thread
from certifit.scale._job import Job, name_features

_LEVELS = 10_000  # different values of a column to encode


def fit_gaussian(job: Job, model: Any) -> None:
    """Gaussian naive Bayes from sums of x and x² by class."""
    seen = job.look(labels=True)
    assert seen.classes is not None
    grid = seen.grid
    statistic = class_moments(seen.classes, grid, seen.weight_exponent)
    found = job.run(statistic, task="moments by class", rows=seen.rows)
    mean, variance, _, _ = means_and_variances(found, grid.centre)
    total = found.weight.mid
    name_features(model, job.plan.numbers)
    scatter = np.maximum(variance.mid, 0.0) * total[:, None]
    model._adopt_seen(ClassMoments(total, grid.centre + mean.mid, scatter), seen.classes)
    evidence = {
        **_shares(model),
        **model._evidence(),
        "centre": grid.centre,
        "exponent": grid.exponent,
        "digits": 3,
        **seen.weights,
    }
    model._promise_certificates(lambda: (job.certify("gaussian-sums", evidence),))


def _shares(model: Any) -> dict[str, Any]:
    return {"classes": np.asarray(model.classes_), "class_prior": model._prior, "prior_rule": model._prior_rule}


def fit_counting(job: Job, model: Any) -> None:
    """Bernoulli, multinomial and categorical naive Bayes from counts."""
    seen = job.look(labels=True)
    assert seen.classes is not None
    d = len(job.plan.numbers)
    name_features(model, job.plan.numbers)
    kind = {MultinomialNB: "multinomial", BernoulliNB: "bernoulli", CategoricalNB: "categorical"}[type(model)]
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
        raise ValueError("CategoricalNB needs whole numbers, the codes of the categories.")
    cells = near(found.total, 0.0).mid
    if kind == "bernoulli":  # off and on stand side by side
        cells = cells[:, d:]
    model._adopt_seen(ClassCounts(found.weight.mid, cells, sizes), seen.classes)
    evidence = {**_shares(model), **model._evidence(), "columns": d, **seen.weights}
    model._promise_certificates(lambda: (job.certify("counted-sums", evidence),))


def fit_pca(job: Job, model: Any) -> None:
    """Principal components from second moments."""
    seen = job.look(labels=True)
    d = len(job.plan.numbers)
    if seen.rows < max(2, d):
        raise ValueError(f"In partitions PCA needs at least as many rows as columns ({d}), and two.")
    model._check_count((seen.rows, d), "covariance_eigh")
    found = job.run(Moments(seen.grid, seen.digits), task="moments", rows=seen.rows)
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
        "centre": seen.grid.centre,
        "exponent": seen.grid.exponent,
        "digits": seen.digits,
    }
    model._promise_certificates(lambda: (job.certify("component-sums", evidence),))


def fit_standardizer(job: Job, model: Any) -> None:
    """Means and spreads, each rounded once from exact sums."""
    if model.ddof not in (0, 1):
        raise ValueError(f"ddof must be 0 or 1, got {model.ddof}.")
    seen = job.look(labels=True)
    found = job.run(Moments(seen.grid, 3), task="moments", rows=seen.rows)
    room = max(found.rows - model.ddof, 1)
    spread = np.sqrt(np.maximum(np.diag(found.centred().mid), 0.0) / room)
    name_features(model, job.plan.numbers)
    model.constant_ = ~(seen.low < seen.high)
    model.mean_ = np.where(model.constant_, seen.low, found.mean)
    model.scale_ = np.where(model.constant_ | (spread == 0.0), 1.0, spread)


class Levels(Statistic):
    """The different values of every column."""

    def __init__(self, numbers: int, words: int) -> None:
        self.found: list[set[Any]] = [set() for _ in range(numbers + words)]

    def add(self, block: Block) -> None:
        for k, column in enumerate([*block.X, *block.words]):
            values = np.unique(column) if column.dtype != object else set(column.tolist())
            self.found[k].update(values.tolist() if isinstance(values, np.ndarray) else values)
            self._limit()

    def _limit(self) -> None:
        if max(map(len, self.found), default=0) > _LEVELS:
            raise TableError(f"A column has more than {_LEVELS} different values: it is no column of categories.")

    def merge(self, other: Levels) -> Levels:
        for mine, its in zip(self.found, other.found):
            mine |= its
        self._limit()
        return self

    def finish(self) -> list[list[Any]]:
        return [sorted(values, key=lambda v: (v is None or v != v, str(type(v)), v)) for values in self.found]


def fit_encoder(job: Job, model: Any) -> None:
    """An encoder learns the values of each column and nothing else: it is fitted to a table of these."""
    import pandas as pd

    names = [*job.plan.numbers, *job.plan.words]
    levels = job.run(Levels(len(job.plan.numbers), len(job.plan.words)), task="values")
    rows = max(map(len, levels))
    columns = {
        name: [values[min(i, len(values) - 1)] for i in range(rows)] for name, values in zip(names, levels)
    }  # the last value again, where others have more
    fitted = model.fit(pd.DataFrame(columns)[_in_order(job, names)])
    assert fitted is model


def _in_order(job: Job, names: list[str]) -> list[str]:
    return [c for c in job.source.columns if c in set(names)]
