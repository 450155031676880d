"""Time, processor time and resident memory of a call in a process of its own, with all its children."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

FEATURES = [f"x{j}" for j in range(20)]


def look_at(process: psutil.Process, spent: dict[int, float]) -> int:
    """Resident memory of a process and its children together (pages that they share count for each).

    The seconds of processor time of each are noted in ``spent``: on a busy machine these say more than the clock.
    """
    total = 0
    for one in [process, *process.children(recursive=True)]:
        try:
            total += one.memory_info().rss
            times = one.cpu_times()
            spent[one.pid] = times.user + times.system
        except psutil.Error:
            continue
    return total


def measured(code: str, python: str = sys.executable, limit: float = 1800.0, **environment: str) -> dict[str, Any]:
    """Run code that prints one JSON record as its last line; its seconds, and the largest memory seen, are added."""
    start = time.perf_counter()
    running = subprocess.Popen(
        [python, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    watched, most, spent = psutil.Process(running.pid), 0, dict[int, float]()
    while running.poll() is None and time.perf_counter() - start < limit:
        try:
            most = max(most, look_at(watched, spent))
        except psutil.Error:
            break
        time.sleep(0.05)
    if running.poll() is None:
        for child in watched.children(recursive=True):
            child.kill()
        running.kill()
        return {"failed": f"no answer within {limit:.0f} s and {sum(spent.values()):.0f} s of the processor"}
    out, err = running.communicate()
    whole = time.perf_counter() - start
    try:
        record = json.loads(out.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return {"failed": (err.strip().splitlines() or ["no output"])[-1][:200]}
    return {"process_seconds": whole, "cpu_seconds": sum(spent.values()), "gigabytes": most / 1e9, **record}


def forget(folder: Path) -> None:
    """Drop the files from the system's cache, so that the next reader takes them from the disk."""
    for path in folder.glob("*.parquet"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


OURS = """
import json, time
import numpy as np
from pathlib import Path
from certifit import scale
from certifit.linear_model import Ridge, LogisticRegression
from certifit.naive_bayes import GaussianNB
files = sorted(str(p) for p in Path({folder!r}).glob("*.parquet"))[::{step}]
models = {{"ridge": (Ridge(), "y"), "logistic": (LogisticRegression(), "label"), "gaussian": (GaussianNB(), "label")}}
model, target = models[{name!r}]
features = [f"x{{j}}" for j in range(20)]
engine = scale.Local({workers})
# Workers have loaded the library and its compiled loops, as the reader beside them has loaded pyarrow.
scale.fit(model, files[:1], target=target, features=features, engine=engine)
start = time.perf_counter()
fitted = scale.fit(model, files, target=target, features=features, engine=engine)
seconds = time.perf_counter() - start
coef = fitted.coef_ if hasattr(fitted, "coef_") else fitted.theta_
record = {{"seconds": seconds, "coef": [float(v) for v in coef.ravel()]}}
record["intercept"] = float(np.ravel(getattr(fitted, "intercept_", 0.0))[0])
if {prove}:
    start = time.perf_counter()
    c = fitted.certificate_
    record |= {{"proof_seconds": time.perf_counter() - start, "holds": c.holds, "figures": dict(c.figures)}}
engine.close()
print(json.dumps(record))
"""

READ = """
import json, time
from pathlib import Path
import pyarrow.dataset as ds
files = sorted(str(p) for p in Path({folder!r}).glob("*.parquet"))
start = time.perf_counter()
rows = 0
for batch in ds.dataset(files).to_batches(columns=[f"x{{j}}" for j in range(20)] + [{target!r}]):
    rows += batch.num_rows
print(json.dumps({{"seconds": time.perf_counter() - start, "rows": rows}}))
"""


def ours(folder: str, name: str, workers: int = 2, prove: bool = False, step: int = 1) -> dict[str, Any]:
    """One family of ours on all files (every ``step``-th: in another order with −1)."""
    code = OURS.format(folder=folder, name=name, workers=workers, prove=prove, step=step)
    return measured(code, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")


def read(folder: str, target: str) -> dict[str, Any]:
    """pyarrow alone: all batches of the same columns, with its own threads."""
    return measured(READ.format(folder=folder, target=target))
