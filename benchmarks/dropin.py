"""Twenty ordinary scripts before and after the change of one word: CPU seconds of each, as a table in the docs.

    python -m benchmarks.dropin            # prints the table
    python -m benchmarks.dropin --write    # puts it into docs/from_sklearn.md as well

Each script of `tests.dropin.test_scripts` runs in a fresh process, first cold (imports and compiled loops included),
then warm: the median of some repetitions. That is done a few times, with both libraries in turns, and the least counts.
Processor time is counted (of child processes too), so that other work on the machine changes it little; BLAS has one
thread, for idle ones spin, and their time would count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from tests.dropin.test_scripts import SCRIPTS

PAGE = Path(__file__).parent.parent / "docs" / "from_sklearn.md"
BEGIN, END = "<!-- timings of the scripts -->", "<!-- end of the timings -->"
ONE = """
import json, resource, statistics, sys, textwrap, warnings
script, library, repeats = json.load(sys.stdin)
warnings.simplefilter("ignore")
code = compile(textwrap.dedent(script).replace("sklearn", library), "script", "exec")
seconds = []
whose = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
spent = lambda: sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, whose))
for _ in range(repeats + 1):
    start = spent()
    exec(code, {})
    seconds.append(spent() - start)
print(json.dumps([seconds[0], statistics.median(seconds[1:])]))
"""


def seconds(script: str, library: str, repeats: int) -> tuple[float, float]:
    """Cold and warm CPU seconds of one script with one library."""
    given = json.dumps([script, library, repeats])
    alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    alone.pop("PYTHONDONTWRITEBYTECODE", None)  # users have their packages compiled
    done = subprocess.run(
        [sys.executable, "-c", ONE], input=given, capture_output=True, text=True, check=True, env=alone
    )
    cold, warm = json.loads(done.stdout.strip().splitlines()[-1])
    return cold, warm


def table(repeats: int, processes: int) -> str:
    """The table in Markdown, one row a script, with the load of the machine while it was made."""
    rows = ["| script | sklearn, cold | certifit, cold | sklearn, warm | certifit, warm |", "|---|---|---|---|---|"]
    before = os.getloadavg()[0]
    for name, script in SCRIPTS.items():
        turns = [[seconds(script, one, repeats) for one in ("sklearn", "certifit")] for _ in range(processes)]
        times = [tuple(map(min, zip(*runs))) for runs in zip(*turns)]
        cells = [f"{times[k][j]:.2f} s" if j == 0 else f"{1000 * times[k][j]:.1f} ms" for j in (0, 1) for k in (0, 1)]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    load = f"{before:.1f} and {os.getloadavg()[0]:.1f}"
    note = f"{os.cpu_count()} cores; load {load} before and after (1 would be a quiet machine)."
    how = f"warm: the median of {repeats} runs; the least of {processes} processes; BLAS with one thread"
    return "\n".join([*rows, "", f"CPU seconds, {how}; {note}"])


def main() -> None:
    """Print the table, and write it into the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    made = table(options.repeats, options.processes)
    print(made)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
