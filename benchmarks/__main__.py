"""``make bench`` (all workloads) or ``make bench W=ols``: measure, print, save JSON and a picture."""

from __future__ import annotations

import os
import platform
import sys
import warnings

from benchmarks import harness


def main() -> None:
    """Run the workloads named on the command line, or all."""
    warnings.simplefilter("ignore")  # peers speak of convergence; the proved gap says it better
    wanted = [a for a in sys.argv[1:] if a] or harness.names()
    unknown = sorted(set(wanted) - set(harness.names()))
    if unknown:
        sys.exit(f"No workload called {', '.join(unknown)}; there are {', '.join(harness.names())}.")
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    for name in wanted:
        rows = harness.measure(name)
        print(harness.table(name, rows), "\n", flush=True)
        path = harness.save(rows)
    picture = harness.draw()
    print(f"wrote {path.relative_to(path.parents[2])} and {picture.relative_to(picture.parents[2])}")


if __name__ == "__main__":
    main()
