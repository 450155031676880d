"""The kernel perceptron: f(x) = Σ cᵢyᵢ(k(xᵢ, x) + 1), where cᵢ counts the times that row i was wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from certifit._types import Array, Record
from certifit.design import Blocks
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers._task import DEFAULT, Options


@dataclass(frozen=True)
class CountedPass:
    """After a pass: mistakes of each row so far, scores of all rows, mean loss, and the pass's own mistakes."""

    counts: Array
    scores: Array
    objective: float
    number: int = 0
    mistaken: list[tuple[int, float]] = field(default_factory=list)  # row and its score
    gap: float = np.nan
    step: float = 1.0


def kernel_perceptron(
    gram: Blocks,
    y: Array,
    order: Callable[[], Array],
    options: Options = DEFAULT,
    *,
    offset: bool = True,
) -> Solution:
    """Passes over the rows until one has no mistake; the search for the next mistake is one vector operation.

    ``order`` gives the order of the rows of the next pass; with ``offset`` the constant 1 is added to the kernel.
    ``value`` are the counts of mistakes, and a trace has one row per mistake.

    Examples
    --------
    >>> from certifit.design import blocks
    >>> from certifit.kernels import Linear
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> found = kernel_perceptron(blocks(Linear(), X), y, lambda: np.arange(2))
    >>> found.value, found.status
    (array([1., 1.]), 'converged')
    """
    pad, count = float(offset), 0

    def advance(at: CountedPass) -> CountedPass:
        scores, counts, rows = at.scores.copy(), at.counts.copy(), order()
        mistaken: list[tuple[int, float]] = []
        where = 0
        while where < len(rows):
            short = np.flatnonzero((y * scores)[rows[where:]] <= 0)
            if not len(short):
                break
            i = rows[where + short[0]]
            mistaken.append((int(i), float(scores[i])))
            scores += y[i] * (gram.combine(np.array([i]), np.ones(1)) + pad)
            counts[i] += 1
            where += int(short[0]) + 1
        loss = sum(abs(score) for _, score in mistaken) / len(y)
        return CountedPass(counts, scores, loss, at.number + 1, mistaken)

    def mistakes(at: CountedPass) -> list[Record]:
        nonlocal count
        first, count = count, count + len(at.mistaken)
        return [
            {"iteration": first + k, "sweep": at.number, "row": i, "label": int(y[i]), "score": score}
            for k, (i, score) in enumerate(at.mistaken, 1)
        ]

    def clean(before: CountedPass, after: CountedPass) -> bool:
        return not after.mistaken

    start = CountedPass(np.zeros(len(y)), np.zeros(len(y)), 0.0)
    limits = options.limit(100), options.time_budget, options.trace
    run = drive(start, advance, clean, *limits, events=mistakes)
    return Solution(run.state.counts, run.status, run.stats | {"method": "kernel perceptron"})
