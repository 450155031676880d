"""Logistic regression whose strength (and mixture of penalties) is chosen by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils import compute_class_weight
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping

from certifit._certified import read_rows
from certifit._sklearn import (
    Hidden,
    Interval,
    StrOptions,
    check_method_params,
    read_weights,
    routed,
    routing_enabled,
    usual,
    with_labels,
)
from certifit._types import CV, Array, ClassWeight, Grid, Matrix, MatrixLike, RandomState, Record, VectorLike, Weights
from certifit._validation import check_classification_targets
from certifit.linear_model._logistic import LogisticRegression
from certifit.resampling import FoldAnswers, FoldTable, require
from certifit.solvers.logistic_folds import logistic_folds

_FAR = 50.0  # below a score by this much, a probability is zero to rounding
_FINEST = 1e-7  # of tol: its square over ten is the gap, which cannot be made smaller
_AS_IN_ONE_FIT = "fit_intercept dual tol max_iter class_weight n_jobs verbose intercept_scaling random_state solver"


class LogisticRegressionCV(LogisticRegression):
    r"""Logistic regression whose C (and l1_ratio) has the best cross-validated score.

    .. math:: \sum_i s_i\,\log(1 + e^{-y_i(w\cdot x_i + b)})
              + \frac1C\Big(\rho\lVert w\rVert_1 + \tfrac{1-\rho}2\lVert w\rVert^2\Big)

    with softmax for more than two classes. Folds and strengths are fitted together where they can share work, each to
    its own small gap; the best C and ρ are then fitted to all rows.

    Parameters
    ----------
    Cs : int ≥ 1 or array > 0, default=10
        How many values of C between 1e-4 and 1e4, or the values.
    l1_ratios : array in [0, 1] or None, default="warn"
        Mixtures ρ to choose from; None is (0,).
    fit_intercept : bool, default=True
    cv : int, splitter or iterable, default=None
        Folds, stratified; five when None.
    penalty : {"l2", "l1", "elasticnet"}, default="deprecated"
        As in scikit-learn, where ``l1_ratios`` replaces it.
    scoring : str, callable or None, default="warn"
        None is the accuracy.
    tol, max_iter : as in `LogisticRegression`
    class_weight : dict or "balanced", default=None
        "balanced" by the classes of all rows.
    refit : bool, default=True
        Fit the best C and ρ to all rows. Otherwise the coefficients are averages over the folds of each fold's best:
        they minimise nothing, so there is no certificate.
    use_legacy_attributes : bool, default="warn"
        Whether ``C_``, ``l1_ratio_``, ``scores_``, ``coefs_paths_`` and ``n_iter_`` have the forms before
        scikit-learn 1.10.
    dual, solver, n_jobs, verbose, intercept_scaling, random_state :
        Accepted for compatibility with scikit-learn; every solver leads to the same optimum.

    Attributes
    ----------
    classes_, coef_, intercept_ : as in `LogisticRegression`
    Cs_, l1_ratios_ : arrays
        What was tried.
    C_, l1_ratio_ : float
        What was chosen (legacy: arrays that repeat it for each class).
    scores_ : (folds, ratios, Cs) array
        Legacy: a dict of (folds, Cs) or (folds, Cs, ratios) arrays, the same for each class.
    coefs_paths_ : (folds, ratios, Cs, 1 or K, d + 1) array
        Coefficients and, last, the offset (absent without ``fit_intercept``). Legacy: a dict by class.
    n_iter_ : (folds, ratios, Cs) array
        Ones: the folds are fitted together.
    certificate_ : Certificate
        Of the last fit, at ``C_`` and ``l1_ratio_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(l1_ratios=(0,), scoring="neg_log_loss", use_legacy_attributes=False).fit(X, y)
    >>> round(model.C_), round(model.score(X, y), 3), model.certificate_.relative_gap < 1e-8
    (167, -0.041, True)
    """

    __metadata_request__score: ClassVar[dict[str, str]] = {"sample_weight": UNUSED}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: LogisticRegression._parameter_constraints[name] for name in _AS_IN_ONE_FIT.split()},
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "l1_ratios": ["array-like", None, Hidden(StrOptions({"warn"}))],
        "penalty": [StrOptions({"l1", "l2", "elasticnet"}), Hidden(StrOptions({"deprecated"}))],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None, Hidden(StrOptions({"warn"}))],
        "use_legacy_attributes": ["boolean", Hidden(StrOptions({"warn"}))],
    } | usual("cv refit")

    C_: Any
    l1_ratio_: Any
    scores_: Any
    coefs_paths_: Any
    prior = None
    costs = None
    threshold = 0.5
    trace = False
    time_budget = None
    warm_start = False

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = "warn",
        fit_intercept: bool = True,
        cv: CV = None,
        dual: bool = False,
        penalty: Any = "deprecated",
        scoring: str | Callable[..., float] = "warn",
        solver: str = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: RandomState = None,
        use_legacy_attributes: Any = "warn",
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None, **params: Any) -> LogisticRegressionCV:
        """Fit to rows X (n, d) with labels y (n,), weighted by ``sample_weight`` in fits and scores.

        With metadata routing ``params`` go to splitter and scorer.
        """
        from sklearn.model_selection import check_cv  # loads on first use

        self._validate_params()
        parts = routed(self, "fit", params, sample_weight=sample_weight)
        ratios = self._read_ratios()
        X, y = read_rows(self, X, y)
        check_classification_targets(y)
        given = read_weights(sample_weight, X)
        self.classes_, code = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(self._one_class(self.classes_))
        self._warn_of_defaults()
        factors = self._factors(y, given)
        weights = given if np.all(factors == 1.0) else (1.0 if given is None else given) * factors[code]
        self.Cs_ = np.logspace(-4, 4, self.Cs) if isinstance(self.Cs, Integral) else np.asarray(self.Cs, dtype=float)
        if np.any(~(self.Cs_ > 0.0)):
            raise ValueError("Cs must be above 0.")
        splitter = check_cv(self.cv, y, classifier=True)
        folds = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, **parts.splitter.split)]
        table = FoldTable(X, code, folds, weights)
        paths = np.stack([self._paths(table, r) for r in ratios], axis=1)
        scored = parts.scorer.score if routing_enabled() else ({} if given is None else {"sample_weight": given})
        scores = self._scores(table, paths, y, scored)
        self._choose(table, paths, scores, ratios, y, sample_weight, factors)
        self._name(paths, scores, ratios)
        return self

    def _read_ratios(self) -> Array:
        """The mixtures to choose from, whichever way they were asked for."""
        given = None if isinstance(self.l1_ratios, str) else self.l1_ratios
        if self.penalty in ("l1", "l2"):
            return np.array([1.0 if self.penalty == "l1" else 0.0])
        wrong = given is not None and (
            len(given) == 0 or any(not isinstance(r, Real) or not 0.0 <= float(r) <= 1.0 for r in given)
        )
        if wrong or (self.penalty == "elasticnet" and given is None):
            raise ValueError(
                f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={self.l1_ratios!r})"
            )
        return np.array([0.0]) if given is None else np.asarray(given, dtype=float)

    def _warn_of_defaults(self) -> None:
        """scikit-learn changes three defaults; whoever relies on them hears of it."""
        later = []
        if isinstance(self.l1_ratios, str):
            later.append("The default value for l1_ratios will change from None to (0.0,) in version 1.10.")
        elif self.l1_ratios is None and self.penalty == "deprecated":
            later.append("'l1_ratios=None' was deprecated in version 1.8: use l1_ratios=(0,).")
        if self.penalty != "deprecated":
            later.append("'penalty' was deprecated in version 1.8 and will be removed in 1.10: use l1_ratios and Cs.")
            if self.penalty != "elasticnet" and not (self.l1_ratios is None or isinstance(self.l1_ratios, str)):
                text = f"l1_ratios parameter is only used when penalty is 'elasticnet'. Got (penalty={self.penalty})"
                warnings.warn(text, UserWarning, stacklevel=4)
        if isinstance(self.scoring, str) and self.scoring == "warn":
            later.append(
                "The default value of the parameter 'scoring' will change from None, i.e. accuracy, to 'neg_log_loss' "
                "in version 1.11."
            )
        if self.use_legacy_attributes == "warn":
            later.append(
                f"The fitted attributes of {type(self).__name__} will be simplified in scikit-learn 1.10. The default "
                "value of use_legacy_attributes will change from True to False in scikit-learn 1.10."
            )
        for text in later:
            warnings.warn(text, FutureWarning, stacklevel=4)

    def _factors(self, y: Array, given: Array | None) -> Array:
        """One weight a class, "balanced" by all rows."""
        if isinstance(self.class_weight, dict) and not set(self.class_weight) <= set(self.classes_.tolist()):
            raise ValueError(
                "The given class_weight dict must have the class labels as keys; "
                f"classes={self.classes_} but key={self.class_weight.keys()}"
            )
        return np.asarray(compute_class_weight(self.class_weight, classes=self.classes_, y=y, sample_weight=given))

    def _paths(self, table: FoldTable, ratio: float) -> Array:
        """Coefficients and offsets (folds, Cs, K or 1, d + 1) for one mixture."""
        K, counts = len(self.classes_), [np.bincount(table.y, table.in_fold(k)) for k in range(len(table.folds))]
        strengths = 1.0 / self.Cs_
        everywhere = all(len(c) == K and np.all(c > 0) for c in counts)
        if everywhere and self.max_iter >= 50:
            found = logistic_folds(
                table, strengths, ratio, fit_intercept=self.fit_intercept, tol=max(self.tol, _FINEST) ** 2 / 10
            )
            if found is not None:
                return np.concatenate([found[0], found[1][..., None]], axis=-1)
        return np.array([[self._alone(table, k, float(C), ratio) for C in self.Cs_] for k in range(len(table.folds))])

    def _alone(self, table: FoldTable, k: int, C: float, ratio: float) -> Array:
        """One fit of one fold; a class that the fold does not train on gets no weight and an offset far below."""
        K = len(self.classes_)
        X, code, weights = table.training(k)
        if len(np.unique(code)) == 1:  # nothing to tell apart: the offset alone says which class it is
            only = np.zeros((1 if K == 2 else K, X.shape[1] + 1))
            only[:, -1] = (_FAR if code[0] == 1 else -_FAR) if K == 2 else np.where(np.arange(K) == code[0], 0.0, -_FAR)
            return only
        model = self._model(C, ratio).fit(X, code, weights)
        own = np.column_stack([model.coef_, model.intercept_])
        if len(model.classes_) == K:
            return own
        whole = np.zeros((K, X.shape[1] + 1))
        whole[model.classes_] = np.concatenate([-own / 2, own / 2]) if len(own) == 1 else own
        reach = np.abs(np.asarray(X @ whole[:, :-1].T) + whole[:, -1]).max()
        whole[np.setdiff1d(np.arange(K), model.classes_), -1] = -(reach + _FAR)
        return whole

    def _model(self, C: float, ratio: float, class_weight: ClassWeight = None) -> LogisticRegression:
        return LogisticRegression(
            C=C, l1_ratio=ratio, fit_intercept=self.fit_intercept, tol=max(self.tol, _FINEST), max_iter=self.max_iter,
            class_weight=class_weight,
        )  # fmt: skip

    def _scorer(self) -> Any:
        return get_scorer("accuracy" if self.scoring in (None, "warn") else self.scoring)

    def _scores(self, table: FoldTable, paths: Array, y: Array, params: Record) -> Array:
        """(folds, ratios, Cs)."""
        scorer, found = with_labels(self._scorer(), self.classes_), np.empty(paths.shape[:3])
        for k, (_, test) in enumerate(table.folds):
            rows, here = table.X[test], check_method_params(table.X, params, test)
            for at in np.ndindex(*paths.shape[1:3]):
                found[(k, *at)] = scorer(self._with(paths[(k, *at)]), rows, y[test], **here)
        return found

    def _with(self, W: Array) -> LogisticRegression:
        """A model with these coefficients, for a scorer to ask."""
        model = LogisticRegression(fit_intercept=self.fit_intercept)
        model.classes_, model.coef_, model.intercept_ = self.classes_, W[:, :-1], W[:, -1]
        return model

    def _choose(
        self,
        table: FoldTable,
        paths: Array,
        scores: Array,
        ratios: Array,
        y: Array,
        sample_weight: Weights,
        factors: Array,
    ) -> None:
        """Best C and ρ over all folds, fitted to all rows; or the mean of each fold's best."""
        each = scores.transpose(0, 2, 1)  # C first, as scikit-learn breaks ties
        if self.refit:
            i, j = np.unravel_index(np.argmax(each.sum(axis=0)), each.shape[1:])
            self.C_, self.l1_ratio_ = float(self.Cs_[i]), float(ratios[j])
            weights = None if np.all(factors == 1.0) else dict(zip(self.classes_.tolist(), factors.tolist()))
            model = self._model(self.C_, self.l1_ratio_, weights).fit(table.X, y, sample_weight)
            self.coef_, self.intercept_ = model.coef_, model.intercept_
            self.solver_, self.threshold_ = model.solver_, model.threshold_
            self._take_certificates(model)
            return
        best = [np.unravel_index(np.argmax(s), s.shape) for s in each]
        mean = np.mean([paths[k, j, i] for k, (i, j) in enumerate(best)], axis=0)
        self.coef_, self.intercept_ = mean[:, :-1], mean[:, -1]
        self.C_ = float(np.mean([self.Cs_[i] for i, _ in best]))
        self.l1_ratio_ = float(np.mean([ratios[j] for _, j in best]))
        self.solver_, self.threshold_ = "mean of the folds", 0.5
        self._withhold_certificates(
            "With refit=False the coefficients are averages over the folds and minimise nothing: set refit=True."
        )

    def _name(self, paths: Array, scores: Array, ratios: Array) -> None:
        """The attributes in scikit-learn's forms."""
        paths = paths if self.fit_intercept else paths[..., :-1]
        ones = np.ones(scores.shape, dtype=np.int32)
        several = not (self.l1_ratios is None or isinstance(self.l1_ratios, str))
        self.l1_ratios_ = np.array(ratios if several else [None])
        if not self.use_legacy_attributes:
            self.coefs_paths_, self.scores_, self.n_iter_ = paths, scores, ones
            return
        names = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        self.C_ = np.full(len(names), self.C_)
        self.l1_ratio_ = np.full(len(names), self.l1_ratio_ if several else None)
        cut = (Ellipsis,) if several else (slice(None), slice(None), 0)
        self.scores_ = {c: scores.transpose(0, 2, 1)[cut] for c in names}
        self.coefs_paths_ = {c: paths[:, :, :, k].transpose(0, 2, 1, 3)[cut] for k, c in enumerate(names)}
        self.n_iter_ = ones.transpose(0, 2, 1)[cut][None]

    def score(self, X: MatrixLike, y: VectorLike, *, sample_weight: Weights = None, **score_params: Any) -> float:
        """The score that was asked for by ``scoring``, weighted by ``sample_weight``.

        With metadata routing ``score_params`` go to the scorer.
        """
        weighed = {} if sample_weight is None else {"sample_weight": sample_weight}
        parts = routed(self, "score", score_params, **weighed)
        return float(self._scorer()(self, X, y, **(parts.scorer.score if routing_enabled() else weighed)))

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing of the fit, the splitter and the scorer."""
        score = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router.add(scorer=self._scorer(), method_mapping=score)

    def _penalty(self) -> tuple[float, float]:
        """(Λ, ρ) of the chosen model."""
        return 1.0 / float(np.ravel(self.C_)[0]), float(np.ravel(self.l1_ratio_)[0] or 0.0)

    def _fold_path(self, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
        require(False, "it has folds of its own")
        raise AssertionError
