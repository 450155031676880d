"""Naive Bayes on mixed columns of a table in partitions: the checks of `counts`, from sums by class.

Of a column of numbers the weight of the cells that are there, Σ s t and Σ s t² within each class are summed; of any
other column the weight of each category. Missing cells are left out. Columns are numbered as a block has them: numbers
first, words after them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from certifit._types import Array
from certifit.certificates._ball import UNIT, Ball, ball
from certifit.certificates._data import Evidence
from certifit.certificates._record import Check, Proof, equal, register, upper
from certifit.certificates._schema import FINITE, LISTS, LOGARITHMS, NUMBER, WHOLE
from certifit.certificates.class_sums import ByClass, ClassTotals, every_class, moments_of
from certifit.certificates.counts import (
    MixedCounts,
    cell_word,
    check_shape,
    discrete_proof,
    mixed_numbers,
    parameter,
    prior_check,
    read_cells,
    spread_alpha,
    stated_probabilities,
)
from certifit.certificates.moments import grid_of, near
from certifit.certificates.sums import Block, Grid, SumKind, weight_grid


@dataclass(frozen=True)
class Layout:
    """Which columns of a block are numbers, which have categories, and the names of these."""

    numeric: tuple[int, ...]
    discrete: tuple[int, ...]
    categories: tuple[tuple[str, ...], ...]

    @property
    def sizes(self) -> list[int]:
        """How many categories each discrete column has."""
        return [len(words) for words in self.categories]


def category_codes(column: Array, words: tuple[str, ...]) -> Array:
    """Category numbers of a column; −1 for a missing value, −2 for one that is no category."""
    place: dict[Any, int] = {word: k for k, word in enumerate(words)}

    def code(v: Any) -> int:
        word = cell_word(v)
        return -1 if word is None else place.get(word, -2)

    if column.dtype.kind in "biuf":
        different, back = np.unique(column, return_inverse=True)
        return np.array([code(v) for v in different.tolist()], dtype=int)[back.reshape(-1)]
    known = {v: code(v) for v in set(column.tolist())}
    return np.array([known[v] for v in column.tolist()], dtype=int)


class MixedSums(ByClass):
    """For each class: weight, Σ s t and Σ s t² of the numbers that are there, and the weight of every category."""

    def __init__(self, classes: npt.ArrayLike, layout: Layout, grid: Grid, weight_exponent: int | None = None) -> None:
        a, m = len(layout.numeric), sum(layout.sizes)
        exponent = np.concatenate([np.ones(a), grid.exponent, 2 * grid.exponent, np.ones(m)]).astype(int)
        whole = np.repeat([True, False, True], [a, 2 * a, m])
        super().__init__(classes, exponent, None, 4 * UNIT, whole, weight_exponent)
        self.layout, self.grid = layout, grid
        self.columns: int | None = None

    def _made(self, block: Block) -> Array:
        columns = [*block.X, *block.words]
        if self.columns not in (None, len(columns)):
            raise ValueError("partitions differ in their columns")
        self.columns = len(columns)
        values = [np.asarray(columns[j], dtype=float) for j in self.layout.numeric]
        X = np.array(values).reshape(len(values), block.rows)
        there = ~np.isnan(X)
        t = np.where(there, X, self.grid.centre[:, None]) - self.grid.centre[:, None]
        cells = [there.astype(float), t, t * t]
        for j, words in zip(self.layout.discrete, self.layout.categories):
            codes = category_codes(columns[j], words)
            self.inside = self.inside and bool(np.all(codes >= -1))
            cells.append((np.arange(len(words))[:, None] == codes).astype(float))
        return np.vstack(cells)

    def merge(self, other: MixedSums) -> MixedSums:  # type: ignore[override]
        super().merge(other)
        if None not in (self.columns, other.columns) and self.columns != other.columns:
            raise ValueError("partitions differ in their columns")
        self.columns = other.columns if self.columns is None else self.columns
        return self

    def finish(self) -> MixedTotals:  # type: ignore[override]
        return MixedTotals(super().finish(), self.columns or 0)


@dataclass(frozen=True)
class MixedTotals:
    """The sums, and how many columns a row has."""

    sums: ClassTotals
    columns: int

    def part(self, start: int, stop: int) -> tuple[Array, Array]:
        """Some of the sums and their radii."""
        return self.sums.total[:, start:stop], self.sums.radius[:, start:stop]

    def cells(self, start: int) -> Ball:
        """The weights of the categories: integers where rows count equally."""
        total, radius = self.part(start, self.sums.total.shape[1])
        found = near(total, radius)
        return Ball(found.mid, np.where(radius == 0.0, 0.0, found.rad))

    def moments(self, a: int) -> tuple[Ball, Ball, Ball]:
        """Weight, mean about the grid's centre and variance of the ``a`` columns of numbers, per class."""
        (mass, loose), (first, r1), (second, r2) = (self.part(k * a, (k + 1) * a) for k in range(3))
        weight = near(mass, loose)
        weight = Ball(weight.mid, np.where(loose == 0.0, 0.0, weight.rad))
        return weight, *moments_of(first, second, r1, r2, mass, loose)


@register
class MixedBound(SumKind):
    """Numbers by mean and variance, all other columns by counts, of a table in partitions; missing cells left out.

    Evidence: that of `counts.MixedCounts`, with columns numbered as in a block, and the grid of the numbers.
    """

    name: ClassVar[str] = "mixed-sums"
    theorem: ClassVar[str] = MixedCounts.theorem
    claim = MixedCounts.claim
    needs: ClassVar = {**MixedCounts.needs, **MixedCounts.may, "centre": FINITE, "exponent": WHOLE, "digits": NUMBER,
                       "categories": LISTS, "feature_log_prob": LOGARITHMS}  # fmt: skip
    may: ClassVar = {"weight_exponent": NUMBER}
    weighted: ClassVar[bool] = True

    def _layout(self, evidence: Evidence) -> Layout:
        numeric, discrete = (tuple(int(j) for j in evidence[k]) for k in ("numeric", "discrete"))
        names = tuple(tuple(str(w) for w in words) for words in evidence["categories"])
        if len(names) != len(discrete) or any(len(set(words)) != len(words) for words in names):
            raise ValueError("every column of categories needs its names, each of them once")
        if sorted([*numeric, *discrete]) != list(range(len(numeric) + len(discrete))):
            raise ValueError("every column is taken once")
        return Layout(numeric, discrete, names)

    def statistic(self, evidence: Evidence) -> MixedSums:
        layout = self._layout(evidence)
        grid, _ = grid_of(evidence, len(layout.numeric))
        return MixedSums(np.asarray(evidence["classes"]), layout, grid, weight_grid(evidence))

    def conclude(self, found: MixedTotals, evidence: Evidence) -> Proof:
        layout, a = self._layout(evidence), len(evidence["numeric"])
        error, prior = prior_check(evidence, found.sums.weight)
        figures: dict[str, Any] = {"rows": equal(int(found.sums.counts.sum())), "prior_error": upper(error)}
        taken = found.columns == len(layout.numeric) + len(layout.discrete)
        checks: list[Check] = [every_class(found.sums), prior, Check("every column is taken once", taken)]
        if a:
            theta, var = (np.asarray(evidence[k], dtype=float) for k in ("theta", "var"))
            check_shape((len(evidence["classes"]), a), theta=theta, var=var)
            W, mean, variance = found.moments(a)
            shift = mean - (ball(theta) - ball(np.asarray(evidence["centre"], dtype=float)))
            empty = W.mid == 0.0  # such a class has no mean of its own, and takes that of the column
            shift = Ball(np.where(empty, 0.0, shift.mid), np.where(empty, 0.0, shift.rad))
            more, proofs = mixed_numbers(W, shift, variance, evidence)
            figures |= more
            checks += proofs
        if layout.discrete:
            spec = {"model": "categorical", "n_categories": layout.sizes,
                    "feature_log_prob": evidence["feature_log_prob"]}  # fmt: skip
            _, group, groups = read_cells(spec, len(layout.discrete))
            alpha, sane = parameter(evidence, "alpha")
            smooth = spread_alpha(alpha, group, "categorical")
            more, proofs = discrete_proof(found.cells(3 * a), smooth, stated_probabilities(spec), group, groups)
            figures |= more
            checks += [sane, *proofs, Check("every cell is missing or one of the categories", found.sums.inside)]
        return Proof(figures, tuple(checks))
