"""Polynomial basis."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from math import comb
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from certifit._sklearn import Interval
from certifit._types import Array, Matrix, VectorLike
from certifit._validation import check_is_fitted
from certifit.preprocessing._base import names_in, numbers


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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "degree": [Interval(Integral, 0, None, closed="left")],
        "interaction_only": ["boolean"],
        "include_one": ["boolean"],
    }

    def __init__(self, degree: int = 2, *, interaction_only: bool = False, include_one: bool = True) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_one = include_one

    def fit(self, X: Matrix, y: VectorLike | None = None) -> PolynomialBasis:
        """Learn the number of columns and list the monomials."""
        self._validate_params()
        d = numbers(self, X, reset=True).shape[1]
        size = dimension(d, self.degree, self.interaction_only)
        if size * d > 200_000_000:
            raise ValueError(f"Degree {self.degree} in {d} columns makes {size} monomials: lower the degree.")
        choose = combinations if self.interaction_only else combinations_with_replacement
        first = 0 if self.include_one else 1
        chosen = [c for k in range(first, self.degree + 1) for c in choose(range(d), k)]
        if not chosen:
            raise ValueError("degree=0 without the constant leaves no column: set include_one=True.")
        self.powers_ = np.array([np.bincount(np.array(c, dtype=int), minlength=d) for c in chosen])
        self.dimension_ = len(chosen)
        return self

    def transform(self, X: Matrix) -> Array:
        """The monomials of each row, (n, m)."""
        check_is_fitted(self)
        X = numbers(self, X, reset=False)
        out = np.ones((len(X), self.dimension_), dtype=X.dtype)
        degrees = self.powers_.sum(axis=1)
        for k in range(1, self.degree + 1):  # all monomials of a degree at once, factor by factor
            where = np.flatnonzero(degrees == k)
            powers = self.powers_[where].ravel()
            factors = np.repeat(np.tile(np.arange(X.shape[1]), len(where)), powers).reshape(-1, k)
            part = X[:, factors[:, 0]]
            for column in factors.T[1:]:
                part *= X[:, column]
            out[:, where] = part
        return out

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> Array:
        """Names such as ``"a^2 b"``."""
        check_is_fitted(self)
        return monomial_names(self.powers_, names_in(self, input_features))


def monomial_names(exponents: Array, names: Array) -> Array:
    """Names such as ``"a^2 b"`` from exponents (m, d) and names of columns."""
    words = []
    for powers in exponents:
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
