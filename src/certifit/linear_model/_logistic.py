"""Logistic regression."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, logit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import compute_class_weight

from certifit._certified import Certified, read_rows
from certifit._linear_scores import SparseCoefficients, dense, linear_scores
from certifit._objective import Objective, names_of
from certifit._sklearn import ConvergenceWarning, Hidden, Interval, StrOptions, read_weights, usual
from certifit._types import Array, ClassWeight, Grid, Matrix, MatrixLike, RandomState, Record, VectorLike, Weights
from certifit._validation import check_classification_targets, check_is_fitted, classes_and_codes
from certifit.certificates import Certificate, Data, issue, local
from certifit.design import Design, as_design
from certifit.exceptions import NoOptimumError
from certifit.inference import Summary, likelihood_summary
from certifit.linear_model._base import (
    CertainLabels,
    feature_names,
    region_of,
    sharpest_first,
)
from certifit.linear_model._folds import logistic_answers, nested_logistic_answers
from certifit.linear_model._logistic_words import SHORT, speak_of_penalty
from certifit.losses import Asymmetric, Logistic, Softmax
from certifit.regularizers import Regularizer, SquaredL2, Zero, mix_of_norms
from certifit.resampling import FoldAnswers, FoldTable
from certifit.solvers import Options, Solution, Task
from certifit.solvers.dual import dual_point, evidence_of, local_bound_suits
from certifit.solvers.smooth import solve_smooth

_FINEST = 1e-20  # gap, as a fraction of the null model, below which Newton's method has nothing left to find


@dataclass(eq=False, repr=False)
class LogisticRegression(SparseCoefficients, CertainLabels, Certified, ClassifierMixin, BaseEstimator):
    r"""Logistic regression, with softmax for more than two classes.

    Minimises :math:`\sum_i s_i\,\log(1 + e^{-y_i(w\cdot x_i + b)}) + \frac1C R(w)` with
    :math:`R(w) = \rho\lVert w\rVert_1 + \tfrac{1-\rho}2\lVert w - w_0\rVert^2`: mean loss plus λR with
    :math:`\lambda = 1/(C\sum_i s_i)`. Columns are scaled inside, so data need no scaling, and the fit ends when the gap
    is small, not after some number of iterations.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default="deprecated"
        As in scikit-learn, where ``C`` and ``l1_ratio`` replace it.
    C : float > 0, default=1.0
        Inverse strength of the penalty; ``np.inf`` for none (maximum likelihood).
    l1_ratio : float in [0, 1], default=0.0
        ρ.
    tol : float > 0, default=1e-4
        The fit stops when the gap is about tol²/10 of the null model's loss (1e-9 at the default): the gap
        is quadratic in the gradient, which is what scikit-learn's tol is about.
    fit_intercept : bool, default=True
        The offset is never penalised.
    class_weight : dict or "balanced", default=None
    solver : str, default="auto"
        "auto" or "newton"; scikit-learn's names are accepted and lead to the same optimum.
    max_iter : int ≥ 0, default=100
    warm_start : bool, default=False
    dual, intercept_scaling, random_state, verbose, n_jobs :
        Accepted for compatibility with scikit-learn; without effect.
    prior : (d,) or (K, d) array, default=None
        w₀ of the l2 penalty.
    threshold : float in (0, 1), default=0.5
        Two classes: predict the second where its probability exceeds this.
    costs : (false_positive, false_negative), default=None
        Two classes: choose the threshold that makes these costs smallest, fp/(fp + fn).
    trace : bool, default=False
    time_budget : float, default=None
        Seconds.

    Attributes
    ----------
    classes_ : (K,) array
    coef_ : (1, d) or (K, d) array
    intercept_ : (1,) or (K,) array
    n_iter_ : (1,) array
    status_ : str
        Why the solver stopped: "converged", "closed form", "precision", "max_iter" or "time_budget".
    threshold_ : float
    solver_ : str
    certificate_ : Certificate

    Raises
    ------
    NoOptimumError
        Without a penalty on classes that are separable or touch: the likelihood then keeps increasing. The
        message shows the direction; ``error.certificate`` is the proof.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "no", "yes", "yes"])
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict([[0.4], [2.2]]).tolist(), round(float(model.predict_proba([[2.2]])[0, 1]), 4)
    (['no', 'yes'], 0.6617)
    >>> model.certificate_.relative_gap < 1e-9, int(model.certain(X).sum())
    (True, 4)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [StrOptions({"l1", "l2", "elasticnet"}), None, Hidden(StrOptions({"deprecated"}))],
        "dual": ["boolean"],
        "intercept_scaling": "no_validation",
        "solver": [StrOptions({"auto", "newton", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "verbose": "no_validation",
        "n_jobs": "no_validation",
        "prior": ["array-like", None],
        "costs": ["array-like", None],
    } | usual(
        "C∈(0,∞] l1_ratio∈[0,1]? tol>0 threshold∈(0,1) fit_intercept class_weight random_state warm_start trace "
        "time_budget"
    )

    penalty: Any = "deprecated"
    _: KW_ONLY
    C: float = 1.0
    l1_ratio: float = 0.0
    dual: bool = False
    tol: float = 1e-4
    fit_intercept: bool = True
    intercept_scaling: float = 1
    class_weight: ClassWeight = None
    random_state: RandomState = None
    solver: str = "auto"
    max_iter: int = 100
    verbose: int = 0
    warm_start: bool = False
    n_jobs: int | None = None
    prior: Any = None
    threshold: float = 0.5
    costs: Any = None
    trace: bool = False
    time_budget: float | None = None

    def _penalty(self) -> tuple[float, float]:
        """(Λ, ρ) of the objective in sums."""
        ratio = {"l1": 1.0, "l2": 0.0, None: 0.0}.get(self.penalty, self.l1_ratio or 0.0)
        none = self.penalty is None or np.isinf(self.C)
        return (0.0, 0.0) if none else (1.0 / self.C, ratio)

    def _cut(self) -> float:
        return self.threshold if self.costs is None else Asymmetric(*self.costs).threshold

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> LogisticRegression:
        """Fit to rows X (n, d) with labels y (n,)."""
        return self._fit(X, y, sample_weight)

    def _fit(
        self, X: Matrix, y: VectorLike, sample_weight: Weights, start: tuple[Array, Array] | None = None
    ) -> LogisticRegression:
        """Fit, beginning at coefficients and offsets that a search has found, if any."""
        self._validate_params()
        speak_of_penalty(self)
        X, y = read_rows(self, X, y)
        check_classification_targets(y)
        given = read_weights(sample_weight, X)
        classes, code = classes_and_codes(y)
        if len(classes) < 2 or (given is not None and len(np.unique(y[given > 0])) < 2):
            raise ValueError(self._one_class(classes if given is None else np.unique(y[given > 0])))
        factors = np.ones(len(classes))
        if self.class_weight is not None:
            factors = compute_class_weight(self.class_weight, classes=classes, y=y, sample_weight=given)
        if np.any(factors < 0) or not np.all(np.isfinite(factors)):
            raise ValueError(f"class_weight must contain finite numbers ≥ 0, not {factors.min()}.")
        alike = bool(np.all(factors == 1.0))
        weights = np.ones(len(code)) if given is None else given
        weights = weights if alike else weights * factors[code]
        mass = np.bincount(code, None if alike and given is None else weights, len(classes))
        if np.sum(mass > 0) < 2:
            raise ValueError(self._one_class(classes[mass > 0]))
        if self.costs is not None and len(self.costs) != 2:
            raise ValueError(f"costs must be two numbers, (false_positive, false_negative), not {len(self.costs)}.")
        task = self._task(X, code, classes, weights)
        solution = self._solve(task, y, start)
        self.classes_ = classes
        W, b = solution.value
        dtype = np.float64 if self.solver == "liblinear" else X.dtype  # as scikit-learn's liblinear
        self.coef_, self.intercept_ = W.astype(dtype), b.astype(dtype)
        self.n_iter_ = np.array([solution.stats["n_iter"]], dtype=np.int32)
        self.solver_, self.status_ = solution.stats["method"], solution.status
        self.threshold_ = self._cut()
        self.trace_ = solution.trace
        weighed = None if alike else tuple(factors)
        objective = replace(task.objective, classes=names_of(classes), class_weight=weighed)
        witness = solution.stats.get("witness")
        self._promise_certificates(
            lambda: self._prove(Data.of(X, y, sample_weight), objective, witness), X, y, sample_weight
        )
        return self

    @staticmethod
    def _one_class(present: Array) -> str:
        return (
            "This solver needs samples of at least 2 classes in the data, but the data contains only one class"
            f" (with a weight above zero): {present.tolist()}."
        )

    def _task(self, X: Matrix, code: Array, classes: Array, weights: Array) -> Task:
        """The sum to be minimised: one score for two classes, else one for each."""
        strength, ratio = self._penalty()
        prior = self._read_prior(len(classes), X.shape[1], ratio)
        two = len(classes) == 2
        objective = Objective(
            Logistic() if two else Softmax(),
            self._regularizer(strength, ratio, prior),
            strength,
            self.fit_intercept,
            classes=None if two else names_of(classes),
        )
        return Task(objective, as_design(X), np.where(code == 1, 1.0, -1.0) if two else code, weights)

    def _solve(self, task: Task, y: Array, start: tuple[Array, Array] | None = None) -> Solution:
        shape = (task.outputs, task.design.shape[1])
        if self.warm_start and getattr(self, "coef_", np.empty(0)).shape == shape:
            start = dense(self.coef_).astype(float), self.intercept_.astype(float)
        options = Options(max(self.tol**2 / 10, _FINEST), self.max_iter, self.time_budget, self.trace)
        by_duality = task.outputs > 1 or not local_bound_suits(task.objective, task.design)
        if self.max_iter == 0 and start is None:
            solution = _no_step(task)
        else:
            solution = solve_smooth(task, options, start, ask_existence=True, witness=by_duality)
        if not _looks_finite(solution, task.design):
            used = np.flatnonzero(task.s > 0)
            self._refuse_separable(task.design.X[used], y[used])
        if not solution.converged and solution.stats["gap"] > solution.stats["target"]:
            left = solution.stats["relative_gap"]
            said = SHORT.get(self.solver, "").format(self.max_iter)
            warnings.warn(
                f"{said}Stopped by {solution.status}: the objective can still decrease by about {left:.1e} of the null "
                "model's loss; certificate_ has the proved gap.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return solution

    def _refuse_separable(self, X: Matrix, y: Array) -> None:
        """Maximum likelihood exists exactly when the classes overlap: say so, with the proof, when they do not."""
        from certifit.geometry import separability

        answer = separability(X, y, fit_intercept=self.fit_intercept)
        if not answer.holds:  # floats cannot prove "touching", and nothing is refused without a proof
            answer = separability(X, y, fit_intercept=self.fit_intercept, rigor="exact")
        if answer.verdict == "overlapping":
            return
        w = answer.w if answer.w is None or np.ndim(answer.w) == 1 else answer.w[-1]
        with np.printoptions(precision=3, threshold=6, suppress=True):
            shown = "" if w is None else f" along w = {np.asarray(w) / (np.abs(w).max(initial=0.0) or 1.0)}"
        error = NoOptimumError(
            f"No finite optimum: the classes are {answer.verdict}, so the likelihood keeps increasing{shown}. "
            "Use a penalty (C=1.0), or separability(X, y, rigor='exact') to see the proof."
        )
        error.certificate = answer.certificate  # type: ignore[attr-defined]
        raise error

    def _read_prior(self, classes: int, columns: int, ratio: float) -> Array | None:
        if self.prior is None:
            return None
        rows = 1 if classes == 2 else classes
        prior = np.asarray(self.prior, dtype=float)
        if prior.shape not in ((columns,), (rows, columns)) or not np.all(np.isfinite(prior)):
            raise ValueError(
                f"prior must contain {columns} finite numbers (or {rows} rows of them), not {prior.shape}."
            )
        if ratio > 0:
            raise ValueError("prior goes with the l2 penalty only: set l1_ratio=0.")
        return np.broadcast_to(prior, (rows, columns))

    def _regularizer(self, strength: float, ratio: float, prior: Array | None) -> Regularizer:
        if strength == 0:
            return Zero()
        return mix_of_norms(ratio, prior=prior)

    def _prove(self, data: Data, objective: Objective, witness: tuple[Array, Array] | None) -> Iterator[Certificate]:
        """By the fit's own slopes, or by those of a better point nearby, which prove more."""
        coef, intercept = dense(self.coef_), self.intercept_
        evidence = evidence_of(objective, coef, intercept)
        W, b = (coef.astype(float), intercept.astype(float)) if witness is None else witness

        def by_duality(digest: str | None = None) -> Certificate:
            return issue("duality", data, evidence | {"dual": dual_point(objective, data, W, b)}, digest=digest)

        smooth = isinstance(objective.regularizer, (SquaredL2, Zero))
        if len(self.classes_) > 2 or not smooth or not local_bound_suits(objective, data.X):
            yield by_duality()
            return
        near = issue("local", data, evidence)
        yield from sharpest_first(near, partial(by_duality, near.digests["data"]) if objective.strength > 0 else None)

    def decision_function(self, X: MatrixLike) -> Array:
        """Scores: (n,) for two classes (positive for the second), else (n, K)."""
        scores = linear_scores(self, X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: MatrixLike) -> Array:
        """The most probable class (two classes: the second where its probability exceeds the threshold)."""
        cut = getattr(self, "threshold_", None)  # coefficients may have been set by hand, as scikit-learn allows
        return _labels(self.decision_function(X), self.classes_, self._cut() if cut is None else cut)

    def predict_proba(self, X: MatrixLike) -> Array:
        """Probabilities of the classes, in the order of ``classes_``."""
        return class_probabilities(self.decision_function(X), self.classes_)

    def predict_log_proba(self, X: MatrixLike) -> Array:
        """Logarithms of the probabilities, accurate even where these are tiny."""
        scores = self.decision_function(X)
        if len(self.classes_) == 2:
            return -np.column_stack([np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)])
        top = scores - scores.max(axis=1, keepdims=True)
        return np.asarray(top - np.log(np.exp(top).sum(axis=1, keepdims=True)))

    _fold_path = logistic_answers  # shared work for `certifit.model_selection`

    def _nested_suits(self, folds: int, n: int, d: int) -> bool:
        """Whether so many folds, each with a table of its own of n rows and d columns, can be fitted at once."""
        from certifit.solvers.newton_folds import suits_tables

        return suits_tables(folds, n, d)

    def _nested_path(
        self, tables: Sequence[FoldTable], grid: Grid, widths: Sequence[int], response: tuple[str, ...]
    ) -> FoldAnswers:
        """The same after a step that is fitted fold by fold: points use so many of the first columns it makes."""
        return nested_logistic_answers(self, tables, grid, widths, response)

    def _answer(self, name: str, scores: Array, classes: Array) -> Array:
        """What a method says, from scores (rows,) for two classes, (rows, K) for more."""
        if name == "predict":
            return _labels(scores, classes, self._cut())
        return class_probabilities(scores, classes) if name == "predict_proba" else scores

    def _limit(self) -> float:
        return float(logit(self.threshold_)) if len(self.classes_) == 2 else 0.0

    def summary(self) -> Summary:
        """Coefficients with standard errors, z, p and intervals; for two classes and no penalty (C=np.inf)."""
        check_is_fitted(self)
        if len(self.classes_) > 2 or self._penalty()[0] > 0:
            raise ValueError("summary() is for two classes without a penalty: fit with C=np.inf.")
        certificate, area, d = self.certificate_, region_of(self), self.n_features_in_
        if not isinstance(area, local.Neighbourhood):
            raise ValueError("Standard errors are not available: it could not be proved that an optimum exists.")
        T = np.ldexp(area.T, -area.power[:, None])
        W = T[:d]
        spread = np.linalg.norm(W, axis=1)
        params, names = np.ravel(dense(self.coef_)).astype(float), feature_names(self)
        if self.fit_intercept:  # b = θ_b − c·w
            own = np.linalg.norm(T[d] - area.centre @ W)
            spread, names = np.append(own, spread), ("intercept", *names)
            params = np.append(float(self.intercept_[0]), params)
        return likelihood_summary(names, params, spread, certificate, self.fit_intercept)

    _tags: ClassVar[Record] = {"input_tags.sparse": True}


def _no_step(task: Task) -> Solution:
    """Zeros: where a fit begins, for those who ask for no iteration."""
    W, b = np.zeros((task.outputs, task.design.shape[1])), np.zeros(task.outputs)
    stats = {"n_iter": 0, "method": "none", "gap": np.inf, "target": 0.0, "relative_gap": 1.0, "exists": True}
    return Solution((W, b), "max_iter", stats)


def _looks_finite(solution: Solution, design: Design) -> bool:
    """Whether a fit can be trusted to be near an optimum that exists, without asking about separability."""
    if solution.stats["exists"] is not None:
        return bool(solution.stats["exists"])
    # Too many coordinates for the theorem. Where no optimum exists, Newton's steps run away until the largest score is
    # beyond what a float can tell from certainty.
    W, b = solution.value
    scores = design.product(W.T) + b
    return bool(solution.converged and np.abs(scores).max(initial=0.0) < 15.0)


def _labels(scores: Array, classes: Array, threshold: float) -> Array:
    """The most probable class; of two (scores without an axis for classes) the second if it exceeds the threshold."""
    if len(classes) == 2:
        return np.asarray(classes[(scores > logit(threshold)).astype(int)])
    return np.asarray(classes[scores.argmax(axis=-1)])


def class_probabilities(scores: Array, classes: Array) -> Array:
    """Probabilities of the classes along the last axis."""
    if len(classes) == 2:
        return np.stack([expit(-scores), expit(scores)], axis=-1)
    return np.asarray(softmax(scores, axis=-1))
