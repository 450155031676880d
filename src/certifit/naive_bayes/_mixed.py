"""Naive Bayes for tables whose columns are numbers, truth values and categories, with gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length

from certifit._sklearn import check_y, num_samples, usual
from certifit._types import Array, MatrixLike, Record, VectorLike
from certifit._validation import validate_data
from certifit.naive_bayes._base import NaiveBayes, class_shares, log_quietly, smoothed_log_shares
from certifit.naive_bayes._columns import (
    ColumnKind,
    Table,
    as_codes,
    as_numbers,
    category_words,
    choose_kinds,
    columns_of,
    is_frame,
)
from certifit.naive_bayes._statistics import ClassMoments, MixedStatistics

_BLOCK = 1 << 18  # numbers of rows, classes and columns that are worked on at a time


@dataclass(kw_only=True, eq=False, repr=False)
class MixedNB(NaiveBayes):
    r"""Naive Bayes on a table of mixed columns: Gaussian for numbers, smoothed counts for the rest.

    .. math:: P(c \mid x) \propto P(c) \prod_{j\ \text{numeric}} N(x_j; \theta_{cj}, \sigma^2_{cj})
              \prod_{j\ \text{discrete}} \frac{N_{cj}(x_j) + \alpha}{N_{cj} + \alpha m_j}

    Missing cells are skipped, in fitting and in predicting. So are categories that were not seen in `fit`.

    Parameters
    ----------
    alpha : float in [0, inf), default=1.0
        Pseudo-count of every category (Laplace: 1).
    var_smoothing : float in [0, inf), default=1e-9
        Share of a column's own variance that is added to its class variances.
    fit_prior : bool, default=True
        Learn the class probabilities; otherwise they are equal.
    class_prior : array-like of shape (n_classes,), default=None
        Class probabilities, when given.
    numeric, categorical, boolean : list of column names or numbers, default=None
        Types of these columns; the others are inferred (numbers, booleans; anything else is a category).

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    column_kinds_ : list of {"numeric", "boolean", "categorical"}
    theta_, var_ : ndarray of shape (n_classes, numeric columns)
    categories_ : list of list of str
        Names of the categories of each boolean or categorical column (numbers by their float value).
    feature_log_prob_ : list of ndarray of shape (n_classes, categories of the column)
    statistics_ : MixedStatistics
        The mergeable sums behind the estimates.
    certificate_ : Certificate
        Proof that the estimates are those of the non-missing cells.

    Notes
    -----
    A class without any values in a column gets the column's overall mean and variance; a constant column has no
    influence (its variance is set to one). No `partial_fit`: new categories would change the encoding.

    References
    ----------
    T. M. Mitchell, *Machine Learning*, section 6.9 (1997).

    Examples
    --------
    >>> from certifit.naive_bayes import MixedNB
    >>> X = np.array([[1.0, "red"], [1.2, "red"], [3.1, "blue"], [None, "blue"], [2.9, None]], dtype=object)
    >>> model = MixedNB().fit(X, ["a", "a", "b", "b", "b"])
    >>> model.column_kinds_, model.predict_proba(X[3:4]).round(4).tolist()
    (['numeric', 'categorical'], [[0.1818, 0.8182]])
    """

    _proof_kind = "mixed-counts"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "class_prior": ["array-like", None],
        "numeric": ["array-like", None],
        "categorical": ["array-like", None],
        "boolean": ["array-like", None],
    } | usual("alpha≥0 var_smoothing≥0 fit_prior")

    alpha: float = 1.0
    var_smoothing: float = 1e-9
    fit_prior: bool = True
    class_prior: npt.ArrayLike | None = None
    numeric: npt.ArrayLike | None = None
    categorical: npt.ArrayLike | None = None
    boolean: npt.ArrayLike | None = None

    # -- reading ------------------------------------------------------------------------------------
    def _arrive(self, X: MatrixLike, reset: bool) -> tuple[list[Array], list[ColumnKind | None]]:
        """Columns of validated X and the kinds their types imply."""
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if num_samples(X) == 0:
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
            return columns_of(X)
        if isinstance(X, (list, tuple)):  # NumPy would turn numbers beside words into words
            X = np.array(X, dtype=object)
        rows = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=reset)
        if rows.dtype.kind == "c":
            raise ValueError("Complex data not supported.")
        return columns_of(rows)

    def _read(self, X: MatrixLike, y: VectorLike, reset: bool) -> tuple[Table, Array]:
        if y is None:
            raise ValueError("MixedNB requires y to be passed, but the target y is None.")
        columns, implied = self._arrive(X, reset)
        labels: Array = check_y(y, multi_output=False, y_numeric=False, estimator=self)
        check_consistent_length(columns[0], labels)
        asked: Any = {"numeric": self.numeric, "categorical": self.categorical, "boolean": self.boolean}
        self._kinds = choose_kinds(columns, implied, getattr(self, "feature_names_in_", None), asked)
        self._words = []
        for j, kind in enumerate(self._kinds):
            if kind != "numeric":
                self._words.append(self._name_categories(columns[j], kind, self._label(j)))
        return self._encode(columns), labels

    def _label(self, j: int) -> Any:
        names = getattr(self, "feature_names_in_", None)
        return j if names is None else str(names[j])

    @staticmethod
    def _name_categories(column: Array, kind: str, label: Any) -> list[str]:
        words = category_words(column)
        if kind == "categorical":
            return words
        if set(words) <= {"0.0", "1.0"}:
            return ["0.0", "1.0"]
        if len(words) > 2:
            raise ValueError(f"Column {label!r} is boolean but holds {len(words)} values: make it categorical.")
        return words

    def _encode(self, columns: list[Array]) -> Table:
        n = len(columns[0])
        words = iter(self._words)
        numbers, codes = [], []
        for j, (kind, column) in enumerate(zip(self._kinds, columns)):
            if kind == "numeric":
                numbers.append(as_numbers(column, self._label(j)))
            else:
                codes.append(as_codes(column, next(words)))
        return Table(
            np.column_stack(numbers) if numbers else np.zeros((n, 0)),
            np.column_stack(codes) if codes else np.zeros((n, 0), dtype=np.int64),
        )

    def _check_X(self, X: MatrixLike) -> Table:
        return self._encode(self._arrive(X, reset=False)[0])

    # -- learning -----------------------------------------------------------------------------------
    def _tally(self, X: Table, codes: Array, K: int, weight: Array | None) -> MixedStatistics:
        sizes = np.array([len(w) for w in self._words], dtype=np.int64)
        statistics = MixedStatistics.of(X.numbers, X.categories, codes, K, sizes, weight)
        numbers = statistics.numbers
        if not np.isfinite(numbers.scatter).all() or not np.isfinite(numbers.column_variance).all():
            raise ValueError("A numeric column has values whose squares exceed the largest float: rescale it.")
        return statistics

    def _adopt(self, statistics: MixedStatistics, classes: Array) -> None:
        prior = class_shares(statistics.class_total, self.fit_prior, self.class_prior)
        theta, var = self._gaussians(statistics.numbers, classes)
        logs = [smoothed_log_shares(count, self.alpha) for count in statistics.categories.by_feature]
        self.statistics_, self.classes_, self.class_count_ = statistics, classes, statistics.class_total
        self.class_log_prior_, self._prior = log_quietly(prior), prior
        self.theta_, self.var_, self.feature_log_prob_ = theta, var, logs
        self.column_kinds_, self.categories_ = list(self._kinds), [list(w) for w in self._words]

    def _gaussians(self, m: ClassMoments, classes: Array) -> tuple[Array, Array]:
        """Means and smoothed variances, with the conventions of the class docstring."""
        spread, empty = m.column_variance, m.weight == 0
        theta = np.where(empty, m.column_mean, m.mean)
        var = np.where(empty, spread, m.variance) + self.var_smoothing * spread
        flat = spread <= (8 * np.finfo(float).eps * np.abs(theta).max(axis=0, initial=0.0)) ** 2
        var[:, flat] = 1.0
        if np.any(var == 0):
            c, j = np.argwhere(var == 0)[0]
            name = self._label(int(np.flatnonzero([k == "numeric" for k in self._kinds])[j]))
            raise ValueError(
                f"Column {name!r} does not vary within class {classes.tolist()[c]!r}, so it has no density there: "
                "set var_smoothing above zero or leave the column out."
            )
        return theta, var

    # -- predicting ---------------------------------------------------------------------------------
    def _joint(self, X: Table) -> Array:
        joint = np.tile(self.class_log_prior_, (len(X), 1))
        level = np.log(2 * np.pi * self.var_)
        block = max(1, _BLOCK // max(1, self.theta_.size))
        for start in range(0, len(X) if self.theta_.size else 0, block):
            x = X.numbers[start : start + block, None]
            with np.errstate(over="ignore"):
                terms = np.square(x - self.theta_) / self.var_ + level
            terms[np.broadcast_to(np.isnan(x), terms.shape)] = 0.0
            joint[start : start + block] -= 0.5 * terms.sum(axis=2)
        for k, logs in enumerate(self.feature_log_prob_):
            code = X.categories[:, k]
            joint += np.where(code[:, None] >= 0, logs.T[code] if logs.shape[1] else 0.0, 0.0)
        return joint

    def _evidence(self) -> Record:
        number = np.array([k == "numeric" for k in self.column_kinds_])
        logs = np.hstack(self.feature_log_prob_) if self.feature_log_prob_ else np.zeros((len(self.classes_), 0))
        return {
            "alpha": float(self.alpha),
            "var_smoothing": float(self.var_smoothing),
            "numeric": np.flatnonzero(number),
            "discrete": np.flatnonzero(~number),
            "theta": self.theta_,
            "var": self.var_,
            "categories": self.categories_,
            "feature_log_prob": logs,
        }

    _tags: ClassVar[Record] = {"input_tags.allow_nan": True, "input_tags.categorical": True, "input_tags.string": True}
