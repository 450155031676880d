"""``make bench`` (all workloads) or ``make bench W="ols ridge"``: measure, print, save JSON and a picture."""

from __future__ import annotations

import argparse
import time
import traceback
import warnings

from benchmarks import harness, history, machine


def main() -> None:
    """Run the workloads named on the command line, or all."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("workloads", nargs="*", help=f"default: all of {', '.join(harness.names())}")
    parser.add_argument("--anyway", action="store_true", help="print ratios although the machine is not quiet")
    parser.add_argument("--repeats", type=int, help="time nobody more often than this; 1 leaves memory out, too")
    parser.add_argument(
        "--resume", action="store_true", help="leave out what the newest run of this commit has measured"
    )
    asked = parser.parse_args()
    unknown = sorted(set(asked.workloads) - set(harness.names()))
    if unknown:
        parser.error(f"no workload called {', '.join(unknown)}; there are {', '.join(harness.names())}")
    warnings.simplefilter("ignore")  # peers speak of convergence; the proved gap says it better
    about, idle = machine.describe(), machine.idle_for()
    for key, value in about.items():
        print(f"{key:<10} {value}")
    print(f"{'in use':<10} {idle:.0%} by others before the first workload\n")
    run = history.Run.resumed(about, idle) if asked.resume else history.Run(about, idle)
    failed = []
    for name in asked.workloads or harness.names():
        if name in run.done:
            continue
        start = time.perf_counter()
        try:
            rows = harness.measure(name, asked.repeats)
        except Exception:  # the other workloads can still be measured
            failed.append(name)
            print(f"{name} failed:\n{traceback.format_exc()}", flush=True)
            continue
        print(harness.table(name, rows, asked.anyway))
        print(f"  ({time.perf_counter() - start:.0f} s in all)\n", flush=True)
        run.add(rows, machine.idle_for(0.5))
    if not run.done:
        raise SystemExit("Nothing was measured.")
    print("failed:", ", ".join(failed) or "none")
    print(f"in use by others after the last workload: {run.record['others_after']:.0%}")
    print(f"wrote {run.path.relative_to(history.RESULTS.parent)}, results.json and {history.draw().name}")
    print(f"as a Markdown table: python -m benchmarks.history {run.path.relative_to(history.RESULTS.parent.parent)}")


if __name__ == "__main__":
    main()
