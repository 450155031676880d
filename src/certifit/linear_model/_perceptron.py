"""The perceptron as an estimator, and what its voted and averaged relatives share with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state, compute_class_weight

from certifit._certified import Certified, read_rows
from certifit._linear_scores import LinearScores
from certifit._sklearn import StrOptions, usual
from certifit._trace import joined
from certifit._types import Array, ClassWeight, Matrix, MatrixLike, Named, RandomState, Record, VectorLike
from certifit._validation import check_classification_targets, classes_and_codes
from certifit.certificates import Certificate, Data, issue
from certifit.certificates.separation import padded
from certifit.geometry import separability
from certifit.parallel import one_thread
from certifit.solvers._status import worst
from certifit.solvers.perceptron import Learned, OnPass, PassPlan, run_perceptron
from certifit.solvers.separation import evidence as as_evidence
from certifit.solvers.separation import search, widest

_LARGEST_SEED = np.iinfo(np.int32).max
_FEW = 8  # per column: the rows among which an overlap of classes is looked for first
_ROWS = 1000  # beside forty per column: the rows that come next


class ClassAgainstRest(NamedTuple):
    """One class against the others: signs, steps, start and seed."""

    signs: Array
    plan: PassPlan
    w: Array
    b: float
    class_weights: Array


class PerceptronBase(Certified, LinearScores, ClassifierMixin, BaseEstimator):
    """Validation, one-vs-all and certificates of everything that learns from perceptron mistakes."""

    _parameter_constraints: ClassVar[dict[str, Any]] = usual(
        "tol≥0? eta0>0 n_iter_no_change≥1 fit_intercept max_iter shuffle random_state trace time_budget"
    )
    fit_intercept: bool
    eta0: float
    max_iter: int
    trace: bool

    def _read(self, X: MatrixLike, y: VectorLike, reset: bool = True) -> tuple[Any, Array]:
        X, y = read_rows(self, X, y, order="C", reset=reset)
        check_classification_targets(y)
        return X, y

    def _encode(self, y: Array) -> tuple[Array, Array]:
        classes, index = classes_and_codes(y)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two or more classes; y holds only 1 class: {classes.tolist()[0]!r}."
            )
        return classes, index

    def _seeds(self, count: int) -> list[int]:
        """Seeds of the shuffles; drawn as scikit-learn draws them, so that rows come in the same order."""
        rng = check_random_state(self.random_state)
        if count == 1:
            rng.randint(1, _LARGEST_SEED)
            return [int(rng.randint(_LARGEST_SEED))]
        out = []
        for seed in rng.randint(_LARGEST_SEED, size=count):
            inner = np.random.RandomState(seed)
            inner.randint(1, _LARGEST_SEED)
            out.append(int(inner.randint(_LARGEST_SEED)))
        return out

    def _plan(self, seed: int, weights: Array, **changes: Any) -> PassPlan:
        p = self.get_params(deep=False)
        alpha = p.get("alpha", 0.0) if p.get("penalty") == "l2" else 0.0
        chosen = {
            "fit_intercept": p["fit_intercept"],
            "max_iter": p["max_iter"],
            "tol": p["tol"],
            "n_iter_no_change": p["n_iter_no_change"],
            "shuffle": p["shuffle"],
            "seed": seed,
            "up": p["eta0"] * weights[1],
            "down": p["eta0"] * weights[0],
            "eta0": p["eta0"],
            "alpha": alpha,
            "time_budget": p["time_budget"],
        }
        return PassPlan(**{**chosen, **changes})

    def _problems(
        self, index: Array, start: tuple[Array, Array], weights: Array, **changes: Any
    ) -> list[ClassAgainstRest]:
        """One problem for two classes, else one per class."""
        k = len(self.classes_)
        targets = [1] if k == 2 else range(k)
        seeds = self._seeds(len(targets))
        out = []
        for at, (c, seed) in enumerate(zip(targets, seeds)):
            pair = weights[[0, 1]] if k == 2 else np.array([1.0, weights[c]])
            signs = np.where(index == c, 1.0, -1.0)
            out.append(ClassAgainstRest(signs, self._plan(seed, pair, **changes), start[0][at], start[1][at], pair))
        return out

    def _learn(
        self,
        X: Matrix,
        y: Array,
        problems: list[ClassAgainstRest],
        listeners: Sequence[OnPass | None] | None = None,
    ) -> list[Learned]:
        """Run every problem, name what all perceptrons have in common, promise the certificate."""
        found = [
            run_perceptron(X, p.signs, p.w, p.b, p.plan, on_pass, self.trace)
            for p, on_pass in zip(problems, listeners or [None] * len(problems))
        ]
        runs = [f.value for f in found]
        self.n_iter_ = max(f.stats["n_iter"] for f in found)
        self.mistakes_ = sum(r.mistakes for r in runs)
        self.cycle_ = max(r.period for r in runs)
        self.status_ = worst(f.status for f in found)
        names = [self.classes_[1]] if len(problems) == 1 else self.classes_
        self.trace_ = joined([f.trace for f in found], "target", names)
        self._promise_certificates(lambda: certificates(X, y, self.classes_, problems, runs), X, y)
        return runs


def certificates(
    X: Matrix, y: Array, classes: Array, problems: list[ClassAgainstRest], runs: list[Learned]
) -> tuple[Certificate, ...]:
    """The mistake bound of a run, or the proof that it never ends; with a penalty, the verdict on the data."""
    plan = problems[0].plan
    dense = X.toarray() if scipy.sparse.issparse(X) else X
    if plan.alpha > 0.0:
        return (separability(dense, y, fit_intercept=plan.fit_intercept).certificate,)
    evidence: dict[str, Any] = {
        "fit_intercept": plan.fit_intercept,
        "eta0": float(plan.eta0),
        "classes": classes.tolist(),
    }
    for c, (problem, run) in enumerate(zip(problems, runs)):
        rows = np.flatnonzero(run.times)
        evidence[f"mistaken_{c}"], evidence[f"times_{c}"] = rows, run.times[rows]
        evidence[f"class_weights_{c}"] = problem.class_weights
        ends = [(problem.w, problem.b), (run.w, run.b)]
        for key, (w, b) in zip(("start", "coef"), ends):
            evidence[f"{key}_{c}"] = np.append(w, b) if plan.fit_intercept else np.array(w)
    data = Data.of(X, y)
    digest = data.digest()
    # Most often the first guess is right, which this proof shows as well as one of separability would.
    found = issue("perceptron", data, evidence | _witnesses(dense, problems, _guess), digest=digest)
    if not found.holds:
        found = issue("perceptron", data, evidence | _witnesses(dense, problems, _decided), digest=digest)
    return (found,)


Find: TypeAlias = Callable[[Array, Array, bool], Named]


def _witnesses(X: Array, problems: list[ClassAgainstRest], find: Find) -> Record:
    """For every problem a separator of large margin in the padded space, or a mixture that vanishes."""
    evidence: Record = {}
    for c, problem in enumerate(problems):
        y = (problem.signs > 0).astype(int)
        kept = {**find(X, y, problem.plan.fit_intercept)}
        kept.pop("fit_intercept", None)
        if kept.get("verdict") == "separable" and isinstance(kept["weights"], np.ndarray):
            whole = padded(X, problem.plan.fit_intercept) * problem.class_weights[y][:, None]
            kept["weights"] = widest(whole, y, kept["weights"])
        evidence |= {f"{k}_{c}": v for k, v in kept.items() if v is not None}
    return evidence


def _guess(X: Array, y: Array, offset: bool) -> Named:
    """What the search in floats finds, or nothing. Rows that overlap among themselves do so among all: a few may do."""
    with one_thread(), np.errstate(all="ignore"), suppress(np.linalg.LinAlgError, ValueError, FloatingPointError):
        for many in (_FEW * (X.shape[1] + 1), _ROWS + 40 * X.shape[1]):
            few = np.arange(0, len(X), max(1, len(X) // many))
            if len(few) <= len(X) // 4 and len(np.unique(y[few])) == 2:
                found = search(X[few], y[few], 2, offset)
                if found.verdict == "overlapping" and found.rows is not None:
                    return as_evidence(replace(found, rows=few[found.rows]), offset)
        return as_evidence(search(X, y, 2, offset), offset)
    return {}


def _decided(X: Array, y: Array, offset: bool) -> Named:
    """What is proved about separability; a batch of partial_fit may hold one class only."""
    if len(np.unique(y)) < 2:
        return as_evidence(search(X, y, 2, offset), offset)
    return separability(X, y, fit_intercept=offset).certificate.evidence


@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(PerceptronBase):
    """Perceptron: whenever s(w·x + b) ≤ 0, move w by η s x and b by η s.

    On separable rows it stops after at most (R/γ)² mistakes, R = max‖x̃‖ and γ the margin of any separator in the
    padded space x̃ = (x, 1); ``certificate_`` states that bound beside the mistakes made, or proves that the rows
    cannot be separated and it will never stop. More than two classes: one against all others, as in scikit-learn.

    Parameters
    ----------
    penalty : {"l2"} or None, default=None
        ``"l2"`` shrinks the weights by 1 − η·alpha at every row. The mistake bound holds only without a penalty; with
        one, the certificate is that of `certifit.separability`.
    alpha : float ≥ 0, default=1e-4
        Size of the penalty, when there is one.
    fit_intercept : bool, default=True
        Whether to learn the offset b; otherwise the hyperplane passes through the origin.
    max_iter : int ≥ 1, default=1000
        Largest number of passes over the rows. A pass without mistakes ends the fit.
    tol : float ≥ 0 or None, default=1e-3
        Stop when the mean loss of a pass has not decreased by ``tol`` in ``n_iter_no_change`` passes; None: no such
        rule.
    shuffle : bool, default=True
        Permute the rows before each pass (the same permutations as scikit-learn's); in order otherwise.
    eta0 : float > 0, default=1.0
        The step η.
    n_jobs, verbose, l1_ratio :
        Accepted for compatibility with scikit-learn and ignored.
    random_state : int, RandomState or None, default=0
        Seed of the permutations.
    early_stopping : bool, default=False
        Hold out a stratified fraction of the rows and stop when their accuracy does not improve by ``tol``.
    validation_fraction : float in (0, 1), default=0.1
        The fraction held out.
    n_iter_no_change : int ≥ 1, default=5
        Number of passes without improvement after which to stop.
    class_weight : dict, "balanced" or None, default=None
        Steps are multiplied by the weight of the row's class.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    trace : bool, default=False
        Keep every mistake, with its row and the weights before and after, in ``trace_``.
    time_budget : float > 0 or None, default=None
        Seconds after which no further pass is begun.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, t_, n_features_in_
        As in scikit-learn.
    mistakes_ : int
        Mistakes made in the last `fit` or `partial_fit`.
    cycle_ : int
        Number of passes after which the weights repeated (only without shuffling); 0 if they did not.
    status_ : str
        Why it stopped: "converged" (a pass without mistakes), "no improvement", "max_iter", "time_budget" or "cycle".
    certificate_ : Certificate
        ``value`` is the number of mistakes, ``bound`` an upper bound (infinite if not separable).
    trace_ : Trace
        With ``trace=True``, a row per mistake: pass (``sweep``), ``row``, ``label`` ±1, ``score``, weights ``before``
        and ``after``, ``intercept_before``, ``intercept_after``, ``target``; ``objective`` is the mean loss of a pass.

    Notes
    -----
    Not in certifit: penalties "l1" and "elasticnet", and ``sample_weight`` in `fit` (the solution depends on the
    order of the rows, so weights are not repetitions). On sparse rows scikit-learn learns the offset a hundred times
    more slowly; here dense and sparse rows give the same weights.

    References
    ----------
    Rosenblatt (1958), The perceptron. Novikoff (1962), On convergence proofs on perceptrons.

    Examples
    --------
    >>> from certifit.linear_model import Perceptron
    >>> X, y = [[1.0, 2.0], [2.0, -1.0], [-1.0, -1.0]], [1, 0, 0]
    >>> model = Perceptron(shuffle=False).fit(X, y)
    >>> print(model.certificate_.claim)
    The updates of 2 mistakes lead from the initial to the final weights; whatever the order of the rows, no more than
    3.33333 are possible.
    >>> model.coef_, model.certificate_.value
    (array([[-1.,  3.]]), 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PerceptronBase._parameter_constraints,
        "penalty": [StrOptions({"l2"}), None],
    } | usual("alpha≥0 l1_ratio n_jobs verbose class_weight warm_start early_stopping validation_fraction∈(0,1)")

    penalty: str | None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    shuffle: bool = True
    verbose: int = 0
    eta0: float = 1.0
    n_jobs: int | None = None
    random_state: RandomState = 0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: ClassWeight = None
    warm_start: bool = False
    trace: bool = False
    time_budget: float | None = None

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
    ) -> Perceptron:
        """Pass over the rows until none is misclassified, nothing improves or ``max_iter`` is reached.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        coef_init : array-like of shape (1, d) or (K, d), default=None
            Weights to start from; zero when None.
        intercept_init : array-like of shape (1,) or (K,), default=None
            Offsets to start from; zero when None.

        Returns
        -------
        Perceptron
        """
        self._validate_params()
        X, y = self._read(X, y)
        classes, index = self._encode(y)
        last = (self.coef_, self.intercept_) if self.warm_start and hasattr(self, "coef_") else (None, None)
        coef_init = last[0] if coef_init is None else coef_init
        intercept_init = last[1] if intercept_init is None else intercept_init
        start = start_of(len(classes), X.shape[1], coef_init, intercept_init)
        weights = np.ones(len(classes))
        if self.class_weight is not None:
            weights = compute_class_weight(self.class_weight, classes=classes, y=y)
        changes = {"validation": self._keep_aside(index)} if self.early_stopping else {}
        self.classes_ = classes
        self.t_ = 1.0
        return self._name(X, y, self._problems(index, start, weights, **changes))

    def partial_fit(self, X: MatrixLike, y: VectorLike, classes: npt.ArrayLike | None = None) -> Perceptron:
        """One pass over the given rows, from the current weights; the first call needs all ``classes``."""
        self._validate_params()
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once: give partial_fit the weights as a dict instead."
            )
        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y = self._read(X, y, reset=first)
        known = np.unique(np.asarray(classes)) if first else self.classes_
        if len(known) < 2:
            raise ValueError("The number of classes has to be greater than one; got 1 class")
        if classes is not None and not np.array_equal(known, np.unique(np.asarray(classes))):
            raise ValueError(f"classes={classes!r} is not the same as on last call to partial_fit: {known!r}.")
        strange = np.setdiff1d(y, known)
        if len(strange):
            raise ValueError(f"y holds the label {strange[0]!r}, which is not among the classes {known!r}.")
        start = start_of(len(known), X.shape[1], getattr(self, "coef_", None), getattr(self, "intercept_", None))
        weights = compute_class_weight(self.class_weight, classes=known, y=known)
        self.classes_ = known
        self.t_ = getattr(self, "t_", 1.0)
        return self._name(X, y, self._problems(np.searchsorted(known, y), start, weights, max_iter=1))

    def _name(self, X: Matrix, y: Array, problems: list[ClassAgainstRest]) -> Perceptron:
        runs = self._learn(X, y, problems)
        self.coef_ = np.array([r.w for r in runs])
        self.intercept_ = np.array([r.b for r in runs])
        self.t_ += float(self.n_iter_ * X.shape[0])
        return self

    def _keep_aside(self, index: Array) -> Array:
        """Mask of the rows kept aside for early stopping, stratified by class."""
        split = StratifiedShuffleSplit(test_size=self.validation_fraction, random_state=self.random_state)
        mask = np.zeros(len(index), dtype=bool)
        mask[next(split.split(np.zeros((len(index), 1)), index))[1]] = True
        return mask


def start_of(n_classes: int, d: int, coef: Any, intercept: Any) -> tuple[Array, Array]:
    """Weights and offsets to begin with, checked."""
    rows = 1 if n_classes == 2 else n_classes
    w = np.zeros((rows, d)) if coef is None else np.array(coef, dtype=float).reshape(-1)
    b = np.zeros(rows) if intercept is None else np.array(intercept, dtype=float).reshape(-1)
    if w.size != rows * d or b.size != rows:
        raise ValueError(f"coef_init must contain {rows} × {d} numbers and intercept_init {rows}.")
    if not (np.all(np.isfinite(w)) and np.all(np.isfinite(b))):
        raise ValueError("coef_init and intercept_init must be finite numbers.")
    return w.reshape(rows, d), b
