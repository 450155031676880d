"""Shared test set-up: exact warnings, hypothesis profiles, reference data, names for docstring examples."""

from __future__ import annotations

import json
import os
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported: one estimator check needs it
os.environ.setdefault("MPLBACKEND", "Agg")
# Threads that wait for work by turning in circles take the core from the tests beside them: on a busy machine a small
# SVD took fifty times its own time. So they sleep at once, and where tests run side by side, BLAS has one thread (tests
# about threads ask for theirs).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The quick tests draw the same examples every time, so that a green commit stays green; the slow ones draw new ones.
usual = settings(deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("ci", usual, max_examples=25, derandomize=True, database=None)
settings.register_profile("large", usual, max_examples=1000)


def pytest_configure(config: pytest.Config) -> None:
    large = "slow" in (config.option.markexpr or "") and "not slow" not in config.option.markexpr
    settings.load_profile("large" if large else "ci")


@pytest.fixture(autouse=True)
def _names(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace["np"] = np


REFERENCE = Path(os.environ.get("CERTIFIT_REFERENCE", Path(__file__).parent.parent / "shared" / "reference"))


@pytest.fixture(scope="session")
def reference():
    """``reference("group/case")``: the JSON record and the table of a case with published answers."""

    def load(case: str):
        path = REFERENCE / f"{case}.json"
        if not path.exists():
            pytest.skip(f"reference data not beside the checkout (set CERTIFIT_REFERENCE): {case}")
        import pandas as pd

        return json.loads(path.read_text()), pd.read_csv(path.with_suffix(".csv"))

    return load
