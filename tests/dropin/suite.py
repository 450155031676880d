"""scikit-learn's own tests, run against certifit's classes, and the page that lists what fails and why.

    python -m tests.dropin.suite sklearn.linear_model.tests.test_ridge ...    # run modules; a line per test into build/suite
    python -m tests.dropin.suite --resume sklearn.svm.tests.test_svm          # go on where the time was up
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


def run(module: str, seconds: float, resume: bool = False) -> None:
    """Run one module of scikit-learn's tests to its end, past tests that end the process; a line per test is logged."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{module}.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True) if resume and log.exists() else []
    if lines and "outcome" not in json.loads(lines[-1]):
        lines.pop()  # the time was up in the middle of this test: it runs again
    log.write_text("".join(lines), encoding="utf-8")
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


def reason_of(test: str, known: list[tuple[str, str]], otherwise: str) -> str:
    """The first reason whose pattern fits the test's name."""
    return next((reason for pattern, reason in known if re.fullmatch(pattern, test)), otherwise)


def results(log: Path) -> tuple[dict[str, dict[str, str]], bool]:
    """Tests of a module that touched a swapped name and ran to an end, and whether the module did."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    last = {line["id"]: line for line in lines}
    whole = not lines or "outcome" in lines[-1]
    crash = {"outcome": "failed", "touched": ["?"], "why": "ended the process"}
    done = {name: line if "outcome" in line else crash for name, line in last.items()}
    if not whole:  # the time was up in the middle of a test: it says nothing
        done.pop(lines[-1]["id"])
    counted = {n: d for n, d in done.items() if d["touched"] and d["outcome"] in ("passed", "xpassed", "failed")}
    return counted, whole


def table(logs: list[Path]) -> tuple[list[str], list[str], int, int]:
    """Lines of counts, lines of failures with their reasons, tests and failures."""
    known, counts, listed, total, wrong = reasons(), [], [], 0, 0
    for log in logs:
        found, whole = results(log)
        bad = Counter(n.split("::")[-1].split("[")[0] for n, line in found.items() if line["outcome"] == "failed")
        if not found:
            continue
        k, day = sum(bad.values()), time.strftime("%Y-%m-%d", time.gmtime(log.stat().st_mtime))
        note = day if whole else f"{day}, stopped by the clock"
        counts.append(f"| {log.stem} | {len(found)} | {len(found) - k} | {k} | {note} |")
        total, wrong = total + len(found), wrong + k
        for test, cases in bad.items():
            why = reason_of(test, known, "not explained")
            listed.append(f"| {log.stem.removeprefix('sklearn.')} | `{test}` | {cases} | {why} |")
    return counts, listed, total, wrong


def kept(text: str, fresh: set[str]) -> tuple[list[str], list[str], int, int]:
    """What an older page says of modules without a log: the same four as `table`, with the day it gives."""
    known, counts, listed, total, wrong = reasons(), [], [], 0, 0
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 5 and cells[1].isdigit() and cells[0] not in fresh:
            counts.append(f"| {' | '.join(cells)} |")
            total, wrong = total + int(cells[1]), wrong + int(cells[3])
        elif len(cells) == 4 and cells[2].isdigit() and f"sklearn.{cells[0]}" not in fresh:
            why = reason_of(cells[1].strip("`"), known, cells[3])
            listed.append(f"| {' | '.join(cells[:3])} | {why} |")
    return counts, listed, total, wrong


def page(older: str = "") -> str:
    """Counts by module, then every failing test (its cases counted) with the reason."""
    logs = sorted(log for log in LOGS.glob("*.jsonl") if log.stat().st_size)  # empty: its tests could not be collected
    now, before = table(logs), kept(older, {log.stem for log in logs})
    total, wrong = now[2] + before[2], now[3] + before[3]
    by_hand = re.findall(
        r"^With only .*?\n\n", older, re.M | re.S
    )  # of a run of the whole suite with fewer classes swapped
    lines = [
        "# scikit-learn's own tests", "",
        f"The test suite of scikit-learn {sklearn.__version__}, run with certifit's classes in place of scikit-learn's. Of {total} tests",
        f"that fit one of these classes, {total - wrong} pass ({(total - wrong) / max(total, 1):.1%}); the others are listed below with the reason.",
        "",
        "Each module was run separately (`python -m tests.dropin.suite MODULE`, then `--page` for this page), with certifit as of the date",
        "in the last column. Modules that are not listed were not run, or fit none of certifit's classes. A test that scikit-learn expects to",
        "fail and that passes here counts as a pass. Tests of `array_api_dispatch`, which scikit-learn skips unless SCIPY_ARRAY_API is set, are",
        "not included. Private methods that fixtures call are taken from scikit-learn's class.", "",
        *(paragraph.rstrip("\n") + "\n" for paragraph in by_hand),
        "| module | tests | pass | fail | ran on |", "|---|---|---|---|---|", *sorted([*now[0], *before[0]]), "",
        "| module | test | cases | why it fails |", "|---|---|---|---|", *sorted([*now[1], *before[1]], key=lambda line: line.split(" | ")[0]), "",
    ]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    """Run modules, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--resume", action="store_true", help="leave out tests that stand in the log")
    parser.add_argument("--seconds", type=int, default=3600)
    options = parser.parse_args()
    for module in options.modules:
        run(module, options.seconds, options.resume)
    if options.page:
        older = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        PAGE.write_text(page(older), encoding="utf-8")


if __name__ == "__main__":
    main()
