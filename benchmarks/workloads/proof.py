"""What a proof costs: reading the certificate, and checking it anew, beside the fit itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks import machine
from benchmarks.harness import Row
from benchmarks.jobs import JOBS

WHAT = "certificate_ and its verification, each family at its usual size; processor seconds of one thread"
GOAL = "each ≤ 1× the fit (column ÷ floor)"
_TURNS = 3


def measure() -> list[Row]:
    """For every family the fit as the floor, its certificate, and the check of that certificate; the best turn each."""
    watch, found = machine.Watch(), []
    with threadpool_limits(1):
        for name, job in JOBS.items():
            X, y = job.data(job.usual)
            turns = [_turn(lambda job=job, X=X, y=y: job.fit(X, y, job.usual), X, y) for _ in range(1 + _TURNS)]
            for part, kind in (("fit", "floor"), ("certificate_", "ours"), ("verify", "ours")):
                seen = sorted(seconds[part] for seconds, _ in turns[1:])
                note = "" if part != "verify" else "ok" if all(fine for _, fine in turns) else "NOT VERIFIED"
                found.append((name, part, kind, seen[_TURNS // 2], seen[0], note))
    others = watch.others()
    return [
        Row("proof", case, name, kind, middle, best, None, 0.0, None, others, note)
        for case, name, kind, middle, best, note in found
    ]


def _turn(fit: Callable[[], Any], X: Any, y: Any) -> tuple[dict[str, float], bool]:
    """Processor seconds of a fit, of reading its certificate and of verifying that, and whether it is verified."""
    spent = {}
    start = time.process_time()
    model = fit()
    spent["fit"] = time.process_time() - start
    model = getattr(model, "best_estimator_", model)
    start = time.process_time()
    proof = model.certificate_
    spent["certificate_"] = time.process_time() - start
    # Verified on the data as they were given: nothing is taken from the fit.
    given = (X,) if proof.kind in ("principal-components", "clustering") else (X, y)
    start = time.process_time()
    fine = bool(proof.verify(*given))
    spent["verify"] = time.process_time() - start
    return spent, fine
