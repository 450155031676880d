"""Why is a clustering not a good one? What k-means would still do with it, and whose clustering it is instead."""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.certificates import Certificate, Data
from certifit.judge._clusters import certify_clusters
from certifit.judge._findings import Diagnosis, Finding, dense_rows

_CHANGES = {
    "reassignment_gain": (
        "rows not with their nearest centre",
        "Giving every row to its nearest centre lowers the cost: did you stop too early?",
    ),
    "centre_gain": ("centres that are not means", "Moving every centre to the mean of its rows lowers the cost."),
    "move_gain": ("one row elsewhere", "Moving a single row to another cluster lowers the cost."),
}


def diagnose_clusters(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Right where the cost is proved to be the smallest, or where no small change lowers it."""
    if c.holds and (c.excess <= tol or _settled(c, tol)):
        return Diagnosis(c, True)
    found = [Finding(*_CHANGES[name], c) for name in _CHANGES if c.figures[name] > tol * max(c.value, 1e-300)]
    return Diagnosis(c, False, [*_elsewhere(c, data, tol), *found])


def _elsewhere(c: Certificate, data: Data, tol: float) -> list[Finding]:
    """Clusterings of other columns, and medians for means."""
    X = dense_rows(data)
    labels, centres = np.asarray(c.evidence["labels"]), np.asarray(c.evidence["centres"])
    found, spread = [], X.std(axis=0)
    if np.all(spread > 0):
        scaled = certify_clusters(labels, X / spread, data.sample_weight)
        if _settled(scaled, tol):
            asks = "No small change improves it for standardised columns: were they meant to be scaled?"
            found.append(Finding("scaled columns", asks, scaled))
    if data.sample_weight is None and np.allclose(centres, _medians(X, labels, len(centres)), rtol=1e-9, atol=1e-12):
        means = certify_clusters(labels, X)
        if c.figures["centre_gain"] > tol * c.value:
            found.append(Finding("medians for means", "The centres are the medians of their rows: take means.", means))
    return found


def _settled(c: Certificate, tol: float) -> bool:
    return bool(c.holds) and all(c.figures[name] <= tol * max(c.value, 1e-300) for name in _CHANGES)


def _medians(X: Array, labels: Array, k: int) -> Array:
    return np.array([np.median(X[labels == j], axis=0) if np.any(labels == j) else X[0] for j in range(k)])
