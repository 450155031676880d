"""What a proof costs: reading the certificate, and checking it anew, beside the fit itself."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Entry
from benchmarks.jobs import JOBS

WHAT = "certificate_ and its verification, each family at its usual size"
GOAL = "each ≤ 1× the fit (column ÷ floor)"


def entries() -> list[Entry]:
    """For every family the fit as the floor, the fit with its certificate, and the check of that certificate."""
    found = []
    for name, job in JOBS.items():
        X, y = job.data(job.usual)
        done = job.fit(X, y, job.usual)
        done = getattr(done, "best_estimator_", done)
        proof = done.certificate_
        # Verified on the data as they were given: nothing is taken from the fit.
        given = (X,) if proof.kind in ("principal-components", "clustering") else (X, y)

        def fit(job: Any = job, X: Any = X, y: Any = y) -> Any:
            return job.fit(X, y, job.usual)

        def issue(fit: Any = fit) -> Any:
            model = fit()
            return getattr(model, "best_estimator_", model).certificate_

        def verify(proof: Any = proof, given: Any = given) -> Any:
            return proof.verify(*given)

        found += [
            Entry("fit", fit, kind="floor", case=name, repeats=3),
            Entry("fit with certificate_", issue, kind="ours", case=name, repeats=3),
            Entry("verify", verify, kind="ours", note="ok" if verify() else "NOT VERIFIED", case=name, repeats=3),
        ]
    return found
