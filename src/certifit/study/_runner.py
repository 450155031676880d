"""Runs a `StudyPlan`: nested cross-validation of all candidates on the same folds, within a time budget.

The seam to `certifit.model_selection`: each (candidate, outer fold) is one piece of work, an inner `Search` (which
shares work across its folds and grid points) on the training rows, followed by answers for the held-out rows.
Pieces run in the order of the plan, which was cut to the budget beforehand, by estimates. A clock ends the work only in
an emergency, on a machine many times slower than the estimates allow for, and the verdict then starts by saying so.
"""

from __future__ import annotations

import pickle
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from certifit import _copies
from certifit._types import Array
from certifit.model_selection import Search
from certifit.parallel import aside, give_back, loaded_processes
from certifit.study._design import group_folds, time_folds
from certifit.study._encoder import TableEncoder
from certifit.study._judge import Answers, answers_of, score
from certifit.study._models import Candidate
from certifit.study._plan import Fold, Step, StudyPlan, Work

_AMPLE = 10.0  # times the estimated work: with so much time left, none of it will be cut off

Progress = Callable[[int, int, str], None]
Runner = Callable[..., Iterator[tuple["Step", "Piece"]]]
T = TypeVar("T")


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
    def has_probabilities(self) -> bool:
        """Whether its answers come with probabilities (numbers need none)."""
        said = [p.answers for p in self.pieces.values() if p.answers is not None]
        return all(a.probabilities is not None or a.labels.dtype.kind == "f" for a in said)

    @property
    def seconds(self) -> float:
        return sum(p.seconds for p in self.pieces.values())


def make_pipeline(candidate: Candidate, work: Work) -> Pipeline:
    """The unfitted steps from the schema's matrix to predictions."""
    encoder = TableEncoder.of(work.schema.columns, **candidate.encoder)
    return Pipeline([("table", encoder), *candidate.steps(work.seed, encoder.kinds)])


def choose_and_fit(candidate: Candidate, work: Work, rows: Array) -> tuple[Pipeline, dict[str, Any]]:
    """The candidate's pipeline fitted to these rows, and the parameters that an inner cross-validation chose.

    The rows are encoded once, not once per inner fold: medians, scales, levels and knots look at no target, and the
    inner folds then share their work. (Pairs of an additive model are chosen by the target, once: the penalty is then
    chosen a little too weak, and the held-out rows, which none of this has seen, judge the result.) Steps with
    parameters to choose, or that learn more than that, are fitted inside them.
    """
    steps = make_pipeline(candidate, work).steps
    first = next(k for k, (_, step) in enumerate(steps) if k > 0 and not candidate.is_fixed(step))
    tail, y, weights = steps[first:], work.y[rows], work.weights_of(rows)
    encoder, Z = _encoded(steps[0][1], work, rows)
    head = Pipeline([("table", encoder), *steps[1:first]])
    if first > 1:
        Z = Pipeline(steps[1:first]).fit_transform(Z, getattr(tail[-1][1], "certified_target", np.asarray)(y))
    spread = 1.0 if work.task == "classification" else float(np.std(y)) or 1.0
    grid = candidate.parameters(len(y), len(work.schema.columns), spread)
    if not grid:
        return Pipeline([*head.steps, *fit_weighted(Pipeline(tail), Z, y, weights).steps]), {}
    alone = len(tail) == 1
    model = tail[0][1] if alone else Pipeline(tail)
    names = {k: k.removeprefix("model__") if alone else k for k in grid}
    rough = {k if alone else f"model__{k}": v for k, v in candidate.search.items()}
    space, cv = {names[k]: list(v) for k, v in grid.items()}, inner_folds(work, rows)
    again: Any = middle_of_equals if len(space) == 1 and "C" in space else True
    search = Search(clone(model).set_params(**rough), space, cv=cv, scoring=work.measure.scoring, refit=again)
    search._at_last = {k: model.get_params()[k] for k in rough}
    search.fit(Z, y, sample_weight=weights)
    best = [(tail[0][0], search.best_estimator_)] if alone else search.best_estimator_.steps
    chosen = {k.split("__")[-1]: search.best_params_[names[k]] for k in grid}
    return Pipeline([*head.steps, *best]), chosen


def _encoded(encoder: TableEncoder, work: Work, rows: Array) -> tuple[TableEncoder, Array]:
    """The encoder fitted to these rows, and their features, which models with the same encoder share."""
    X = work.X[rows]
    return work.once(repr(encoder.get_params()), rows, lambda: (encoder.fit(X), encoder.transform(X)))


def middle_of_equals(results: Mapping[str, Any]) -> int:
    """The middle one of the points of a grid, in its order, that share the best score.

    Ranks say nothing of how far a score is shrunk: with one column every C has the same AUC, and the smallest would
    leave probabilities that hardly differ.

    Examples
    --------
    >>> middle_of_equals({"mean_test_score": [0.7, 0.8, 0.8, 0.8, 0.6]})
    2
    """
    scores = np.asarray(results["mean_test_score"])
    if not np.isfinite(scores).any():
        return 0
    equal = np.flatnonzero(scores >= np.nanmax(scores) - 1e-12)
    return int(equal[len(equal) // 2])


def inner_folds(work: Work, rows: Array) -> list[Fold]:
    """How the training rows are split to choose parameters: by the same design as the study's own folds."""
    y, classes, seed = work.y[rows], work.task == "classification", work.seed + 1
    if work.groups is None and work.time is None:
        splitter = (StratifiedKFold if classes else KFold)(work.inner, shuffle=True, random_state=seed)
        return work.once("inner folds", rows, lambda: list(splitter.split(rows, y)))
    if work.groups is not None:
        count = min(work.inner, len(np.unique(work.groups[rows])))
        split = group_folds(y, work.groups[rows], classes, count, seed)
    else:
        assert work.time is not None
        split = time_folds(y, work.time[rows], classes, min(work.inner, max(len(rows) // 10, 2)))
    if not split:
        raise ValueError("too few rows or groups for an inner split in which every class can be learned and evaluated")
    return list(split)


def fit_weighted(pipeline: Pipeline, X: Array, y: Array, weights: Array | None) -> Pipeline:
    """Fit the steps; weights, if any, go to the last one."""
    if weights is None:
        return pipeline.fit(X, y)
    return pipeline.fit(X, y, **{f"{pipeline.steps[-1][0]}__sample_weight": weights})


_UNCHECKED = partial(config_context, skip_parameter_validation=True)


def _threads(candidate: Candidate) -> AbstractContextManager[Any]:
    """One thread for gradient boosting: its threads spin while they wait for each other, on a busy machine for long."""
    many = candidate.yardstick or candidate.black_box
    return threadpool_limits(1, user_api="openmp") if many else nullcontext()


def run_piece(candidate: Candidate, k: int, work: Work) -> Piece:
    """Search on the training rows of fold k, answer for its held-out rows."""
    train, test = work.folds[k]
    start = time.process_time()
    # The parameters are the study's own: checking them in every one of thousands of fits takes a twentieth of the time.
    with _threads(candidate), warnings.catch_warnings(record=True) as heard, _UNCHECKED():
        warnings.simplefilter("always")
        try:
            model, chosen = choose_and_fit(candidate, work, train)
            said = answers_of(model, work.X[test])
            value = score(work.measure, work.y[test], said, work.classes, work.weights_of(test))
        except Exception as error:  # one candidate's failure must not end the study; it is reported
            text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            return Piece(None, float("nan"), {}, time.process_time() - start, error=text)
    said_warnings = tuple(sorted({f"{w.category.__name__}: {str(w.message)[:200]}" for w in heard}))
    return Piece(said, value, chosen, time.process_time() - start, said_warnings)


def execute(
    plan: StudyPlan, stop: float = float("inf"), workers: int = 1, progress: Progress | None = None
) -> list[Result]:
    """Run the plan; results in the order of the candidates.

    What is not done when `time.monotonic` reaches ``stop`` is left undone, but for the baseline. Progress is told in
    thousandths of the estimated work.
    """
    results = [Result(c) for c in plan.candidates]
    share = [plan.seconds(c) / len(plan.work.folds) for c in plan.candidates]
    total, done = sum(share) * len(plan.work.folds), 0.0
    copies = workers > 1 and plan.work.small and _copies.possible()
    run: Runner = partial(_in_copies if copies else _elsewhere, workers=workers) if workers > 1 else _here
    for step, piece in run(plan, results, stop):
        results[step.model].pieces[step.fold] = piece
        done += share[step.model] * (len(plan.work.folds) if piece.error else 1)  # it is not tried on other folds
        if progress is not None:
            progress(min(round(1000 * done / total), 1000), 1000, plan.candidates[step.model].name)
    return results


_WARM: set[tuple[str, str, bool, bool]] = set()


def warm(plan: StudyPlan) -> None:
    """Run every candidate on a handful of rows, once in a process: what is compiled is ready before work is counted."""
    work = plan.work
    if work.schema is None:
        return
    _, code = np.unique(work.y, return_inverse=True) if work.task == "classification" else (None, np.zeros(len(work.y)))
    each_class = np.unique(code)
    each = max(12, 48 // len(each_class))  # halves of fewer rows than components would be fitted one by one
    rows = np.concatenate([np.flatnonzero(code == c)[:each] for c in each_class])
    few = replace(work, folds=((rows, rows),), inner=2, groups=None, time=None)
    for candidate in plan.candidates:
        kind = candidate.name, work.task, len(each_class) > 2, work.weights is None
        if kind not in _WARM and not (candidate.yardstick or candidate.black_box):  # these are compiled
            run_piece(candidate, 0, few)
            _WARM.add(kind)


def _here(plan: StudyPlan, results: list[Result], stop: float) -> Iterator[tuple[Step, Piece]]:
    # Threads do not pay on a small table, and those of gradient boosting spin while other programs want the processor.
    with threadpool_limits(1) if plan.work.small else nullcontext():
        warm(plan)
        for step in plan.steps():
            late = step.model != 0 and time.monotonic() > stop  # the baseline always runs
            if not late and not results[step.model].error:
                yield step, run_piece(plan.candidates[step.model], step.fold, plan.work)


_HELD: dict[Path, StudyPlan] = {}


def _held(file: Path) -> StudyPlan:
    """In a worker process: the plan of this file, read once; what will run is compiled or loaded then."""
    if file not in _HELD:
        _HELD.clear()
        _HELD[file] = pickle.loads(file.read_bytes())
        warm(_HELD[file])
    return _HELD[file]


def _ready(file: Path) -> None:
    _held(file)


def _remote(file: Path, step: Step) -> Piece:
    plan = _held(file)
    return run_piece(plan.candidates[step.model], step.fold, plan.work)


def _elsewhere(plan: StudyPlan, results: list[Result], stop: float, workers: int) -> Iterator[tuple[Step, Piece]]:
    """The same in worker processes, which are ended when the time is up.

    Pieces of a small table are over soon: there this process works too, for one more process costs seconds to start.
    The processes read the plan from a file: this one need not wait until they have started.
    """
    helping = plan.work.small
    executor, over = loaded_processes(workers - helping, __name__), False
    with TemporaryDirectory() as folder:
        file = Path(folder) / "plan"
        file.write_bytes(pickle.dumps(plan))
        try:
            with threadpool_limits(1) if helping else nullcontext():
                if helping:
                    executor.submit(_ready, file)  # the others get ready meanwhile
                    warm(plan)
                over = yield from _shared_out(plan, results, stop, workers, executor, file)
        finally:
            if over:
                give_back(executor, workers - helping, __name__)
            else:
                executor.shutdown(wait=True, kill_workers=True)
    yield from _baseline(plan, results)


def _baseline(plan: StudyPlan, results: list[Result]) -> Iterator[tuple[Step, Piece]]:
    """What is left of the baseline, which is never skipped, however short the time."""
    for step in plan.steps():
        if step.model == 0 and step.fold not in results[0].pieces:
            yield step, run_piece(plan.candidates[0], step.fold, plan.work)


def meanwhile(workers: int, work: Callable[..., T], *arguments: Any) -> Callable[[], T]:
    """Begin some work in a copy of this process, or in one of the comparison that has nothing left to do.

    Both do it later, here, where there is no such process: see `certifit.parallel.aside`.
    """
    if workers > 1 and _copies.possible():
        return _copies.aside(_unchecked, work, *arguments)
    return aside(workers - 1, __name__, partial(_unchecked, work), *arguments)


def _unchecked(work: Callable[..., T], *arguments: Any) -> T:
    with _UNCHECKED():
        return work(*arguments)


def _in_copies(plan: StudyPlan, results: list[Result], stop: float, workers: int) -> Iterator[tuple[Step, Piece]]:
    """The same in this process and in copies of it, together as many as workers.

    The first copies are made before the models are loaded and run the yardsticks, for which scikit-learn is enough,
    while this process loads the models; those that follow them have everything.
    """
    steps = [step for step in plan.steps() if step.model != 0]
    theirs = deque(step for step in steps if plan.candidates[step.model].yardstick)
    rest = deque(step for step in steps if not plan.candidates[step.model].yardstick)
    with threadpool_limits(1), _Crew(plan, results, workers - 1, theirs) as crew:
        warm(plan)
        yield from _baseline(plan, results)
        crew.others = rest
        while time.monotonic() <= stop:
            crew.feed()
            own = crew.take(rest) or crew.take(theirs)
            if own is not None:
                yield own, crew.work(own)
            elif not crew.busy:
                break
            yield from crew.collect(0.0 if own is not None else min(max(stop - time.monotonic(), 0.01), 60.0))


class _Crew:
    """Copies of this process that run pieces of a plan: the yardsticks first, and then all the others with new copies.

    Each is given one piece more than it is working on, so that it need not wait for this process.
    """

    def __init__(self, plan: StudyPlan, results: list[Result], size: int, steps: deque[Step]) -> None:
        self.plan, self.results, self.size, self.steps = plan, results, size, steps
        self.others: deque[Step] = deque()  # for copies made when the models are loaded
        self.running: dict[_copies.Copy, deque[Step]] = {}
        self.ready: set[_copies.Copy] = set()  # the copies that have the models

    def __enter__(self) -> _Crew:
        self.feed()
        return self

    def __exit__(self, *error: object) -> None:
        for copy in self.running:
            copy.end()

    @property
    def busy(self) -> bool:
        return any(self.running.values())

    def feed(self) -> None:
        """Give every copy something to do; one without the models makes way for one with them."""
        for copy in [c for c, steps in self.running.items() if not steps and not self.steps and c not in self.ready]:
            del self.running[copy]
            copy.end()
        while len(self.running) < self.size and (self.steps or self.others) and _copies.possible():
            copy = _copies.Copy(self.work)
            self.running[copy] = deque()
            self.ready |= {copy} if self.others else set()
        for copy, steps in 2 * [*self.running.items()]:
            if len(steps) < 2 and (step := (copy in self.ready and self.take(self.others)) or self.take(self.steps)):
                steps.append(step)
                copy.ask(step)

    def take(self, queue: deque[Step]) -> Step | None:
        """The next step, but for those of models that have failed on another fold."""
        while queue and self.results[queue[0].model].error:
            queue.popleft()
        return queue.popleft() if queue else None

    def work(self, step: Step) -> Piece:
        return run_piece(self.plan.candidates[step.model], step.fold, self.plan.work)

    def collect(self, seconds: float) -> Iterator[tuple[Step, Piece]]:
        """Pieces that are done; waits so long for the first of them."""
        for copy in _copies.answered(list(self.running), seconds):
            step = self.running[copy].popleft()
            try:
                yield step, copy.answer()
            except EOFError:  # it was killed: what it had is done here
                lost = [step, *self.running.pop(copy)]
                copy.end()
                yield from ((s, self.work(s)) for s in lost)


def _shared_out(
    plan: StudyPlan, results: list[Result], stop: float, workers: int, executor: Any, file: Path
) -> Generator[tuple[Step, Piece], None, bool]:
    """Pieces in order, each to the first who is free; in the end whether nothing is left running."""
    from concurrent.futures import FIRST_COMPLETED, wait

    helping = plan.work.small
    total = sum(plan.seconds(c) for c in plan.candidates)
    certain = helping and time.monotonic() + _AMPLE * total < stop
    steps = plan.longest_first() if certain else plan.steps()
    waiting = (step for step in steps if not results[step.model].error)
    running: dict[Any, Step] = {}

    def take() -> Step | None:
        return None if time.monotonic() > stop else next(waiting, None)

    while True:
        while len(running) < workers and (step := take()) is not None:
            running[executor.submit(_remote, file, step)] = step
        own = take() if helping else None
        if own is not None:
            yield own, run_piece(plan.candidates[own.model], own.fold, plan.work)
        elif not running:
            return True
        left = 0.0 if own is not None else min(max(stop - time.monotonic(), 0.01), 60.0)
        ready, _ = wait(running, timeout=left, return_when=FIRST_COMPLETED)
        yield from ((running.pop(future), future.result()) for future in ready)
        if not ready and time.monotonic() >= stop:
            return False
