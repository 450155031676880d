"""Probabilities that never contradict the decision.

One number is fitted, the slope a > 0: P(second class) = 1/(1 + exp(−a f)) for two classes, softmax(a f) for more.
The decision f = 0 maps to ½, so the more probable class is the predicted one. (Platt's sigmoid has an offset, which
can move ½ away from the decision: scikit-learn's `predict_proba` and `predict` may then disagree.)
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy  # optimize loads on first use
import scipy.sparse
from scipy.special import log_softmax, softmax

from certifit._types import Array, Matrix


def as_columns(decision: Array) -> Array:
    """Two columns for a two-class decision: softmax of (−f/2, f/2) is the sigmoid of f."""
    return np.column_stack([-0.5 * decision, 0.5 * decision]) if decision.ndim == 1 else decision


def folds_of(X: Matrix, codes: Array, counted: Array, folds: int = 3) -> Array:
    """A fold for every counted row (−1: not counted, −2: never left out), in turn within each class by a digest.

    Equal rows share a fold whatever their order or number, so that weight k stays the same as k copies.
    """
    fold = np.full(len(codes), -1)
    for k in np.unique(codes):
        rows = np.flatnonzero((codes == k) & counted)
        keys = [_digest(X[i]) for i in rows]
        rank = {key: r for r, key in enumerate(sorted(set(keys)))}
        # A class with one distinct row cannot leave it out: it is trained on always (−2).
        fold[rows] = [rank[key] % folds for key in keys] if len(rank) > 1 else -2
    return fold


def _digest(row: Any) -> bytes:
    row = row.toarray() if scipy.sparse.issparse(row) else row
    return hashlib.blake2b(np.ascontiguousarray(row + 0.0).tobytes(), digest_size=16).digest()


def fit_slope(decision: Array, codes: Array, weights: Array | None = None) -> float:
    """The slope of largest likelihood on decisions made for rows not trained on."""
    columns = as_columns(decision)
    w = np.ones(len(codes)) if weights is None else weights
    at = np.arange(len(codes))

    def loss(log_slope: float) -> float:
        return -float(w @ log_softmax(np.exp(log_slope) * columns, axis=1)[at, codes])

    return float(np.exp(scipy.optimize.minimize_scalar(loss, bounds=(-7.0, 7.0), method="bounded").x))


def probabilities(decision: Array, slope: float, predicted: Array) -> Array:
    """One row of probabilities for each decision; ``predicted`` (codes) gets the largest of its row."""
    p: Any = softmax(slope * as_columns(decision), axis=1)
    at = np.arange(len(p))
    top = p.argmax(axis=1)
    p[at, predicted], p[at, top] = p[at, top].copy(), p[at, predicted].copy()
    return np.asarray(p)
