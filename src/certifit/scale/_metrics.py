"""Figures of predictions on a table in partitions: exact counts, exact areas, and errors from exact sums."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from certifit._types import Array
from certifit.certificates import to_float
from certifit.certificates.sums import Block, Products, Side, Statistic
from certifit.exceptions import TableError
from certifit.scale._predict import Answerer

_RANGES = 1 << 16  # ranges of scores in the first pass of an exact ROC curve
_KEEP = 1 << 22  # scores that are sorted at a time


class _Counts(Statistic):
    """Integers that are added up."""

    counts: Array

    def merge(self, other: Self) -> Self:
        self.counts = self.counts + other.counts
        return self

    def finish(self) -> Array:
        return self.counts


class Confusion(_Counts):
    """How often each class was taken for which."""

    def __init__(self, answerer: Answerer, classes: Array) -> None:
        self.answerer, self.classes = answerer, classes
        self.counts = np.zeros((len(classes), len(classes)), dtype=np.int64)

    def add(self, block: Block) -> None:
        assert block.y is not None
        said = np.searchsorted(self.classes, self.answerer.predict(block))
        true = np.searchsorted(self.classes, block.y)
        known = (true < len(self.classes)) & (self.classes[np.minimum(true, len(self.classes) - 1)] == block.y)
        if not known.all():
            label = np.asarray(block.y)[~known][0]
            raise TableError(f"{block.part}: the label {label!r} is not one of the model's classes.")
        np.add.at(self.counts, (true, said), 1)


class Errors(Statistic):
    """Sums of the errors of a regression: e, e², |e|, y, y²."""

    def __init__(self, answerer: Answerer) -> None:
        self.answerer = answerer
        self.sums = Products(Side(np.zeros(5, dtype=int), 4), Side(np.ones(1, dtype=int), 1, 0.0, True))

    def add(self, block: Block) -> None:
        y = np.asarray(block.y, dtype=float)
        e = y - self.answerer.predict(block)
        self.sums.add(np.array([e, e * e, np.abs(e), y, y * y]), np.ones((1, block.rows)))

    def merge(self, other: Errors) -> Errors:
        self.sums.merge(other.sums)
        return self

    def finish(self) -> dict[str, float]:
        n, s = self.sums.rows, self.sums.exact()[:, 0]
        mean_square, spread = s[1] / n, s[4] / n - (s[3] / n) * (s[3] / n)
        figures = {"rows": n, "mse": mean_square, "mae": s[2] / n, "bias": s[0] / n}
        if spread > 0:
            figures["r2"] = 1 - mean_square / spread
        return {k: v if k == "rows" else float(to_float(v)) for k, v in figures.items()}


def ordered(scores: Array) -> Array:
    """Integers of 64 bits in the order of the scores."""
    bits = (np.asarray(scores, dtype=np.float64) + 0.0).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits - 1, bits)


class Histogram(_Counts):
    """Positives and negatives in ranges of the scores: by the upper 16 bits of their order."""

    def __init__(self, answerer: Answerer, positive: Any) -> None:
        self.answerer, self.positive = answerer, positive
        self.counts = np.zeros((2, _RANGES), dtype=np.int64)

    def add(self, block: Block) -> None:
        place = (ordered(self.answerer.scores(block)) >> 48) + (_RANGES >> 1)
        true = np.asarray(block.y == self.positive)
        for k, mine in enumerate((~true, true)):
            self.counts[k] += np.bincount(place[mine], minlength=_RANGES)


class SortedScores(Statistic):
    """Sorted scores between two ends, each with its positives and negatives."""

    def __init__(self, answerer: Answerer, positive: Any, low: int, high: int) -> None:
        self.answerer, self.positive, self.low, self.high = answerer, positive, low, high
        self.scores, self.counts = np.zeros(0), np.zeros((2, 0), dtype=np.int64)

    def add(self, block: Block) -> None:
        scores = self.answerer.scores(block)
        place = (ordered(scores) >> 48) + (_RANGES >> 1)
        mine = (place >= self.low) & (place < self.high)
        true = np.asarray(block.y == self.positive)[mine]
        self._take(scores[mine] + 0.0, np.array([~true, true]).astype(np.int64))

    def _take(self, scores: Array, counts: Array) -> None:
        both = np.concatenate([self.scores, scores])
        self.scores, at = np.unique(both, return_inverse=True)
        merged = np.zeros((2, len(self.scores)), dtype=np.int64)
        for k in range(2):
            np.add.at(merged[k], at, np.concatenate([self.counts[k], counts[k]]))
        self.counts = merged

    def merge(self, other: SortedScores) -> SortedScores:
        self._take(other.scores, other.counts)
        return self

    def finish(self) -> tuple[Array, Array]:
        return self.scores, self.counts


def ranges_of(counts: Array, keep: int = _KEEP) -> list[tuple[int, int]]:
    """Consecutive ranges that hold at most ``keep`` scores each (or one range of the histogram)."""
    total, found, start, held = counts.sum(axis=0), [], 0, 0
    for k in range(len(total)):
        if held and held + total[k] > keep:
            found.append((start, k))
            start, held = k, 0
        held += int(total[k])
    found.append((start, len(total)))
    return [(a, b) for a, b in found if counts[:, a:b].any()]


def area(runs: list[tuple[Array, Array]]) -> float:
    """The exact area under the ROC curve: the fraction of pairs in the right order, ties counting half."""
    below, twice, positives, negatives = 0, 0, 0, 0
    for _, counts in runs:
        negative, positive = counts.astype(object)
        for n, p in zip(negative.tolist(), positive.tolist()):
            twice += p * (2 * below + n)
            below += n
        positives += int(sum(positive))
        negatives += int(sum(negative))
    if not positives or not negatives:
        return float("nan")
    return twice / (2 * positives * negatives)
