"""Gaussian naive Bayes: each column is normal within each class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite

from certifit._certified import note_fingerprint
from certifit._sklearn import usual
from certifit._types import Array, MatrixLike, Record, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.loops import moments
from certifit.naive_bayes._base import Boundary, IncrementalNB, NaiveBayes, check_prior, log_quietly
from certifit.naive_bayes._statistics import ClassMoments
from certifit.parallel import by_ranges

_FLOATS = (np.float64, np.float32)
_PIECE = 1 << 14  # rows that are labelled at a time, where their classes are looked up
_CELLS = 1 << 18  # of rows to be labelled that are worth a thread


def _refuse_overflow(columns: Array) -> None:
    if columns.any():
        column = int(np.flatnonzero(columns)[0])
        raise ValueError(f"Column {column} has values whose squares exceed the largest float: rescale it.")


class GaussianNB(IncrementalNB):
    r"""Gaussian naive Bayes: within a class every column is normal, independent of the others.

    .. math:: P(c \mid x) \propto P(c) \prod_j N(x_j; \theta_{cj}, \sigma^2_{cj})

    Class frequencies, means and variances are those of the data (maximum likelihood); ``var_smoothing`` times the
    largest column variance is added to every variance. X is read once, in blocks about running means, so that columns
    such as 10⁸ ± 1 keep their digits.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Class probabilities, ≥ 0, summing to one; those of the data when None.
    var_smoothing : float in [0, inf), default=1e-9
        Fraction of the largest column variance that is added to all variances.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_count_, class_prior_ : ndarray of shape (n_classes,)
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Means, and variances with the smoothing in them.
    epsilon_ : float
        What was added to the variances.
    statistics_ : ClassMoments
        The mergeable sums behind the estimates.
    certificate_ : Certificate
        Proof that the estimates are those of the data.

    Notes
    -----
    A drop-in for scikit-learn's. Differences: ``epsilon_`` uses the weighted variance of all data seen (weight k is k
    copies, and batches give the same result as all rows together), and estimates are float64 even for float32 rows.

    References
    ----------
    T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
    variances", STAN-CS-79-773 (1979).

    Examples
    --------
    >>> from certifit.naive_bayes import GaussianNB
    >>> X = np.array([[-1.0], [-2.0], [-3.0], [1.0], [2.0], [3.0]])
    >>> model = GaussianNB().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.theta_.ravel().tolist(), round(float(model.log_odds([[0.5]])[0]), 4)
    ([-2.0, 2.0], 3.0)
    """

    _proof_kind = "gaussian-counts"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"priors": ["array-like", None]} | usual("var_smoothing≥0")

    def __init__(self, *, priors: npt.ArrayLike | None = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    @property
    def _prior_rule(self) -> str:
        return "data" if self.priors is None else "given"

    def _read(self, X: MatrixLike, y: VectorLike, reset: bool) -> tuple[Array, Array]:
        X, y = validate_data(self, X, y, dtype=_FLOATS, ensure_all_finite=False, reset=reset)
        return X, y

    def _tally(self, X: Array, codes: Array, K: int, weight: Array | None) -> ClassMoments:
        statistics = ClassMoments.of(X, codes, K, weight)
        self._refuse_bad(X, statistics)
        return statistics

    def _tally_all(self, X: Array, codes: Array, K: int, weight: Array | None) -> ClassMoments:
        statistics, found = ClassMoments.with_fingerprint(X, codes, K, weight)
        self._refuse_bad(X, statistics)
        if found is not None:
            note_fingerprint(self, X, found)
        return statistics

    def _refuse_bad(self, X: Array, statistics: ClassMoments) -> None:
        """NaN and infinity show in the sums: no read of their own is spent on looking for them."""
        if np.isfinite(statistics.scatter).all() and np.isfinite(statistics.mean).all():
            return
        assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
        _refuse_overflow(np.asarray(~np.isfinite(statistics.scatter).all(axis=0)))

    def _adopt(self, statistics: ClassMoments, classes: Array) -> None:
        """Name the estimates that follow from the sums."""
        spread = statistics.column_variance
        _refuse_overflow(~np.isfinite(spread))
        epsilon = float(self.var_smoothing * spread.max())
        var = statistics.variance + epsilon
        if not self._in_pieces:
            self._refuse_hollow(statistics, var, classes)
        if self.priors is not None:
            prior = check_prior(self.priors, len(classes))
            if not np.isclose(prior.sum(), 1.0):
                raise ValueError("The sum of the priors should be 1.")
        else:
            prior = statistics.total / statistics.total.sum()
        self.statistics_, self.classes_, self.epsilon_ = statistics, classes, epsilon
        self.theta_, self.var_ = statistics.mean, var
        self.class_count_, self.class_prior_, self._prior = statistics.total, prior, prior

    _in_pieces: bool = False  # whether more rows may come: then densities are judged when they are needed

    def _refuse_hollow(self, statistics: ClassMoments, var: Array, classes: Array) -> None:
        """A column that does not vary within one class, but varies between them, has no density there."""
        idle = np.all((var == 0) & (statistics.mean == statistics.mean[:1]), axis=0)
        hollow = (var == 0) & ~idle & (statistics.total[:, None] > 0)
        if hollow.any():
            c, j = np.argwhere(hollow)[0]
            raise ValueError(
                f"Column {j} does not vary within class {classes.tolist()[c]!r}, so it has no density there: "
                "set var_smoothing above zero or leave the column out."
            )

    def partial_fit(
        self, X: MatrixLike, y: VectorLike, classes: VectorLike | None = None, sample_weight: Weights = None
    ) -> GaussianNB:
        """Learn from one more batch of rows; the estimates are those of all rows seen so far.

        The first call needs ``classes``, the list of all classes. Without smoothing, `predict` raises an error as
        long as a class has one row only.
        """
        self._in_pieces = True
        try:
            super().partial_fit(X, y, classes, sample_weight)
        finally:
            self.__dict__.pop("_in_pieces", None)
        return self

    def _terms(self) -> tuple[Array, Array]:
        """Half precisions (K, d) and constants (K,) of the log densities; columns that never vary are left out."""
        self._refuse_hollow(self.statistics_, self.var_, self.classes_)
        idle = self.var_ == 0
        half = np.where(idle, 0.0, 0.5 / np.where(idle, 1.0, self.var_))
        logs = np.where(idle, 0.0, np.log(2.0 * np.pi * np.where(idle, 1.0, self.var_)))
        return half, log_quietly(self.class_prior_) - 0.5 * logs.sum(axis=1)

    def _check_X(self, X: MatrixLike) -> Array:
        return np.asarray(validate_data(self, X, dtype=_FLOATS, ensure_all_finite=False, reset=False))

    def _joint(self, X: Array) -> Array:
        half, constant = self._terms()
        out = np.empty((len(X), len(self.classes_)))
        moments.gaussian_scores(np.ascontiguousarray(X), self.theta_, half, constant, out)
        if not np.isfinite(out).all():
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
        return out.astype(X.dtype, copy=False)

    # The predict below is only a faster way to the same labels, so the shared path still speaks for this class.
    _fold_path = NaiveBayes._fold_path

    def predict(self, X: MatrixLike) -> Array:
        check_is_fitted(self, "statistics_")
        rows = self._check_X(X)
        half, constant = self._terms()
        A, classes = np.ascontiguousarray(rows), self.classes_
        labels = np.empty(len(rows), dtype=classes.dtype)
        counted = labels.dtype == np.int64 and np.array_equal(classes, np.arange(len(classes)))
        moments.gaussian_labels.pays(A, self.theta_, half, constant, labels)  # a matter of all rows, not of some
        bad = []

        def label(first: int, last: int) -> None:
            """Write the labels of some rows, in pieces whose numbers stay in a cache where they are not the labels."""
            for start in range(first, last, last - first if counted else _PIECE):
                part = slice(start, min(start + _PIECE, last) if not counted else last)
                numbers = labels[part] if counted else np.empty(part.stop - start, dtype=np.int64)
                bad.append(moments.gaussian_labels(A[part], self.theta_, half, constant, numbers))
                if not counted:
                    np.take(classes, numbers, out=labels[part], mode="clip")

        by_ranges(label, len(A), max(1, _CELLS // max(1, A.shape[1])))
        return super().predict(rows) if any(bad) else labels

    def boundary(self) -> Boundary:
        """The log-odds of two classes as constant + linear·x + quadratic·x² (zero on the boundary).

        Returns
        -------
        Boundary
            Named tuple ``(constant, linear, quadratic)``; equal variances make ``quadratic`` zero.
        """
        self._need_two_classes()
        half, constant = self._terms()
        square = half * self.theta_**2
        linear = 2.0 * half * self.theta_
        first = constant - square.sum(axis=1)
        return Boundary(float(first[1] - first[0]), linear[1] - linear[0], half[0] - half[1])

    def _evidence(self) -> Record:
        return {
            "class_count": self.class_count_,
            "theta": self.theta_,
            "var": self.var_,
            "var_smoothing": float(self.var_smoothing),
        }
