"""Columns of mean 0 and spread 1, in batches and for sparse rows: scikit-learn's scaler on accurate means."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_array

from certifit._dispatch import computes_in_numpy
from certifit._sklearn import check_sample_weight, usual
from certifit._types import Array, Matrix, Record, VectorLike, Weights
from certifit._validation import StatesTags, check_is_fitted, validate_data

_ROWS = 8192  # rows at once: a block stays in cache
_FLOATS = [np.float64, np.float32]
_NOT_CENTRED = (
    "Cannot center sparse matrices: pass `with_mean=False` instead. See docstring for motivation and alternatives."
)


class Moments(NamedTuple):
    """Count (or total weight), mean, and sum of squared deviations of each column; missing values do not count."""

    total: Array
    mean: Array
    scatter: Array

    def __add__(self, other: Any) -> Moments:
        """Of both batches together (Chan, Golub, LeVeque 1983): exact however far from zero the columns lie."""
        total = self.total + other.total
        share = np.divide(other.total, total, out=np.zeros_like(total), where=total > 0)
        step = other.mean - self.mean
        scatter = self.scatter + other.scatter + step * step * self.total * share
        return Moments(total, self.mean + step * share, scatter)

    @classmethod
    def of(cls, X: Array, s: Array | None) -> Moments:
        """Of dense rows, block by block."""
        found = cls(*(np.zeros(X.shape[1]) for _ in range(3)))
        for start in range(0, X.shape[0], _ROWS):
            block = X[start : start + _ROWS].astype(float)
            here = np.isfinite(block) | np.isinf(block)
            S = here.astype(float) if s is None else np.where(here, s[start : start + _ROWS, None], 0.0)
            block[~here] = 0.0
            total = S.sum(axis=0)
            safe = np.where(total > 0, total, 1.0)
            mean = (S * block).sum(axis=0) / safe
            mean = mean + (S * (block - mean)).sum(axis=0) / safe  # a second pass removes the rounding of the first
            left = block - mean
            found = found + cls(total, mean, (S * left * left).sum(axis=0))
        return found

    @classmethod
    def of_sparse(cls, X: Matrix, s: Array | None) -> Moments:
        """Of sparse rows: what is stored, and the zeros that are not."""
        X, s = scipy.sparse.coo_array(X), np.ones(X.shape[0]) if s is None else s
        value, column, weight = X.data.astype(float), X.col, s[X.row]
        here = ~np.isnan(value)
        stored = np.bincount(column[here], weight[here], X.shape[1])
        total = s.sum() - np.bincount(column[~here], weight[~here], X.shape[1])
        safe = np.where(total > 0, total, 1.0)
        value, column, weight = value[here], column[here], weight[here]
        mean = np.bincount(column, weight * value, X.shape[1]) / safe
        left = value - mean[column]
        zeros = np.maximum(total - stored, 0.0)
        shift = (np.bincount(column, weight * left, X.shape[1]) - zeros * mean) / safe
        mean = mean + shift
        left = value - mean[column]
        return cls(total, mean, np.bincount(column, weight * left * left, X.shape[1]) + zeros * mean * mean)


@computes_in_numpy
class StandardScaler(StatesTags, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Scale columns to mean 0 and standard deviation 1.

    .. math:: \frac{x - \bar x}\sigma, \qquad \sigma^2 = \frac1S\sum_i s_i(x_i - \bar x)^2

    Missing values (NaN) are ignored in mean and standard deviation and stay missing. Batches given to ``partial_fit``
    give the same result as one ``fit``. A column that is constant up to rounding keeps its scale.

    Parameters
    ----------
    copy : bool, default=True
        False changes X in place where its type allows.
    with_mean, with_std : bool, default=True
        Whether to centre and to scale. Sparse rows cannot be centred.

    Attributes
    ----------
    mean_, var_, scale_ : (d,) arrays, or None where not asked for
    n_samples_seen_ : int or (d,) array
        Rows (or total weight) without missing values.

    See Also
    --------
    certifit.preprocessing.Standardizer : divisor n − 1 on request, and names the constant columns.

    Examples
    --------
    >>> scaler = StandardScaler().fit([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    >>> scaler.mean_, scaler.transform([[2.0, 2.0]])
    (array([0.5, 0.5]), array([[3., 3.]]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = usual("copy with_mean with_std")

    _moments: tuple[Array, ...]  # those of all batches
    mean_: Any
    var_: Any
    scale_: Any
    n_samples_seen_: Any

    def __init__(self, *, copy: bool = True, with_mean: bool = True, with_std: bool = True) -> None:
        self.copy = copy
        self.with_mean = with_mean
        self.with_std = with_std

    def fit(self, X: Matrix, y: VectorLike | None = None, sample_weight: Weights = None) -> StandardScaler:
        """Learn means and spreads of rows X (n, d), weighted by ``sample_weight``."""
        for name in ("scale_", "mean_", "var_", "n_samples_seen_", "_moments"):
            self.__dict__.pop(name, None)
        return self.partial_fit(X, y, sample_weight)

    def partial_fit(self, X: Matrix, y: VectorLike | None = None, sample_weight: Weights = None) -> StandardScaler:
        """Learn from one more batch of rows, weighted by ``sample_weight``."""
        self._validate_params()
        first = "n_samples_seen_" not in self.__dict__
        X = validate_data(
            self, X, accept_sparse=("csr", "csc"), dtype=_FLOATS, ensure_all_finite="allow-nan", reset=first
        )
        s = None
        if sample_weight is not None:
            s = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        sparse = scipy.sparse.issparse(X)
        if sparse and self.with_mean:
            raise ValueError(_NOT_CENTRED)
        found = Moments.of_sparse(X, s) if sparse else Moments.of(X, s)
        self._adopt(found if first else Moments(*self._moments) + found, s is not None, sparse)
        return self

    def _adopt(self, moments: Moments, weighted: bool, sparse: bool = False) -> None:
        """Name means and spreads of these moments."""
        self._moments = tuple(moments)
        total, mean, scatter = self._moments
        var = np.divide(scatter, total, out=np.full_like(scatter, np.nan), where=total > 0)
        seen = total if weighted or np.any(total != np.round(total)) else total.astype(np.int64)
        self.n_samples_seen_ = seen[0] if np.all(seen == seen[0]) else seen
        known = self.with_std if sparse else self.with_mean or self.with_std
        self.mean_ = np.where(total > 0, mean, np.nan) if known else None
        self.var_ = var if self.with_std else None
        self.scale_ = _scale(var, mean, total) if self.with_std else None

    def transform(self, X: Matrix, copy: bool | None = None) -> Any:
        """Centred and scaled rows; ``copy=False`` works in place where the type of X allows."""
        check_is_fitted(self)
        X = validate_data(
            self, X, reset=False, accept_sparse="csr", copy=self.copy if copy is None else copy, dtype=_FLOATS,
            force_writeable=True, ensure_all_finite="allow-nan",
        )  # fmt: skip
        if scipy.sparse.issparse(X):
            if self.with_mean:
                raise ValueError(_NOT_CENTRED)
            if self.scale_ is not None:
                X.data /= self.scale_.astype(X.dtype)[X.indices]
            return X
        if self.with_mean:
            X -= self.mean_.astype(X.dtype)
        if self.with_std:
            X /= self.scale_.astype(X.dtype)
        return X

    def inverse_transform(self, X: Matrix, copy: bool | None = None) -> Any:
        """Back to the units of the data; ``copy`` as in `transform`."""
        check_is_fitted(self)
        X = check_array(
            X, accept_sparse="csr", copy=self.copy if copy is None else copy, dtype=_FLOATS, force_writeable=True,
            ensure_all_finite="allow-nan",
        )  # fmt: skip
        if scipy.sparse.issparse(X):
            if self.with_mean:
                raise ValueError(_NOT_CENTRED.replace("center", "uncenter"))
            if self.scale_ is not None:
                X.data *= self.scale_.astype(X.dtype)[X.indices]
            return X
        if self.with_std:
            X *= self.scale_.astype(X.dtype)
        if self.with_mean:
            X += self.mean_.astype(X.dtype)
        return X

    _tags: ClassVar[Record] = {
        "input_tags.allow_nan": True,
        "input_tags.sparse": lambda model: not model.with_mean,
        "transformer_tags.preserves_dtype": ["float64", "float32"],
    }


def _scale(var: Array, mean: Array, total: Array) -> Array:
    """σ, and 1 for columns whose variance is rounding: the error of a two-pass variance is at most this bound."""
    eps = np.finfo(float).eps
    constant = var <= total * eps * var + (total * mean * eps) ** 2
    return np.where(constant | (var == 0.0), 1.0, np.sqrt(var))
