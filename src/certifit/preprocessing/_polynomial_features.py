"""Monomials of the columns under scikit-learn's name, dense and sparse."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import PolynomialFeatures as _Theirs

from certifit._dispatch import computes_in_numpy
from certifit._sklearn import Interval, StrOptions, usual
from certifit._types import Array, Matrix, Record, VectorLike
from certifit._validation import StatesTags, check_is_fitted, validate_data
from certifit.preprocessing._base import names_in
from certifit.preprocessing._polynomial import dimension, exponents, factors, fill, monomial_names


@dataclass(eq=False, repr=False)
@computes_in_numpy
class PolynomialFeatures(StatesTags, TransformerMixin, BaseEstimator):
    r"""All monomials of the columns up to a degree, :math:`\binom{k+d}{d}` of them for degree k and d columns.

    Parameters
    ----------
    degree : int ≥ 0 or (lowest, highest), default=2
    interaction_only : bool, default=False
        Only products of distinct columns: no powers.
    include_bias : bool, default=True
        Whether the constant 1 is a column.
    order : {"C", "F"}, default="C"
        Memory layout of dense output.

    Attributes
    ----------
    n_output_features_ : int
    powers_ : (n_output_features_, d) array
        Exponent of each input column in each output column.

    See Also
    --------
    certifit.preprocessing.PolynomialBasis : refuses a basis that would not fit into memory, before trying.

    Examples
    --------
    >>> features = PolynomialFeatures(2).fit([[2.0, 3.0]])
    >>> features.transform([[2.0, 3.0]]), features.get_feature_names_out(["a", "b"]).tolist()
    (array([[1., 2., 3., 4., 6., 9.]]), ['1', 'a', 'b', 'a^2', 'a b', 'b^2'])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "degree": [Interval(Integral, 0, None, closed="left"), "array-like"],
        "order": [StrOptions({"C", "F"})],
    } | usual("interaction_only include_bias")

    degree: Any = 2
    _: KW_ONLY
    interaction_only: bool = False
    include_bias: bool = True
    order: str = "C"

    def _degrees(self) -> tuple[int, int]:
        if isinstance(self.degree, Integral):
            low, high, said = 0, int(self.degree), "degree to zero"
        else:
            if np.ndim(self.degree) != 1 or len(self.degree) != 2:
                raise ValueError(
                    f"degree must be a non-negative int or tuple (min_degree, max_degree), got {self.degree}."
                )
            low, high = self.degree
            if not (isinstance(low, Integral) and isinstance(high, Integral) and 0 <= int(low) <= int(high)):
                raise ValueError(
                    "degree=(min_degree, max_degree) must be non-negative integers that fulfil min_degree <= max_degree"
                    f", got {self.degree}."
                )
            said = "both min_degree and max_degree to zero"
        if high == 0 and not self.include_bias:
            raise ValueError(f"Setting {said} and include_bias to False would result in an empty output array.")
        return int(low), int(high)

    def fit(self, X: Matrix, y: VectorLike | None = None) -> PolynomialFeatures:
        """Learn the number of columns of X."""
        self._validate_params()
        d = validate_data(self, X, accept_sparse=("csr", "csc")).shape[1]
        low, high = self._degrees()
        below = 0 if low <= 1 else dimension(d, low - 1, self.interaction_only) - 1
        self.n_output_features_ = dimension(d, high, self.interaction_only) - 1 - below + bool(self.include_bias)
        if self.n_output_features_ > np.iinfo(np.intp).max:
            raise ValueError(
                "The output that would result from the current configuration would have "
                f"{self.n_output_features_} features which is too large to be indexed by {np.intp().dtype.name}. "
                "Please change some or all of the following:\n- The number of features in the input, currently "
                f"n_features={d}\n- The range of degrees to calculate, currently [{low}, {high}]\n- Whether to include "
                f"only interaction terms, currently {self.interaction_only}\n- Whether to include a bias term, "
                f"currently {self.include_bias}."
            )
        return self

    @property
    def powers_(self) -> Array:
        """Exponent of each input column in each output column."""
        check_is_fitted(self, "n_output_features_")
        return exponents(self.n_features_in_, *self._degrees(), self.interaction_only, self.include_bias)

    _combinations = staticmethod(factors)  # a name of scikit-learn's that others rely on

    def transform(self, X: Matrix) -> Any:
        """The monomials of each row, (n, m), dense or sparse as X is."""
        check_is_fitted(self, "n_output_features_")
        X = validate_data(self, X, order="F", dtype=[np.float64, np.float32], reset=False, accept_sparse=("csr", "csc"))
        if scipy.sparse.issparse(X):
            return self._sparse(X)
        out = np.empty((X.shape[0], self.n_output_features_), dtype=X.dtype, order=self.order)  # type: ignore[call-overload]
        fill(out, X, *self._degrees(), self.interaction_only, self.include_bias)
        return out

    def _sparse(self, X: Any) -> Any:
        """scikit-learn's own expansion, which visits what is stored and nothing else."""
        if self.n_output_features_ == 0:
            return type(X)((X.shape[0], 0), dtype=X.dtype)
        return _Theirs(**self.get_params()).fit(X).transform(X)

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> Array:
        """Names such as ``"a^2 b"``."""
        check_is_fitted(self, "n_output_features_")
        return monomial_names(self.powers_, names_in(self, input_features))

    _tags: ClassVar[Record] = {"input_tags.sparse": True}
