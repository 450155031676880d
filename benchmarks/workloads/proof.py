"""What a proof costs: reading the certificate, and checking it anew, beside the fit itself."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  # a BLAS that is loaded later would not be limited to one thread
from threadpoolctl import threadpool_limits

from benchmarks import machine
from benchmarks.harness import Row
from benchmarks.jobs import JOBS, Job, Sizes

WHAT = "certificate_ and its verification, each family at two sizes; processor seconds of one thread"
GOAL = "each ≤ 1× the fit (column ÷ floor), or ≥ 70 % of the least work (column of peak)"
_TURNS = 3


def measure() -> list[Row]:
    """For every family the fit as the floor, its certificate and the check of that, at two sizes; the middle turn."""
    watch, found = machine.Watch(), []
    with threadpool_limits(1):
        for name, job in JOBS.items():
            found += _at(name, job, job.usual, _TURNS)
            if job.raced:
                found += _at(name, job, job.raced, 1)
    others = watch.others()
    return [Row("proof", *row[:5], None, None, row[6], others, row[5]) for row in found]


def _at(name: str, job: Job, sizes: Sizes, turns: int) -> list[tuple[str, str, str, float, float, str, float | None]]:
    """Rows of one family at these sizes, without what is known only at the end."""
    X, y = job.data(sizes)
    case = f"{name}, {X.shape[0]:,} × {X.shape[1]:,}"
    taken = [_turn(lambda: job.fit(X, y, sizes), X, y, job.shown) for _ in range(turns + 1)][
        -turns:
    ]  # the first warms up
    rows, least = [], _least(job.least, X, np.asarray(y, dtype=float))
    for part, kind in (("fit", "floor"), ("certificate_", "ours"), ("verify", "ours")):
        seen = sorted(seconds[part] for seconds, _ in taken)
        note = "" if part != "verify" else "ok" if all(fine for _, fine in taken) else "NOT VERIFIED"
        rows.append((case, part, kind, seen[turns // 2], seen[0], note, None if part == "fit" else least))
    return rows


def _least(work: str, X: Any, y: Any) -> float:
    """Processor seconds of the SHA-256 of the data, and of the work on the table that no proof can do without."""
    steps: dict[str, Callable[[], Any]] = {
        "read": X.sum,
        "products": lambda: X.T @ X,
        "orders": lambda: [np.argsort(column) for column in X.T],
    }

    def seconds(run: Callable[[], Any]) -> float:
        start = time.process_time()
        run()
        return time.process_time() - start

    hashed = min(seconds(lambda: [hashlib.sha256(part.data) for part in (X, y)]) for _ in range(_TURNS))
    return hashed + min(seconds(steps[work]) for _ in range(_TURNS))


def _turn(fit: Callable[[], Any], X: Any, y: Any, given: Callable[..., Any]) -> tuple[dict[str, float], bool]:
    """Processor seconds of a fit, of reading its certificate and of verifying that, and whether it is verified."""
    spent = {}
    start = time.process_time()
    model = fit()
    spent["fit"] = time.process_time() - start
    model = getattr(model, "best_estimator_", model)
    start = time.process_time()
    proof = model.certificate_ if hasattr(type(model), "certificate_") else model.certificate
    spent["certificate_"] = time.process_time() - start
    # Verified on the data as they were given: nothing is taken from the fit.
    shown = given(model, X, y)
    start = time.process_time()
    fine = bool(proof.verify(*shown))
    spent["verify"] = time.process_time() - start
    return spent, fine
