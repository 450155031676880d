"""Nested cross-validation of all candidates on the same folds, within a time budget.

The seam to `certifit.model_selection`: each (candidate, outer fold) is one piece of work, an inner `Search` (which
shares work across its folds and grid points) on the training rows, followed by answers for the held-out rows.
The first fold of every candidate runs first, which
tells what the others will cost; then cheap candidates are completed before dear ones. What the budget does not
allow is skipped and reported.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from certifit._types import Array
from certifit.files import Schema
from certifit.model_selection import Search
from certifit.parallel import processes
from certifit.study._encoder import TableEncoder
from certifit.study._judge import Answers, Measure, answers_of, score
from certifit.study._models import Candidate

_BEGIN = 0.35  # of the time for the comparison; what has begun by then is completed first

Fold = tuple[Array, Array]
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Work:
    """Everything a piece of work needs besides the candidate and the fold."""

    X: Array
    y: Array
    schema: Schema
    measure: Measure
    folds: tuple[Fold, ...]
    inner: int
    seed: int


@dataclass(frozen=True)
class Piece:
    """One candidate on one outer fold."""

    answers: Answers | None
    score: float
    chosen: dict[str, Any]
    seconds: float
    warnings: tuple[str, ...] = ()
    error: str = ""


@dataclass
class Result:
    """One candidate on all outer folds."""

    candidate: Candidate
    pieces: dict[int, Piece] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.candidate.name

    @property
    def error(self) -> str:
        return next((p.error for p in self.pieces.values() if p.error), "")

    def complete(self, folds: int) -> bool:
        return len(self.pieces) == folds and not self.error

    @property
    def scores(self) -> Array:
        return np.array([self.pieces[k].score for k in sorted(self.pieces)])

    @property
    def seconds(self) -> float:
        return sum(p.seconds for p in self.pieces.values())


def outer_folds(y: Array, twins: Array, classes: bool, folds: int, seed: int) -> tuple[Fold, ...]:
    """Shuffled folds (stratified for classes) that never part a row from its twins."""
    first = np.flatnonzero(twins == np.arange(len(y)))
    kind = StratifiedKFold if classes else KFold
    fold_of = np.empty(len(y), dtype=np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class of fewer rows than folds after twins are merged
        for k, (_, test) in enumerate(kind(folds, shuffle=True, random_state=seed).split(first, y[first])):
            fold_of[first[test]] = k
    fold_of = fold_of[twins]
    rows = np.arange(len(y))
    return tuple((rows[fold_of != k], rows[fold_of == k]) for k in range(folds))


def make_search(candidate: Candidate, work: Work, rows: int) -> Any:
    """An unfitted pipeline from the schema's matrix, wrapped in a search when there is something to choose."""
    columns = work.schema.columns
    kinds = tuple(c.kind for c in columns)
    encoder = TableEncoder(
        tuple(c.name for c in columns), kinds, tuple(c.categories for c in columns), **candidate.encoder
    )
    pipeline = Pipeline([("table", encoder), *candidate.steps(work.seed, kinds)])
    grid = candidate.parameters(rows, len(columns))
    if not grid:
        return pipeline
    kind = StratifiedKFold if work.measure.name != "R²" else KFold
    cv = kind(work.inner, shuffle=True, random_state=work.seed + 1)
    return Search(pipeline, {k: list(v) for k, v in grid.items()}, cv=cv, scoring=work.measure.scoring)


def run_piece(candidate: Candidate, k: int, work: Work) -> Piece:
    """Search on the training rows of fold k, answer for its held-out rows."""
    train, test = work.folds[k]
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            model = make_search(candidate, work, len(train)).fit(work.X[train], work.y[train])
            said = answers_of(model, work.X[test])
            value = score(work.measure, work.y[test], said)
        except Exception as error:  # one candidate's failure must not end the study; it is reported
            text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            return Piece(None, float("nan"), {}, time.perf_counter() - start, error=text)
    chosen = {k.split("__")[-1]: v for k, v in getattr(model, "best_params_", {}).items()}
    said_warnings = tuple(sorted({f"{w.category.__name__}: {str(w.message)[:200]}" for w in heard}))
    return Piece(said, value, chosen, time.perf_counter() - start, said_warnings)


def compare(
    chosen: Sequence[Candidate],
    work: Work,
    deadline: float,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Result]:
    """Every candidate on every fold, as far as the deadline (of `time.monotonic`) allows."""
    results = [Result(c) for c in chosen]
    total = len(chosen) * len(work.folds)
    runner = _here if workers == 1 else _elsewhere
    for done, (i, k, piece) in enumerate(runner(results, work, deadline, workers), start=1):
        results[i].pieces[k] = piece
        if progress is not None:
            progress(done, total, chosen[i].name)
    return results


def _order(results: Sequence[Result], folds: int, deadline: float) -> Iterator[tuple[int, int]]:
    """First folds in the order of the table; then whole candidates, cheapest first.

    When the first folds alone take long, what has begun is completed before anything new is begun: a few whole
    candidates can be compared, many first folds cannot.
    """
    begun = time.monotonic()
    enough = begun + _BEGIN * (deadline - begun)
    waiting: set[int] = set()
    for i in range(len(results)):
        if i > 1 and time.monotonic() > enough:
            break
        waiting.add(i)
        yield i, 0
    rest = [i for i in range(len(results)) if i not in waiting]
    while waiting:
        known = [i for i in waiting if 0 in results[i].pieces]
        i = min(known or waiting, key=lambda i: (results[i].seconds, i))
        waiting.remove(i)
        if not results[i].error:
            yield from ((i, k) for k in range(1, folds))
    for i in rest:
        yield from ((i, k) for k in range(folds))


def _hopeless(result: Result, folds: int, deadline: float, workers: int) -> bool:
    """Whether the folds done so far say that the others cannot be done in time.

    The quickest counts, and one fold alone condemns nothing: the first also pays for compiling loops.
    """
    if len(result.pieces) < 2:
        return False
    quickest = min(p.seconds for p in result.pieces.values())
    return time.monotonic() + quickest * max((folds - len(result.pieces)) / workers, 1.0) > deadline


def _here(results: list[Result], work: Work, deadline: float, workers: int) -> Iterator[tuple[int, int, Piece]]:
    folds = len(work.folds)
    for i, k in _order(results, folds, deadline):
        must = i == 0  # the baseline is never left out
        if results[i].error or (not must and time.monotonic() > deadline):
            continue
        if k > 0 and not must and _hopeless(results[i], folds, deadline, 1):
            continue
        yield i, k, run_piece(results[i].candidate, k, work)


_HELD: dict[str, Work] = {}


def _hold(work: Work) -> None:
    """Called once in every worker process: keep the data."""
    _HELD["work"] = work


def _remote(candidate: Candidate, k: int) -> Piece:
    return run_piece(candidate, k, _HELD["work"])


def _elsewhere(results: list[Result], work: Work, deadline: float, workers: int) -> Iterator[tuple[int, int, Piece]]:
    """The same in worker processes, which are ended when the time is up."""
    from concurrent.futures import FIRST_COMPLETED, wait

    folds = len(work.folds)
    executor = processes(workers, _hold, (work,))
    queue = _order(results, folds, deadline)
    running: dict[Any, tuple[int, int]] = {}
    try:
        more = True
        while True:
            while more and len(running) < workers and time.monotonic() < deadline:
                following = next(queue, None)
                if following is None:
                    more = False
                    break
                i, k = following
                if results[i].error or (k > 0 and i > 0 and _hopeless(results[i], folds, deadline, workers)):
                    continue
                running[executor.submit(_remote, results[i].candidate, k)] = (i, k)
            if not running:
                break
            ready, _ = wait(
                running, timeout=min(max(deadline - time.monotonic(), 0.01), 60.0), return_when=FIRST_COMPLETED
            )
            for future in ready:
                i, k = running.pop(future)
                yield i, k, future.result()
            if not ready and time.monotonic() >= deadline:
                break
    finally:
        executor.shutdown(wait=True, kill_workers=True)
    # The baseline is never left out, however short the time.
    for k in range(folds):
        if k not in results[0].pieces:
            yield 0, k, run_piece(results[0].candidate, k, work)
