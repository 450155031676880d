"""The budget of memory: what all processes of a fit hold together stays within it."""

import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FIT = """
import sys
from certifit import scale
from certifit.linear_model import Ridge
fitted = scale.fit(Ridge(), sys.argv[1] + "/*.parquet", target="x0", memory=sys.argv[2])
assert fitted.certificate_.holds
"""


def largest(folder, memory: str) -> int:
    """The most that the process of a fit and its workers were seen to hold (pages that they share count for each)."""
    psutil = pytest.importorskip("psutil")
    with subprocess.Popen([sys.executable, "-c", FIT, str(folder), memory]) as running:
        watched, most = psutil.Process(running.pid), 0
        while running.poll() is None:
            try:
                most = max(most, sum(p.memory_info().rss for p in [watched, *watched.children(recursive=True)]))
            except psutil.Error:
                continue
            time.sleep(0.05)
    assert running.returncode == 0
    return most


@pytest.mark.slow
@pytest.mark.parametrize("memory", [1 << 30, 2 << 30])
def test_a_fit_stays_within_its_budget(tmp_path, memory):
    rng = np.random.default_rng(0)
    for k in range(4):
        rows = pa.table({f"x{j}": rng.normal(size=500_000) for j in range(20)})
        pq.write_table(rows, tmp_path / f"{k}.parquet", compression="none", use_dictionary=False)
    assert largest(tmp_path, f"{memory >> 20}MB") <= memory
