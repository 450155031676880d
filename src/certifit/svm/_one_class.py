"""One class alone: where most of the rows lie."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin

from certifit._certified import Certified
from certifit._objective import Objective
from certifit._sklearn import Interval
from certifit._types import Array, MatrixLike, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.losses import Hinge
from certifit.regularizers import SquaredL2
from certifit.solvers._box_dual import Box
from certifit.svm._evidence import machine_evidence
from certifit.svm._expansion import expansion, read_rows
from certifit.svm._labels import masked
from certifit.svm._linear import warn_if_limited
from certifit.svm._machine import CONSTRAINTS, KernelMachine, name_machine, rows_of, solve_box

_INSIDE = 1e-10  # fraction of ρ by which the boundary is drawn lower


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassSVM(KernelMachine, Certified, OutlierMixin, BaseEstimator):
    r"""The region in which most rows lie, by the hyperplane farthest from the origin, proved optimal.

    .. math:: \min_{w, \rho}\ \tfrac12 \lVert w\rVert^2 + \sum_i s_i \max(0,\ \rho - w^\top\varphi(x_i))
              - \nu\rho\sum_i s_i

    Divided by ρ, w minimises :math:`\tfrac\rho2\lVert w\rVert^2 + \sum_i s_i \max(0, 1 - w^\top\varphi(x_i))`. The
    certificate is about that problem; it also states that the multipliers add up to the fraction ν of the weights, so
    that ρ belongs to this ν.

    Parameters
    ----------
    tol : float > 0, default=1e-3
        Accuracy: the fit stops when the duality gap is at most tol/100 of the objective of the first rows. Where at
        most 2,000 multipliers are free, Newton steps on them then continue to rounding error.
    nu : float in (0, 1], default=0.5
        ν: at most this fraction of the rows lies outside, and at least this fraction are support vectors.
    kernel, degree, gamma, coef0, shrinking, cache_size, verbose, max_iter, trace, time_budget :
        As in `SVR`.

    Attributes
    ----------
    dual_coef_, support_, support_vectors_, n_support_, intercept_, offset_, coef_, fit_status_, n_iter_, shape_fit_,
    n_features_in_, feature_names_in_ :
        As in scikit-learn.
    gap_, kernel_, status_, trace_ :
        As in `SVR`.
    certificate_ : Certificate
        Kind "duality", about the rows with the target 1: ``certificate_.verify(X, np.ones(len(X)))``.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0]])
    >>> model = OneClassSVM(gamma=1.0, nu=0.5).fit(X)
    >>> model.predict([[0.1], [5.1]]).tolist(), model.certificate_.holds
    ([1, -1], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS | {"nu": [Interval(Real, 0.0, 1.0, closed="right")]}

    nu: float = 0.5

    def fit(self, X: MatrixLike, y: VectorLike | None = None, sample_weight: Weights = None) -> OneClassSVM:
        """Fit to rows X, (n, n) kernel values with a precomputed kernel; y is ignored.

        Weight k equals k copies of the row; rows of weight 0 or less are ignored.
        """
        self._validate_params()
        X = validate_data(self, self._given(X), dtype=np.float64, order="C", accept_sparse="csr")
        sample_weight = masked(sample_weight, X)
        kernel, gamma = self._kernel_of(X, sample_weight)
        weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        rows = np.flatnonzero(weights > 0.0)
        part, box = rows_of(kernel, X, rows), Box.of_one_class(weights[rows], float(self.nu))
        start = np.clip(box.total - np.concatenate([[0.0], np.cumsum(box.hi)[:-1]]), 0.0, box.hi)
        used = np.flatnonzero(start)
        height = start[used] @ (kernel(rows_of(kernel, part, used)) @ start[used])
        found = solve_box(self, kernel, part, box, max(0.5 * float(height), 1e-300), start)
        alpha = np.zeros(X.shape[0])
        alpha[rows] = found.value.beta
        height = -found.value.offset
        # Support vectors on the boundary are there to rounding; a little below it they all count as inside.
        name_machine(self, X, kernel, gamma, alpha, _INSIDE * abs(height) - height, found)
        self.offset_ = -self.intercept_
        warn_if_limited(self)
        self._prove(X, sample_weight, height)
        return self

    def _prove(self, X: Any, sample_weight: Weights, height: float) -> None:
        if not height > 0.0:
            self._withhold_certificates("The hyperplane goes through the origin (ρ ≤ 0), so w cannot be divided by ρ.")
            return
        objective = Objective(Hinge(), SquaredL2(0.5), height, fit_intercept=False, stated="sum")
        kernel, support, alpha, nu = self.kernel_, self.support_, self._columns, float(self.nu)
        parts = kernel, X, objective, support, alpha / height, np.zeros(1), alpha
        y = np.ones(X.shape[0])  # all of one class
        self._promise_certificate("duality", lambda _: machine_evidence(*parts) | {"nu": nu}, X, y, sample_weight)

    def decision_function(self, X: MatrixLike) -> Array:
        """How far inside each row lies, w·φ(x) − ρ: positive for inliers."""
        return expansion(self, read_rows(self, X), self._columns)[:, 0]

    def score_samples(self, X: MatrixLike) -> Array:
        """The decision function plus ρ."""
        return np.asarray(self.decision_function(X) + self.offset_)

    def predict(self, X: MatrixLike) -> Array:
        """1 for inliers (rows on the boundary among them), −1 for outliers."""
        check_is_fitted(self)
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)
