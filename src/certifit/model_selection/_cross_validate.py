"""Cross-validation and hold-out: scores with intervals, predictions of every held-out row, a certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import cross_validate as by_scikit_learn
from sklearn.model_selection import train_test_split
from sklearn.utils import indexable

from certifit._limits import corrected_limits, held_out_share
from certifit._sklearn import check_sample_weight, safe_indexing
from certifit._types import (
    CV,
    Array,
    BaseEstimator,
    Estimator,
    Matrix,
    MatrixLike,
    Named,
    RandomState,
    Record,
    VectorLike,
    Weights,
)
from certifit.certificates import Certificate, Data, issue
from certifit.certificates.evaluation import SCORES, score_bounds, within
from certifit.metrics import Figure, Interval, errors, share
from certifit.model_selection._progress import Progress
from certifit.model_selection._run import (
    Keep,
    Outcome,
    Run,
    Trial,
    Workers,
    attempt,
    hopeless,
    judge,
    judge_all,
    one_by_one,
)
from certifit.model_selection._scoring import NO_SCORES, Scoring, ScoringLike, scoring_or_none
from certifit.resampling import Fold, folds

_METHOD = "corrected t (Nadeau and Bengio)"


class CrossValidation(dict[str, Any]):
    """Result of `cross_validate`: scikit-learn's mapping, with intervals, predictions and a certificate.

    Parameters
    ----------
    values : mapping
        scikit-learn's: "test_score", "fit_time" and the like.
    trial, folds, found
        What was fitted and evaluated, on which rows, and what came of it.

    Attributes
    ----------
    folds : list of (train, test)
    fold_predictions : list of arrays
        Predictions of each fold's test rows.
    sharing : Sharing
        What the folds shared, or why they did not.
    shared : bool
        Whether the folds shared their work.

    Examples
    --------
    >>> from certifit.linear_model import LinearRegression
    >>> from certifit.model_selection import cross_validate
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> result = cross_validate(LinearRegression(), X, 3 * X[:, 0] + np.sin(20 * X[:, 0]), cv=5)
    >>> len(result["test_score"]), result.predictions.shape, result.interval().low < result.mean()
    (5, (40,), True)
    """

    def __init__(self, values: Named, trial: Trial, folds: list[Fold], found: Run) -> None:
        super().__init__(values)
        self.folds, self.sharing, self.shared = folds, found.sharing, found.sharing.shared
        self.fold_answers: list[Mapping[str, Array]] = [o.answers for o in found.outcomes]
        self._trial, self._run = trial, found

    @property
    def held_out(self) -> float:
        """n_test/n_train, averaged over the folds."""
        return held_out_share(self.folds)

    def _name(self, metric: str | None) -> str:
        names = [k[5:] for k in self if k.startswith("test_")]
        name = names[0] if metric is None and len(names) == 1 else metric
        if name not in names:
            raise ValueError(f"There are several scores; name one of: {', '.join(names)}.")
        return str(name)

    def scores(self, metric: str | None = None) -> Array:
        """Every fold's score.

        Parameters
        ----------
        metric : str, default=None
            Which, when there are several.
        """
        return np.asarray(self[f"test_{self._name(metric)}"])

    def mean(self, metric: str | None = None) -> Figure:
        """Mean score, with its interval.

        Parameters
        ----------
        metric : str, default=None
            Which, when there are several.
        """
        name = self._name(metric)
        return Figure(float(self.scores(name).mean()), lambda level: self.interval(level, name))

    def interval(self, level: float = 0.95, metric: str | None = None) -> Interval:
        """Interval for the expected score of models trained on as many rows as a fold leaves.

        Folds share training rows, so their scores are correlated; the variance of their mean is taken as
        (1/J + n_test/n_train)·s² with J − 1 degrees of freedom (Nadeau and Bengio 2003). It is cut at what the score
        can be (0 and 1 for accuracy).

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        metric : str, default=None
            Which, when there are several.
        """
        low, high, _ = corrected_limits(self.scores(metric), self.held_out, level)
        bounds = score_bounds(self._trial.scoring.known.get(self._name(metric), ""))
        return Interval(*within(low, high, bounds), level, _METHOD)

    def standard_error(self, metric: str | None = None) -> float:
        """Corrected standard error of the mean score.

        Parameters
        ----------
        metric : str, default=None
            Which, when there are several.
        """
        return corrected_limits(self.scores(metric), self.held_out)[2]

    @property
    def fold_predictions(self) -> list[Array]:
        """Predictions of each fold's test rows."""
        return [a["predict"] for a in self.fold_answers]

    @property
    def predictions(self) -> Array:
        """Prediction of every row by the model that did not see it (rows in the order of the data)."""
        return self.responses("predict")

    def responses(self, method: str = "predict") -> Array:
        """Held-out answers of every row: "predict", or another method asked for with ``method=``."""
        rows = np.concatenate([test for _, test in self.folds])
        n = len(np.asarray(self._trial.y))
        if len(rows) != n or len(np.unique(rows)) != n:
            raise ValueError("Rows are not tested exactly once each: use fold_predictions with folds.")
        parts = [np.asarray(a[method]) for a in self.fold_answers]
        out = np.empty((n, *parts[0].shape[1:]), dtype=np.result_type(*parts) if parts[0].dtype != object else object)
        out[rows] = np.concatenate(parts)
        return out

    def certificate(self, level: float = 0.95, metric: str | None = None) -> Certificate:
        """The claim behind `interval`, re-checkable from the data and the held-out predictions.

        For accuracy, R², mean squared and mean absolute error of a single target.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        metric : str, default=None
            Which, when there are several.
        """
        name = self._trial.scoring.known.get(self._name(metric), "")
        if name not in SCORES:
            raise ValueError(f"This score cannot be recomputed from predictions alone; {', '.join(SCORES)} can.")
        X, y, weights = self._trial.X, self._trial.y, self._trial.weights
        evidence = {
            "metric": name,
            "predictions": np.concatenate(self.fold_predictions),
            "test": np.concatenate([test for _, test in self.folds]).astype(float),
            "sizes": np.array([len(test) for _, test in self.folds], dtype=float),
            "train_sizes": np.array([len(train) for train, _ in self.folds], dtype=float),
            "level": level,
        }
        return issue("cross-validation", Data.of(X, y, weights), evidence)

    def __str__(self) -> str:
        lines = []
        for name in (k[5:] for k in self if k.startswith("test_")):
            lines.append(f"{name} {float(self.mean(name)):.4g}, {self.interval(metric=name)}, {len(self.folds)} folds")
        return "\n".join(lines)


def cross_validate(
    estimator: Estimator,
    X: MatrixLike,
    y: VectorLike | None = None,
    *,
    groups: VectorLike | None = None,
    scoring: ScoringLike = None,
    cv: CV = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: int | str = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: float | str = np.nan,
    sample_weight: Weights = None,
    method: str | Sequence[str] = "predict",
    random_state: RandomState = None,
    share: bool = True,
    progress: Progress = None,
) -> CrossValidation:
    """Evaluate an estimator (with all its preprocessing, as a pipeline) on rows it was not fitted on.

    The score is the mean over the K folds, (1/K) Σ s_k. Folds share their work where the estimator offers it; other
    fits are made one by one by scikit-learn's own function, with its warnings and errors.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    groups : array-like, default=None
        For splitters that keep groups together.
    scoring : str, callable, list or dict of these, default=None
    cv : int ≥ 2, splitter or iterable of (train, test), default=None
        An integer means folds in row order, stratified for classifiers (see ``random_state``); None means 5.
    n_jobs, verbose, pre_dispatch :
        As in scikit-learn; they matter to fits that are made one by one.
    params : dict, default=None
        Passed to ``fit`` (with metadata routing: to whoever requested them).
    return_train_score, return_estimator, return_indices : bool, default=False
    error_score : "raise" or float, default=nan
    sample_weight : array-like, default=None
        Used in fitting and in scoring.
    method : str or list of str, default="predict"
        Answers to keep for every held-out row ("predict", "predict_proba", "decision_function").
    random_state : int, default=None
        When given and ``cv`` is an integer, rows are shuffled first.
    share : bool, default=True
        Whether the folds may share work.
    progress : bool or callable, default=None

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3)); y = X[:, 0] + 0.5 * rng.normal(size=100)
    >>> result = cross_validate(LinearRegression(), X, y, cv=5)
    >>> round(result.mean(), 3), result.interval(0.95)
    (0.843, 0.7724 to 0.9128 (95 %, corrected t (Nadeau and Bengio)))
    """
    rule = scoring_or_none(estimator, scoring)
    reason = hopeless(estimator, share) if rule is not None else "this scoring is evaluated by scikit-learn"
    ours = sample_weight is not None or bool(progress)  # scikit-learn neither weights scores nor tells progress
    drawn: Any = cv
    if not reason or ours or random_state is not None:
        X, y, groups = indexable(X, y, groups)
        drawn = folds(X, y, cv, classifier=is_classifier(estimator), groups=groups, random_state=random_state)
    keep = Keep(return_train_score, _methods(estimator, method), return_estimator, error_score)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, X)
    trial = Trial(estimator, X, y, rule or NO_SCORES, weights, params or {}, keep)
    workers = Workers(n_jobs, progress, "validating", pre_dispatch)
    found = reason or attempt(trial, drawn, [{}], workers)
    if isinstance(found, str) and not ours:
        options: dict[str, Any] = {"groups": groups, "scoring": scoring, "cv": drawn, "n_jobs": n_jobs}
        options |= {"verbose": verbose, "pre_dispatch": pre_dispatch, "params": params, "error_score": error_score}
        options |= {"return_train_score": return_train_score, "return_estimator": True, "return_indices": True}
        values = by_scikit_learn(estimator, X, y, **options)
        found = _fitted_there(values, trial, found)
    else:
        if isinstance(found, str):
            found = Run(judge_all(trial, drawn, [{}], workers), one_by_one(len(drawn), found))
        values = _table(found.outcomes, trial)
        values["indices"] = {"train": [train for train, _ in drawn], "test": [test for _, test in drawn]}
    split = list(zip(values["indices"]["train"], values["indices"]["test"]))
    asked = {"estimator": return_estimator, "indices": return_indices}
    return CrossValidation({k: v for k, v in values.items() if asked.get(k, True)}, trial, split, found)


def _methods(estimator: Estimator, method: str | Sequence[str]) -> tuple[str, ...]:
    wanted = (method,) if isinstance(method, str) else tuple(method)
    return tuple(m for m in dict.fromkeys(("predict", *wanted)) if m != "predict" or hasattr(estimator, "predict"))


def _fitted_there(values: Named, trial: Trial, reason: str) -> Run:
    """What scikit-learn fitted, as a run of ours: answers are asked for when they are looked at."""
    rows = indexable(trial.X)[0]
    tests = values["indices"]["test"]
    outcomes = [Outcome(answers=Later(model, rows, test)) for model, test in zip(values["estimator"], tests)]
    return Run(outcomes, one_by_one(len(tests), reason))


class Later(Mapping[str, Array]):
    """A fitted model's answers for some rows, each computed when it is first looked at."""

    def __init__(self, model: BaseEstimator, X: Matrix, rows: Array) -> None:
        self.model, self.X, self.rows = model, X, rows
        self.known: dict[str, Array] = {}

    def __getitem__(self, method: str) -> Array:
        if method not in self.known:
            self.known[method] = getattr(self.model, method)(safe_indexing(self.X, self.rows))
        return self.known[method]

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def _table(outcomes: Sequence[Outcome], trial: Trial) -> Record:
    """scikit-learn's mapping."""
    found: dict[str, Any] = {
        "fit_time": np.array([o.fit_time for o in outcomes]),
        "score_time": np.array([o.score_time for o in outcomes]),
    }
    if trial.keep.model:
        found["estimator"] = [o.model for o in outcomes]
    for name in trial.scoring.scorers:
        found[f"test_{name}"] = np.array([o.scores[name] for o in outcomes])
        if trial.keep.train_scores:
            found[f"train_{name}"] = np.array([o.train_scores[name] for o in outcomes])
    return found


@dataclass(frozen=True)
class HoldOut:
    """Result of `hold_out`.

    Attributes
    ----------
    model : fitted estimator
        Fitted on the training rows only.
    train, validation, test : arrays of row numbers
        ``validation`` is empty unless asked for.
    train_score, validation_score, test_score : float
        ``validation_score`` is nan unless asked for.
    predictions : array
        Of the test rows.

    Examples
    --------
    >>> from certifit.model_selection import hold_out
    >>> from certifit.naive_bayes import GaussianNB
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = hold_out(GaussianNB(), X, y, random_state=0)
    >>> result.test_score > 0.8, result.certificate().holds
    (True, True)
    """

    model: Any
    train: Array
    validation: Array
    test: Array
    train_score: float
    validation_score: float
    test_score: float
    predictions: Array
    _parts: tuple[Any, Any, Any] = field(repr=False)

    @property
    def error(self) -> Figure:
        """Error on the test rows: the fraction of mistakes (exact interval) or the mean squared error (t interval)."""
        _, y, weights = self._parts
        if is_classifier(self.model):
            wrong = np.asarray(self.predictions) != np.asarray(y)
            w = np.ones(len(wrong)) if weights is None else weights
            return share(float(w @ wrong), float(w.sum()))
        return errors(y, self.predictions, weights).mse

    def interval(self, level: float = 0.95) -> Interval:
        """Interval of `error` (of the true error of this very model, which is fixed once it is fitted).

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        """
        return self.error.interval(level)

    def __repr__(self) -> str:
        figure = "error" if is_classifier(self.model) else "mean squared error"
        judged, fitted = len(self.test), len(self.train)
        return f"{figure} {float(self.error):.4g} on {judged} rows, {self.interval()}; {fitted} rows fitted"

    def certificate(self, level: float = 0.95) -> Certificate:
        """The claim behind `interval` for a classifier; re-check it with the test rows.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        """
        X, y, weights = self._parts
        if not is_classifier(self.model):
            raise ValueError("The exact hold-out claim counts mistakes: it needs a classifier.")
        evidence = {"predictions": np.asarray(self.predictions), "level": level}
        return issue("hold-out", Data.of(X, y, weights), evidence)


def hold_out(
    estimator: Estimator,
    X: MatrixLike,
    y: VectorLike,
    *,
    test_size: float = 0.25,
    validation_size: float = 0.0,
    scoring: ScoringLike = None,
    sample_weight: Weights = None,
    stratify: bool | None = None,
    random_state: RandomState = 0,
) -> HoldOut:
    """Fit on some rows and evaluate on held-out rows.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    test_size, validation_size : float in (0, 1), default=0.25 and 0.0
        Fractions of the rows held out for the final evaluation, and for model selection.
    scoring : str or callable, default=None
    sample_weight : array-like, default=None
    stratify : bool, default=None
        Keep the class frequencies in each part; None: for classifiers if every class has enough rows.
    random_state : int, default=0

    Returns
    -------
    HoldOut

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)); y = (X[:, 0] > 0).astype(int)
    >>> result = hold_out(KNeighborsClassifier(), X, y)
    >>> result.error, result.interval()
    (0.04, 0.004881 to 0.1371 (95 %, exact binomial))
    >>> result.certificate().holds
    True
    """
    X, y = indexable(X, y)
    n = len(y)
    rule = Scoring.of(estimator, scoring)
    if not (0 < test_size < 1 and 0 <= validation_size < 1 and test_size + validation_size < 1):
        raise ValueError(
            f"Shares must be between 0 and 1 and leave rows to train on; got {test_size}, {validation_size}."
        )
    labels = np.asarray(y) if is_classifier(estimator) else None
    if stratify is None:
        stratify = labels is not None and min(np.unique(labels, return_counts=True)[1]) >= 3
    by = labels if stratify and labels is not None else None
    sizes = [max(1, round(share * n)) for share in (test_size, validation_size)]
    rest, test = train_test_split(np.arange(n), test_size=sizes[0], random_state=random_state, stratify=by)
    train, validation = rest, np.empty(0, dtype=int)
    if validation_size > 0:
        by = by[rest] if by is not None else None
        train, validation = train_test_split(rest, test_size=sizes[1], random_state=random_state, stratify=by)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, X)
    keep = Keep(train_scores=True, answers=("predict",), model=True, error_score="raise")
    found = judge(Trial(estimator, X, y, rule, weights, keep=keep), (train, test), {})

    def part(rows: Array) -> tuple[Any, Any, Any]:
        return safe_indexing(X, rows), safe_indexing(y, rows), None if weights is None else weights[rows]

    first = next(iter(rule.scorers))
    between = rule.of_model(found.model, *part(validation))[first] if len(validation) else float("nan")
    scores = (found.train_scores[first], between, found.scores[first])
    return HoldOut(found.model, train, validation, test, *scores, found.answers["predict"], part(test))
