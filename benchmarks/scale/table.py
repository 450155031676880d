"""A table of 20 columns and two targets in Parquet files, made when needed and not stored.

``python -m benchmarks.scale.table FOLDER GIGABYTES``
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS = 20
ROWS = 1_562_500  # of a file: a quarter of a gigabyte


def make(folder: Path, gigabytes: float) -> list[Path]:
    """Files of the table; those that are there already are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    w = rng.normal(size=COLUMNS) / np.sqrt(COLUMNS)
    count = max(1, round(gigabytes * 1e9 / (ROWS * COLUMNS * 8)))
    paths = []
    for k in range(count):
        path = folder / f"part-{k:03d}.parquet"
        paths.append(path)
        if path.exists():
            continue
        X = np.random.default_rng(k + 1).standard_normal((COLUMNS, ROWS))
        score = w @ X
        noise = np.random.default_rng(1000 + k)
        data = {f"x{j}": X[j] for j in range(COLUMNS)}
        data["y"] = 3.0 * score + noise.standard_normal(ROWS)
        data["label"] = (score + noise.logistic(size=ROWS) * 0.5 > 0).astype(np.int64)
        part = path.with_suffix(".part")
        pq.write_table(pa.table(data), part, compression="none", use_dictionary=False, row_group_size=1 << 18)
        part.rename(path)
    return paths


if __name__ == "__main__":
    found = make(Path(sys.argv[1]), float(sys.argv[2]))
    print(f"{len(found)} files, {sum(p.stat().st_size for p in found) / 1e9:.2f} GB")
