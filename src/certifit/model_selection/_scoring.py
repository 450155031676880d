"""From what the user calls a score to functions of a fitted model, or of stored answers."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import get_scorer
from sklearn.utils import Tags, get_tags

from certifit._types import Answers, Array, BaseEstimator, Estimator, Matrix, MatrixLike, VectorLike, Weights
from certifit.model_selection._scores import QUICK

ScoringLike = str | Callable[..., Any] | Collection[str] | Mapping[str, Any] | None
"""scoring as scikit-learn takes it: a name, a function of (model, X, y), several of these, or None."""

Scorer = Callable[..., float]
_SHARED_SCORER = type(get_scorer("accuracy"))  # what make_scorer returns: it asks the model only for answers


@dataclass(frozen=True)
class Scoring:
    """One or several scorers by name; ``name`` of a single one is "score"."""

    scorers: Mapping[str, Scorer]
    known: Mapping[str, str]  # scikit-learn's own name behind a scorer, where there is one
    several: bool

    @classmethod
    def of(cls, estimator: Estimator, scoring: ScoringLike) -> Scoring:
        """The scorers behind a name, a callable, a list or a dict of these, or None (the estimator's own)."""
        if isinstance(scoring, (list, tuple, set)):
            scoring = {name: name for name in scoring}
        if isinstance(scoring, Mapping):
            if not scoring:
                raise ValueError("scoring is empty: name at least one score.")
            parts = {name: _one(estimator, s) for name, s in scoring.items()}
            return cls({k: v[0] for k, v in parts.items()}, {k: v[1] for k, v in parts.items() if v[1]}, True)
        scorer, name = _one(estimator, scoring)
        return cls({"score": scorer}, {"score": name} if name else {}, False)

    def warn_of_weights(self, where: str) -> None:
        """Say which scorers cannot take weights, as scikit-learn does."""
        for name, scorer in self.scorers.items():
            if scorer is not _own_score and not _takes_weights(scorer):
                warnings.warn(
                    f"The scoring {name}={scorer} does not support sample_weight, which may lead to statistically "
                    f"incorrect results when fitting {where} with sample_weight.",
                    UserWarning,
                    stacklevel=4,
                )

    def of_model(
        self, model: Estimator, X: MatrixLike, y: VectorLike | None, weights: Array | None
    ) -> dict[str, float]:
        """Every score of a fitted model; each kind of answer is asked for once."""
        found, given = {}, Given(model, X)
        for name, scorer in self.scorers.items():
            value = None if y is None else given.score(self.known.get(name, ""), np.asarray(y), weights)
            found[name] = _call(scorer, model, X, y, weights) if value is None else value
        return found

    def responses(self, estimator: Estimator) -> tuple[str, ...] | None:
        """Which answers of a model the scorers ask for; None when one looks at more than answers."""
        asked: list[str] = []
        for name, scorer in self.scorers.items():
            quick = QUICK.get(self.known.get(name, ""))
            if quick is None and scorer is _own_score and _by_predictions(estimator):
                asked.append("predict")
                continue
            methods = quick.answers if quick is not None else _methods(scorer)
            found = next((m for m in methods if hasattr(estimator, m)), None)
            if found is None:
                return None
            asked.append(found)
        return tuple(dict.fromkeys(asked))

    def of_answers(
        self, estimator: Estimator, answers: Answers, classes: Array | None, y: VectorLike, w: Array | None
    ) -> dict[str, Array]:
        """Every score of every candidate from its stored answers on one fold's test rows.

        Scorers that look at answers only never see the rows themselves.
        """
        found = {}
        for name, scorer in self.scorers.items():
            quick = _quick(self.known.get(name, ""), answers, np.asarray(y), w, classes)
            if quick is not None:
                found[name] = quick
                continue
            if scorer is _own_score and name not in self.known:
                judge = _last(estimator)._score_predictions
                found[name] = np.array([float(judge(y, p, w)) for p in answers["predict"]])
                continue
            if scorer is _own_score:  # an estimator's own score, where it is scikit-learn's usual one
                scorer = get_scorer(self.known[name])
            count = len(next(iter(answers.values())))
            models = (StoredAnswers(estimator, {k: v[i] for k, v in answers.items()}, classes) for i in range(count))
            found[name] = np.array([_call(scorer, m, None, y, w) for m in models])
        return found


def scoring_or_none(estimator: Estimator, scoring: ScoringLike) -> Scoring | None:
    """The scorers, or None for what only scikit-learn can judge: it says what is wrong in its own words."""
    try:
        return Scoring.of(estimator, scoring)
    except (TypeError, ValueError, KeyError):
        return None


NO_SCORES = Scoring({}, {}, True)
"""Nothing is judged: only answers are kept."""


def _quick(name: str, answers: Answers, y: Array, w: Array | None, classes: Array | None) -> Array | None:
    """Scores of all candidates in one go; None where only scikit-learn's scorer can tell."""
    quick = QUICK.get(name)
    if quick is None or y.ndim != 1 or not quick.suits(y, classes):
        return None
    asked = next((a for a in quick.answers if a in answers), None)
    if asked is None or answers[asked].ndim != (3 if asked == "predict_proba" else 2):
        return None
    return quick.formula(y, answers[asked], w, classes)


class Given:
    """Answers of one fitted model for some rows, asked for when first needed."""

    def __init__(self, model: BaseEstimator, X: MatrixLike) -> None:
        self._model, self._X = model, X
        self._answers: dict[str, Array] = {}

    def score(self, name: str, y: Array, w: Array | None) -> float | None:
        """The score of this name from the model's answers; None where only scikit-learn's scorer can tell."""
        quick, classes = QUICK.get(name), getattr(self._model, "classes_", None)
        asked = next((a for a in quick.answers if hasattr(self._model, a)), None) if quick is not None else None
        if asked is None:
            return None
        if asked not in self._answers:
            self._answers[asked] = np.asarray(getattr(self._model, asked)(self._X))[None]
        found = _quick(name, {asked: self._answers[asked]}, y, w, classes)
        return None if found is None else float(found[0])


def _one(estimator: Estimator, scoring: ScoringLike) -> tuple[Scorer, str | None]:
    if scoring is None:
        if not hasattr(estimator, "score"):
            raise TypeError(f"{type(estimator).__name__} has no score of its own: name one with scoring=.")
        return _own_score, _own_name(estimator)
    if isinstance(scoring, str):
        return get_scorer(scoring), scoring
    if callable(scoring):
        return scoring, None
    raise ValueError(f"scoring must be a name, a function, a list or a dict of these, or None; got {scoring!r}.")


def _own_name(estimator: Estimator) -> str | None:
    """scikit-learn's name of the score that an estimator's ``score`` is; None when unknown."""
    last = _last(estimator)
    score = getattr(type(last), "score", None)
    if score is ClassifierMixin.score:
        return "accuracy"
    if score is RegressorMixin.score:
        return "r2"
    if depth(type(last), "_score_name") <= depth(type(last), "score"):
        return getattr(last, "_score_name", None)
    # scikit-learn's other classifiers wrap the same accuracy, unless they are told a scoring of their own.
    usual = getattr(score, "__module__", "").startswith("sklearn.") and not hasattr(last, "scoring")
    return "accuracy" if usual and is_classifier(last) else None


def _last(estimator: BaseEstimator) -> BaseEstimator:
    """A pipeline's score is its last step's."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _by_predictions(estimator: Estimator) -> bool:
    """Whether an estimator's own score looks at its predictions only, and is given as a function of them."""
    kind = type(_last(estimator))
    return hasattr(kind, "_score_predictions") and depth(kind, "_score_predictions") <= depth(kind, "score")


def depth(kind: type, name: str) -> int:
    """How far up a class's ancestors a name is defined: 0 in the class itself."""
    return next((i for i, c in enumerate(kind.__mro__) if name in vars(c)), len(kind.__mro__))


def _own_score(model: BaseEstimator, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> float:
    score: float
    if y is None:
        score = model.score(X)
    else:
        score = model.score(X, y) if sample_weight is None else model.score(X, y, sample_weight=sample_weight)
    return score


def _call(
    scorer: Scorer, model: BaseEstimator, X: MatrixLike | None, y: VectorLike | None, weights: Array | None
) -> float:
    if weights is None or not _takes_weights(scorer):
        value = scorer(model, X) if y is None else scorer(model, X, y)
    else:
        value = scorer(model, X, y, sample_weight=weights)
    if np.ndim(value) != 0 or isinstance(value, (str, dict)):
        raise ValueError(f"A score must be one number; {scorer} gave {type(value).__name__}.")
    return float(value)


def _methods(scorer: Any) -> tuple[str, ...]:
    """The answers that one of scikit-learn's scorers looks at; none where it looks at more than answers."""
    if not isinstance(scorer, _SHARED_SCORER):
        return ()
    methods = scorer._response_method
    return (methods,) if isinstance(methods, str) else tuple(methods)


def _takes_weights(scorer: Scorer) -> bool:
    if isinstance(scorer, _SHARED_SCORER):
        return "sample_weight" in inspect.signature(scorer._score_func).parameters
    return "sample_weight" in inspect.signature(scorer).parameters


class StoredAnswers:
    """Stands in for a fitted model before a scorer: it has the stored answers and nothing else."""

    def __init__(self, estimator: Estimator, answers: Answers, classes: Array | None = None) -> None:
        self._estimator, self._answers = estimator, answers
        if is_classifier(estimator):
            self.classes_ = classes

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self._estimator)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        answers = self.__dict__.get("_answers", {})
        if name not in answers:
            raise AttributeError(f"the shared path keeps no {name}")

        def answer(X: Matrix) -> Array:
            return np.asarray(answers[name])

        answer.__name__ = name
        return answer
