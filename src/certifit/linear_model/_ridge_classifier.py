"""Ridge regression on −1/+1 as a classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d, compute_class_weight, compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from certifit._certified import Certified, read_rows
from certifit._linear_scores import linear_scores
from certifit._objective import Objective, names_of
from certifit._sklearn import read_weights, usual
from certifit._types import Array, ClassWeight, Matrix, MatrixLike, RandomState, Record, VectorLike, Weights
from certifit._validation import check_classification_targets, check_is_fitted
from certifit.certificates import Data
from certifit.linear_model._base import CertainLabels
from certifit.linear_model._ridge import Ridge
from certifit.losses import Squared
from certifit.regularizers import NonNegative, SquaredL2
from certifit.solvers.dual import duality_proof, evidence_of


class SignVotes(CertainLabels, Certified, ClassifierMixin, BaseEstimator):
    """What classifiers by regression on −1/+1 share: reading labels, voting by scores, and the proof."""

    coef_: Array
    intercept_: Array
    classes_: Array
    class_weight: Any
    _several: bool  # whether a row may have several labels

    def _read_labels(
        self, X: Matrix, y: VectorLike, sample_weight: Weights
    ) -> tuple[Matrix, Array, Array, Array | None, Array]:
        """X, y, −1/+1 (n, machines), weights times class weights, and one factor a class (or a row)."""
        X, y = read_rows(self, X, y, multi_output=True)
        given = read_weights(sample_weight, X)
        self._several = type_of_target(y).startswith("multilabel")
        if self._several:
            self.classes_ = np.arange(y.shape[1])
            y = np.asarray(y)
            factors = compute_sample_weight(self.class_weight, y) if self.class_weight else np.ones(len(y))
            weights = given if self.class_weight is None else (1.0 if given is None else given) * factors
            return X, y, np.where(y == 1, 1.0, -1.0), weights, factors
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        factors = compute_class_weight(self.class_weight, classes=self.classes_, y=y, sample_weight=given)
        weights = given if np.all(factors == 1.0) else (1.0 if given is None else given) * factors[code]
        machines = range(len(self.classes_)) if len(self.classes_) > 2 else [1]
        return X, y, np.column_stack([np.where(code == k, 1.0, -1.0) for k in machines]), weights, factors

    def _name(self, model: BaseEstimator, X: Matrix, y: Array, sample_weight: Weights, factors: Array) -> None:
        """Coefficients in scikit-learn's shapes, and the proof: of the labels themselves where they are classes."""
        machines = 1 if np.ndim(model.coef_) == 1 else len(model.coef_)
        self.coef_ = np.ravel(model.coef_) if machines == 1 else model.coef_
        self.intercept_ = np.broadcast_to(np.asarray(model.intercept_, dtype=self.coef_.dtype), (machines,)).copy()
        alpha = float(np.max(model.alpha))
        if self._several or len(self.classes_) < 2 or alpha == 0.0:
            self._take_certificates(model)  # they speak of the targets −1/+1
            return
        squared = SquaredL2()
        objective = Objective(
            Squared(), NonNegative(squared) if model.positive else squared, alpha, bool(model.fit_intercept),
            names_of(self.classes_), None if np.all(factors == 1.0) else tuple(factors),
        )  # fmt: skip
        evidence, data = evidence_of(objective, self.coef_, self.intercept_), (X, y, sample_weight)
        self._promise_certificates(lambda: (duality_proof(objective, Data.of(*data), evidence),), *data)

    def decision_function(self, X: MatrixLike) -> Array:
        """Scores: (n,) for two classes (positive for the second), else (n, K)."""
        return linear_scores(self, X)

    def predict(self, X: MatrixLike) -> Array:
        """The class with the largest score; with several labels per row, all with a positive score."""
        check_is_fitted(self)
        return votes(self.decision_function(X), self.classes_, self._several)

    _tags: ClassVar[Record] = {"input_tags.sparse": True, "classifier_tags.multi_label": True}


def votes(scores: Array, classes: Array, several: bool = False) -> Array:
    """Labels from scores (n,), (n, K), or (n, labels) with several labels a row."""
    if several:
        return (scores.reshape(len(scores), -1) > 0).astype(int)
    which = (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
    return np.asarray(classes[which])


@dataclass(eq=False, repr=False)
class RidgeClassifier(SignVotes):
    r"""Ridge regression on labels coded −1/+1, with one score per class for more than two classes.

    .. math:: \sum_i s_i\,(t_i - w\cdot x_i - b)^2 + \alpha\lVert w\rVert^2, \qquad t_i = \pm1

    Parameters
    ----------
    alpha : float ≥ 0, default=1.0
    fit_intercept : bool, default=True
        The offset is not penalised.
    copy_X, random_state :
        Accepted for compatibility with scikit-learn; X is never changed and nothing is random.
    max_iter, tol, solver, positive :
        As in `Ridge`; every solver name leads to the same optimum.
    class_weight : dict or "balanced", default=None

    Attributes
    ----------
    classes_ : (K,) array
    coef_ : (d,) or (K, d) array
    intercept_ : (1,) or (K,) array
    n_iter_ : array
    solver_ : str
    certificate_ : Certificate
        The gap to the smallest possible training objective, by weak duality. With several labels per row, it is about
        the labels coded as −1/+1.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "no", "yes", "yes"])
    >>> model = RidgeClassifier().fit(X, y)
    >>> model.predict([[0.4], [2.2]]).tolist(), model.certificate_.relative_gap < 1e-12
    (['no', 'yes'], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = Ridge._parameter_constraints | usual(
        "alpha≥0 max_iter≥1? class_weight"
    )
    for _name_of_ridge in ("prior", "trace", "time_budget"):
        _parameter_constraints.pop(_name_of_ridge)
    del _name_of_ridge

    alpha: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: bool = True
    max_iter: int | None = None
    tol: float = 1e-4
    class_weight: ClassWeight = None
    solver: str = "auto"
    positive: bool = False
    random_state: RandomState = None

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> RidgeClassifier:
        """Fit to rows X (n, d) with labels y (n,), or 0/1 in (n, labels), weighted by ``sample_weight``."""
        self._validate_params()
        X, y, targets, weights, factors = self._read_labels(X, y, sample_weight)
        model = Ridge(
            self.alpha, fit_intercept=self.fit_intercept, max_iter=self.max_iter, tol=self.tol, solver=self.solver,
            positive=self.positive,
        ).fit(X, targets, weights)  # fmt: skip
        self.n_iter_, self.solver_ = model.n_iter_, model.solver_
        self._name(model, X, y, sample_weight, factors)
        return self
