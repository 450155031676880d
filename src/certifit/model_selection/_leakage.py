"""Leakage: skill where there can be none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import scipy.special
from sklearn.base import is_classifier
from sklearn.utils.parallel import delayed

from certifit._sklearn import safe_indexing
from certifit._types import CV, Array, BaseEstimator, Estimator, MatrixLike, VectorLike
from certifit.metrics import Interval
from certifit.model_selection._run import Keep, Trial, WorkerOptions, Workers, judge
from certifit.model_selection._scoring import Scoring, ScoringLike
from certifit.resampling import Fold, folds

Prepare = Callable[[Any, Array], Any]

_SHUFFLES = 8  # fresh pairings per fold that stand for chance


@dataclass(frozen=True)
class Leakage:
    """Result of `leakage_check`.

    Attributes
    ----------
    leaks : bool
        Whether permuted labels were predicted better than chance, at the asked level.
    skill : float
        Mean score on permuted labels minus that of chance (predictions paired with labels at random).
    interval : Interval
        Of the skill, over the permutations.
    p_value : float
        One-sided, of no skill.
    permuted, chance : arrays of shape (rounds,)
        Score and chance score of each permutation.
    score : float
        Score on the true labels, for comparison (of the same, possibly leaking, procedure).
    duplicates : int
        Test rows that also stand, equal in every number, among their training rows.

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> from certifit.model_selection import leakage_check
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> leakage_check(Ridge(), X, X[:, 0], rounds=5).leaks
    False
    """

    leaks: bool
    skill: float
    interval: Interval
    p_value: float
    permuted: Array
    chance: Array
    score: float
    duplicates: int

    def __str__(self) -> str:
        found = f"skill {self.skill:.3g} on permuted labels, {self.interval}, p = {self.p_value:.2g}"
        if self.leaks:
            return (
                f"LEAK: labels that mean nothing are predicted better than chance ({found}). "
                "Something saw the test rows: put every step that looks at y (or at all rows) inside the folds."
            )
        more = (
            f" But {self.duplicates} test rows have an equal twin among their training rows." if self.duplicates else ""
        )
        return f"No leak found ({found}).{more}"


def leakage_check(
    estimator: Estimator,
    X: MatrixLike,
    y: VectorLike,
    *,
    prepare: Prepare | None = None,
    cv: CV = 5,
    scoring: ScoringLike = None,
    rounds: int = 20,
    level: float = 0.99,
    random_state: int | None = 0,
    **workers: Unpack[WorkerOptions],
) -> Leakage:
    """Permute the labels and test for skill where there can be none.

    With permuted labels no honest procedure predicts better than chance. What is done to the data *before*
    cross-validation must be part of the check: hand it over as ``prepare``, and it is repeated on each permutation.
    Choosing features by their correlation with all labels is the classic mistake that this finds.

    Chance is the score of the same predictions paired with the fold's labels at random, so unequal classes or
    skewed predictions do not pass for skill.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    prepare : callable, default=None
        ``prepare(X, y)`` returns the X (or (X, y)) that is then cross-validated.
    cv, scoring : as in `cross_validate`
    rounds : int ≥ 3, default=20
        Permutations.
    level : float in (0, 1), default=0.99
        Confidence at which skill counts as a leak.
    random_state : int, default=0
    **workers
        ``n_jobs`` and ``progress``, as in `cross_validate`.

    Returns
    -------
    Leakage

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 1000)); y = rng.integers(2, size=50)      # pure noise
    >>> def top(X, y):                                                      # looks at every label
    ...     return X[:, np.argsort(-np.abs((X - X.mean(0)).T @ (y - y.mean())))[:20]]
    >>> leakage_check(KNeighborsClassifier(1), X, y, prepare=top).leaks
    True
    >>> leakage_check(KNeighborsClassifier(1), X, y).leaks
    False
    """
    if rounds < 3:
        raise ValueError(f"rounds must be at least 3; got {rounds}.")
    y = np.asarray(y)
    rule = Scoring.of(estimator, scoring)
    if rule.several:
        raise ValueError("leakage_check takes one score.")
    seeds = np.random.SeedSequence(random_state).spawn(rounds)
    study = _Procedure(estimator, prepare, cv, rule)
    work = (delayed(_permuted)(study, X, y, seed) for seed in seeds)
    pairs = np.array(Workers(**workers, what="permuting").collect(work, rounds))
    gaps = pairs[:, 0] - pairs[:, 1]
    skill, error = float(gaps.mean()), float(gaps.std(ddof=1)) / math.sqrt(rounds)
    p = float(scipy.special.stdtr(rounds - 1, -skill / error)) if error > 0 else float(skill <= 0)
    reach = -float(scipy.special.stdtrit(rounds - 1, (1 - level) / 2)) * error
    interval = Interval(skill - reach, skill + reach, level, "t over permutations")
    Z, labels, split = study.prepared(X, y)
    score = float(np.mean([study.score(Z, labels, fold)[0] for fold in split]))
    twins = _duplicates(Z, split)
    return Leakage(p < 1 - level, skill, interval, p, pairs[:, 0], pairs[:, 1], score, twins)


@dataclass(frozen=True)
class _Procedure:
    """What is done to the data from beginning to end."""

    estimator: Estimator
    prepare: Prepare | None
    cv: CV
    rule: Scoring

    def prepared(self, X: MatrixLike, y: Array) -> tuple[Any, Array, list[Fold]]:
        """What is cross-validated, and its folds."""
        found = X if self.prepare is None else self.prepare(X, y)
        Z, labels = (found[0], np.asarray(found[1])) if isinstance(found, tuple) else (found, y)
        return Z, labels, folds(Z, labels, self.cv, classifier=is_classifier(self.estimator))

    def score(self, X: MatrixLike, y: Array, fold: Fold) -> tuple[float, Any]:
        """Score and model of one fold."""
        out = judge(Trial(self.estimator, X, y, self.rule, keep=Keep(model=True, error_score="raise")), fold, {})
        return out.scores["score"], out.model


def _permuted(study: _Procedure, X: MatrixLike, y: Array, seed: np.random.SeedSequence) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    Z, labels, split = study.prepared(X, y[rng.permutation(len(y))])
    found = []
    for fold in split:
        score, model = study.score(Z, labels, fold)
        judge_again = _rejudge(study.rule, model, safe_indexing(Z, fold[1]))
        mixed = [labels[fold[1]][rng.permutation(len(fold[1]))] for _ in range(_SHUFFLES)]
        found.append((score, float(np.mean([judge_again(other) for other in mixed]))))
    means = np.mean(found, axis=0)
    return float(means[0]), float(means[1])


def _rejudge(rule: Scoring, model: BaseEstimator, rows: MatrixLike) -> Callable[[Array], float]:
    """The score as a function of the labels alone: the model is asked once where the scorer needs answers only."""
    needed = rule.responses(model)
    if needed is None:
        return lambda labels: rule.of_model(model, rows, labels, None)["score"]
    answers = {name: np.asarray(getattr(model, name)(rows))[None] for name in needed}
    classes = getattr(model, "classes_", None)
    return lambda labels: float(rule.of_answers(model, answers, classes, labels, None)["score"][0])


def _duplicates(X: MatrixLike, split: list[Fold]) -> int:
    try:
        table = np.ascontiguousarray(np.asarray(X, dtype=float))
    except (TypeError, ValueError):
        return 0
    if table.ndim != 2:
        return 0
    same = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    return int(sum(np.isin(same[test], same[train]).sum() for train, test in split))
