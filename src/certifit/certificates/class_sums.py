"""Sums by class, and what they prove: naive Bayes and principal components of tables in partitions.

Counts of classes are integers; Σ x and Σ x² within a class, about the centre of a grid, are exact up to a stated
radius (`sums`). The checks are those of `counts` and `spectrum`; only where the sums come from is another matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from certifit._types import Array
from certifit.certificates._ball import UNIT, Ball, ball, rationals, to_float
from certifit.certificates._by_class import class_codes
from certifit.certificates._data import Evidence
from certifit.certificates._record import Check, Proof, equal, register, upper
from certifit.certificates._schema import FINITE, LOGARITHMS, NUMBER, WHOLE, word
from certifit.certificates.counts import (
    CLASS_SHARES,
    GaussianCounts,
    SmoothedCounts,
    check_shape,
    discrete_proof,
    gaussian_checks,
    parameter,
    prior_check,
    read_cells,
    spread_alpha,
    stated_probabilities,
)
from certifit.certificates.moments import Moments, SecondMoments, grid_of, near
from certifit.certificates.spectrum import PrincipalComponents, subspace_proof
from certifit.certificates.sums import (
    Block,
    Grid,
    Mass,
    NotFiniteError,
    Products,
    Side,
    Statistic,
    SumKind,
    weight_grid,
    weights_in,
)

_FEW = 8  # classes up to which labels are compared with each of them
_CLASS_DIGITS = 3  # of what is summed within a class: the other factor has one digit, so that this costs little


class ByClass(Statistic):
    """Σ over the rows of each class of some numbers made of a row.

    ``make`` turns a block of m rows into numbers (width, m), none of which may depend on other rows; it is None for a
    subclass that has a method for it. ``exponent`` is their grid, ``rounding`` their error relative to the largest.
    """

    def __init__(
        self, classes: npt.ArrayLike, exponent: Array, make: Callable[[Block], Array] | None, rounding: float, whole:
        Any = False, weight_exponent: int | None = None,
    ) -> None:  # fmt: skip
        self.classes, self.make, self.weighted = np.asarray(classes), make, weight_exponent is not None
        k = len(self.classes)
        known = Side(np.ones(k, dtype=int), 1, 0.0, True)
        if weight_exponent is not None:
            known = Side(np.full(k, weight_exponent), _CLASS_DIGITS)
        self.sums = Products(known, Side(exponent, _CLASS_DIGITS, rounding, whole))
        self.mass = Mass(k, weight_exponent)
        self.inside = True

    def add(self, block: Block) -> None:
        if (block.weight is not None) != self.weighted:
            raise ValueError("weights are for sums with weights")
        for part in block.pieces(1 << 14):
            codes = self._codes(part)
            weight = weights_in(part) if self.weighted else None
            self.mass.add(codes, weight)
            known = (np.arange(len(self.classes))[:, None] == codes).astype(float)
            self.sums.add(known if weight is None else known * weight, self._made(part))

    def _codes(self, block: Block) -> Array:
        """The number of the class of every row."""
        if block.y is None:
            raise ValueError("labels are needed")
        codes = codes_of(block.y, self.classes)
        if np.any(codes < 0):
            raise ValueError("a label that is none of the classes")
        return codes

    def _made(self, block: Block) -> Array:
        assert self.make is not None
        return self.make(block)

    def merge(self, other: ByClass) -> ByClass:
        self.sums.merge(other.sums)
        self.mass.merge(other.mass)
        self.inside = self.inside and other.inside
        return self

    def finish(self) -> ClassTotals:
        return ClassTotals(self.mass.counts, *self.mass.exact(), self.sums.exact(), self.sums.radius(), self.inside)


def codes_of(labels: Array, classes: Array) -> Array:
    """Place of each label among the classes, −1 for others: by different labels, of which there are few."""
    y = labels if labels.dtype.kind in "biuf" else labels.astype(str)
    y = np.asarray(y, dtype=float) if y.dtype.kind in "biu" else y
    numbers = classes.ndim == 1 and classes.dtype.kind in "biuf"
    if numbers and y.dtype.kind == "f" and len(classes) <= _FEW:  # quicker than sorting
        codes = np.full(len(y), -1)
        for k, label in enumerate(classes.astype(float)):
            np.copyto(codes, k, where=y == label)
        return codes
    different, place = np.unique(y, return_inverse=True)
    return class_codes(different, classes)[place]


@dataclass(frozen=True)
class ClassTotals:
    """Rows and weight of each class, and sums over them: rationals (K, width) and how far they can be off."""

    counts: Array
    mass: Array
    mass_radius: Array
    total: Array
    radius: Array
    inside: bool

    @property
    def weight(self) -> Ball:
        """The weight of each class as error-bounded floats."""
        if np.any(self.mass_radius):
            return near(self.mass, self.mass_radius)
        return Ball(np.asarray(to_float(self.mass), dtype=float))


# -- means and variances ----------------------------------------------------------------------------------------------
class Squares:
    """x − c and its square, for columns x."""

    def __init__(self, centre: Array) -> None:
        self.centre = centre

    def __call__(self, block: Block) -> Array:
        X = block.X
        out = np.empty((2 * len(X), X.shape[1]))
        np.subtract(X, self.centre[:, None], out=out[: len(X)])
        np.multiply(out[: len(X)], out[: len(X)], out=out[len(X) :])
        return out


def class_moments(classes: npt.ArrayLike, grid: Grid, weight_exponent: int | None = None) -> ByClass:
    """The statistic of Σ s (x − c) and Σ s (x − c)² within each class."""
    exponent = np.append(grid.exponent, 2 * grid.exponent)
    return ByClass(classes, exponent, Squares(grid.centre), 4 * UNIT, weight_exponent=weight_exponent)


def means_and_variances(found: ClassTotals, centre: Array) -> tuple[Ball, Ball, Ball, Ball]:
    """Mean minus ``centre`` and variance of each class, and of all rows together."""
    d = len(centre)
    first, second = found.total[:, :d], found.total[:, d:]
    r1, r2 = found.radius[:, :d], found.radius[:, d:]
    mean, variance = moments_of(first, second, r1, r2, found.mass[:, None], found.mass_radius[:, None])
    sums = (v.sum(axis=0) for v in (first, second, r1, r2))
    total, spread = moments_of(*sums, *(v.sum(axis=0, keepdims=True) for v in (found.mass, found.mass_radius)))
    return mean, variance, total, spread


def moments_of(first: Array, second: Array, r1: Array, r2: Array, mass: Array, mass_radius: Array) -> tuple[Ball, Ball]:
    """Mean and variance from Σ s t, Σ s t² and Σ s, each a rational and a radius; of no weight, zero."""
    count = np.where(mass > 0, mass, rationals(1.0))
    n = np.asarray(to_float(count), dtype=float)
    least = np.where(mass > 0, n * (1.0 - 4 * UNIT) - mass_radius, 1.0)
    least = np.where(least > 0.0, least, np.nan)  # a weight that may be zero proves nothing
    mean, square = first / count, second / count
    size, level = (np.abs(np.asarray(near(v, 0.0).mid)) for v in (mean, square))
    share = mass_radius / least  # f/n − f′/n′, with n known to its radius
    off = (r1 / least + size * share) * (1.0 + 32 * UNIT)
    wrong = (r2 / least + level * share + 2.0 * size * off + off * off) * (1.0 + 64 * UNIT)
    return near(mean, off), near(square - mean * mean, wrong)


@register
class GaussianSums(SumKind):
    """Shares, means and variances per class are those of a table in partitions."""

    name: ClassVar[str] = "gaussian-sums"
    theorem: ClassVar[str] = GaussianCounts.theorem
    claim = GaussianCounts.claim
    needs: ClassVar = {**GaussianCounts.needs, "centre": FINITE, "exponent": WHOLE, "digits": NUMBER}
    may: ClassVar = {"weight_exponent": NUMBER}
    weighted: ClassVar[bool] = True

    def statistic(self, evidence: Evidence) -> ByClass:
        theta = np.asarray(evidence["theta"], dtype=float)
        grid, _ = grid_of(evidence, theta.shape[1])
        return class_moments(np.asarray(evidence["classes"]), grid, weight_grid(evidence))

    def conclude(self, found: ClassTotals, evidence: Evidence) -> Proof:
        theta, var = (np.asarray(evidence[k], dtype=float) for k in ("theta", "var"))
        centre = np.asarray(evidence["centre"], dtype=float)
        check_shape((len(found.counts), len(centre)), theta=theta, var=var)
        mean, variance, _, spread = means_and_variances(found, centre)
        shift = mean - (ball(theta) - ball(centre))
        smoothing, sane = parameter(evidence, "var_smoothing")
        figures, more = gaussian_checks(shift, variance + spread.max() * ball(smoothing), theta, var)
        total = found.weight
        error, prior = prior_check(evidence, total)
        stated = np.asarray(evidence["class_count"], dtype=float)
        check_shape(total.shape, class_count=stated)
        counted = bool(np.all((total - stated).magnitude <= 1e-12 * np.abs(stated)))
        checks = (
            every_class(found),
            sane,
            Check("the class counts are those of the data", counted),
            prior,
            *more,
        )
        figures |= {"prior_error": upper(error), "rows": equal(int(found.counts.sum()))}
        return Proof(figures, checks)


# -- counts -----------------------------------------------------------------------------------------------------------
class _Counted:
    """The cells that a model counts, as columns."""

    def __init__(self, evidence: Evidence, columns: int) -> None:
        self.evidence = {k: evidence[k] for k in ("model", "binarize", "n_categories") if evidence.get(k) is not None}
        self.columns = columns

    def __call__(self, block: Block) -> Array:
        cells, _, _ = read_cells(self.evidence, self.columns)
        return np.ascontiguousarray(cells(block.X.T, slice(None)).T)


class Counts(ByClass):
    """Counted cells of each class."""

    def __init__(
        self, classes: npt.ArrayLike, evidence: Evidence, columns: int, weight_exponent: int | None = None
    ) -> None:
        _, group, _ = read_cells(evidence, columns)
        multinomial = evidence["model"] == "multinomial"
        self.sizes = np.asarray(evidence.get("n_categories") or [], dtype=float) if not multinomial else np.zeros(0)
        exponent = np.full(len(group), 21 if multinomial else 1)
        super().__init__(classes, exponent, _Counted(evidence, columns), 0.0, not multinomial, weight_exponent)
        self.model = str(evidence["model"])

    def _made(self, block: Block) -> Array:
        X = block.X
        finite = np.isfinite(X).all(axis=1)
        if not finite.all():  # a threshold would make a cell of anything
            raise NotFiniteError(int(np.flatnonzero(~finite)[0]))
        if self.model == "categorical":
            fits = (X >= 0) & (self.sizes[:, None] > X) & (np.rint(X) == X)
            self.inside = self.inside and bool(fits.all())
        if self.model == "multinomial" and np.any(X < 0):
            raise ValueError("counts are not negative")
        made = super()._made(block)
        if self.model == "bernoulli" and not np.all((made == 0.0) | (made == 1.0)):
            raise ValueError("cells are zeros and ones")
        return made


@register
class CountedSums(SumKind):
    """Every probability of a counting naive Bayes is a smoothed count of a table in partitions."""

    name: ClassVar[str] = "counted-sums"
    theorem: ClassVar[str] = SmoothedCounts.theorem
    claim = SmoothedCounts.claim
    needs: ClassVar = {**CLASS_SHARES, "model": word("bernoulli", "multinomial", "categorical"), "alpha": FINITE,
                       "feature_log_prob": LOGARITHMS, "columns": NUMBER}  # fmt: skip
    may: ClassVar = {"binarize": NUMBER, "n_categories": WHOLE, "weight_exponent": NUMBER}
    weighted: ClassVar[bool] = True

    def _columns(self, evidence: Evidence) -> int:
        columns = column_count(evidence)
        sizes = np.asarray(evidence.get("n_categories") if evidence["model"] == "categorical" else [])
        if evidence["model"] == "categorical" and (sizes.shape != (columns,) or sizes.min() < 1 or sizes.sum() > 1e6):
            raise ValueError("a number of categories is needed for each column")
        return columns

    def statistic(self, evidence: Evidence) -> Counts:
        plain = dict(evidence)
        if "n_categories" in plain:
            plain["n_categories"] = [int(v) for v in np.ravel(plain["n_categories"])]
        return Counts(np.asarray(evidence["classes"]), plain, self._columns(evidence), weight_grid(evidence))

    def conclude(self, found: ClassTotals, evidence: Evidence) -> Proof:
        _, group, groups = read_cells(evidence, self._columns(evidence))
        counts = near(found.total, found.radius)
        whole = Ball(counts.mid, np.where(found.radius == 0.0, 0.0, counts.rad))
        alpha, sane = parameter(evidence, "alpha")
        spread = spread_alpha(alpha, group, evidence["model"])
        figures, checks = discrete_proof(whole, spread, stated_probabilities(evidence), group, groups)
        error, prior = prior_check(evidence, found.weight)
        figures |= {"prior_error": upper(error), "rows": equal(int(found.counts.sum()))}
        present = every_class(found)
        inside = Check("every cell is one of the categories", found.inside)
        return Proof(figures, (present, inside, sane, prior, *checks))


def column_count(evidence: Evidence) -> int:
    """How many columns the evidence says there are."""
    columns = evidence["columns"]
    if columns != int(columns) or not 1 <= columns <= 1 << 20:
        raise ValueError("the number of columns is an integer")
    return int(columns)


def every_class(found: ClassTotals) -> Check:
    """Whether every class has rows that count."""
    return Check("there are rows of every class", bool(np.all(found.weight.lower > 0.0)))


# -- principal components ---------------------------------------------------------------------------------------------
@register
class ComponentSums(SumKind):
    """Components keep as much variance of a table in partitions as any subspace of their dimension, up to ``gap``."""

    name: ClassVar[str] = "component-sums"
    theorem: ClassVar[str] = PrincipalComponents.theorem
    claim = PrincipalComponents.claim
    needs: ClassVar = {**PrincipalComponents.needs, "centre": FINITE, "exponent": WHOLE, "digits": NUMBER}

    def _components(self, evidence: Evidence) -> Array:
        U = np.asarray(evidence["components"], dtype=float)
        if U.ndim != 2:
            raise ValueError("components are rows of numbers")
        return U

    def statistic(self, evidence: Evidence) -> Moments:
        U = self._components(evidence)
        return Moments(*grid_of(evidence, U.shape[1]))

    def conclude(self, found: SecondMoments, evidence: Evidence) -> Proof:
        U = self._components(evidence)
        values, mean = (np.asarray(evidence[k], dtype=float) for k in ("variances", "mean"))
        check_shape((U.shape[1],), mean=mean, centre=found.centre)
        check_shape((len(U),), variances=values)
        if found.rows < 2 or found.rows < U.shape[1]:
            raise ValueError("these sums are for at least two rows, and no fewer rows than columns")
        A = found.centred() / float(found.rows - 1)
        n = float(found.rows)
        exact = rationals(found.centre) + found.total[0, 1:] / rationals(n) - rationals(mean)
        shift = near(exact, found.radius[0, 1:] / n * (1.0 + 4 * UNIT))
        size = float(np.max(np.abs(mean)) + np.sqrt(max(float(np.max(np.diag(A.mid))), 0.0)))
        return subspace_proof(A, shift, lambda: size, U, values, float(evidence["slack"]))
