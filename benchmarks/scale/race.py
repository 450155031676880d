"""Peers on one gigabyte: dask-ml, Spark MLlib and scikit-learn's partial_fit, each judged by the gap of its answer.

The judge is certifit's own proof (kinds "passes" and "moments"): how far above the smallest possible objective the
peer's coefficients are, on the same files. Each peer also runs on another partitioning; equal bits are counted as such.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale.measure import FEATURES, measured, ours

_OTHER = ", other order"
_HEAD = """
import json, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from pathlib import Path
files = sorted(str(p) for p in Path({folder!r}).glob("*.parquet"))[::{step}]
features, target = [f"x{{j}}" for j in range(20)], {target!r}
"""
_TAIL = """
record = {"seconds": seconds, "coef": [float(v) for v in np.ravel(coef)]}
print(json.dumps(record | {"intercept": float(np.ravel(intercept)[0])}))
"""
_DASK_ML = """
import dask
import dask.dataframe as dd
import pyarrow.parquet as pq
from distributed import Client, LocalCluster
from dask_ml.linear_model import {cls}
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        start = time.perf_counter()
        # One partition a file; dd.read_parquet joins small files differently for features and target.
        frame = dd.from_map(lambda f: pq.read_table(f, columns=features + [target]).to_pandas(), files)
        # In the workers' memory, so that no iteration reads the files again.
        X, y = dask.persist(*(frame[names].to_dask_array(lengths=True) for names in (features, target)))
        model = {cls}({options}).fit(X, y)
        seconds = time.perf_counter() - start
    coef, intercept = model.coef_, model.intercept_
"""
_SPARK = """
from pyspark.sql import SparkSession
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.{module} import {cls}
spark = (SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g").config("spark.ui.enabled", "false")
         .config("spark.log.level", "ERROR").getOrCreate())
start = time.perf_counter()
frame = spark.read.parquet(*files)
rows = VectorAssembler(inputCols=features, outputCol="features").transform(frame)
rows = rows.select("features", rows[target].alias("label")).persist()
model = {cls}({options}).fit(rows)
seconds = time.perf_counter() - start
coef, intercept = model.coefficients.toArray(), model.intercept
spark.stop()
"""
_PARTIAL = """
import pyarrow.parquet as pq
from sklearn.linear_model import {cls}
model = {cls}({options})
start = time.perf_counter()
for file in files:
    for batch in pq.ParquetFile(file).iter_batches(65536, columns=features + [target]):
        X = np.column_stack([batch.column(f).to_numpy() for f in features])
        model.partial_fit(X, batch.column(target).to_numpy(){classes})
seconds = time.perf_counter() - start
coef, intercept = model.coef_, model.intercept_
"""


def peers(rows: int) -> dict[str, tuple[str, str, str]]:
    """Name → (family, target, code); penalties are those of Ridge(alpha=1) and LogisticRegression(C=1).

    Tolerances and limits of iterations are each peer's own defaults, and so is Spark's solver; dask-ml has L-BFGS, many
    times faster here than its default (ADMM). dask-ml's penalty is ‖w‖²/(2C) beside the sum of squares, and it includes
    the intercept.
    """
    lam = 1.0 / rows
    logistic = f"regParam={lam!r}, elasticNetParam=0.0, standardization=False"
    ridge = f"regParam={lam!r}, elasticNetParam=0.0, standardization=False"
    sgd = f"alpha={lam!r}, random_state=0"
    return {
        "dask-ml logistic": (
            "logistic", "label", _DASK_ML.format(cls="LogisticRegression", options="C=1.0, solver='lbfgs'")
        ),
        "dask-ml ridge": (
            "ridge", "y", _DASK_ML.format(cls="LinearRegression", options="penalty='l2', C=0.5, solver='lbfgs'")
        ),
        "Spark logistic": (
            "logistic", "label", _SPARK.format(module="classification", cls="LogisticRegression", options=logistic)
        ),
        "Spark ridge": ("ridge", "y", _SPARK.format(module="regression", cls="LinearRegression", options=ridge)),
        "partial_fit logistic": (
            "logistic", "label",
            _PARTIAL.format(cls="SGDClassifier", options=f"loss='log_loss', {sgd}", classes=", classes=[0, 1]"),
        ),
        "partial_fit ridge": ("ridge", "y", _PARTIAL.format(cls="SGDRegressor", options=sgd, classes="")),
    }  # fmt: skip


def race(folder: Path, only: str = "", limit: float = 1800.0) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ours, then the peers, each on the files in order and in another one: time and memory.

    ``only`` takes those whose name holds the text; a peer is stopped after ``limit`` seconds.
    """
    done, rows = Done(folder / "race.json"), _rows(folder)
    python = os.environ.get("CERTIFIT_PEERS", sys.executable)
    for family in ("ridge", "logistic"):
        name = f"certifit {family}"
        if only in name:
            yield name, done.of(name, partial(ours, str(folder), family, prove=True))
            yield name + _OTHER, done.of(name + _OTHER, partial(ours, str(folder), family, workers=1, step=-1))
    for name, (_, target, code) in peers(rows).items():
        if only not in name:
            continue
        for step, word in ((1, ""), (-1, _OTHER)):
            head = _HEAD.format(folder=str(folder), step=step, target=target)
            tail = _TAIL.replace("\n", "\n    ") if "__main__" in code else _TAIL
            found = done.of(name + word, partial(measured, head + code + tail, python, limit))
            yield name + word, found
            if "coef" not in found:  # nothing to compare another order with
                break


def judge(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of every answer of a race: its proved gap, and whether another partitioning gave the same bits."""
    answers, files = Done(folder / "race.json").answers, tuple(sorted(folder.glob("*.parquet")))
    for name, first in answers.items():
        if name.endswith(_OTHER) or "coef" not in first:
            continue
        other, family = answers.get(name + _OTHER, {}), name.split()[-1]
        same = all(first[key] == other[key] for key in ("coef", "intercept")) if "coef" in other else None
        yield name, {"same_bits": same, "excess": Judge.of(family, files).excess(first)}


def _rows(folder: Path) -> int:
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(f).num_rows for f in folder.glob("*.parquet"))


class Done:
    """Answers of steps that have run, so that a race goes on where it was interrupted; failures are tried again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}

    def of(self, name: str, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What a step said, now or earlier."""
        if "coef" not in self.answers.get(name, {}):
            self.answers[name] = run()
            self.path.write_text(json.dumps(self.answers, indent=1))
        return self.answers[name]


class Judge:
    """The proved optimum of a family on the files, and by how much an answer is above it."""

    def __init__(self, family: str, files: tuple[Path, ...]) -> None:
        from certifit import scale
        from certifit.linear_model import LogisticRegression, Ridge

        self.files, self.ridge = [str(f) for f in files], family == "ridge"
        self.target = "y" if self.ridge else "label"
        model = Ridge() if self.ridge else LogisticRegression()
        self.proof = scale.fit(model, self.files, target=self.target, features=FEATURES).certificate_

    @classmethod
    @cache
    def of(cls, family: str, files: tuple[Path, ...]) -> Judge:
        """The judge of a family; one for all peers."""
        return cls(family, files)

    def excess(self, answer: dict[str, Any]) -> float:
        """The proved share by which an answer is above the smallest objective."""
        from certifit._objective import Objective
        from certifit.certificates._ball import Ball
        from certifit.certificates.passes import Passes
        from certifit.scale._api import Way, job_of
        from certifit.scale._moments import bound, moments
        from certifit.scale._source import NamedColumns

        W, b = np.array(answer["coef"])[None], answer["intercept"]
        objective = Objective.from_dict(self.proof.evidence["objective"])
        with job_of(self.files, NamedColumns(self.target, FEATURES), Way()) as job:
            seen = job.look(labels=not self.ridge)
            if self.ridge:
                value = bound(objective, moments(job, seen), W[0], b)[0]
            else:
                found = job.run(Passes(objective, W, np.array([b]), seen.grid, seen.digits))
                value = float((found.value + Ball(float(objective.penalty(W)))).upper)
        return value / (self.proof.bound * self.proof.about["rows"]) - 1.0
