"""Stochastic gradient descent under scikit-learn's names: its walk, and a proof of how far it got.

scikit-learn's own loop takes the steps, so that every option means what it means there and the same seed gives the same
coefficients. What is added is the certificate: the objective that the walk descends on is one of ours,

.. math:: \\frac1n\\sum_i s_i L(w\\cdot x_i + b, y_i) + \\alpha R(w),

and its least value is bounded from below by a dual point of our own solution, found when the certificate is first read.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn.linear_model
from sklearn.utils import check_array

from certifit._certified import Certified
from certifit._linear_scores import dense
from certifit._objective import Objective, names_of
from certifit._types import Array, Matrix, VectorLike, Weights
from certifit.certificates import Certificate, Data, issue
from certifit.design import as_design
from certifit.exceptions import PairingError
from certifit.linear_model._base import CertainLabels
from certifit.losses import Hinge, Logistic, Loss, PerceptronLoss, Squared, SquaredHinge
from certifit.regularizers import Regularizer, Zero, mix_of_norms
from certifit.solvers import Options, Task
from certifit.solvers.choose import choose_solver
from certifit.solvers.dual import best_first, dual_point, evidence_of, local_bound_suits

_LOSSES: dict[str, Loss] = {
    "hinge": Hinge(),
    "log_loss": Logistic(),
    "squared_hinge": SquaredHinge(),
    "perceptron": PerceptronLoss(),
    "squared_error": Squared(0.5),
}
_PARTIAL = "partial_fit keeps no data, so nothing can be proved: use certify(model, X, y) with the data in question."


class _ProvedWalk(Certified):
    """What the two estimators share: the objective and its proof."""

    loss: str
    penalty: Any
    alpha: float
    l1_ratio: float
    fit_intercept: bool
    coef_: Any
    intercept_: Array

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        state.pop("_loss_function_", None)  # compiled, and made anew by every walk
        return state

    def _promise_walk(self, X: Matrix, y: VectorLike, sample_weight: Weights) -> None:
        """Promise a proof, or say why there is none."""
        rows = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        loss, data = _LOSSES.get(self.loss), Data.of(rows, np.asarray(y).ravel(), weights)
        if loss is None:
            self._withhold_certificates(f"No bound is known for loss={self.loss!r}; {', '.join(_LOSSES)} have one.")
            return
        regularizer, strength = self._penalty_of(data.X.shape[0])
        classes, factors = self._classes_of()
        if factors is not None and len(factors) > 2:
            self._withhold_certificates(
                "With class_weight and more than two classes each class against the rest has weights of its own, for "
                "which no certificate is written: pass the weights as sample_weight."
            )
            return
        objective = Objective(loss, regularizer, strength, bool(self.fit_intercept), classes, factors)
        self._promise_certificates(partial(self._prove, data, objective), data.X, data.y, data.sample_weight)

    def _penalty_of(self, rows: int) -> tuple[Regularizer, float]:
        """R and Λ: the objective is a mean over rows, however they are weighted, so Λ = αn."""
        ratio = {"l2": 0.0, "l1": 1.0}.get(self.penalty, self.l1_ratio)
        if self.penalty is None or self.alpha == 0.0:
            return Zero(), 0.0
        return mix_of_norms(float(ratio)), float(self.alpha) * rows

    def _classes_of(self) -> tuple[Any, Any]:
        return None, None

    def _prove(self, data: Data, objective: Objective) -> tuple[Certificate, ...]:
        coef = np.atleast_2d(dense(self.coef_)).astype(float)
        evidence = evidence_of(objective, coef, np.ravel(self.intercept_))
        if isinstance(objective.loss, Squared) and objective.strength == 0.0:
            plain = evidence_of(Objective(Squared(), Zero(), 0.0, objective.fit_intercept), coef, self.intercept_)
            return (issue("least-squares", data, plain),)
        W, b, slopes = _best(objective, data, evidence["coef"], evidence["intercept"])
        smooth = isinstance(objective.loss, Logistic) and objective.regularizer.name in ("l2", "none")
        if len(coef) == 1 and smooth and local_bound_suits(objective, data.X):
            return (issue("local", data, evidence | {"witness_coef": W, "witness_intercept": b}),)
        duals = [
            dual_point(objective, data, evidence["coef"], evidence["intercept"]),
            dual_point(objective, data, W, b),
        ]
        if slopes is not None:
            duals.append(dual_point(objective, data, W, b, slopes=slopes))
        found = [issue("duality", data, evidence | {"dual": dual}) for dual in duals]
        return best_first(found)[:1]


def _best(objective: Objective, data: Data, W: Array, b: Array) -> tuple[Array, Array, Array | None]:
    """Our own solution of every machine, with its dual variables; the fit itself where no solver takes the pairing."""
    plain = Objective(objective.loss, objective.regularizer, objective.strength, objective.fit_intercept)
    targets = objective.encode(np.asarray(data.y), data.weights)
    try:
        method = choose_solver(objective.loss, objective.regularizer, "auto", weighted=True)
    except PairingError:
        return W, b, None
    design = as_design(data.X)
    runs = [method.run(Task(plain, design, t.y, t.weights), Options(1e-9)) for t in targets]
    W, b = np.array([np.ravel(r.value[0]) for r in runs]), np.array([float(np.ravel(r.value[1])[0]) for r in runs])
    duals = [np.ravel(r.stats.get("dual", ())) for r in runs]
    if any(len(d) != design.shape[0] for d in duals):
        return W, b, None
    return W, b, np.column_stack(duals)


class SGDClassifier(_ProvedWalk, CertainLabels, sklearn.linear_model.SGDClassifier):
    r"""Linear classifier by stochastic gradient descent, one class against the rest.

    .. math:: \frac1n\sum_i s_i L(w\cdot x_i + b, \pm1) + \alpha R(w), \qquad
              R(w) = \rho\lVert w\rVert_1 + \tfrac{1-\rho}2\lVert w\rVert^2

    It takes scikit-learn's steps. The certificate says how far above the smallest possible objective they end.

    Parameters
    ----------
    loss : str, default="hinge"
        "hinge", "log_loss", "squared_hinge" and "perceptron" are proved; "modified_huber" and the regression losses run
        without a certificate.
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
    alpha : float ≥ 0, default=1e-4
    l1_ratio : float in [0, 1], default=0.15
        ρ of the elastic net.
    fit_intercept : bool, default=True
        The offset is not penalised.
    max_iter, tol, shuffle, verbose, epsilon, n_jobs, random_state, learning_rate, eta0, power_t :
        As in scikit-learn.
    early_stopping, validation_fraction, n_iter_no_change, class_weight, warm_start, average :
        As in scikit-learn.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, t_ : as in scikit-learn
    certificate_ : Certificate
        The gap of this fit, on all rows given to ``fit`` (including those held out by ``early_stopping``). There is
        none after ``partial_fit``.

    Examples
    --------
    >>> X, y = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]]), np.array([1, 1, 2, 2])
    >>> model = SGDClassifier(alpha=0.01, random_state=0).fit(X, y)
    >>> model.predict([[-0.8, -1.0]]), model.certificate_.holds
    (array([1]), True)
    """

    def fit(
        self,
        X: Matrix,
        y: VectorLike,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
        sample_weight: Weights = None,
    ) -> SGDClassifier:
        """Fit to rows X (n, d) with labels y (n,), starting at ``coef_init`` and ``intercept_init`` (zero when None).

        Rows are weighted by ``sample_weight``.
        """
        super().fit(X, y, coef_init, intercept_init, sample_weight)
        self._promise_walk(X, y, sample_weight)
        return self

    def partial_fit(
        self, X: Matrix, y: VectorLike, classes: npt.ArrayLike | None = None, sample_weight: Weights = None
    ) -> SGDClassifier:
        """One pass over a batch, weighted by ``sample_weight``; ``classes`` are all labels, at the first call."""
        super().partial_fit(X, y, classes, sample_weight)
        self._withhold_certificates(_PARTIAL)
        return self

    def _classes_of(self) -> tuple[Any, Any]:
        factors = np.asarray(self._expanded_class_weight, dtype=float)
        return names_of(self.classes_), None if np.all(factors == 1.0) else tuple(factors)


class SGDRegressor(_ProvedWalk, sklearn.linear_model.SGDRegressor):
    r"""Linear regression by stochastic gradient descent.

    .. math:: \frac1n\sum_i s_i L(w\cdot x_i + b, y_i) + \alpha R(w), \qquad
              R(w) = \rho\lVert w\rVert_1 + \tfrac{1-\rho}2\lVert w\rVert^2

    It takes scikit-learn's steps. The certificate says how far above the smallest possible objective they end.

    Parameters
    ----------
    loss : str, default="squared_error"
        "squared_error" (half of it, as scikit-learn counts) is proved; "huber", "epsilon_insensitive" and
        "squared_epsilon_insensitive" run without a certificate.
    penalty, alpha, l1_ratio, fit_intercept, max_iter, tol, shuffle, verbose, epsilon, random_state :
        As in `SGDClassifier`.
    learning_rate, eta0, power_t, early_stopping, validation_fraction, n_iter_no_change, warm_start, average :
        As in `SGDClassifier`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, t_ : as in scikit-learn
    certificate_ : Certificate

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 5.0, 7.0])
    >>> model = SGDRegressor(random_state=0, tol=1e-9, max_iter=20_000).fit(X, y)
    >>> model.coef_.round(1), 0 < model.certificate_.relative_gap < 1e-2
    (array([2.]), True)
    """

    def fit(
        self,
        X: Matrix,
        y: VectorLike,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
        sample_weight: Weights = None,
    ) -> SGDRegressor:
        """Fit to rows X (n, d) with targets y (n,), starting at ``coef_init`` and ``intercept_init`` (zero when None).

        Rows are weighted by ``sample_weight``.
        """
        super().fit(X, y, coef_init, intercept_init, sample_weight)
        self._promise_walk(X, y, sample_weight)
        return self

    def partial_fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> SGDRegressor:
        """One pass over a batch, weighted by ``sample_weight``."""
        super().partial_fit(X, y, sample_weight)
        self._withhold_certificates(_PARTIAL)
        return self
