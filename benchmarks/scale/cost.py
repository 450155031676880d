"""How the cost of a fit grows with rows and columns: seconds of the processor in one process, which a busy machine
hardly changes, for one pass of ridge and one of logistic regression."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from certifit import scale
from certifit.linear_model import LogisticRegression, Ridge
from certifit.scale import _job

ROWS = 400_000
GRID = [(ROWS // 4, 20), (ROWS // 2, 20), (ROWS, 5), (ROWS, 10), (ROWS, 20), (ROWS, 40), (ROWS, 80)]


def cost(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Seconds a million rows, for several sizes; numbers are cut into two digits, as beyond four million rows."""
    folder.mkdir(parents=True, exist_ok=True)
    path, before = folder / "cost.parquet", _job._EXACT
    _job._EXACT = 0
    try:
        for rows, columns in GRID:
            rng = np.random.default_rng(0)
            X = rng.standard_normal((columns, rows))
            y = X[0] + rng.standard_normal(rows)
            table = {f"x{j}": X[j] for j in range(columns)} | {"y": y, "label": (y > 0).astype(int)}
            pq.write_table(pa.table(table), path, compression="none", use_dictionary=False)
            yield f"{rows} rows, {columns} columns", _seconds(path, rows, columns)
    finally:
        _job._EXACT = before
        path.unlink(missing_ok=True)


def _seconds(path: Path, rows: int, columns: int) -> dict[str, Any]:
    features = [f"x{j}" for j in range(columns)]
    found: dict[str, Any] = {}
    for name, model, target in (("ridge", Ridge(), "y"), ("logistic", LogisticRegression(), "label")):
        best = np.inf
        for _ in range(3):
            start = time.process_time()
            fitted = scale.fit(model, str(path), target=target, features=features, engine="serial")
            best = min(best, time.process_time() - start)
        passes = 1 if name == "ridge" else int(fitted.n_iter_[0])
        found |= {name: best / rows * 1e6, f"{name} passes": passes}
    return found
