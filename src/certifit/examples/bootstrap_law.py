"""A bootstrap sample misses 1/e of the rows.

Draw n rows with replacement from n rows. A given row is missed by one draw with probability 1 − 1/n, by all n draws
with (1 − 1/n)ⁿ, which rises to 1/e = 0.3679 as n grows. Those rows are the out-of-bag rows on which a bootstrap model
is evaluated, and the 0.632 = 1 − 1/e of the .632 error is the fraction of distinct rows that it has seen.
"""

import math
from collections.abc import Callable

import numpy as np

from certifit._types import Figure, Record
from certifit.plot import palette
from certifit.resampling import bootstrap_counts

SIZES = (1, 2, 5, 10, 30, 100, 300, 1000)
ROUNDS = 2000


def run(say: Callable[[str], object] = print) -> Record:
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
    return {
        "sizes": list(SIZES),
        "exact": exact,
        "simulated": seen,
        "errors": errors,
        "limit": math.exp(-1),
        "rounds": bootstrap_counts(60, 12, random_state=0),
    }


def draw(numbers: Record) -> Figure:
    """Left: which rows some draws leave out. Right: their share against the number of rows."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.8), layout="constrained")
    missed = np.asarray(numbers["rounds"]) == 0
    rounds, rows = missed.shape
    shares = missed.mean(axis=1)
    left.imshow(missed, cmap=ListedColormap([palette().paper, palette().colours[1]]), aspect="auto", vmin=0, vmax=1)
    left.hlines(np.arange(rounds - 1) + 0.5, -0.5, rows - 0.5, color=palette().faint, linewidth=0.5)
    left.set(xlabel="row", xticks=[0, rows - 1], xticklabels=["1", str(rows)], ylabel="fraction not drawn")
    left.set_yticks(range(rounds), [f"draw {k + 1}: {p:.0%}" for k, p in enumerate(shares)])
    left.set_title(f"rows not drawn by {rows} draws from {rows}: {shares.mean():.0%}")
    left.tick_params(length=0)
    right.axhline(numbers["limit"], color="C1", linewidth=1.2)
    right.text(1.0, numbers["limit"] + 0.006, "1/e = 36.8 %", color="C1")
    right.plot(numbers["sizes"], numbers["exact"], color="C0", label="(1 − 1/n)ⁿ")
    right.errorbar(
        numbers["sizes"], numbers["simulated"], yerr=1.96 * np.array(numbers["errors"]),
        fmt="o", color=palette().ink, label=f"simulated, {ROUNDS} rounds",
    )  # fmt: skip
    right.set(xscale="log", xlabel="rows n", ylabel="fraction not drawn", ylim=(-0.02, 0.42))
    right.set_title("the fraction approaches 1/e")
    right.legend(loc="lower right")
    return figure
