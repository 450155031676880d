"""One question after another about the same table: passes, what was seen of the columns, and the certificate at the
end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from certifit._types import Array, BaseEstimator
from certifit.certificates import Certificate
from certifit.certificates._plain import tidy
from certifit.certificates._record import Check, Verification, kind_named, proved, written
from certifit.certificates._tree import HashTree
from certifit.certificates.class_sums import codes_of
from certifit.certificates.sums import Block, Fingerprint, Grid, Mass, NotFiniteError, Statistic, SumKind
from certifit.exceptions import ChangedDataError, TableError
from certifit.scale._engine import Counted, Engine
from certifit.scale._source import Partition, Plan, Source

Answer = TypeVar("Answer")
_LARGEST = 1e145  # of a number whose squares are summed: the sum of a billion of them is still a float
_CLASSES = 1000  # more labels than that are no classes
_EXACT = 1 << 22  # rows up to which numbers are cut into three digits (63 bits); beyond, two (42 bits) are quicker


class Look(Statistic):
    """Rows, the ends of every column of numbers (target of numbers and weights included), and the labels of the target.

    With ``gaps`` missing numbers are left out, instead of refused.
    """

    def __init__(self, columns: int, labels: bool, gaps: bool = False) -> None:
        self.rows, self.labels, self.gaps = 0, labels, gaps
        self.low, self.high = np.full(columns, np.inf), np.full(columns, -np.inf)
        self.found: Counter[Any] = Counter()

    def add(self, block: Block) -> None:
        more = [] if self.labels or block.y is None else [np.asarray(block.y, dtype=float)]
        more += [] if block.weight is None else [block.weight]
        rows = np.vstack([block.X, *more]) if more else block.X
        if len(rows) and block.rows:
            least, most = (np.fmin, np.fmax) if self.gaps else (np.minimum, np.maximum)
            self.low = least(self.low, least.reduce(rows, axis=1))
            self.high = most(self.high, most.reduce(rows, axis=1))
            bad = np.isposinf(self.high) | np.isneginf(self.low) | np.isnan(self.low)
            if np.any(bad):
                raise NotFiniteError(int(np.flatnonzero(bad)[0]))
        self.rows += block.rows
        if self.labels and block.y is not None:
            labels, counts = np.unique(block.y, return_counts=True)
            self._count(dict(zip(labels.tolist(), counts.tolist())))

    def merge(self, other: Look) -> Look:
        self.rows += other.rows
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self._count(other.found)
        return self

    def _count(self, found: Mapping[Any, int]) -> None:
        self.found.update(found)
        if len(self.found) > _CLASSES:
            raise TableError(f"The target has more than {_CLASSES} different values: these are not classes.")

    def finish(self) -> Seen:
        if not self.labels:
            return Seen(self.rows, self.low, self.high)
        labels = sorted(self.found)
        return Seen(self.rows, self.low, self.high, np.array(labels), np.array([self.found[c] for c in labels]))


@dataclass(frozen=True)
class Seen:
    """What a look at the table found: ``low`` and ``high`` of the features, and of a target of numbers."""

    rows: int
    low: Array
    high: Array
    classes: Array | None = None
    counts: Array | None = None
    mass: Array | None = None
    """Weight of each class, or of all rows where there are none; None where rows count equally."""
    weight_exponent: int | None = None

    @property
    def total(self) -> float:
        """The sum of the weights: rows, where these count equally."""
        return float(self.rows) if self.mass is None else float(self.mass.sum())

    @property
    def class_mass(self) -> Array:
        """The weight of each class."""
        assert self.counts is not None
        return self.counts.astype(float) if self.mass is None else self.mass

    @property
    def weights(self) -> dict[str, int]:
        """What a certificate's evidence says of the weights."""
        return {} if self.weight_exponent is None else {"weight_exponent": self.weight_exponent}

    @property
    def grid(self) -> Grid:
        """The grid of the columns."""
        return Grid.of(self.low, self.high)

    @property
    def digits(self) -> int:
        """Into how many digits numbers are cut."""
        return 3 if self.rows <= _EXACT else 2

    @property
    def sums(self) -> dict[str, Any]:
        """What a certificate's evidence says of how the sums are taken."""
        return {"centre": self.grid.centre, "exponent": self.grid.exponent, "digits": self.digits, **self.weights}


class Weights(Statistic):
    """The sum of the weights of each class, or of all rows."""

    def __init__(self, classes: Array | None, exponent: int) -> None:
        self.classes = classes
        self.mass = Mass(1 if classes is None else len(classes), exponent)

    def add(self, block: Block) -> None:
        codes = np.zeros(block.rows, dtype=int)
        if self.classes is not None and block.y is not None:
            codes = codes_of(block.y, self.classes)
        self.mass.add(codes, block.weight)

    def merge(self, other: Weights) -> Weights:
        self.mass.merge(other.mass)
        return self

    def finish(self) -> Array:
        return np.asarray(self.mass.finish().mid)


@dataclass
class Job:
    """A table, what to read of it, and who reads it."""

    source: Source
    plan: Plan
    engine: Engine
    progress: Callable[[str, int | None], Any] | None = None
    again: Callable[[], AbstractContextManager[Engine]] | None = None
    """How to get at an engine once more: a certificate is read after the fit, when workers have been let go."""
    passes: int = 0
    marks: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.marks = [part.mark() for part in self.source.parts]

    def run(self, *statistics: Statistic, plan: Plan | None = None, task: str = "", rows: int | None = None) -> Any:
        """One pass: the finished statistic, or a tuple of several."""
        watch = self._watch(task, rows)
        try:
            found = self.engine.run(Counted(*statistics), self.source.parts, plan or self.plan, watch)
        finally:
            getattr(watch, "close", lambda: None)()
        if found.rows == 0:
            raise TableError("The table has no rows.")
        self.passes += 1
        answers = found.finish()
        return answers[0] if len(statistics) == 1 else answers

    def map(
        self, function: Callable[[Partition, Plan], Answer], task: str, rows: Callable[[Answer], int]
    ) -> Iterator[Answer]:
        """What a function says of every partition, in their order; ``rows`` counts the rows of an answer."""
        watch = self._watch(task, None)
        try:
            for answer in self.engine.map(function, self.source.parts, self.plan):
                watch(rows(answer))
                yield answer
        finally:
            getattr(watch, "close", lambda: None)()

    def _watch(self, task: str, rows: int | None) -> Any:
        return _silent if self.progress is None else self.progress(task, self._expected() if rows is None else rows)

    def _expected(self) -> int | None:
        """How many rows there are, where all files note it: for the time that is left."""
        counts = [part.ends(()) for part in self.source.parts]
        return None if any(c is None for c in counts) else sum(c[0] for c in counts if c is not None)

    def ignore_target(self) -> None:
        """For models that have none: a column that was named as the target is no feature, and is not read."""
        self.plan = replace(self.plan, target=None)

    def look(self, labels: bool, gaps: bool = False, squares: bool = True) -> Seen:
        """Ends of the columns and labels of the target: from the files' own notes where these have them.

        With ``labels`` the target holds classes, with ``gaps`` missing numbers are left out instead of refused, and
        with ``squares`` numbers whose squares no float holds are rejected.
        """
        columns, plan = list(self.plan.numbers), self.plan
        if not labels and plan.target is not None and dict(plan.kinds).get(plan.target) == "word":
            raise TableError(f"Column {plan.target!r} contains strings, but the target must be numeric.")
        columns += [plan.target] if not labels and plan.target is not None else []
        columns += [plan.weight] if plan.weight is not None else []
        named = labels and plan.target is not None
        noted = self._noted(columns)
        if noted is None:
            seen: Seen = self.run(Look(len(columns), named, gaps), task="looking at the columns")
        elif not named:
            seen = Seen(*noted)
        else:
            own = plan.without_features()
            seen = self.run(Look(int(plan.weight is not None), True), plan=own, task="looking at the labels")
            seen = Seen(*noted, seen.classes, seen.counts)
        size = np.maximum(np.abs(seen.low), np.abs(seen.high))
        if squares and np.any(size[np.isfinite(size)] > _LARGEST):
            name = columns[int(np.argmax(np.where(np.isfinite(size), size, 0.0)))]
            raise TableError(f"Column {name!r} holds numbers beyond {_LARGEST:g}, too large to square: rescale it.")
        return seen if plan.weight is None else self._weighed(seen)

    def _weighed(self, seen: Seen) -> Seen:
        """What was seen, with the sums of the weights; their ends stand last."""
        low, high = float(seen.low[-1]), float(seen.high[-1])
        if not low >= 0.0 or not high > 0.0:
            raise TableError(f"The weights in column {self.plan.weight!r} must not be negative, nor all zero.")
        exponent = int(np.frexp(high)[1])
        own = self.plan.without_features()
        mass = self.run(Weights(seen.classes, exponent), plan=own, task="adding the weights", rows=seen.rows)
        if not np.all(mass > 0.0):
            if seen.classes is None:
                raise TableError(f"The weights in column {self.plan.weight!r} are too small to add up: rescale them.")
            raise TableError(f"All rows of class {seen.classes[mass <= 0.0][0]} have weight zero.")
        return replace(seen, low=seen.low[:-1], high=seen.high[:-1], mass=mass, weight_exponent=exponent)

    def _noted(self, columns: Sequence[str]) -> tuple[int, Array, Array] | None:
        rows, low, high = 0, np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
        for part in self.source.parts:
            ends = part.ends(columns)
            if ends is None:
                return None
            if ends[0] == 0:
                continue
            rows += ends[0]
            low = np.minimum(low, [ends[1][c][0] for c in columns])
            high = np.maximum(high, [ends[1][c][1] for c in columns])
        if rows == 0 or not (np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
            return None
        return rows, low, high

    # -- proof -------------------------------------------------------------------------------------------------------
    def certify(self, name: str, evidence: dict[str, Any]) -> Certificate:
        """One more pass: the same sums, and the SHA-256 of every partition."""
        if [part.mark() for part in self.source.parts] != self.marks:
            raise ChangedDataError(
                "A file was changed after the fit, so nothing can be proved about this fit any more."
            )
        evidence = tidy(evidence)
        kind = kind_named(name)
        assert isinstance(kind, SumKind)
        with nullcontext(self.engine) if self.again is None else self.again() as self.engine:
            tree, found = self.run(Fingerprint(), kind.statistic(evidence), task="proving")
        tree = tree.in_order([part.name for part in self.source.parts])
        return written(
            kind,
            evidence,
            lambda: proved(kind, evidence, lambda: kind.conclude(found, evidence)),
            {"data": tree.root, "partitions": tree.to_list(), **self._names()},
            self.facts(tree.rows),
        )

    def promise(self, model: BaseEstimator, name: str, evidence: dict[str, Any]) -> None:
        """The certificate of a fit, issued when it is read."""
        model._promise_certificates(lambda: (self.certify(name, evidence),))

    def _names(self) -> dict[str, Any]:
        """Names of the columns, so that a re-check need not be told."""
        return {"columns": [*self.plan.numbers, *self.plan.words], **self.plan.apart}

    def facts(self, rows: int) -> dict[str, Any]:
        """What a certificate says about its data."""
        columns = len(self.plan.numbers) + len(self.plan.words)
        given = {"weights": self.plan.weight is not None, "offset": self.plan.shifted}
        return {"rows": rows, "columns": columns, **given}

    def verify(self, certificate: Certificate) -> Verification:
        """The re-check of a certificate on the partitions as they are now; a changed one is named."""
        kind = kind_named(certificate.kind)
        stated = HashTree.from_list(certificate.digests.get("partitions"))
        if not isinstance(kind, SumKind) or stated is None:
            raise TypeError("This certificate is not one of a table in partitions: use certificate.verify(X, y).")
        try:
            statistic: Statistic | None = kind.statistic(certificate.evidence)
        except Exception:  # evidence comes from anybody; the proof below will say what is wrong with it
            statistic = None
        tree, found = self._seen_again(statistic)
        changes = (
            stated.changes(tree) if stated.root == certificate.digests.get("data") else ["the tree is not its own"]
        )
        same = not changes and certificate.about == self.facts(tree.rows)
        first = Check("the data are those certified", same, "; ".join(changes[:5]) or "SHA-256 of every partition")
        if not same:
            return Verification((first,), False)
        checks = certificate.recheck(
            lambda: proved(kind, certificate.evidence, lambda: kind.conclude(found, certificate.evidence))
        )
        return Verification((first, *checks), True)

    def _seen_again(self, statistic: Statistic | None) -> tuple[HashTree, Any]:
        """Fingerprints, and the statistic of a certificate; None where its evidence does not go with these rows."""
        if statistic is not None:
            try:
                tree, found = self.run(Fingerprint(), statistic, task="verifying")
                return tree, found
            except ValueError as error:
                if isinstance(error, TableError):
                    raise
        return self.run(Fingerprint(), task="verifying"), None


def _silent(rows: int) -> None:
    """Nobody watches."""


def name_features(model: BaseEstimator, columns: Sequence[str]) -> None:
    """What scikit-learn's validation notes about the columns of a data frame."""
    model.n_features_in_ = len(columns)
    model.feature_names_in_ = np.array(columns, dtype=object)
