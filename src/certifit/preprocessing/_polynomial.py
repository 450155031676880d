"""Polynomial basis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import combinations, combinations_with_replacement
from math import comb
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from certifit._sklearn import Interval, usual
from certifit._types import Array, Matrix, VectorLike
from certifit._validation import check_is_fitted
from certifit.preprocessing._base import names_in, numbers


@dataclass(eq=False, repr=False)
class PolynomialBasis(TransformerMixin, BaseEstimator):
    r"""All monomials of the columns up to a degree: :math:`\binom{k+d}{d}` of them for degree k and d columns.

    Parameters
    ----------
    degree : int ≥ 0, default=2
        k, the order of the basis.
    interaction_only : bool, default=False
        Only products of distinct columns: no powers.
    include_one : bool, default=True
        Whether the constant monomial is a column. Leave it out for models that fit an offset.

    Attributes
    ----------
    powers_ : (m, d) array of int
        Exponent of each input column in each output column.
    dimension_ : int
        m.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Columns come in the order of scikit-learn's ``PolynomialFeatures``, which also has sparse input and a range of
    degrees. This one exists because it states the dimension of the basis (and refuses one that would not fit into
    memory, before trying) and keeps the exponents. Missing values raise an error; a constant column gives constant
    monomials, as any other column.

    Examples
    --------
    >>> basis = PolynomialBasis(2).fit([[2.0, 3.0]])
    >>> basis.transform([[2.0, 3.0]]), basis.dimension_
    (array([[1., 2., 3., 4., 6., 9.]]), 6)
    >>> basis.get_feature_names_out(["a", "b"])
    array(['1', 'a', 'b', 'a^2', 'a b', 'b^2'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = usual("interaction_only include_one") | {
        "degree": [Interval(Integral, 0, None, closed="left")]
    }

    degree: int = 2
    _: KW_ONLY
    interaction_only: bool = False
    include_one: bool = True

    def fit(self, X: Matrix, y: VectorLike | None = None) -> PolynomialBasis:
        """Learn the number of columns and list the monomials."""
        self._validate_params()
        d = numbers(self, X, reset=True).shape[1]
        size = dimension(d, self.degree, self.interaction_only)
        if size * d > 200_000_000:
            raise ValueError(f"Degree {self.degree} in {d} columns makes {size} monomials: lower the degree.")
        self.powers_ = exponents(d, 0, self.degree, self.interaction_only, self.include_one)
        self.dimension_ = len(self.powers_)
        if not self.dimension_:
            raise ValueError("degree=0 without the constant leaves no column: set include_one=True.")
        return self

    def transform(self, X: Matrix) -> Array:
        """The monomials of each row, (n, m)."""
        check_is_fitted(self)
        X = numbers(self, X, reset=False)
        out = np.empty((len(X), self.dimension_), dtype=X.dtype)
        fill(out, X, 0, self.degree, self.interaction_only, self.include_one)
        return out

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> Array:
        """Names such as ``"a^2 b"``."""
        check_is_fitted(self)
        return monomial_names(self.powers_, names_in(self, input_features))


def factors(
    n_features: int, min_degree: int, max_degree: int, interaction_only: bool, include_bias: bool
) -> Iterator[tuple[int, ...]]:
    """The columns that each monomial multiplies; none of the constant, which comes first."""
    choose = combinations if interaction_only else combinations_with_replacement
    if include_bias:
        yield ()
    for degree in range(max(1, min_degree), max_degree + 1):
        yield from choose(range(n_features), degree)


def exponents(columns: int, low: int, high: int, interaction_only: bool, constant: bool) -> Array:
    """The exponent of each column in each monomial."""
    found = factors(columns, low, high, interaction_only, constant)
    return np.array([np.bincount(np.array(c, dtype=int), minlength=columns) for c in found]).reshape(-1, columns)


def fill(out: Array, X: Array, low: int, high: int, interaction_only: bool, constant: bool) -> None:
    """Write the monomials of each row, in the same order.

    Those of one more factor are column i times those of one degree less from i on.
    """
    block, starts, at = X, np.arange(X.shape[1] + 1), int(constant)
    out[:, :at] = 1.0
    for degree in range(1, high + 1):
        if degree > 1:
            parts = [block[:, starts[i + interaction_only] :] * X[:, [i]] for i in range(X.shape[1])]
            starts = np.append(0, np.cumsum([part.shape[1] for part in parts]))
            block = np.hstack(parts)
        if degree >= low:
            out[:, at : at + block.shape[1]] = block
            at += block.shape[1]


def monomial_names(powers_of: Array, names: Array) -> Array:
    """Names such as ``"a^2 b"`` from exponents (m, d) and names of columns."""
    words = []
    for powers in powers_of:
        parts = [f"{names[j]}^{p}" if p > 1 else str(names[j]) for j, p in enumerate(powers) if p]
        words.append(" ".join(parts) or "1")
    return np.array(words, dtype=object)


def dimension(columns: int, degree: int, interaction_only: bool = False) -> int:
    """Number of monomials of up to ``degree`` in so many columns, the constant included.

    Examples
    --------
    >>> dimension(10, 3), dimension(10, 3, interaction_only=True)
    (286, 176)
    """
    if interaction_only:
        return sum(comb(columns, k) for k in range(degree + 1))
    return comb(columns + degree, degree)
