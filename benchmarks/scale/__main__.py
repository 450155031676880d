"""``python -m benchmarks.scale FOLDER [big] [race] [cost]``: tables larger than memory, measured, one JSON line a run.

The table is made in FOLDER when it is not there (10 GB) and stays until somebody deletes it. ``CERTIFIT_PEERS`` names a
Python with dask-ml and pyspark, where they are not installed beside certifit.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import psutil

from benchmarks.scale.cost import cost
from benchmarks.scale.measure import ours, read
from benchmarks.scale.race import race
from benchmarks.scale.table import make

GIGABYTES = {"big": 8.0, "race": 1.0}


def say(name: str, record: dict[str, Any]) -> None:
    """One line: what ran, its figures, and how busy the machine was."""
    short = {k: v for k, v in record.items() if k not in ("coef", "intercept")}
    print(json.dumps({"run": name, "load": round(os.getloadavg()[0], 1), **short}), flush=True)


def big(folder: Path) -> None:
    """The one-pass families and logistic regression on 8 GB, each beside pyarrow alone."""
    make(folder, GIGABYTES["big"])
    for name, target in (("ridge", "y"), ("gaussian", "label"), ("logistic", "label")):
        say(f"pyarrow reads ({target})", read(str(folder), target))
        say(name, ours(str(folder), name))


def main() -> None:
    """Run what the command line names, or everything."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".benchmarks/scale")
    wanted = sys.argv[2:] or ["big", "race", "cost"]
    print(json.dumps({"cores": psutil.cpu_count(), "memory": psutil.virtual_memory().total}), flush=True)
    if "big" in wanted:
        big(folder / "big")
    if "race" in wanted:
        make(folder / "small", GIGABYTES["race"])
        for name, record in race(folder / "small"):
            say(name, record)
    if "cost" in wanted:
        for name, record in cost(folder):
            say(name, record)


if __name__ == "__main__":
    main()
