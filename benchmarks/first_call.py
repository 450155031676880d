"""First calls: ``python -m benchmarks.first_call [NAME ...]``, or ``make bench W=first-call`` for all estimators.

Each estimator is fitted to 1,000 × 10 and asked for predictions in a process of its own: once with an empty cache of
compiled loops (a new installation), once with the cache that this run left behind. Processor seconds, so that other
work on the machine does not count; importing is a column of its own, since it is paid once a process.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROWS, COLUMNS = 1_000, 10
POSITIVE = {"GLM", "PoissonRegressor", "GammaRegressor", "TweedieRegressor"}  # targets above zero
WHOLE = {"BernoulliNB", "MultinomialNB", "CategoricalNB", "ComplementNB", "OneHot", "Factored", "Thermometer"}
CLASSES = {"OneVsRest", "Factored", "CorrelationFilter"}  # take labels, though no classifier by name
LABELS_MISSING = {"LabelPropagation", "LabelSpreading", "SelfTrainingClassifier"}


class Call(NamedTuple):
    """Processor seconds of one first call."""

    importing: float
    calling: float
    compiling: float


def names() -> list[str]:
    """``folder.Class`` of every public estimator outside the study."""
    from certifit.families import FAMILIES

    return [f"{f.folder}.{m.name}" for f in FAMILIES for m in f.models if f.folder != "study"]


def _data(estimator: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """A table for the estimator: normal columns (or integers), and the target that its kind needs."""
    from sklearn.base import is_classifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    score = X[:, 0] - 2 * X[:, 1] + 0.5 * rng.normal(size=ROWS)
    if name in WHOLE:
        X = rng.integers(0, 2, size=(ROWS, COLUMNS))
    if name == "ColumnTransforms":
        X = np.abs(X)
    if name == "HardMarginSVC":  # classes that a hyperplane separates
        X = X + 3 * np.sign(score)[:, None] * np.eye(COLUMNS)[0]
        return X, np.sign(X[:, 0])
    if name.startswith("MultiTask"):
        return X, np.column_stack([score, -score + rng.normal(size=ROWS)])
    if name in POSITIVE:
        return X, rng.poisson(np.exp(0.2 * score)) + 1.0
    if is_classifier(estimator) or name in CLASSES:
        y = (score > 0).astype(int)
        return X, np.where(rng.random(ROWS) < 0.5, -1, y) if name in LABELS_MISSING else y
    return X, score


def _build(name: str, cls: Any) -> Any:
    """The estimator with its default settings, and the parts that some ask for."""
    if name == "OneVsRest":
        return cls(importlib.import_module("certifit.linear_model").LogisticRegression())
    if name == "SelfTrainingClassifier":
        return cls(importlib.import_module("certifit.naive_bayes").GaussianNB())
    if name == "ColumnTransforms":
        return cls([(0, "log1p")])
    return cls()


def one(path: str) -> Call:
    """Import, fit and predict in this process."""
    folder, name = path.rsplit(".", 1)
    start = time.process_time()
    estimator = _build(name, getattr(importlib.import_module(f"certifit.{folder}"), name))
    imported = time.process_time()
    X, y = _data(estimator, name)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
        for method in ("predict", "transform", "score_samples", "kneighbors"):
            if hasattr(estimator, method):
                getattr(estimator, method)(X)
                break
    spent = time.process_time() - begun
    watch = sys.modules.get("certifit.loops._announce")
    return Call(imported - start, spent, watch.WATCH.seconds if watch else 0.0)


def fresh(path: str, cache: str) -> Call:
    """`one` in a process of its own, with compiled loops in the folder `cache`."""
    code = f"import json; from benchmarks.first_call import one; print(json.dumps(one({path!r})))"
    env = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONWARNINGS": "ignore"}
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        env[variable] = "1"  # idle threads that wait would count as work
    root = Path(__file__).parent.parent
    out = subprocess.run([sys.executable, "-c", code], cwd=root, env=env, capture_output=True, text=True, check=True)
    return Call(*json.loads(out.stdout.splitlines()[-1]))


def cold_and_warm(path: str) -> tuple[Call, Call]:
    """The first call of a new installation, and the first call of the next process."""
    with tempfile.TemporaryDirectory() as cache:
        return fresh(path, cache), fresh(path, cache)


def main(wanted: list[str]) -> None:
    """Print one line an estimator."""
    head = f"{'import':>8}{'cold':>8}{'compiling':>11}{'warm':>8}"
    print(f"{'estimator':<40}{head}   processor seconds, {ROWS} × {COLUMNS}")
    for path in [p for p in names() if not wanted or p in wanted or p.split(".")[-1] in wanted]:
        try:
            cold, warm = cold_and_warm(path)
        except subprocess.CalledProcessError as error:
            print(f"{path:<40} failed: {error.stderr.strip().splitlines()[-1]}", flush=True)
            continue
        figures = f"{cold.importing:>8.2f}{cold.calling:>8.2f}{cold.compiling:>11.2f}{warm.calling:>8.2f}"
        print(f"{path:<40}{figures}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
