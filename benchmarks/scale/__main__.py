"""``python -m benchmarks.scale FOLDER [big] [race] [judge] [workers] [cost]``: large tables, one JSON line a run.

``big=ridge``, ``workers=ridge`` and ``race=Spark`` run one family or one peer; ``big=ridge,warm`` reads from the
system's cache alone; ``limit=150`` stops peers after so many seconds. ``judge`` proves the gaps of the answers of a
race. The table is made in FOLDER when it is not there (10 GB) and stays until somebody deletes it. ``CERTIFIT_PEERS``
names a Python with dask-ml and pyspark, where they are not installed beside certifit.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import psutil

from benchmarks.scale.cost import cost
from benchmarks.scale.measure import forget, ours, read
from benchmarks.scale.race import judge, race
from benchmarks.scale.table import make

GIGABYTES = {"big": 8.0, "race": 1.0}


def say(name: str, record: dict[str, Any]) -> None:
    """One line: what ran, its figures, and how busy the machine was."""
    short = {k: v for k, v in record.items() if k not in ("coef", "intercept")}
    print(json.dumps({"run": name, "load": round(os.getloadavg()[0], 1), **short}), flush=True)


def big(folder: Path, only: str = "") -> None:
    """The one-pass families and logistic regression on 8 GB, each beside pyarrow alone, from disk and memory."""
    make(folder, GIGABYTES["big"])
    family, _, alone = only.partition(",")
    for name, target in (("ridge", "y"), ("gaussian", "label"), ("logistic", "label")):
        if family not in name:
            continue
        for state in ("cold", "warm"):
            if alone not in state:
                continue
            if state == "cold":
                forget(folder)
            say(f"pyarrow reads, {state}", read(str(folder), target))
            if state == "cold":
                forget(folder)
            say(f"{name}, {state}", ours(str(folder), name))


def main() -> None:
    """Run what the command line names, or everything."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".benchmarks/scale")
    wanted = dict(word.partition("=")[::2] for word in sys.argv[2:] or ["big", "race", "judge", "workers", "cost"])
    print(json.dumps({"cores": psutil.cpu_count(), "memory": psutil.virtual_memory().total}), flush=True)
    if "big" in wanted:
        big(folder / "big", wanted["big"])
    if "race" in wanted:
        make(folder / "small", GIGABYTES["race"])
        for name, record in race(folder / "small", wanted["race"], float(wanted.get("limit", 1800.0))):
            say(name, record)
    if "judge" in wanted:
        for name, record in judge(folder / "small"):
            say(name, record)
    if "workers" in wanted:
        make(folder / "small", GIGABYTES["race"])
        for name in ("ridge", "gaussian", "logistic"):
            for workers in (1, 2, 4) if wanted["workers"] in name else ():
                say(f"{name}, workers: {workers}", ours(str(folder / "small"), name, workers))
    if "cost" in wanted:
        for name, record in cost(folder):
            say(name, record)


if __name__ == "__main__":
    main()
