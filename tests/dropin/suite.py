"""scikit-learn's own tests, run against certifit's classes, and the page that lists what fails and why.

    python -m tests.dropin.suite sklearn.linear_model.tests.test_ridge ...    # run modules; a line per test into build/suite
    python -m tests.dropin.suite --page                                       # write docs/sklearn_tests.md from these

Every public name that both libraries have and certifit wrote itself is swapped before the test modules are imported
(`tests.dropin.swap`). Tests that never fit one of these classes say nothing about certifit and are not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import sklearn

ROOT = Path(__file__).parent.parent.parent
LOGS, PAGE = ROOT / "build" / "suite", ROOT / "docs" / "sklearn_tests.md"
REASONS = Path(__file__).parent / "suite_reasons.txt"


def run(module: str, seconds: float) -> None:
    """Run one module of scikit-learn's tests to its end, past tests that end the process; a line per test is logged."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{module}.jsonl"
    log.write_text("", encoding="utf-8")
    options = ["-p", "tests.dropin.swap", "-p", "no:cacheprovider", "-W", "ignore", "-q", "--tb=short"]
    place = [f"--rootdir={Path(sklearn.__file__).parents[1]}", "--pyargs", module]
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA")}
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    env = os.environ | threads | {"SUITE_LOG": str(log), "PYTHONPATH": paths}
    end = time.monotonic() + seconds
    with open(LOGS / f"{module}.txt", "w", encoding="utf-8") as said:
        code = -1
        while code < 0:  # a signal ended it: the test that was under way has failed, the others go on
            left = end - time.monotonic()
            if left <= 0:
                break
            command = [sys.executable, "-m", "pytest", *options, *place]
            try:
                code = subprocess.run(command, env=env, timeout=left, stdout=said, stderr=said).returncode
            except subprocess.TimeoutExpired:
                break


def reasons() -> list[tuple[str, str]]:
    """(pattern of a test's name, reason) in order; the first that fits is taken."""
    lines = [line for line in REASONS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [(pattern.strip(), reason.strip()) for pattern, _, reason in (line.partition(" | ") for line in lines)]


def results(log: Path) -> dict[str, dict[str, str]]:
    """Tests of a module that touched a swapped name and ran to an end."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    last = {line["id"]: line for line in lines}
    crash = {"outcome": "failed", "touched": ["?"], "why": "ended the process or was stopped with it"}
    done = {name: line if "outcome" in line else crash for name, line in last.items()}
    return {n: d for n, d in done.items() if d["touched"] and d["outcome"] in ("passed", "xpassed", "failed")}


def page() -> str:
    """Counts by module, then every failing test (its cases counted) with the reason."""
    known, counts, listed, mended = reasons(), [], [], 0
    for log in sorted(LOGS.glob("*.jsonl")):
        found = results(log)
        bad = [name.split("::")[-1] for name, line in found.items() if line["outcome"] == "failed"]
        counts.append((log.stem, len(found), len(bad)))
        for test, cases in Counter(name.split("[")[0] for name in bad).items():
            why = next((reason for pattern, reason in known if re.fullmatch(pattern, test)), "not explained")
            mended += cases if why.startswith("mended") else 0
            listed.append(f"| {log.stem.removeprefix('sklearn.')} | `{test}` | {cases} | {why} |")
    total, wrong = sum(c[1] for c in counts), sum(c[2] for c in counts)
    lines = [
        "# scikit-learn's own tests", "",
        f"Run with scikit-learn {sklearn.__version__} against certifit's classes (`python -m tests.dropin.suite`): of {total} tests that",
        f"fit one of them, {total - wrong} pass ({(total - wrong) / max(total, 1):.1%}). The others are listed with the reason;",
        f"{mended} of them have been mended since this run.", "",
        "| module | tests | pass | fail |", "|---|---|---|---|",
        *[f"| {name} | {n} | {n - k} | {k} |" for name, n, k in counts], "",
        "| module | test | cases | why it fails |", "|---|---|---|---|", *listed, "",
    ]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    """Run modules, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--seconds", type=int, default=3600)
    options = parser.parse_args()
    for module in options.modules:
        run(module, options.seconds)
    if options.page:
        PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
