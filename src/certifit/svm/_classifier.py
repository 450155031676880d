"""What classifiers with a kernel have in common: a machine for every pair of classes, votes, probabilities, proofs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from certifit._certified import Certified
from certifit._dispatch import in_numpy
from certifit._sklearn import StrOptions, ovr_decision_function, usual
from certifit._trace import Trace
from certifit._types import Array, ClassWeight, Matrix, MatrixLike, RandomState, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates import Ball, dot
from certifit.certificates.gram import new_scores, radii
from certifit.certificates.region import Region
from certifit.kernels import Kernel, Precomputed
from certifit.kernels._choice import TOO_LARGE
from certifit.solvers import Solution
from certifit.solvers._box_dual import Box
from certifit.svm._calibration import fit_slope, folds_of, probabilities
from certifit.svm._evidence import hinge_objective, machine_evidence, read_diagonal
from certifit.svm._expansion import expansion, kernel_values, read_rows, stored_like
from certifit.svm._labels import Labelled, labelled, masked, pair_coefficients, pairs_of
from certifit.svm._linear import warn_if_limited
from certifit.svm._machine import CONSTRAINTS, KernelMachine, name_descent, rows_of, solve_box


def told(found: Solution, rows: Array) -> Trace:
    """The trace with pair steps told in rows of X."""
    return Trace(
        r._replace(**{k: int(rows[r[k]]) for k in ("i", "j") if r._asdict().get(k) is not None}) for r in found.trace
    )


def _has_probability(model: BaseEstimator) -> bool:
    if not model.probability:
        raise AttributeError(
            f"predict_proba needs {type(model).__name__}(probability=True): probabilities cost extra fits."
        )
    return True


def _costs(class_cost: Array, codes: Array, weights: Array, price: float) -> Array:
    return np.asarray((price * class_cost)[codes] * weights)


@dataclass(kw_only=True, eq=False, repr=False)
class _ClassifierParameters(KernelMachine):
    """The parameters that classifiers have besides."""

    probability: bool = False
    class_weight: ClassWeight = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    random_state: RandomState = None


class KernelClassifier(_ClassifierParameters, Certified, ClassifierMixin, BaseEstimator):
    """Machines for all pairs of classes; a leaf says how one of them is solved (`_solve`)."""

    _parameter_constraints: ClassVar[dict[str, Any]] = (
        CONSTRAINTS
        | {"decision_function_shape": [StrOptions({"ovr", "ovo"})]}
        | usual("probability class_weight random_state break_ties")
    )

    @abstractmethod
    def _solve(self, kernel: Kernel, X: Matrix, y: Array, cost: Callable[[float], Array]) -> tuple[Solution, float]:
        """The machine for rows X (or their Gram matrix) with labels −1/+1, and the price C of a unit of hinge loss.

        ``cost`` gives the cost of every row at a price.
        """

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: Weights = None) -> Self:
        """Fit to rows X, (n, n) kernel values with a precomputed kernel, and labels y.

        Weight k equals k copies of the row; rows of weight 0 or less are ignored.
        """
        self._validate_params()
        X, y = validate_data(self, self._given(X), y, dtype=np.float64, order="C", accept_sparse="csr")
        sample_weight = masked(sample_weight, X)
        lab = labelled(X, y, sample_weight, self.class_weight, 1.0, type(self).__name__)
        kernel, gamma = self._kernel_of(X, lab.weights)
        weights = np.ones(X.shape[0]) if lab.weights is None else lab.weights
        solved, objectives = [], []
        for first, second in pairs_of(len(lab.classes)):
            rows = np.flatnonzero(((lab.codes == first) | (lab.codes == second)) & (lab.cost > 0))
            codes, own = lab.codes[rows], weights[rows]
            signs = np.where(codes == first, 1.0, -1.0)
            cost = partial(_costs, lab.class_cost, codes, own)
            found, price = self._solve(kernel, rows_of(kernel, X, rows), signs, cost)
            if len(rows) < X.shape[0]:
                found = replace(found, stats=found.stats | {"trace": told(found, rows)})
            solved.append((rows, found))
            objectives.append(hinge_objective(lab.classes, price * lab.class_cost))
        self._name_results(X, kernel, gamma, lab, solved)
        self._slope = self._calibrate(X, y, lab) if self.probability else None
        warn_if_limited(self)
        one = all(o == objectives[0] for o in objectives)
        parts = kernel, X, objectives[0] if one else objectives, self.support_, self._columns, self.intercept_
        columns, share = self._columns, self._share_of([found for _, found in solved])
        self._promise_certificate("duality", lambda _: machine_evidence(*parts, columns) | share, X, y, sample_weight)
        return self

    def _share_of(self, solved: list[Solution]) -> dict[str, float]:
        """What the proof says of the multipliers' share, where a leaf fixes one for all machines."""
        return {}

    def _name_results(
        self, X: Matrix, kernel: Kernel, gamma: float, lab: Labelled, solved: list[tuple[Array, Solution]]
    ) -> None:
        pairs, k = pairs_of(len(lab.classes)), len(lab.classes)
        full = np.zeros((len(pairs), X.shape[0]))
        for p, (rows, found) in enumerate(solved):
            full[p, rows] = found.value.beta
        used = np.flatnonzero(np.any(full != 0, axis=0))
        support = used[np.argsort(lab.codes[used], kind="stable")]
        own = lab.codes[support]
        dual = np.zeros((max(1, k - 1), len(support)))
        if k == 2:
            dual[0] = full[0, support]
        else:
            for p, (i, j) in enumerate(pairs):
                dual[j - 1, own == i] = full[p, support[own == i]]
                dual[i, own == j] = full[p, support[own == j]]
        self.classes_, self.class_weight_ = lab.classes, lab.class_weight
        self.support_ = support.astype(np.int32)
        self.n_support_ = np.bincount(own, minlength=k).astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, Precomputed) else X[support]
        self.dual_coef_ = stored_like(X, dual)
        if not np.all(np.isfinite(dual)) or not all(np.isfinite(f.value.offset) for _, f in solved):
            raise ValueError(TOO_LARGE)
        self.intercept_ = np.array([f.value.offset for _, f in solved])
        name_descent(self, X, kernel, gamma, [f for _, f in solved])
        self._columns = pair_coefficients(dual, own, k)

    _slope: float | None = None

    def _calibrate(self, X: Matrix, y: Array, lab: Labelled) -> float:
        """Slope of the sigmoid from decisions on held-out rows."""
        given = isinstance(self.kernel_, Precomputed)
        fold = folds_of(X, lab.codes, lab.cost > 0)
        decision: Any = None
        for k in np.unique(fold[fold >= 0]):
            train, test = np.flatnonzero((fold != -1) & (fold != k)), np.flatnonzero(fold == k)
            model = clone(self).set_params(probability=False, trace=False)
            if self._objects is not None:
                model.set_params(kernel="precomputed")
            weights = None if lab.weights is None else lab.weights[train]
            model.fit(X[np.ix_(train, train)] if given else X[train], y[train], weights)
            part = model.decision_function(X[np.ix_(test, train)] if given else X[test])
            decision = np.zeros((len(y), *part.shape[1:])) if decision is None else decision
            decision[test] = part
        if decision is None:
            raise ValueError(
                "probability=True needs two different rows of some class, because calibration holds rows out."
            )
        tested = fold >= 0
        weights = None if lab.weights is None else lab.weights[tested]
        return fit_slope(decision[tested], lab.codes[tested], weights)

    def _scores(self, X: MatrixLike) -> Array:
        """Decisions of all pairs, one column each."""
        return expansion(self, read_rows(self, X), self._columns)

    def decision_function(self, X: MatrixLike) -> Array:
        """Score of each row: (n,), positive for ``classes_[1]``; else one column a class or, "ovo", a pair."""
        return self._answer("decision_function", self._scores(X), self.classes_)

    def _answer(self, name: str, scores: Array, classes: Array) -> Array:
        """What `predict` or `decision_function` says, from the decisions of all pairs."""
        if name == "predict":
            return np.asarray(classes[self._codes(scores, len(classes))])
        if len(classes) == 2:
            return scores[:, 0]
        if self.decision_function_shape == "ovo":
            return scores
        return np.asarray(ovr_decision_function(scores < 0, -scores, len(classes)))

    def _codes(self, scores: Array, k: int) -> Array:
        if k == 2:
            return (scores[:, 0] > 0).astype(int)
        if self.break_ties:
            return np.asarray(ovr_decision_function(scores < 0, -scores, k).argmax(axis=1))
        votes = np.zeros((len(scores), k))
        for p, (i, j) in enumerate(pairs_of(k)):
            votes[:, i] += scores[:, p] > 0
            votes[:, j] += scores[:, p] <= 0
        return np.asarray(votes.argmax(axis=1))

    def predict(self, X: MatrixLike) -> Array:
        """The label of each row (with more than two classes, the one with most votes of pairs)."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo': votes have ties.")
        return self._answer("predict", self._scores(X), self.classes_)

    @available_if(_has_probability)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @in_numpy
    def predict_proba(self, X: MatrixLike) -> Array:
        """Calibrated probabilities; the predicted class always has the largest."""
        check_is_fitted(self)
        if self._slope is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        scores = self._scores(X)
        k = len(self.classes_)
        decision = scores[:, 0] if k == 2 else ovr_decision_function(scores < 0, -scores, k)
        return probabilities(decision, self._slope, self._codes(scores, k))

    @available_if(_has_probability)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @in_numpy
    def predict_log_proba(self, X: Matrix) -> Array:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def certain(self, X: MatrixLike, diagonal: npt.ArrayLike | None = None) -> Array:
        """Which rows have provably the same label as under the exact optimum.

        Parameters
        ----------
        X : array or sparse matrix
        diagonal : array of n numbers, default=None
            k(x, x) of the rows; required with a precomputed kernel.

        Returns
        -------
        boolean array
            All False without proof, and with a precomputed kernel without ``diagonal``.
        """
        check_is_fitted(self)
        rows = kernel_values(self, X)
        X = validate_data(self, rows, dtype=np.float64, order="C", accept_sparse="csr", reset=False)
        region, given = self.certificate_.region, isinstance(self.kernel_, Precomputed)
        if not isinstance(region, Region) or (given and diagonal is None):
            return np.zeros(X.shape[0], dtype=bool)
        if given:
            scores, away = dot(X[:, self.support_], self._columns), np.sqrt(Ball(read_diagonal(diagonal, X)))
        else:
            scores = new_scores(self.kernel_, X, self.support_vectors_, self._columns)
            away = radii(self.kernel_, X, region.centre)
        return region.judge(scores, away.upper, scores.mid + self.intercept_)


def solve_labels(
    model: BaseEstimator, kernel: Kernel, X: Matrix, y: Array, cost: Array, start: Array | None = None
) -> Solution:
    """The machine for labels −1/+1 with given costs."""
    null = 2.0 * min(cost[y > 0].sum(), cost[y < 0].sum())
    return solve_box(model, kernel, X, Box.of_labels(y, cost), null, start)
