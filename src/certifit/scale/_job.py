"""One question after another about the same table: passes, what was seen of the columns, and the certificate at the
end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.certificates import Certificate
from certifit.certificates._plain import tidy
from certifit.certificates._record import Check, Verification, kind_named, proved, written
from certifit.certificates._tree import Tree
from certifit.certificates.sums import Block, Fingerprint, Grid, NotFiniteError, Statistic, SumKind
from certifit.exceptions import ChangedDataError, TableError
from certifit.scale._engine import Counted, Engine
from certifit.scale._source import Plan, Source

_CLASSES = 1000  # more labels than that are no classes
_EXACT = 1 << 22  # rows up to which numbers are cut into three digits (63 bits); beyond, two (42 bits) are quicker


class Look(Statistic):
    """Rows, the ends of every column of numbers, and the labels of the target."""

    def __init__(self, columns: int, labels: bool) -> None:
        self.rows, self.labels = 0, labels
        self.low, self.high = np.full(columns, np.inf), np.full(columns, -np.inf)
        self.found: Counter[Any] = Counter()

    def add(self, block: Block) -> None:
        rows = block.X
        if not self.labels and block.y is not None:
            rows = np.vstack([block.X, np.asarray(block.y, dtype=float)[None]])
        if len(rows):
            self.low = np.minimum(self.low, rows.min(axis=1))
            self.high = np.maximum(self.high, rows.max(axis=1))
            bad = np.flatnonzero(~(np.isfinite(self.low) & np.isfinite(self.high)))
            if len(bad):
                raise NotFiniteError(int(bad[0]))
        self.rows += block.rows
        if self.labels and block.y is not None:
            labels, counts = np.unique(block.y, return_counts=True)
            self.found.update(dict(zip(labels.tolist(), counts.tolist())))
            if len(self.found) > _CLASSES:
                raise TableError(f"The target has more than {_CLASSES} different values: these are no classes.")

    def merge(self, other: Look) -> Look:
        self.rows += other.rows
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self.found.update(other.found)
        if len(self.found) > _CLASSES:
            raise TableError(f"The target has more than {_CLASSES} different values: these are no classes.")
        return self

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

    @property
    def grid(self) -> Grid:
        """The grid of the columns."""
        return Grid.of(self.low, self.high)

    @property
    def digits(self) -> int:
        """Into how many digits numbers are cut."""
        return 3 if self.rows <= _EXACT else 2


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
        watch = self.progress(task, rows) if self.progress is not None else _silent
        try:
            found = self.engine.run(Counted(*statistics), self.source.parts, plan or self.plan, watch)
        finally:
            getattr(watch, "close", lambda: None)()
        if found.rows == 0:
            raise TableError("The table has no rows.")
        self.passes += 1
        answers = found.finish()
        return answers[0] if len(statistics) == 1 else answers

    def look(self, labels: bool) -> Seen:
        """Ends of the columns and labels of the target: from the files' own notes where these have them."""
        noted = self._noted(labels)
        if noted is None:
            width = len(self.plan.numbers) + (0 if labels or self.plan.target is None else 1)
            return self.run(Look(width, labels and self.plan.target is not None), task="looking at the columns")
        rows, low, high = noted
        if not labels or self.plan.target is None:
            return Seen(rows, low, high)
        seen = self.run(Look(0, True), plan=self.plan.without_features(), task="looking at the labels")
        return Seen(rows, low, high, seen.classes, seen.counts)

    def _noted(self, labels: bool) -> tuple[int, Array, Array] | None:
        columns = list(self.plan.numbers)
        if not labels and self.plan.target is not None:
            columns.append(self.plan.target)
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

    def _names(self) -> dict[str, Any]:
        """Names of the columns, so that a re-check need not be told."""
        target = {} if self.plan.target is None else {"target": self.plan.target}
        return {"columns": [*self.plan.numbers, *self.plan.words], **target}

    def facts(self, rows: int) -> dict[str, Any]:
        """What a certificate says about its data."""
        columns = len(self.plan.numbers) + len(self.plan.words)
        return {"rows": rows, "columns": columns, "weights": False, "offset": False}

    def verify(self, certificate: Certificate) -> Verification:
        """The re-check of a certificate on the partitions as they are now; a changed one is named."""
        kind = kind_named(certificate.kind)
        stated = Tree.from_list(certificate.digests.get("partitions"))
        if not isinstance(kind, SumKind) or stated is None:
            raise TypeError("This certificate is not one of a table in partitions: use certificate.verify(X, y).")
        try:
            statistic: Statistic | None = kind.statistic(certificate.evidence)
        except Exception:  # evidence comes from anybody; the proof below will say what is wrong with it
            statistic = None
        wanted = [Fingerprint(), *([] if statistic is None else [statistic])]
        answers = self.run(*wanted, task="verifying")
        tree, found = answers if statistic is not None else (answers, None)
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


def _silent(rows: int) -> None:
    """Nobody watches."""


def name_features(model: Any, columns: Sequence[str]) -> None:
    """What scikit-learn's validation notes about the columns of a data frame."""
    model.n_features_in_ = len(columns)
    model.feature_names_in_ = np.array(columns, dtype=object)
