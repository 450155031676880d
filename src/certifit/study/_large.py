"""A study of a table larger than memory: a comparison on a stated sample, then a fit to all rows where possible.

The sample is drawn by a keyed hash of the rows (`certifit.scale.sample`), so it is the same for every order and cut of
the files. The chosen model's encoding (medians, scales, levels) stays as the sample taught it; the model itself is
fitted again to all rows, in passes over the encoded partitions, where its family allows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from certifit._arrow import pa
from certifit.certificates.sums import Block
from certifit.exceptions import TableError
from certifit.files import Schema, Table, TableModel
from certifit.scale import fit as fit_partitions
from certifit.scale._api import bytes_of, drawn
from certifit.scale._families import FITTERS, WEIGHTED
from certifit.scale._source import Partition, Plan, Source, reading
from certifit.study import _winner
from certifit.study._run import Listener, Silent, Study, run
from certifit.study._summary import summary

_CELL = 512  # bytes of memory that a study needs for each number of its table: folds, workers, encoded columns
_FEWEST, _MOST = 1_000, 100_000  # rows of a sample; more decide nothing that these do not


def sample_rows(memory: int | str, columns: int) -> int:
    """How many rows a study takes within so much memory.

    Examples
    --------
    >>> sample_rows("1GB", 20)
    100000
    >>> sample_rows("100MB", 200)
    1024
    """
    return int(np.clip(bytes_of(memory) // (_CELL * max(columns, 1)), _FEWEST, _MOST))


@dataclass(frozen=True)
class EncodedPart(Partition):
    """A partition as the last step of a study's model sees it."""

    part: Partition
    raw: Plan
    schema: Schema
    head: Any

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.part.name

    def size(self) -> float:
        return self.part.size()

    def mark(self) -> Any:
        return self.part.mark()

    def blocks(self, plan: Plan) -> Iterator[Block]:
        try:
            with reading(self.name):
                for batch in self.part.batches(self.raw):
                    yield from self._block(Table(pa.Table.from_batches([batch])), plan)
        except TableError as error:
            said = str(error)
            raise TableError(said if self.name in said else f"{self.name}: {said}") from error

    def _block(self, table: Table, plan: Plan) -> Iterator[Block]:
        labels, there = self.schema.labels(table)
        weight = self.schema.row_weights(table)
        if weight is not None:
            there = there & np.isfinite(weight) & (weight >= 0.0)
        if not there.any():
            return
        Z = np.asarray(self.head.transform(self.schema.read(table).X[there]), dtype=float)
        y = None if plan.target is None else labels[there]
        width = len(plan.numbers)
        weight = None if plan.weight is None or weight is None else weight[there]
        yield Block(np.ascontiguousarray(Z.T[:width]), y, (), self.name, weight)


def encoded(source: Any, model: TableModel) -> Source:
    """The partitions as the last step of a model sees them: columns z0, z1, … and the target.

    Parameters
    ----------
    source : path, pattern, list of paths or Source
        The table, in partitions.
    model : TableModel
        As `run_large` returns it in its study.

    Returns
    -------
    Source
        For `certifit.scale.verify`, whose certificates are about these columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from certifit.study import run
    >>> x = np.linspace(-1.0, 1.0, 60)
    >>> table = {"x": x, "y": 2.0 * x + np.sin(40.0 * x)}
    >>> model = run(table, "y", models=["ridge"], folds=3, yardstick=False).model
    >>> [name for name, kind in encoded(pa.table(table), model).kinds]
    ['z0', 'y']
    """
    table, schema = Source.of(source), model.schema
    assert schema.target is not None
    head = model.pipeline[:-1]
    apart = [schema.target.name, *([schema.weights] if schema.weights else [])]
    raw = Plan((), tuple(dict.fromkeys([*schema.sources, *apart])), rows=1 << 14, kinds=table.kinds)
    probe = np.vstack([np.zeros(len(schema.columns)), np.ones(len(schema.columns))])
    width = np.asarray(head.transform(probe)).shape[1]
    kinds = [(f"z{j}", "number") for j in range(width)]
    known = dict(table.kinds)
    kinds += [(name, known[name]) for name in apart if name in known]
    return Source(tuple(EncodedPart(part, raw, schema, head) for part in table.parts), tuple(kinds))


def refitted(source: Any, model: TableModel, **way: Any) -> TableModel | None:
    """The model with its last step fitted to all rows in passes; None where its family needs all rows at once."""
    last, weights = model.estimator, model.schema.weights
    if type(last) not in FITTERS or (weights and not isinstance(last, WEIGHTED)):
        return None
    assert model.schema.target is not None
    target, weight = model.schema.target.name, weights or None
    table = encoded(source, model)
    features = [name for name, _ in table.kinds if name not in (target, weight)]
    try:
        fit = fit_partitions(clone(last), table, target=target, features=features, weight=weight, **way)
    except TypeError:  # an option that passes do not know, such as an l1 penalty
        return None
    del fit.feature_names_in_  # the steps before it hand over arrays
    for name in ("threshold_",):
        if hasattr(last, name):
            setattr(fit, name, getattr(last, name))
    steps = [*model.pipeline.steps[:-1], (model.pipeline.steps[-1][0], fit)]
    return TableModel(Pipeline(steps), model.schema, model.about)


def run_large(
    source: Any, target: str, *, memory: int | str = "2GB", out: str | os.PathLike[str] | None = None,
    listener: Listener | None = None, engine: Any = "local", **options: Any,
) -> Study:  # fmt: skip
    """A study of files that need not fit into memory.

    Parameters
    ----------
    source : path, pattern or list of paths
        Parquet, Arrow or CSV files.
    target : str
        The column to predict.
    memory : int or str, default="2GB"
        Budget; it decides how many rows the comparison sees.
    out : str or path, default=None
        Folder for the report, the model and the record.
    listener : Listener, default=None
    engine : as in `certifit.scale.fit`
    options
        As in `run`.

    Returns
    -------
    Study
        ``record["scale"]`` says how many rows were compared on, and whether all rows were used at the end.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> rng = np.random.default_rng(0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in "ab":
    ...         x = rng.normal(size=60)
    ...         lines = [f"{u},{2 * u + e}" for u, e in zip(x, rng.normal(size=60))]
    ...         _ = Path(folder, f"{part}.csv").write_text("\\n".join(["x,y", *lines]))
    ...     study = run_large(f"{folder}/*.csv", "y", models=["ridge"], folds=3, yardstick=False)
    >>> study.record["scale"]["text"]
    'The sample holds all 120 rows of the 2 partitions.'
    """
    hear, seed = listener or Silent(), int(options.get("seed", 0))
    table = Source.of(source)
    names = _readable(table, target)
    rows = sample_rows(memory, len(names))
    hear.say("reading", f"{len(table.parts)} partitions, for a sample of at most {rows:,} rows")
    sample, seen = drawn(table, rows, seed, names, engine=engine, memory=memory)
    study = run(_typed(sample, table), target, listener=hear, **options)
    everything = sample.num_rows == seen
    better = None if everything else refitted(table, study.model, engine=engine, memory=memory)
    if better is not None:
        study = replace(study, model=better, training=None)
    story = _story(study, sample.num_rows, seen, len(table.parts), seed, better is not None)
    study.record["scale"] = story
    study.record["verdict"]["text"] += " " + story["text"]
    if better is not None:  # the proofs are about all rows now; nothing else in them speaks of these
        told = [_winner.told(c) for c in better.certificates_]
        study.record["proofs"] = study.record["proofs"] | {"certificates": told}
        study.record["proofs"].pop("certain", None)
    study.record["summary"] = [*summary(study.record), {"head": "All rows", "text": story["text"]}]
    study.model.about.update(rows=seen if better is not None or everything else sample.num_rows, scale=story["text"])
    hear.say("scale", story["text"])
    if better is not None:
        for certificate in better.certificates_:
            hear.say("proof", f"on all rows: {certificate.claim}")
    if out is not None:
        hear.say("wrote", ", ".join(str(p) for p in study.write(out)))
    return study


def _readable(table: Source, target: str) -> list[str]:
    names = [name for name, kind in table.kinds if kind != "other"]
    if target not in names:
        raise TableError(f"There is no column {target!r} of numbers or strings; there are {', '.join(names[:12])}.")
    return names


def _typed(sample: Any, table: Source) -> Any:
    """The sample with the types that its columns have in the files, where integers became floats."""
    plan = Plan((), tuple(sample.column_names), rows=1, kinds=table.kinds)
    first = next(iter(table.parts[0].batches(plan)), None)
    columns = {}
    for name in sample.column_names:
        column = pa.array(sample[name].to_numpy(zero_copy_only=False), from_pandas=True)
        wanted = None if first is None else first.schema.field(name).type
        if wanted is not None and (pa.types.is_integer(wanted) or pa.types.is_boolean(wanted)):
            column = column.cast(wanted)
        columns[name] = column
    return pa.table(columns)


def _story(study: Study, sample: int, rows: int, parts: int, seed: int, again: bool) -> dict[str, Any]:
    """What was compared on what, and what the model was fitted to, in the record and in words."""
    name = study.record["verdict"]["winner"]
    if sample == rows:
        text = f"The sample holds all {rows:,} rows of the {parts} partitions."
    else:
        text = f"Models were compared on a reproducible sample of {sample:,} of {rows:,} rows (seed {seed}). "
        text += (
            f"The chosen one, {name}, was then fitted again to all {rows:,} rows in passes over {parts} partitions; "
            "its parameters, the encoding of its columns, its scores and the explanations are those of the sample."
            if again
            else f"The chosen one, {name}, cannot be fitted in passes and stays fitted to the sample."
        )
    return {"rows": rows, "sample": sample, "partitions": parts, "refitted": again, "text": text}
