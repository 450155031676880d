"""The kernel perceptron."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from certifit._certified import Certified
from certifit._linear_scores import LargestScore
from certifit._sklearn import usual
from certifit._trace import joined
from certifit._types import Array, MatrixLike, RandomState, Record, VectorLike
from certifit._validation import check_is_fitted, validate_data
from certifit.design import Blocks, blocks
from certifit.kernels import Precomputed, choose
from certifit.solvers import Options, Solution
from certifit.solvers._status import worst
from certifit.solvers.kernel_perceptron import kernel_perceptron
from certifit.svm._labels import labelled, machine_labels
from certifit.svm._machine import KERNEL_CONSTRAINTS, KERNEL_TAGS


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptron(Certified, LargestScore, ClassifierMixin, BaseEstimator):
    r"""Perceptron in a kernel's feature space: it counts how often each row was misclassified.

    .. math:: f(x) = \sum_i c_i y_i\,(k(x_i, x) + 1), \qquad c_i \leftarrow c_i + 1 \text{ when } y_i f(x_i) \le 0

    The constant 1 is the offset, as an extra feature. More than two classes: one against the rest.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="rbf"
    degree : int ≥ 1, default=3
    gamma : {"scale", "auto"} or float ≥ 0, default="scale"
    coef0 : float, default=0.0
    max_iter : int ≥ 1, default=100
        Passes over the rows at most; a pass without mistakes ends the learning.
    fit_intercept : bool, default=True
    shuffle : bool, default=False
        A new order every pass.
    random_state : int, RandomState or None, default=None
    trace : bool, default=False
        Whether to record every mistake in ``trace_``.
    time_budget : float > 0, default=None
        Seconds after which learning stops.

    Attributes
    ----------
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_iter_, n_features_in_ :
        As in `SVC`; ``dual_coef_`` has one row per binary problem.
    mistakes_ : array
        How often each row was misclassified, one line per binary problem.
    status_ : str
        Why it stopped: "converged" (a pass without mistakes), "max_iter" or "time_budget".
    trace_ : Trace
        With ``trace=True``, a row per mistake: ``machine``, pass (``sweep``), ``row``, ``label`` ±1 and ``score``;
        ``objective`` is the mean loss of the pass.
    certificate_ : Certificate
        Kind "kernel-perceptron": ``value`` the mistakes made, ``bound`` (R/γ)².

    Notes
    -----
    No ``sample_weight``: the solution depends on the order of rows, so weight k is not k copies.

    Examples
    --------
    >>> X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    >>> model = KernelPerceptron(kernel="poly", degree=2).fit(X, [0, 1, 1, 0])
    >>> model.predict(X).tolist(), int(model.mistakes_.sum()) <= model.certificate_.bound
    ([0, 1, 1, 0], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL_CONSTRAINTS | usual(
        "max_iter fit_intercept shuffle random_state trace time_budget"
    )

    kernel: Any = "rbf"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    max_iter: int = 100
    fit_intercept: bool = True
    shuffle: bool = False
    random_state: RandomState = None
    trace: bool = False
    time_budget: float | None = None

    def fit(self, X: MatrixLike, y: VectorLike) -> KernelPerceptron:
        """Learn from rows X, (n, n) kernel values with a precomputed kernel, and labels y, starting at zero."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", accept_sparse="csr")
        lab = labelled(X, y, None, None, 1.0, "KernelPerceptron")
        kernel, self._gamma = choose(self.kernel, self.gamma, self.degree, self.coef0, X)
        gram, random = blocks(kernel, X), check_random_state(self.random_state)
        end = None if self.time_budget is None else time.perf_counter() + self.time_budget
        signs = machine_labels(lab.codes, len(lab.classes))
        solved = [self._learn(gram, s, random, end) for s in signs]
        mistakes = np.array([f.value for f in solved])
        used = np.flatnonzero(mistakes.any(axis=0))
        self.classes_, self.kernel_, self.mistakes_ = lab.classes, kernel, mistakes
        self.support_ = used.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, Precomputed) else X[used]
        full = mistakes * np.array(signs)
        self.dual_coef_ = full[:, used]
        self.intercept_ = full.sum(axis=1) * float(self.fit_intercept)
        self.n_iter_ = max(f.stats["n_iter"] for f in solved)
        self.status_ = worst(f.status for f in solved)
        self.trace_ = joined([f.trace for f in solved], "machine")
        evidence: dict[str, Any] = {
            "classes": [c.item() if isinstance(c, np.generic) else c for c in lab.classes],
            "mistakes": mistakes,
            "fit_intercept": bool(self.fit_intercept),
        }
        self._promise_certificate("kernel-perceptron", lambda _: evidence | kernel.evidence(X), X, y)
        return self

    def _learn(self, gram: Blocks, y: Array, random: np.random.RandomState, end: float | None) -> Solution:
        def order() -> Array:
            return random.permutation(len(y)) if self.shuffle else np.arange(len(y))

        left = None if end is None else end - time.perf_counter()  # all machines share the budget
        options = Options(max_iter=self.max_iter, time_budget=left, trace=self.trace)
        return kernel_perceptron(gram, y, order, options, offset=self.fit_intercept)

    def decision_function(self, X: MatrixLike) -> Array:
        """f(x): (n,), positive for ``classes_[1]``; for more than two classes (n, classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", accept_sparse="csr", reset=False)
        given = isinstance(self.kernel_, Precomputed)
        K = X[:, self.support_] if given else self.kernel_.gram(X, self.support_vectors_)
        scores = K @ self.dual_coef_.T + self.intercept_
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)

    _tags: ClassVar[Record] = KERNEL_TAGS
