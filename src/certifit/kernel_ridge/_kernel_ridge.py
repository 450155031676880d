"""Kernel ridge regression."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from certifit._certified import Certified
from certifit._objective import Objective
from certifit._sklearn import ConvergenceWarning, Interval, StrOptions, read_weights, usual
from certifit._trace import Trace
from certifit._types import Array, Matrix, MatrixLike, Record, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates import Certificate, Data, issue
from certifit.kernel_ridge._folds import kernel_ridge_answers
from certifit.kernel_ridge._functions import THEIRS, Named, as_table_function
from certifit.kernels import NAMES, Kernel, choose
from certifit.losses import Squared
from certifit.regularizers import SquaredL2, Zero
from certifit.solvers._task import options_of
from certifit.solvers.dual import evidence_of
from certifit.solvers.kernel_ridge import closed_form, lms, resolve

_WORDS = {"polynomial": "poly"}


@dataclass(eq=False, repr=False)
class KernelRidge(Certified, MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Ridge regression in a kernel's feature space (no offset, as in scikit-learn), with a proved gap.

    .. math:: \min_c\ \sum_i s_i\,(y_i - (Kc)_i)^2 + \alpha\, c^\top K c, \qquad f(x) = \sum_i c_i k(x_i, x)

    Parameters
    ----------
    alpha : float > 0 or array with one value per target, default=1.0
        With ``solver="lms"`` also 0: LMS without a penalty, c ← c + η(y − Kc) from zero. The certificate is then
        about least squares on the Gram matrix K instead of X: ``verify(model.kernel_.gram(X, X), y)``.
    kernel : {"linear", "poly", "polynomial", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="linear"
        Also "additive_chi2", "chi2", "cosine" and "laplacian", computed by scikit-learn. A function takes two rows and
        returns a number (as in scikit-learn), or takes two tables and returns all values at once.
    gamma : float ≥ 0, default=None
        None is 1 / columns (1 for "chi2").
    degree : float ≥ 0, default=3
    coef0 : float, default=1.0
    kernel_params : dict, default=None
        Further arguments of a function given as kernel.
    solver : {"auto", "cholesky", "lms"}, default="auto"
        "auto" is "cholesky"; "lms" is gradient descent on c (kernel LMS).
    step : float > 0, default=None
        Step of "lms"; None is 1/L. A step that would diverge raises an error, which suggests a safe one.
    tol : float > 0, default=1e-8
        "lms" stops when the proved gap is at most this fraction of the null model's objective.
    max_iter : int ≥ 1, default=10000
        Steps of "lms" (1 for a factorisation).
    trace : bool, default=False
        Whether to keep objective, gap and step of "lms" in ``trace_``.
    time_budget : float > 0, default=None
        Seconds after which "lms" stops.

    Attributes
    ----------
    dual_coef_, X_fit_, n_features_in_ :
        As in scikit-learn.
    solver_ : str
        The solver used.
    n_iter_ : int
        Steps of "lms" (1 for a factorisation).
    status_ : str
        Why it stopped: "closed form", "converged", "max_iter" or "time_budget".
    trace_ : Trace
        Steps of "lms", with ``trace=True``.
    certificate_ : Certificate
        Kind "duality".

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 4.0])
    >>> model = KernelRidge(alpha=0.1, kernel="poly", degree=2).fit(X, y)
    >>> model.predict([[3.0]]).round(2).tolist(), model.certificate_.relative_gap < 1e-12
    ([8.64], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0.0, None, closed="left"), "array-like"],
        "kernel": [StrOptions({*NAMES, *_WORDS, *THEIRS}), callable],
        "kernel_params": [dict, None],
        "solver": [StrOptions({"auto", "cholesky", "lms"})],
    } | usual("gamma≥0? degree≥0 step>0? tol>0 coef0 max_iter trace time_budget")

    alpha: Any = 1.0
    _: KW_ONLY
    kernel: Any = "linear"
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
    kernel_params: Record | None = None
    solver: str = "auto"
    step: float | None = None
    tol: float = 1e-8
    max_iter: int = 10000
    trace: bool = False
    time_budget: float | None = None

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: Weights = None) -> KernelRidge:
        """Fit to rows X, (n, n) kernel values if precomputed, and targets y; weight k is k copies of a row."""
        self._validate_params()
        X, y = validate_data(
            self, X, y, dtype=np.float64, order="C", accept_sparse="csr", multi_output=True, y_numeric=True
        )
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix: "
                "give the kernel values of all training rows with each other."
            )
        given = read_weights(sample_weight, X)
        weights = np.ones(X.shape[0]) if given is None else given
        Y = np.asarray(y, dtype=float).reshape(len(y), -1)
        alpha = np.broadcast_to(np.asarray(self.alpha, dtype=float), (Y.shape[1],))
        if not (np.all(alpha > 0) or (np.all(alpha == 0) and self.solver == "lms")):
            raise ValueError(
                "alpha must be positive for every target: without a penalty the fit is not unique. solver='lms' takes "
                "alpha=0 and starts from zero."
            )
        kernel = self._kernel(X)
        coef = self._solve(np.asarray(kernel.gram(X, X)), Y, alpha, weights)
        self.dual_coef_ = coef.reshape(np.shape(y))
        self.X_fit_, self.kernel_ = X.copy(), kernel  # later changes of X are not the model's

        def prove() -> tuple[Certificate, ...]:
            if np.all(alpha > 0):
                return (issue("duality", Data.of(X, y, given), ridge_evidence(kernel, X, coef, alpha)),)
            # Without a penalty Σ s(y − Kc)² is least squares in c, with K in the place of X.
            objective = Objective(Squared(), Zero(), 0.0, False)
            data = Data.of(np.asarray(kernel.gram(X, X)), y, given)
            return (issue("least-squares", data, evidence_of(objective, coef.T, np.zeros(Y.shape[1]))),)

        self._promise_certificates(prove, X, y, sample_weight)
        return self

    def _kernel(self, X: Matrix) -> Kernel:
        """The kernel that the parameters describe."""
        given = self.kernel
        if isinstance(given, str) and given in THEIRS:
            given = Named(given, self.gamma)
        elif callable(given) and not isinstance(given, Kernel):
            given = as_table_function(given, self.kernel_params or {}, X)
        name = _WORDS.get(given, given) if isinstance(given, str) else given
        if name == "poly" and self.degree != int(self.degree):
            given = name = Named("polynomial", self.gamma, degree=self.degree, coef0=self.coef0)
        return choose(name, self.gamma, int(self.degree), self.coef0, X)[0]

    def _solve(self, K: Array, Y: Array, alpha: Array, weights: Array) -> Array:
        self.solver_ = resolve(self.solver)
        self.n_iter_, self.status_, self.trace_ = 1, "closed form", Trace()
        if self.solver_ == "cholesky":
            return closed_form(K, Y, alpha, weights)
        found = lms(K, Y, alpha, weights, replace(options_of(self), step=self.step))
        self.n_iter_, self.status_, self.trace_ = found.stats["n_iter"], found.status, found.trace
        if not found.converged:
            warnings.warn(
                f"Kernel LMS stopped after {self.n_iter_} steps ({found.status}) with a gap of "
                f"{found.stats['gap']:.3g}; the certificate has the proved figure. "
                'Use solver="cholesky", or allow more steps.',
                ConvergenceWarning,
                stacklevel=3,
            )
        return np.asarray(found.value)

    def predict(self, X: MatrixLike) -> Array:
        """f(x) for each row: (n,) or (n, targets), like y."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", accept_sparse="csr", reset=False)
        return np.asarray(self.kernel_.gram(X, self.X_fit_) @ self.dual_coef_)

    _fold_path = kernel_ridge_answers  # shared work for `certifit.model_selection`

    _tags: ClassVar[Record] = {
        "input_tags.sparse": True,
        "input_tags.pairwise": lambda model: model.kernel == "precomputed",
    }


def ridge_evidence(kernel: Kernel, X: Matrix, coef: Array, alpha: Array) -> Record:
    """Evidence for the certificate of a kernel ridge fit: β = −2αc makes the penalty's share of the gap vanish.

    X are training rows, or their Gram matrix; ``coef`` c and ``alpha`` have a column and a strength for each target.

    Examples
    --------
    >>> from certifit.kernels import Linear
    >>> sorted(ridge_evidence(Linear(), np.eye(2), np.ones((2, 1)), np.ones(1)))
    ['coef', 'dual', 'intercept', 'kernel', 'objective']
    """
    objectives = [Objective(Squared(), SquaredL2(), float(a), False, stated="sum") for a in alpha]
    return evidence_of(objectives, coef.T, 0.0) | {"dual": -2.0 * alpha * coef} | kernel.evidence(X)
