"""Bootstrap draws, fold-score errors and the one-standard-error rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from certifit._types import Array, RandomState

SIMPLER: Mapping[str, str] = {
    "alpha": "larger",
    "lam": "larger",
    "C": "smaller",
    "gamma": "smaller",
    "n_neighbors": "larger",
    "ccp_alpha": "larger",
    "max_depth": "smaller",
    "max_leaf_nodes": "smaller",
    "min_samples_leaf": "larger",
    "min_samples_split": "larger",
    "n_components": "smaller",
    "degree": "smaller",
    "var_smoothing": "larger",
    "l1_ratio": "larger",
    "k": "smaller",
}
"""Which way a parameter makes the model simpler (smoother, smaller, more constrained), by its usual name."""


def bootstrap_counts(n: int, rounds: int, random_state: RandomState = None) -> Array:
    """How often each row is drawn in each round of drawing n rows with replacement: (rounds, n) integers.

    A row is left out of a round with probability (1 − 1/n)ⁿ → 1/e.

    Parameters
    ----------
    n, rounds : int ≥ 1
    random_state : int, Generator or None, default=None

    Examples
    --------
    >>> counts = bootstrap_counts(1000, 200, random_state=0)
    >>> float(np.round((counts == 0).mean(), 3))
    0.367
    """
    rng = np.random.default_rng(random_state)
    counts = np.empty((rounds, n), dtype=np.int32)
    for b in range(rounds):
        counts[b] = np.bincount(rng.integers(n, size=n), minlength=n)
    return counts


def standard_error(scores: Array, axis: int = -1) -> Array:
    """s/√K over fold scores: the classical standard error behind the one-standard-error rule.

    Parameters
    ----------
    scores : array
        Scores of K folds along ``axis``.
    axis : int, default=-1

    Examples
    --------
    >>> float(standard_error(np.array([1.0, 2.0, 3.0, 4.0])).round(4))
    0.6455
    """
    scores = np.asarray(scores, dtype=float)
    count = scores.shape[axis]
    if count < 2:
        return np.zeros(scores.mean(axis=axis).shape)
    return np.asarray(np.std(scores, axis=axis, ddof=1) / np.sqrt(count))


def complexity(candidates: Sequence[Mapping[str, Any]], simpler: Mapping[str, str] | None = None) -> Array:
    """One number per grid point, smaller for simpler models: ranks of its parameters, added up.

    Directions come from ``simpler`` (``{"alpha": "larger"}``) or, by a parameter's last name, from `SIMPLER`.

    Parameters
    ----------
    candidates : list of dict
        Points of a grid.
    simpler : mapping of str to {"smaller", "larger"}, default=None
        Which values of a parameter are simpler, beyond the usual names.

    Examples
    --------
    >>> complexity([{"alpha": 0.1}, {"alpha": 10.0}, {"alpha": 1.0}])
    array([2., 0., 1.])
    """
    total = np.zeros(len(candidates))
    asked = dict(simpler or {})
    for name in sorted({k for c in candidates for k in c}):
        values = [c.get(name) for c in candidates]
        if all(_same(v, values[0]) for v in values):
            continue
        way = asked.get(name, SIMPLER.get(name.rsplit("__", 1)[-1]))
        if way not in ("larger", "smaller"):
            raise ValueError(
                f"The one-standard-error rule must know which values of {name!r} are simpler: pass "
                f"simpler={{{name!r}: 'larger'}} or 'smaller'."
            )
        total += _ranks(values, name, way)
    return total


def _ranks(values: Sequence[Any], name: str, way: str) -> Array:
    # None means "no limit" (max_depth, max_leaf_nodes): the largest value there is.
    try:
        numbers = np.array([np.inf if v is None else float(v) for v in values])
    except (TypeError, ValueError):
        raise ValueError(
            f"The one-standard-error rule needs numbers for {name!r}; got {sorted({str(v) for v in values})}."
        ) from None
    ranks: Array = np.unique(numbers, return_inverse=True)[1].astype(float)
    return ranks.max() - ranks if way == "larger" else ranks


def _same(a: object, b: object) -> bool:
    try:
        return bool(a == b)
    except ValueError:
        return a is b


def one_standard_error(scores: Array, order: Array) -> int:
    """Index of the simplest candidate whose mean score is within one standard error of the best.

    Parameters
    ----------
    scores : array of shape (n_candidates, n_folds)
        Greater is better.
    order : array of shape (n_candidates,)
        Smaller is simpler (`complexity`); ties go to the better mean, then to the first.

    Examples
    --------
    >>> scores = np.array([[0.90, 0.80], [0.88, 0.80], [0.5, 0.4]])
    >>> one_standard_error(scores, order=np.array([2.0, 1.0, 0.0]))
    1
    """
    scores = np.asarray(scores, dtype=float)
    means = np.where(np.isnan(scores).any(axis=1), -np.inf, scores.mean(axis=1))
    best = int(np.argmax(means))
    good = np.flatnonzero(means >= means[best] - standard_error(scores[best]))
    if not len(good):
        return best
    return int(min(good, key=lambda i: (order[i], -means[i], i)))
