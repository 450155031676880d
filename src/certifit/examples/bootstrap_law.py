"""The bootstrap leaves out 1/e of the rows.

Draw n rows with replacement from n rows. A given row is missed by one draw with probability 1 − 1/n, by all n draws
with (1 − 1/n)ⁿ, which rises to 1/e = 0.3679 as n grows. Those rows are the out-of-bag rows that judge a bootstrap
model, and the 0.632 = 1 − 1/e of the .632 error is the share of distinct rows that it has seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Record
from certifit.resampling import bootstrap_counts

SIZES = (1, 2, 5, 10, 30, 100, 300, 1000)
ROUNDS = 2000


def run(say: Callable[[str], Any] = print) -> Record:
    """Tell the story; return exact and simulated shares."""
    exact = [(1 - 1 / n) ** n for n in SIZES]
    seen, errors = [], []
    for n in SIZES:
        left_out = (bootstrap_counts(n, ROUNDS, random_state=n) == 0).mean(axis=1)
        seen.append(float(left_out.mean()))
        errors.append(float(left_out.std(ddof=1)) / math.sqrt(ROUNDS))
    say(f"{'rows':>6}  {'(1 − 1/n)ⁿ':>11}  {'simulated':>10}")
    for n, p, q in zip(SIZES, exact, seen):
        say(f"{n:>6}  {p:>11.4f}  {q:>10.4f}")
    say(f"{'limit':>6}  {math.exp(-1):>11.4f}")
    return {"sizes": list(SIZES), "exact": exact, "simulated": seen, "errors": errors, "limit": math.exp(-1)}


def draw(numbers: Record) -> Any:
    """Share left out against the number of rows."""
    from certifit.plot import figure, palette, style

    with style():
        fig, ax = figure()
        ax.axhline(numbers["limit"], color=palette().faint, linewidth=1, label="1/e")
        ax.plot(numbers["sizes"], numbers["exact"], color="C0", label="(1 − 1/n)ⁿ")
        ax.errorbar(
            numbers["sizes"], numbers["simulated"], yerr=1.96 * np.array(numbers["errors"]),
            fmt="o", color="C1", label=f"simulated, {ROUNDS} rounds",
        )  # fmt: skip
        ax.set(xscale="log", xlabel="rows", ylabel="share left out", ylim=(-0.02, 0.42))
        ax.legend(loc="lower right")
        return fig
