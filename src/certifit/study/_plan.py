"""What a study will do, settled before it does anything: models, grids and folds, in which order, for how long.

The order depends on the table alone, never on a clock: the baseline, then cheap models before dear ones, each through
all its folds. A time budget decides how far down this list a study gets, by estimates of the work: the same table,
budget and number of processes always compare the same models, however busy the machine is.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from certifit._types import Array
from certifit.exceptions import OptionError
from certifit.files import Schema, TableError
from certifit.study._design import Design, Roles, designed_folds
from certifit.study._facts import Facts
from certifit.study._judge import Measure
from certifit.study._models import BLACK_BOXES, YARDSTICKS, Candidate, Shape, candidates

_COMPARISON = 0.75  # of the time budget goes to the comparison; the rest to refit, proofs and report
_REFIT = 0.15  # of it goes to fitting the chosen model again
_FEW = 400  # rows up to which all folds are drawn several times: their scores vary much, and cost little
_REPEATS = 3
_APART = 1_000  # between the seeds of repetitions
PATIENCE = 10.0  # times the budget by the clock before work is ended: an emergency, which the verdict then starts with
_AT_LEAST = 300.0  # seconds of it: a short budget must not be ended by a slow start
_LEVELS = 25  # of a category that become features

_SMALL = 50_000  # cells of a table whose pieces of work are over in seconds

T = TypeVar("T")
Fold = tuple[Array, Array]
PLAIN = Design()
Skipped = tuple[str, str]  # a model and why it does not run


@dataclass(frozen=True)
class Budget:
    """Seconds for a study (None: no limit).

    They are estimated seconds of work, so that neither compiling nor other programs on the machine change what is
    compared. Only a study that takes ten times as long by the clock is cut short.
    """

    seconds: float | None = None
    start: float = field(default_factory=time.monotonic)
    began: datetime = field(default_factory=lambda: datetime.now(UTC), compare=False)

    def _share(self, share: float) -> float:
        return share * self.seconds if self.seconds else float("inf")

    @property
    def comparison(self) -> float:
        """Seconds of work of each worker for the comparison."""
        return self._share(_COMPARISON)

    @property
    def refit(self) -> float:
        """Seconds of work for fitting the chosen model again."""
        return self._share(_REFIT)

    @property
    def stop(self) -> float:
        """When whatever still runs is ended, on the clock of `time.monotonic`."""
        return self.start + max(self._share(PATIENCE), _AT_LEAST)

    def spent(self) -> float:
        """Seconds since the start, by the clock."""
        return time.monotonic() - self.start


class Kept(dict[Any, Any]):
    """What pieces of work on the same rows share; it stays in its process."""

    def __reduce__(self) -> tuple[type[Kept], tuple[()]]:
        return Kept, ()


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
    task: str = "classification"
    groups: Array | None = None
    time: Array | None = None
    weights: Array | None = None
    positive: Any = None
    kept: Kept = field(default_factory=Kept, init=False, repr=False, compare=False)

    @property
    def classes(self) -> Array | None:
        """The classes in order; None for numbers."""
        assert self.schema.target is not None
        return self.schema.target.labels() if self.task == "classification" else None

    def weights_of(self, rows: Array) -> Array | None:
        """Weights of some rows; None when all count alike."""
        return None if self.weights is None else self.weights[rows]

    @property
    def small(self) -> bool:
        """Whether pieces of work are over so soon that starting threads and processes, and repeating work, shows."""
        return self.X.size <= _SMALL

    def once(self, what: str, rows: Array, make: Callable[[], T]) -> T:
        """What ``make`` finds for these rows: for the training rows of a fold it is kept, for the next model."""
        fold = next((k for k, (train, _) in enumerate(self.folds) if train is rows), None)
        if fold is None or not self.small:
            return make()
        if (what, fold) not in self.kept:
            self.kept[what, fold] = make()
        found: T = self.kept[what, fold]
        return found

    @property
    def features(self) -> int:
        """How many features the encoder makes of the columns, roughly."""
        return wide(self.schema)

    @property
    def repeats(self) -> int:
        """How often every row is held out."""
        return max(1, round(sum(len(test) for _, test in self.folds) / max(len(self.y), 1)))


@dataclass(frozen=True)
class Step:
    """One model (its place among the candidates) on one outer fold."""

    model: int
    fold: int


@dataclass(frozen=True)
class StudyPlan:
    """Everything that will be run."""

    candidates: tuple[Candidate, ...]  # simplest first, which is how the verdict reads them; the first is the baseline
    work: Work  # data, folds and measure that all share
    skipped: tuple[Skipped, ...] = ()  # models that do not suit the table, with the reason

    def seconds(self, candidate: Candidate) -> float:
        """Estimated seconds of work of a candidate on all outer folds."""
        classes = self.work.classes
        size = self.work.features, 0 if classes is None else len(classes)
        return sum(candidate.seconds(len(train), *size) for train, _ in self.work.folds)

    def order(self) -> list[int]:
        """Places of the candidates as they are run: the baseline, then by order of magnitude of their work.

        Models that usually matter may cost ten times as much as the others before which they come.
        """
        work = [self.seconds(c) / (10.0 if c.name in USUAL else 1.0) for c in self.candidates]
        tiers = [math.floor(math.log10(max(v, 1.0))) for v in work]
        return sorted(range(len(self.candidates)), key=lambda i: (i > 0, self.candidates[i].yardstick, tiers[i], i))

    def within(self, seconds: float) -> StudyPlan:
        """The plan cut to so much work: candidates that do not fit in, in their order, are skipped and named."""
        kept, late, left = {0}, [], seconds
        for i in self.order():
            needed = self.seconds(self.candidates[i])
            if i == 0 or needed <= left:  # the baseline always runs
                kept.add(i)
                left -= needed
            else:
                late.append((self.candidates[i].name, f"{LATE}: it needs about {_two_digits(needed)} s of work"))
        candidates = tuple(c for i, c in enumerate(self.candidates) if i in kept)
        return replace(self, candidates=candidates, skipped=(*self.skipped, *late))

    def steps(self) -> list[Step]:
        """All pieces of work in the order in which they are run."""
        return [Step(i, k) for i in self.order() for k in range(len(self.work.folds))]

    def longest_first(self) -> list[Step]:
        """The same for several workers that will certainly get through: with short pieces last they end together."""
        seconds = [self.seconds(c) for c in self.candidates]
        return sorted(self.steps(), key=lambda step: -seconds[step.model])


LATE = "the time budget is too short"
USUAL = ("logistic regression", "ridge", "Poisson regression", "decision tree", "nearest neighbours")


def _two_digits(seconds: float) -> str:
    return f"{float(f'{max(seconds, 0.1):.2g}'):,.4g}".replace(",", " ")


def wide(schema: Schema) -> int:
    """How many features columns become, roughly: the levels of categories count one by one.

    Examples
    --------
    >>> from certifit.files import Column
    >>> wide(Schema((Column("age", "number"), Column("ward", "category", categories=("north", "south")))))
    3
    """
    return sum(min(len(c.categories), _LEVELS) if c.kind == "category" else 1 for c in schema.columns)


def plan_study(
    facts: Facts,
    models: Sequence[str] | None,
    folds: int | None,
    seed: int,
    yardsticks: bool = False,
    design: Design = PLAIN,
    black_box: bool = False,
) -> StudyPlan:
    """The plan for a table: all models that suit it (or those asked for), on folds of their own number or as asked.

    Yardsticks come last, and only where all models are compared; where black boxes are allowed they are candidates.
    """
    others = BLACK_BOXES if black_box else YARDSTICKS if yardsticks and models is None else ()
    chosen, skipped = choose_candidates(facts, models, others)
    work = plan_work(facts, design.read(facts), folds, seed)
    if work.weights is not None:
        skipped += [(c.name, "takes no weights") for c in chosen if not c.takes_weights()]
        chosen = [c for c in chosen if c.takes_weights()]
    return StudyPlan(tuple(chosen), work, tuple(skipped))


def plan_work(facts: Facts, roles: Roles, folds: int | None, seed: int) -> Work:
    """Folds and everything else that all candidates share."""
    classes = facts.task == "classification"
    if roles.groups is not None or roles.time is not None:
        if folds is not None and folds < 2:
            raise TableError(f"A comparison needs at least 2 folds, got {folds}.")
        split, inner = designed_folds(roles, facts.y, classes, folds, seed)
    else:
        split, inner = _plain_folds(facts, folds, seed)
    work = Work(facts.X, facts.y, facts.schema, roles.measure, split, inner, seed, facts.task)
    return replace(work, groups=roles.groups, time=roles.time, weights=roles.weights, positive=roles.positive)


def _plain_folds(facts: Facts, folds: int | None, seed: int) -> tuple[tuple[Fold, ...], int]:
    """Shuffled folds that keep equal rows together, several times for few rows, and the number of inner ones."""
    n = len(facts.y)
    asked = folds
    if folds is None:
        folds = 10 if n <= 2_000 else 5 if n <= 20_000 else 3
    if folds < 2:
        raise TableError(f"A comparison needs at least 2 folds, got {folds}.")
    own = facts.y[facts.twins == np.arange(n)]  # one row of each set of twins
    few = 3 if n > 20_000 else 5
    if facts.task == "classification":
        labels, counts = np.unique(own, return_counts=True)
        smallest = int(counts.min())
        if asked is None:
            folds = max(2, min(folds, smallest))
        elif folds > smallest:
            raise TableError(
                f"{folds} folds are too many: class {labels[counts.argmin()]!s} has {smallest} different rows, and "
                "every fold needs one of each class."
            )
        inner = max(2, min(few, smallest - smallest // folds - 1))
    else:
        if asked is None:  # a score of fewer than five rows is mostly noise
            folds = max(3, min(folds, len(own) // 5))
        if 2 * folds > len(own):
            raise TableError(f"{folds} folds are too many for {len(own)} different rows: each needs at least 2.")
        inner = few
    classes, repeats = facts.task == "classification", _REPEATS if asked is None and n <= _FEW else 1
    rounds = [outer_folds(facts.y, facts.twins, classes, folds, seed + _APART * k) for k in range(repeats)]
    return tuple(fold for split in rounds for fold in split), inner


def choose_candidates(
    facts: Facts, models: Sequence[str] | None, others: tuple[Candidate, ...] = ()
) -> tuple[list[Candidate], list[Skipped]]:
    """The candidates for these data, and those that do not suit them, with the reason."""
    classes = len(np.unique(facts.y)) if facts.task == "classification" else 0
    shape = Shape() if facts.task == "classification" else Shape.of(facts.y)
    asked = None if models is None else tuple(models)
    try:
        return candidates(facts.task, len(facts.y), wide(facts.schema), classes, shape, asked, others)
    except ValueError as error:
        raise OptionError(str(error)) from None


def outer_folds(y: Array, twins: Array, classes: bool, folds: int, seed: int) -> tuple[Fold, ...]:
    """Shuffled folds (stratified for classes) that never part a row from its twins."""
    first = np.flatnonzero(twins == np.arange(len(y)))
    kind = StratifiedKFold if classes else KFold
    fold_of = np.empty(len(y), dtype=np.int64)
    with warnings.catch_warnings(action="ignore"):  # a class of fewer rows than folds after twins are merged
        for k, (_, test) in enumerate(kind(folds, shuffle=True, random_state=seed).split(first, y[first])):
            fold_of[first[test]] = k
    fold_of = fold_of[twins]
    rows = np.arange(len(y))
    return tuple((rows[fold_of != k], rows[fold_of == k]) for k in range(folds))
