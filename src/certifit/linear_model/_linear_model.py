"""Any loss with any penalty: J = mean loss + λ penalty."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import ClassifierTags, Tags, check_random_state
from sklearn.utils.metaestimators import available_if

from certifit._certified import Certified
from certifit._dispatch import in_numpy
from certifit._linear_scores import linear_scores
from certifit._objective import Objective
from certifit._sklearn import ConvergenceWarning, StrOptions, read_weights, usual
from certifit._types import Array, Matrix, MatrixLike, RandomState, VectorLike, Weights
from certifit._validation import check_classification_targets, check_is_fitted, validate_data
from certifit.certificates import Certificate, Data, issue
from certifit.design import as_design
from certifit.exceptions import NoOptimumError
from certifit.geometry import separability
from certifit.linear_model._base import (
    name_coefficients,
    read_regression,
    surely,
)
from certifit.losses import Asymmetric, EvaluationLoss, Loss, Squared, ZeroOne, get_loss
from certifit.regularizers import NonNegative, Regularizer, SquaredL2, Zero, get_regularizer
from certifit.solvers import Options, Solution, Task
from certifit.solvers.choose import choose_solver, solver_names
from certifit.solvers.dual import duality_proof, evidence_of, local_bound_suits


def _loss(spec: Any) -> EvaluationLoss:
    """The loss of a name or an object; those that only evaluate are known too, to be refused with advice."""
    if isinstance(spec, EvaluationLoss):
        return spec
    for judge in (ZeroOne, Asymmetric):
        if spec == judge.name:
            return judge()
    return get_loss(spec)


@dataclass(eq=False, repr=False)
class LinearModel(Certified, RegressorMixin, BaseEstimator):
    r"""A linear model defined by its objective: :math:`J(w,b)=\frac1S\sum_i s_i L(w\cdot x_i+b,\,y_i) + \lambda R(w)`.

    S is the sum of the weights. The offset b is never penalised. Any loss with any penalty, in one class; `Ridge`,
    `Lasso` and others are special cases with scikit-learn's names.

    Parameters
    ----------
    loss : str or Loss, default="squared"
        "squared" or "absolute" for real targets; "logistic", "exponential", "hinge", "squared_hinge" or "perceptron"
        for two labels (then it is a classifier); or an object from `certifit.losses`.
    regularizer : str, Regularizer or None, default="l2"
        "l2", "l1", "elastic", "p_norm", "none", or an object from `certifit.regularizers`, such as
        ``NonNegative(L1())`` or ``SquaredL2(prior=...)``.
    lam : float ≥ 0, default=0.1
        λ; 0 means no penalty (a constraint w ≥ 0 stays).
    solver : str, default="auto"
        "closed_form", "coordinate", "newton", "interior_point", "proximal", "splitting", "gradient_descent" or "sgd".
        "auto" takes the first that supports the pairing; ``solver_`` says which. An unsupported pairing raises an
        error that names a solver that works.
    fit_intercept : bool, default=True
    tol : float > 0, default=1e-8
        Stop when the gap is at most tol times the objective of the null model.
    max_iter : int ≥ 1, default=None
        Limit of iterations; None is the solver's own.
    random_state : int, RandomState or None, default=None
        Order of rows in ``solver="sgd"``.
    eta : float > 0, default=None
        Step η of ``solver="gradient_descent"``; None is 1/L, or backtracking where the curvature has no bound
        (exponential loss). A step that is too large raises `DivergenceError`, which names a smaller one.
    start : array-like of shape (d + 1,), default=None
        Where ``solver="gradient_descent"`` begins: the coefficients, then the offset (without one d numbers); zero when
        None. With ``eta`` or ``start`` the offset is updated like a coefficient.
    trace : bool, default=False
        Record objective, gap and step of every iteration in ``trace_``; gradient descent also θ and the decrease
        predicted by the gradient.
    time_budget : float, default=None
        Seconds.

    Attributes
    ----------
    coef_ : (d,) array
    intercept_ : float
    solver_ : str
    n_iter_ : int
    status_ : str
        Why the solver stopped: "converged", "closed form", "precision", "max_iter" or "time_budget".
    certificate_ : Certificate
        The gap to the smallest possible training objective; where no bound is known (absolute loss without a
        penalty) it says so.

    Notes
    -----
    ``sample_weight`` is rejected by ``solver="sgd"``, which depends on the order of rows.

    Examples
    --------
    >>> X, y = np.arange(5.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 90.0])
    >>> model = LinearModel(loss="absolute", regularizer="l1", lam=0.01).fit(X, y)
    >>> round(float(model.coef_[0]), 6), model.solver_
    (1.0, 'interior_point')
    >>> model.certificate_.relative_gap < 1e-6
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [str, EvaluationLoss],
        "regularizer": [str, Regularizer, None],
        "solver": [StrOptions(set(solver_names()))],
        "start": ["array-like", None],
    } | usual("lam≥0 tol>0 max_iter≥1? eta>0? fit_intercept random_state trace time_budget")

    loss: Any = "squared"
    regularizer: Any = "l2"
    lam: float = 0.1
    solver: str = "auto"
    _: KW_ONLY
    fit_intercept: bool = True
    tol: float = 1e-8
    max_iter: int | None = None
    random_state: RandomState = None
    eta: float | None = None
    start: VectorLike | None = None
    trace: bool = False
    time_budget: float | None = None

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> LinearModel:
        """Fit to rows X (n, d), dense or sparse, and real targets y (n,), weighted by ``sample_weight``."""
        self._validate_params()
        loss, regularizer = self._parts()
        method = choose_solver(loss, regularizer, self.solver, sample_weight is not None)
        if method.name != "gradient_descent" and (self.eta is not None or self.start is not None):
            raise ValueError(f"eta and start belong to solver='gradient_descent', not to {method.name!r}.")
        if loss.targets == "sign":
            X, labels, y, weights = self._read_labels(X, y, sample_weight)
        else:
            X, y, weights = read_regression(self, X, y, sample_weight, multi=False)
            labels = y
        prior = getattr(getattr(regularizer, "base", regularizer), "prior", None)
        if prior is not None and len(prior) != X.shape[1]:
            raise ValueError(f"The prior has {len(prior)} numbers, X has {X.shape[1]} columns: give one for each.")
        total = float(len(y) if weights is None else weights.sum())
        objective = Objective(loss, regularizer, float(self.lam) * total, self.fit_intercept)
        if not objective.possible(np.asarray(y, dtype=float)):
            wrong = float(np.asarray(y)[~np.asarray(loss.possible(np.asarray(y, dtype=float)))][0])
            raise ValueError(
                f"Some value(s) of y are out of the valid range of the {loss.name} loss: {wrong:g} is one."
            )
        start = None if self.start is None else np.asarray(self.start, dtype=float)
        options = Options(self.tol, self.max_iter, self.time_budget, self.trace, self._seed(), self.eta, start)
        with np.errstate(over="ignore"):
            found = method.run(Task(objective, as_design(X), y, weights), options)
        w, b = found.value
        if not (np.all(np.isfinite(w)) and np.isfinite(b)):
            raise ValueError("Floating-point under-/overflow occurred in the fit: scale the columns of X first.")
        if isinstance(regularizer, Zero) and loss.targets == "sign" and loss.self_concordant:
            self._refuse_runaway(X, labels, weights, np.asarray(X @ w + b))
        name_coefficients(self, (np.atleast_2d(w), np.atleast_1d(b)), 1, X.dtype.type)
        self.solver_, self.status_ = method.name, found.status
        self.n_iter_ = int(np.max(found.stats.get("n_iter", 1)))
        self.trace_ = found.trace
        self._promise_certificates(
            partial(self._prove, X, labels, sample_weight, loss, regularizer, found.stats.get("dual")),
            X,
            labels,
            sample_weight,
        )
        # Without a penalty an optimum may be infinitely far away: where scores are large the certificate is asked.
        plain = isinstance(loss, Squared) or (loss.self_concordant and np.abs(X @ w + b).max(initial=0.0) < 30.0)
        self._warn_if_short(found, provable=plain or not isinstance(regularizer, Zero))
        return self

    def _refuse_runaway(self, X: Matrix, y: VectorLike, weights: Array | None, scores: Array) -> None:
        """Logistic and exponential loss without a penalty have a least value only where the classes overlap."""
        if np.abs(scores).max(initial=0.0) < 10.0:
            return
        used = slice(None) if weights is None else np.flatnonzero(weights > 0)
        answer = separability(X[used], np.asarray(y)[used], fit_intercept=self.fit_intercept)
        if answer.holds and answer.verdict == "separable":
            raise NoOptimumError(
                "No finite optimum: the classes are separable, so the loss keeps decreasing along w = "
                f"{np.array2string(np.asarray(answer.w), precision=3, threshold=6)}. Use a penalty (lam > 0)."
            )

    def _parts(self) -> tuple[Loss, Regularizer]:
        """Loss and penalty as objects; λ = 0 leaves only a constraint."""
        loss = _loss(self.loss)
        regularizer = get_regularizer(self.regularizer)
        if self.lam == 0:
            regularizer = NonNegative(Zero()) if isinstance(regularizer, NonNegative) else Zero()
        return loss, regularizer  # type: ignore[return-value]

    def _read_labels(self, X: Matrix, y: VectorLike, sample_weight: Weights) -> tuple[Any, Array, Array, Array | None]:
        """X, the labels as given, −1/+1 and weights; ``classes_`` is set."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        check_classification_targets(y)
        weights = read_weights(sample_weight, X)
        classes = np.unique(y if weights is None else y[weights > 0])
        if len(classes) != 2:
            raise ValueError(
                f"Only binary classification is supported by LinearModel with a loss for labels; the data hold "
                f"{len(classes)} class{'' if len(classes) == 1 else 'es'}. Use OneVsRest for more."
            )
        self.classes_ = classes
        return X, y, np.where(y == classes[1], 1.0, -1.0), weights

    @property
    def _classifies(self) -> bool:
        loss = _loss(self.loss)
        return isinstance(loss, Loss) and loss.targets == "sign"

    def _seed(self) -> int | None:
        given = self.random_state
        if given is None or isinstance(given, Integral):
            return None if given is None else int(given)
        return int(check_random_state(given).randint(2**31))

    def _warn_if_short(self, found: Solution, provable: bool) -> None:
        """Where the solver stopped early or a bound may be missing, the certificate has the word."""
        share = found.stats.get("relative_gap")
        enough = max(self.tol, 1e-9)
        near = found.converged or (share is not None and float(np.max(share)) <= enough)
        if near and provable:
            return
        figures = self.certificate_.figures
        gap = float(figures.get("relative_gap", np.inf))
        if not np.isfinite(gap) and near:
            said = (
                f"LinearModel(solver={self.solver_!r}) stopped ({found.status}), but no lower bound of the objective "
                "is proved, so the gap is infinite: a penalty (lam > 0) makes one provable."
            )
        elif near or gap <= enough:
            return
        elif not np.isfinite(gap):
            said = (
                f"LinearModel(solver={self.solver_!r}) stopped ({found.status}) where no lower bound of the objective "
                "is proved, so the gap is infinite: raise max_iter or time_budget, or take a penalty (lam > 0)."
            )
        else:
            said = (
                f"LinearModel(solver={self.solver_!r}) stopped ({found.status}) at a proved relative gap of {gap:.1e}, "
                f"above tol={self.tol:g}: raise max_iter or time_budget, or take solver='auto'."
            )
        warnings.warn(said, ConvergenceWarning, stacklevel=3)

    def _prove(
        self, X: Matrix, y: VectorLike, sample_weight: Weights, loss: Loss, regularizer: Regularizer, dual: Array | None
    ) -> tuple[Certificate, ...]:
        data = Data.of(X, y, sample_weight)
        # A bare constraint has no strength; any positive number states the same problem.
        strength = 1.0 if regularizer == NonNegative(Zero()) else float(self.lam) * float(np.sum(data.weights))
        plain = isinstance(loss, Squared) and regularizer in (Zero(), NonNegative(Zero()))
        objective = Objective(
            Squared() if plain else loss,
            regularizer,
            strength,
            bool(self.fit_intercept),
            tuple(self.classes_) if loss.targets == "sign" else None,
        )
        evidence = evidence_of(objective, self.coef_, self.intercept_)
        if plain:
            return (issue("least-squares", data, evidence),)
        near_by = isinstance(regularizer, (Zero, SquaredL2)) and local_bound_suits(objective, data.X)
        if loss.self_concordant and near_by:
            near = issue("local", data, evidence)
            if np.isfinite(near.figures.get("gap", np.inf)) or isinstance(regularizer, Zero):
                return (near,)
            # Far from the optimum self-concordance bounds nothing; weak duality always does.
        return (duality_proof(objective, data, evidence, None if dual is None else np.asarray(dual)[:, None]),)

    def predict(self, X: MatrixLike) -> Array:
        """Predicted values X w + b, or labels with a loss for labels."""
        scores = linear_scores(self, X)
        return self.classes_[(scores > 0).astype(int)] if self._classifies else scores

    @available_if(lambda self: self._classifies)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @in_numpy
    def decision_function(self, X: MatrixLike) -> Array:
        """Scores X w + b, positive for the second label (losses for labels only)."""
        return linear_scores(self, X)

    @available_if(lambda self: self._classifies)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @in_numpy
    def certain(self, X: MatrixLike) -> Array:
        """Which labels are provably those of the exact optimum (where the certificate bounds how far scores may move).

        Parameters
        ----------
        X : array-like of shape (m, d)
            Any rows.

        Returns
        -------
        (m,) array of bool
        """
        check_is_fitted(self)
        return surely(self, X)

    def score(self, X: MatrixLike, y: VectorLike, sample_weight: Weights = None) -> float:
        """R², or the accuracy with a loss for labels."""
        if self._classifies:
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        return float(super().score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self._classifies:
            tags.estimator_type, tags.regressor_tags = "classifier", None
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
