"""Features from the columns of a table; everything it learns, it learns from the rows it is fitted on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from certifit._types import Array, Matrix, VectorLike
from certifit._validation import check_is_fitted
from certifit.files import Column
from certifit.study._calendar import PARTS, parts_of


@dataclass(eq=False, repr=False)
class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a schema's matrix (NaN missing, −1 unknown category) into features without gaps.

    Numbers and dates: gaps take the median, a column tells where they were, and the result is standardised when
    asked. A date also gives its year, month, weekday and hour: as numbers, or as categories where numbers are
    standardised (for a linear model December is not twelve times January). Categories: one 0/1 column per frequent
    level, one for "missing"; a level that was not there at the fit, or too rare, is zero everywhere. Columns that do
    not vary in the training rows are left out.

    Parameters
    ----------
    names : tuple of str
        Columns of the matrix.
    kinds : tuple of str
        "number", "date", "boolean" or "category" for each.
    categories : tuple of tuples of str
        Levels of each category column (empty for the others).
    standardize : bool, default=True
        Centre and scale numbers and dates.
    reference : bool, default=False
        Leave out the most frequent level, for models that need independent columns.
    max_levels : int ≥ 1, default=25
        At most so many levels of one column get a feature, most frequent first.
    min_count : int ≥ 1, default=3
        Levels of fewer training rows get no feature.
    gaps : bool, default=False
        For models that understand gaps and categories: every column stays one column, in order; missing cells
        and levels without a feature of their own are NaN, the others keep their numbers.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, 0.0]])
    >>> encoder = TableEncoder(("age", "sex"), ("number", "category"), ((), ("f", "m")), False, min_count=1).fit(X)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age is missing', 'sex = f', 'sex = m']
    >>> encoder.transform(np.array([[np.nan, -1.0]]))
    array([[2., 1., 0., 0.]])
    """

    names: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    categories: tuple[tuple[str, ...], ...] = ()
    standardize: bool = True
    reference: bool = False
    max_levels: int = 25
    min_count: int = 3
    gaps: bool = False

    @classmethod
    def of(cls, columns: Iterable[Column], **options: Any) -> TableEncoder:
        """For the columns of a schema."""
        told = [(c.name, c.kind, c.categories) for c in columns]
        return cls(*(tuple(part) for part in zip(*told)), **options)

    def fit(self, X: Matrix, y: VectorLike | None = None) -> TableEncoder:
        """Learn medians, scales and levels from the rows X."""
        X = self._read(X)
        self.n_features_in_ = X.shape[1]
        self._plan_dates()
        X = self._with_parts(X)
        self._plan_numbers(X)
        self._plan_levels(X)
        self.feature_names_ = self._name_features()
        if not self.feature_names_:
            raise ValueError("No column varies in the training rows: there is nothing to learn from.")
        return self

    def _read(self, X: Matrix) -> Array:
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != len(self.kinds):
            raise ValueError(f"Expected a matrix of {len(self.kinds)} columns, got shape {X.shape}.")
        return X

    def _plan_dates(self) -> None:
        """The parts of dates as further columns, each with a kind and a name; none where every column stays one."""
        dates = [] if self.gaps else [j for j, kind in enumerate(self.kinds) if kind == "date"]
        self.parts_ = tuple((j, part) for j in dates for part in PARTS)
        levels = [PARTS[part] if self.standardize else () for _, part in self.parts_]
        self.names_ = (*self.names, *(f"{self.names[j]} ({part})" for j, part in self.parts_))
        self.kinds_ = (*self.kinds, *("category" if known else "number" for known in levels))
        self.categories_ = (*self.categories, *levels)

    def _with_parts(self, X: Array) -> Array:
        if not self.parts_:
            return X
        found = {j: parts_of(X[:, j]) for j in dict.fromkeys(j for j, _ in self.parts_)}
        return np.column_stack([X, *(found[j][part] for j, part in self.parts_)])

    def _plan_numbers(self, X: Array) -> None:
        numeric = np.flatnonzero([k != "category" for k in self.kinds_])
        columns = np.ascontiguousarray(X[:, numeric].T)
        missing = np.isnan(columns)
        seen = ~missing.all(axis=1)
        numeric, columns, missing = numeric[seen], columns[seen], missing[seen]
        count = missing.sum(axis=1)
        boolean = np.array([self.kinds_[j] == "boolean" for j in numeric], dtype=bool)
        fill = _medians(columns, missing)
        fill[boolean & (count > 0)] = np.round(fill[boolean & (count > 0)])
        filled = np.where(missing, fill[:, None], columns)
        varies = np.array([v.min() < v.max() for v in filled], dtype=bool)
        self.kept_, self.fill_ = numeric[varies], fill[varies]
        plain = boolean[varies] | (not self.standardize)
        size = np.abs(filled[varies]).max(axis=1, initial=0.0)  # of values beyond 1e154 the squares would overflow
        parts = filled[varies] / size[:, None]
        spread = size * parts.std(axis=1)
        self.centre_ = np.where(plain, 0.0, size * parts.mean(axis=1))
        self.scale_ = np.where(plain | (spread == 0.0), 1.0, spread)
        # A mark carried by a handful of rows would only teach those rows by heart.
        enough = (count >= self.min_count) & (count <= len(X) - self.min_count)
        self.marked_ = numeric[enough & (numeric < self.n_features_in_)]

    def _plan_levels(self, X: Array) -> None:
        columns, levels = [], []
        for j in np.flatnonzero([k == "category" for k in self.kinds_]):
            gap = len(self.categories_[j]) if j < self.n_features_in_ else -1  # the date itself tells of its gaps
            codes = np.where(np.isnan(X[:, j]), gap, X[:, j])
            values, counts = np.unique(codes[codes >= 0], return_counts=True)
            order = np.lexsort((values, -counts))
            chosen = [v for v, c in zip(values[order], counts[order]) if c >= self.min_count][: self.max_levels]
            if len(values) < 2:
                continue
            if self.reference and chosen and len(chosen) == len(values):
                chosen = chosen[1:]
            chosen.sort()
            columns += [j] * len(chosen)
            levels += chosen
        self.level_column_ = np.array(columns, dtype=np.int64)
        self.level_ = np.array(levels, dtype=float)

    def _name_features(self) -> list[str]:
        if self.gaps:
            return list(self.names) if len(self.kept_) or len(self.level_) else []
        level_names = []
        for j, v in zip(self.level_column_, self.level_):
            known = self.categories_[j]
            missing = int(v) == len(known)
            level_names.append(f"{self.names_[j]} is missing" if missing else f"{self.names_[j]} = {known[int(v)]}")
        return [
            *(self.names_[j] for j in self.kept_),
            *(f"{self.names_[j]} is missing" for j in self.marked_),
            *level_names,
        ]

    @property
    def owners_(self) -> Array:
        """The column, by its place in the matrix, that each feature is made of."""
        if self.gaps:
            return np.arange(self.n_features_in_)
        made = np.concatenate([self.kept_, self.marked_, self.level_column_]).astype(np.int64)
        dates = np.array([j for j, _ in self.parts_], dtype=np.int64)
        return np.concatenate([np.arange(self.n_features_in_), dates])[made]

    def transform(self, X: Matrix) -> Array:
        """Features of the rows X: no gaps, all numbers."""
        check_is_fitted(self, "feature_names_")
        X = self._read(X)
        if self.gaps:
            return self._with_gaps(X)
        X = self._with_parts(X)
        out = np.empty((len(X), len(self.feature_names_)))
        k, m = len(self.kept_), len(self.marked_)
        part = X[:, self.kept_]
        out[:, :k] = (np.where(np.isnan(part), self.fill_, part) - self.centre_) / self.scale_
        out[:, k : k + m] = np.isnan(X[:, self.marked_])
        for i, (j, v) in enumerate(zip(self.level_column_, self.level_), start=k + m):
            out[:, i] = np.isnan(X[:, j]) if v == len(self.categories_[j]) else X[:, j] == v
        return out

    def _with_gaps(self, X: Array) -> Array:
        out = np.zeros(X.shape)  # a number that did not vary in the training rows says nothing
        out[:, self.kept_] = (X[:, self.kept_] - self.centre_) / self.scale_
        for j in np.flatnonzero([k == "category" for k in self.kinds_]):
            levels = self.level_[self.level_column_ == j]
            out[:, j] = np.where(np.isin(X[:, j], levels), X[:, j], np.nan)
        return out

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> Array:
        """Names of the features, in order."""
        check_is_fitted(self, "feature_names_")
        return np.array(self.feature_names_, dtype=object)


def _medians(columns: Array, missing: Array) -> Array:
    """The median of what is there, row by row of ``columns``."""
    whole = ~np.asarray(missing.any(axis=1))
    found = np.empty(len(columns))
    if whole.any():
        found[whole] = np.median(columns[whole], axis=1)
    for j in np.flatnonzero(~whole):
        found[j] = np.median(columns[j][~missing[j]])
    return found
