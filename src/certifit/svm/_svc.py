"""The soft-margin machine with a kernel: scikit-learn's SVC with a proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from certifit._sklearn import usual
from certifit._types import Array, Matrix
from certifit.kernels import Kernel
from certifit.solvers import Solution
from certifit.svm._classifier import KernelClassifier, solve_labels
from certifit.svm._folds import svc_answers
from certifit.svm._machine import without_bound


@dataclass(kw_only=True, eq=False, repr=False)
class SVC(KernelClassifier):
    r"""Soft-margin support vector classification, proved optimal to a stated gap.

    .. math:: \min_{w, b}\ \tfrac12 \lVert w\rVert^2 + \sum_i C_i \max(0,\ 1 - y_i(w^\top\varphi(x_i) + b))

    Parameters
    ----------
    C : float > 0, default=1.0
        Cost of a unit of hinge loss; inf allows none (`HardMarginSVC`, proved for the least C that does).
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="rbf"
    degree : int ≥ 1, default=3
        Of the polynomial kernel.
    gamma : {"scale", "auto"} or float ≥ 0, default="scale"
        "scale" is 1 / (columns · variance of X, weighted), "auto" 1 / columns.
    coef0 : float, default=0.0
        Offset inside the polynomial and sigmoid kernels.
    shrinking : bool, default=True
        Whether points that will probably stay at their bound are set aside between rounds.
    probability : bool, default=False
        Whether to calibrate probabilities (three more fits); they never contradict `predict`.
    tol : float > 0, default=1e-3
        Accuracy: the fit stops when the duality gap is at most tol/100 of the null model's loss. (libsvm's tol, a KKT
        violation, of 1e-3 leaves such gaps.) Where at most 2,000 support vectors are free, Newton steps on them then
        continue to rounding error.
    cache_size : float > 0, default=200
        Megabytes of kernel rows kept, for kernels that are slow to compute.
    class_weight : dict or "balanced", default=None
    max_iter : int ≥ −1, default=-1
        Limit on pair steps; −1 is none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
    break_ties : bool, default=False
        With "ovr" and more than two classes, break ties of votes by the decision function.
    verbose, random_state :
        Accepted for compatibility with scikit-learn; nothing is printed and nothing is random.
    trace : bool, default=False
        Whether to record every round in ``trace_``; every pair step for machines of at most 500 rows.
    time_budget : float > 0, default=None
        Seconds after which each machine stops and keeps the best so far, with its (larger) proved gap.

    Attributes
    ----------
    classes_, class_weight_, dual_coef_, support_, support_vectors_, n_support_, intercept_, coef_, fit_status_,
    n_iter_, shape_fit_, n_features_in_, feature_names_in_ :
        As in scikit-learn (``coef_`` with a linear kernel only; ``dual_coef_`` and ``coef_`` are sparse after a fit
        to sparse X).
    gap_ : float
        Duality gap at which the solver stopped, summed over pairs of classes.
    kernel_ : Kernel
        The kernel with its parameters.
    status_ : str
        Why it stopped: "converged", "precision", "max_iter" or "time_budget" (the worst of all machines).
    trace_ : Trace
        With ``trace=True``: ``machine`` and, of each pair step, ``i`` and ``j`` with their multipliers before and after
        (``alpha_i_before``, ``alpha_i``, ...) and whether one was ``clipped`` at a bound; ``pairs`` (steps so far) of
        each round on larger data.
    certificate_ : Certificate
        Kind "duality": value, bound, gap, the three KKT cases, largest violation, certain labels.

    Notes
    -----
    ``class_weight="balanced"`` counts rows by
    their sample weight. With a callable kernel or a feature map the certificate keeps the Gram matrix.

    Examples
    --------
    >>> X = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, -1.0], [2.0, 0.0]])
    >>> model = SVC(kernel="linear", tol=1e-6).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[3.0, 1.0]]).tolist(), model.coef_.round(4).tolist()
    (['b'], [[0.5, -0.5]])
    >>> model.certificate_.holds, model.certificate_.relative_gap < 1e-7
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = KernelClassifier._parameter_constraints | usual("C∈(0,∞]")

    C: float = 1.0

    def _solve(self, kernel: Kernel, X: Matrix, y: Array, cost: Callable[[float], Array]) -> tuple[Solution, float]:
        def solve(price: float) -> Solution:
            return solve_labels(self, kernel, X, y, cost(price))

        return without_bound(solve, cost) if np.isinf(self.C) else (solve(float(self.C)), float(self.C))

    _fold_path = svc_answers  # shared work for `certifit.model_selection`
