"""What a user calls: fit, predict, evaluate, cross_validate, sample, verify."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
from sklearn.base import clone, is_classifier

from certifit._arrow import pa, pq
from certifit._atomic import atomic
from certifit._types import Array
from certifit.certificates import Certificate, Verification
from certifit.exceptions import TableError
from certifit.parallel import cores
from certifit.scale._engine import Engine, running
from certifit.scale._families import FITTERS, SHIFTED, UNTARGETED, WEIGHTED, WORDS
from certifit.scale._folds import FoldScores, score_folds
from certifit.scale._job import Job
from certifit.scale._metrics import Confusion, Errors, Histogram, SortedScores, area, ranges_of
from certifit.scale._predict import Answerer
from certifit.scale._progress import Bars
from certifit.scale._sample import Sample
from certifit.scale._smooth import refusal
from certifit.scale._source import NamedColumns, Partition, Plan, Source

_SMALL = 16 << 20  # bytes of a table below which one process is quicker
_PROCESS = 320 << 20  # memory of a worker that has loaded the library
_UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


class Working(TypedDict, total=False):
    """The words in which a caller says how the work is done: see `Way`."""

    engine: Any
    workers: int | None
    memory: int | str | None
    progress: Any


@dataclass(frozen=True)
class Way:
    """How the work is done: the engine, how many workers, how much memory, who watches."""

    engine: Any = "local"
    workers: int | None = None
    memory: int | str | None = None
    progress: Any = None

    def budget(self, columns: int) -> tuple[int | None, int | None]:
        """Workers and rows of a block that keep within the memory."""
        if self.memory is None:
            return self.workers, None
        room = bytes_of(self.memory) - _PROCESS
        workers = max(1, min(self.workers or cores(), room // _PROCESS))
        rows = int(max(room, 0) // 2 // workers // (8 * 40 * max(columns, 1)))
        return int(workers), int(np.clip(rows, 1024, 1 << 14))


def bytes_of(memory: int | str) -> int:
    """A size such as "2GB" in bytes.

    Examples
    --------
    >>> bytes_of("2GB"), bytes_of("512 MB")
    (2147483648, 536870912)
    """
    if isinstance(memory, int):
        return memory
    found = re.fullmatch(r"\s*([\d.]+)\s*([kKmMgGtT]?[bB]?)\s*", memory)
    unit = found[2].upper() if found else ""
    unit = unit if unit in _UNITS else unit + "B"
    if not found or unit not in _UNITS:
        raise ValueError(f"memory is a size such as '2GB', not {memory!r}.")
    return int(float(found[1]) * _UNITS[unit])


@contextmanager
def job_of(source: Any, columns: NamedColumns, way: Way, words: bool = False) -> Iterator[Job]:
    """The table, the columns and the engine, closed at the end."""
    table = Source.of(source)
    workers, rows = way.budget(len(table.columns))
    plan = table.plan(columns, rows, words)
    progress: Callable[[str, int | None], Any] | None = Bars() if way.progress is True else way.progress or None
    # Starting processes takes longer than reading a small table.
    engine = "serial" if way.engine == "local" and way.workers is None and table.size < _SMALL else way.engine
    with running(engine, workers) as runner:
        yield Job(table, plan, runner, progress, partial(running, engine, workers))


def fit(
    estimator: Any,
    source: Any,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    offset: str | None = None,
    exposure: str | None = None,
    **way: Unpack[Working],
) -> Any:
    r"""Fit an ordinary estimator to a table in partitions; the estimator itself is left as it is.

    Every sum over rows :math:`\sum_i s_i a_i b_i` is exact up to a stated radius and independent of order; the result
    is the same, bit for bit, for every partitioning, engine and number of workers. ``certificate_`` of the result is
    issued when it is read, by one more pass.

    Parameters
    ----------
    estimator : estimator
        LinearRegression, Ridge, Lasso, ElasticNet, LogisticRegression (l2 or no penalty), GLM and similar classes
        (convex families), LinearSVC, GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB, MixedNB, PCA,
        KMeans, Standardizer, StandardScaler, OneHot, Thermometer or Factored. Others are rejected: fit them to a
        `sample`.
    source : path, pattern, list of paths, pyarrow.Table, data frame, dask.dataframe, dask.array or Source
        Parquet, Arrow and CSV files are read in partitions.
    target : str, default=None
        The column to predict.
    features : sequence of str, default=None
        Columns to use; all but the target, the weights and the offsets when None.
    weight : str, default=None
        A column of weights ≥ 0, for least squares and related models, logistic regression, GLMs, naive
        Bayes, k-means and StandardScaler; weight k counts as k copies of the row.
    offset, exposure : str, default=None
        Columns for generalized linear models: the offset is added to every score, the exposure adds its logarithm
        (log link only).
    engine : {"local", "serial", "dask"}, address of a scheduler, or distributed.Client, default="local"
        Small tables are read in this process alone unless ``workers`` is given.
    workers : int, default=None
        Processes of the local engine; as many as there are processors when None.
    memory : int or str, default=None
        Budget of all processes together, such as "2GB".
    progress : bool or callable, default=None
        True draws bars with rows per second and the time left.

    Returns
    -------
    A fitted clone of the estimator.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from certifit import scale
    >>> from certifit.linear_model import Ridge
    >>> rows = {"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.5]}
    >>> one = scale.fit(Ridge(), pa.table(rows), target="y", engine="serial")
    >>> three = scale.fit(Ridge(), scale.Source.of(pa.table(rows), 3), target="y", engine="serial")
    >>> one.coef_.tolist(), bool(one.coef_ == three.coef_), one.certificate_.holds
    ([1.5], True, True)
    """
    fitter = FITTERS.get(type(estimator))
    if fitter is None:
        raise TypeError(refusal(estimator, "it needs all rows at once"))
    if weight is not None and not isinstance(estimator, WEIGHTED):
        raise TypeError(f"{type(estimator).__name__} does not support row weights in passes over partitions.")
    if (offset is not None or exposure is not None) and not isinstance(estimator, SHIFTED):
        raise TypeError(f"{type(estimator).__name__} has no offset or exposure: only generalized linear models do.")
    if target is None and not isinstance(estimator, UNTARGETED):
        raise ValueError(f"{type(estimator).__name__} predicts a column: name it with target=.")
    model = clone(estimator)
    getattr(model, "_validate_params", lambda: None)()
    columns = NamedColumns(target, features, weight, offset, exposure)
    with job_of(source, columns, Way(**way), isinstance(estimator, WORDS)) as job:
        if not (job.plan.numbers or job.plan.words):
            raise TableError("There is no column to learn from beside the target.")
        fitter(job, model)
    return model


def verify(
    fitted: Any,
    source: Any,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    **way: Unpack[Working],
) -> Verification:
    """Re-check the certificate of a fit on a table in partitions; a partition that was changed is named.

    Parameters
    ----------
    fitted : estimator fitted by `fit`, or its Certificate
    source, target, features, weight, engine, workers, memory, progress :
        As in `fit`, with the same partitions; the certificate knows the names of the columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from certifit import scale
    >>> from certifit.linear_model import Ridge
    >>> rows = pa.table({"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.5]})
    >>> model = scale.fit(Ridge(), rows, target="y", engine="serial")
    >>> scale.verify(model, rows, target="y", engine="serial").holds
    True
    """
    certificate: Certificate = fitted if isinstance(fitted, Certificate) else fitted.certificate_
    told: Any = certificate.digests
    if "columns" in told and "target" not in told:  # a model without a target
        target = None
    columns = NamedColumns(
        told.get("target") if target is None else target,
        told.get("columns") if features is None else features,
        told.get("weight") if weight is None else weight,
        told.get("offset"),
        told.get("exposure"),
    )
    with job_of(source, columns, Way(**way), words=True) as job:
        return job.verify(certificate)


def sample(
    source: Any,
    *,
    rows: int,
    seed: int = 0,
    target: str | None = None,
    features: Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002  # what users call it
    **way: Unpack[Working],
) -> Any:
    """Rows drawn by a keyed hash of their values: the same ones for every partitioning and engine, in the same order.

    Parameters
    ----------
    source, target, features, engine, workers, memory, progress :
        As in `fit`.
    rows : int
        How many, at most.
    seed : int, default=0
        The key of the hash.
    id : str, default=None
        A column that alone decides, instead of all values of the row.

    Returns
    -------
    pyarrow.Table

    Examples
    --------
    >>> import pyarrow as pa
    >>> from certifit import scale
    >>> rows = pa.table({"x": [float(i) for i in range(100)]})
    >>> one, many = (scale.sample(scale.Source.of(rows, k), rows=5, engine="serial") for k in (1, 9))
    >>> one.equals(many), one.num_rows
    (True, 5)
    """
    with job_of(source, NamedColumns(target, features), Way(**way), words=True) as job:
        return _drawn(job, rows, seed, id)[0]


def drawn(source: Any, rows: int, seed: int, features: Sequence[str], **way: Unpack[Working]) -> tuple[Any, int]:
    """What `sample` gives, and how many rows the table has."""
    with job_of(source, NamedColumns(None, features), Way(**way), words=True) as job:
        return _drawn(job, rows, seed, None)


def _drawn(job: Job, rows: int, seed: int, by: str | None) -> tuple[Any, int]:
    plan = job.plan
    names = [*plan.numbers, *([] if plan.target is None else [plan.target]), *plan.words]
    if by is not None and by not in names:
        raise TableError(f"There is no column {by!r} among those that are read.")
    found, seen = job.run(Sample(rows, seed, None if by is None else names.index(by)), task="drawing rows")
    assert found is not None
    columns = [*found.X, *([] if found.y is None else [found.y]), *found.words]
    by_name = dict(zip(names, columns))
    return pa.table({name: by_name[name] for name in job.source.columns if name in by_name}), seen


def predict(
    model: Any,
    source: Any,
    *,
    out: str | os.PathLike[str] | None = None,
    offset: str | None = None,
    exposure: str | None = None,
    **way: Unpack[Working],
) -> Array | None:
    """Predictions for every row, in the order of the partitions; none depends on the block of its row.

    Parameters
    ----------
    model : fitted estimator
    source, offset, exposure, engine, workers, memory, progress :
        As in `fit`.
    out : path, default=None
        A Parquet file to write (whole or not at all), with a column for each probability, too; None returns the
        predictions.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from certifit import scale
    >>> from certifit.linear_model import Ridge
    >>> rows = pa.table({"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.5]})
    >>> model = scale.fit(Ridge(), rows, target="y", engine="serial")
    >>> scale.predict(model, rows, engine="serial").round(3).tolist()
    [1.667, 3.167, 4.667]
    """
    with _asking(model, source, NamedColumns(None, None, None, offset, exposure), Way(**way)) as (job, answerer):
        asked = partial(_answers, answerer, out is not None)
        answers = job.map(asked, "predicting", lambda columns: len(columns[0][1]))
        if out is None:
            return np.concatenate([part[0][1] for part in answers])
        _write(answers, Path(out))
    return None


@contextmanager
def _asking(model: Any, source: Any, columns: NamedColumns, way: Way) -> Iterator[tuple[Job, Answerer]]:
    if (columns.offset is not None or columns.exposure is not None) and not isinstance(model, SHIFTED):
        raise TypeError(f"{type(model).__name__} has no offset or exposure: only generalized linear models do.")
    names = getattr(model, "feature_names_in_", None)
    features = None if names is None else [str(name) for name in names]
    with job_of(source, replace(columns, features=features), way, words=True) as job:
        if features is not None and not job.plan.words:  # the order of the model
            job.plan = replace(job.plan, numbers=tuple(features))
        yield job, Answerer(model, job.plan.numbers, job.plan.words)


def _answers(answerer: Answerer, all_of_them: bool, part: Partition, plan: Plan) -> list[tuple[str, Array]]:
    found: list[list[Any]] = [[], []]
    for block in part.blocks(plan):
        if not (np.all(np.isfinite(block.X)) or answerer.allows_gaps):
            raise TableError(f"{part.name} holds a value that is missing or not finite.")
        found[0].append(answerer.predict(block))
        if all_of_them:
            found[1].append(answerer.probabilities(block))
    said = np.concatenate(found[0]) if found[0] else np.zeros(0)
    columns = [("prediction", said)]
    if found[1] and found[1][0] is not None:
        p = np.concatenate(found[1])
        columns += [(f"probability {c}", p[:, k]) for k, c in enumerate(answerer.model.classes_)]
    return columns


def _write(answers: Iterator[list[tuple[str, Array]]], path: Path) -> None:
    """A Parquet file that takes its name when it is whole."""
    with atomic(path) as name:
        writer = None
        for columns in answers:
            table = pa.table({key: np.ascontiguousarray(values) for key, values in columns})
            if writer is None:
                writer = pq.ParquetWriter(name, table.schema)
            if table.num_rows:
                writer.write_table(table.cast(writer.schema))
        if writer is not None:
            writer.close()


@dataclass(frozen=True)
class Evaluation:
    """Figures of a model on a table in partitions, equal for every partitioning.

    Attributes
    ----------
    figures : dict
        ``rows``; ``accuracy``, ``balanced_accuracy`` and, for two classes, ``roc_auc``; or ``mse``, ``mae``,
        ``bias``, ``r2``.
    confusion : (K, K) array or None
        Rows are true classes, columns predicted ones.
    classes : array or None

    Examples
    --------
    >>> Evaluation({"rows": 3, "mse": 0.5}).figures["mse"]
    0.5
    """

    figures: dict[str, float]
    confusion: Array | None = None
    classes: Array | None = None


def evaluate(
    model: Any,
    source: Any,
    *,
    target: str,
    offset: str | None = None,
    exposure: str | None = None,
    **way: Unpack[Working],
) -> Evaluation:
    """Exact figures of a model on a table in partitions: confusion and area under the ROC curve, or errors.

    Parameters
    ----------
    model : fitted estimator
    source, target, offset, exposure, engine, workers, memory, progress :
        As in `fit`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from certifit import scale
    >>> from certifit.linear_model import Ridge
    >>> rows = pa.table({"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.5]})
    >>> model = scale.fit(Ridge(), rows, target="y", engine="serial")
    >>> round(scale.evaluate(model, rows, target="y", engine="serial").figures["mse"], 4)
    0.3889
    """
    with _asking(model, source, NamedColumns(target, None, None, offset, exposure), Way(**way)) as (job, answerer):
        if not is_classifier(model):
            return Evaluation(job.run(Errors(answerer), task="errors"))
        classes = np.asarray(model.classes_)
        two = len(classes) == 2
        wanted = [Confusion(answerer, classes), *([Histogram(answerer, classes[1])] if two else [])]
        found = job.run(*wanted, task="counting")
        table = found[0] if two else found
        rows = int(table.sum())
        each = np.diag(table)[table.sum(axis=1) > 0] / table.sum(axis=1)[table.sum(axis=1) > 0]
        figures = {"rows": rows, "accuracy": int(np.trace(table)) / rows, "balanced_accuracy": float(np.mean(each))}
        if two:
            runs = [job.run(SortedScores(answerer, classes[1], a, b), task="ranking") for a, b in ranges_of(found[1])]
            figures["roc_auc"] = area(runs)
        return Evaluation(figures, table, classes)


def cross_validate(
    estimator: Any,
    source: Any,
    *,
    target: str,
    folds: int = 5,
    seed: int = 0,
    id: str | None = None,  # noqa: A002  # what users call it
    features: Sequence[str] | None = None,
    weight: str | None = None,
    **way: Unpack[Working],
) -> FoldScores:
    """Cross-validation of a squared-loss family in one pass: moments of the folds, and of all rows without each.

    A row's fold is a keyed hash of its values (or of its ``id``), so it does not depend on partitions.

    Parameters
    ----------
    estimator : LinearRegression, Ridge, Lasso or ElasticNet
    source, target, features, weight, engine, workers, memory, progress :
        As in `fit`.
    folds : int ≥ 2, default=5
    seed : int, default=0
    id : str, default=None
        A column that decides the fold; rows with the same value stay together.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from certifit import scale
    >>> from certifit.linear_model import Ridge
    >>> rows = pa.table({"x": [float(i) for i in range(20)], "y": [2.0 * i + 1.0 for i in range(20)]})
    >>> len(scale.cross_validate(Ridge(), rows, target="y", folds=3, engine="serial").mse)
    3
    """
    if folds < 2:
        raise ValueError(f"folds must be at least 2, not {folds}.")
    with job_of(source, NamedColumns(target, features, weight), Way(**way)) as job:
        return score_folds(job, estimator, folds, seed, id)


__all__ = ["Engine", "Evaluation", "cross_validate", "evaluate", "fit", "predict", "sample", "verify"]
