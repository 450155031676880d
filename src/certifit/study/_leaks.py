"""How well one column predicts the target all by itself."""

from __future__ import annotations

import numpy as np

from certifit._types import Array

_ROWS = 20_000  # enough rows to tell a leak from a good predictor


def alone(x: Array, y: Array, category: bool, classes: bool) -> float:
    """Held-out accuracy (classes) or R² (numbers) of the simplest rule on one column.

    Numbers: the nearest training value answers. Categories: the level's majority class or mean answers. Missing
    is a level of its own: a cell that is empty exactly when the answer is "no" leaks the target too.

    Examples
    --------
    >>> y = np.array([0, 1] * 50)
    >>> alone(2.0 * y + 1.0, y, category=False, classes=True)
    1.0
    """
    rows = np.random.default_rng(0).permutation(len(y))[:_ROWS]
    x, y = x[rows], y[rows]
    labels, code = np.unique(y, return_inverse=True)
    target = (
        np.eye(len(labels))[code] if classes and len(labels) <= 100 else _moderate(np.asarray(y, dtype=float))[:, None]
    )
    half = len(y) // 2
    guess = np.concatenate(
        [_answer(x[half:], target[half:], x[:half], category), _answer(x[:half], target[:half], x[half:], category)]
    )
    if classes:
        return float(np.mean(guess.argmax(axis=1) == code))
    total = np.sum((target - target.mean()) ** 2)
    rule = float(1.0 - np.sum((target - guess) ** 2) / total) if total > 0 else 0.0
    return rule if category else max(rule, _in_step(x, target[:, 0]))


def _moderate(values: Array) -> Array:
    """The values over the largest of them, so that squares neither overflow nor vanish."""
    most = float(np.nanmax(np.abs(values), initial=0.0))
    return values / most if most > 0.0 else values


def _in_step(x: Array, y: Array) -> float:
    """Squared correlation of values or of ranks, when (nearly) all cells are there."""
    present = ~np.isnan(x)
    x, y = _moderate(x[present]), y[present]
    if present.mean() < 0.95 or len(np.unique(x)) < 3 or min(x.std(), y.std()) == 0:
        return 0.0
    u, v = (np.unique(values, return_inverse=True)[1].astype(float) for values in (x, y))
    return float(max(np.corrcoef(x, y)[0, 1] ** 2, np.corrcoef(u, v)[0, 1] ** 2))


def _answer(x: Array, target: Array, queries: Array, category: bool) -> Array:
    fallback = target.mean(axis=0)
    levels, inverse = np.unique(x, return_inverse=True)  # NaN sorts last and counts as one level
    count = np.bincount(inverse, minlength=len(levels)).astype(float)
    means = np.stack([np.bincount(inverse, t, len(levels)) / count for t in target.T], axis=1)
    gap = np.isnan(levels)
    known, known_means = levels[~gap], means[~gap]
    out = np.tile(fallback, (len(queries), 1))
    lost = np.isnan(queries)
    if gap.any():
        out[lost] = means[gap][0]
    if not len(known):
        return out
    asked = queries[~lost]
    right = np.clip(np.searchsorted(known, asked), 0, len(known) - 1)
    left = np.clip(right - 1, 0, len(known) - 1)
    nearest = np.where(np.abs(known[left] - asked) < np.abs(known[right] - asked), left, right)
    found = known_means[nearest]
    if category:  # levels have no neighbours
        found = np.where((known[nearest] == asked)[:, None], found, fallback)
    out[~lost] = found
    return out
