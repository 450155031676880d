"""``python -m benchmarks.answers store FILE`` before a change, ``... compare FILE`` after it."""

from __future__ import annotations

import argparse
import pickle
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.answers.questions import Answer, questions
from benchmarks.answers.tables import tables

_SLOW = 5.0  # seconds after which a question is named
_LIMIT = 15  # seconds of processor for one answer; what takes longer is not compared
TOLERANCE = 1e-9  # relative to the largest entry of a part


class TooSlow(BaseException):
    """An answer that takes too long here; no handler of Exception in the library catches it."""


def _interrupt(number: int, frame: Any) -> None:
    raise TooSlow


def collect(only: str = "") -> dict[tuple[str, str], Answer]:
    """Every question to every table that suits it; a refusal is an answer too."""
    found: dict[tuple[str, str], Answer] = {}
    signal.signal(signal.SIGPROF, _interrupt)
    for question in questions():
        if only not in question.name:
            continue
        start = time.perf_counter()
        for table in tables(question.tasks, question.among):
            signal.setitimer(signal.ITIMER_PROF, _LIMIT)
            try:
                answer = question.ask(table)
            except TooSlow:
                answer = {"error": "TooSlow", "message": f"no answer within {_LIMIT} s of processor"}
            except Exception as error:
                answer = {"error": type(error).__name__, "message": str(error)}
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            found[question.name, table.name] = answer
        if (seconds := time.perf_counter() - start) > _SLOW:
            print(f"{seconds:6.1f} s  {question.name}", file=sys.stderr)
    return found


def distance(a: Any, b: Any) -> float:
    """Largest difference of two parts, relative to the largest entry; infinite when they are of different sorts."""
    if isinstance(a, (str, list)) or isinstance(b, (str, list)):
        return 0.0 if a == b else np.inf
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape or not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    known = np.isfinite(a)
    if not np.array_equal(a[~known], b[~known], equal_nan=True):
        return np.inf
    size = np.max(np.abs(a[known]), initial=0.0)
    return float(np.max(np.abs(a[known] - b[known]), initial=0.0) / (size or 1.0))


def differences(old: Answer, new: Answer) -> list[str]:
    """The parts that differ by more than the tolerance, in words."""
    found = []
    if "TooSlow" in (old.get("error"), new.get("error")):
        return []
    for part in sorted(set(old) | set(new)):
        if part == "message":
            continue
        if part not in old or part not in new:
            found.append(f"{part}: only {'after' if part in new else 'before'}")
        elif part.endswith("gap"):
            if not new[part] <= max(old[part], 0.0) * (1 + TOLERANCE) + TOLERANCE:
                found.append(f"{part}: grew")
        elif (apart := distance(old[part], new[part])) > TOLERANCE:
            found.append(f"{part}: {apart:.1e}")
    return found


def gaps(old: Answer, new: Answer) -> str:
    """The proved relative gap of either side, where there is one; a refusal's own words."""
    if "error" in old or "error" in new:
        return " -> ".join(f"{a['error']}: {a['message'][:90]}" if "error" in a else "answered" for a in (old, new))
    pair = [a.get("certificate 0 gap") for a in (old, new)]
    if None in pair:
        return "no gap"
    verdict = "provably no worse" if pair[1] <= pair[0] or pair[1] <= 1e-15 else "gap is larger"
    return f"proved gap {pair[0]:.1e} -> {pair[1]:.1e}: {verdict}"


def compare(before: dict[tuple[str, str], Answer], after: dict[tuple[str, str], Answer], only: str = "") -> int:
    """Print each answer that changed; return how many."""
    count = 0
    for key in before:
        if only not in key[0]:
            continue
        if key not in after:
            print(f"{key[0]} on {key[1]}: not asked any more")
            count += 1
            continue
        found = differences(before[key], after[key])
        if found:
            count += 1
            print(f"{key[0]} on {key[1]}: {'; '.join(found)}\n    {gaps(before[key], after[key])}")
    print(f"{count} of {sum(only in k[0] for k in before)} answers differ by more than {TOLERANCE:g}.")
    return count


def main() -> None:
    """Store or compare; the exit status of a comparison is 1 when anything differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    parser.add_argument("action", choices=["store", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="questions whose name holds this text, such as Ridge or Search")
    wish = parser.parse_args()
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    with threadpool_limits(1), np.errstate(all="ignore"):
        after = collect(wish.only)
    print(f"{len(after)} answers in {time.perf_counter() - start:.0f} s")
    if wish.action == "store":
        wish.file.write_bytes(pickle.dumps(after))
        return
    raise SystemExit(int(compare(pickle.loads(wish.file.read_bytes()), after, wish.only) > 0))


if __name__ == "__main__":
    main()
