"""Gaussian naive Bayes on a million rows: fitting is one read, predicting another.

scikit-learn is the only peer: its accelerated twin has no Gaussian naive Bayes and hands the work back to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry

WHAT = "GaussianNB, 1 000 000 × 20, 2 classes: fit, then predict"
GOAL = "fit ≥ 5× and predict ≥ 3× the best peer; fit ≤ 3× one read of X"


def data(n: int = 1_000_000, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping Gaussian classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d))
    X += 0.3 * y[:, None]
    return X, y


def fit_entries(X: np.ndarray, y: np.ndarray) -> list[Entry]:
    """Fits: ours, peers, and one read of X as the floor."""
    import sklearn.naive_bayes

    from certifit.naive_bayes import GaussianNB

    def error(model: Any) -> float:
        means = np.stack([X[y == c].mean(axis=0) for c in (0, 1)])
        return float(np.abs(np.asarray(model.theta_) - means).max())

    entries = [
        Entry("certifit fit", lambda: GaussianNB().fit(X, y), error, "ours", "gap: largest error of a mean"),
        Entry("scikit-learn fit", lambda: sklearn.naive_bayes.GaussianNB().fit(X, y), error),
    ]
    entries.append(Entry("one read of X", lambda: X.sum(), kind="floor"))
    return entries


def predict_entries(X: np.ndarray, y: np.ndarray) -> list[Entry]:
    """Predictions from models fitted beforehand."""
    import sklearn.naive_bayes

    from certifit.naive_bayes import GaussianNB

    ours, theirs = GaussianNB().fit(X, y), sklearn.naive_bayes.GaussianNB().fit(X, y)
    labels = theirs.predict(X)

    def unlike(found: np.ndarray) -> float:
        return float(np.mean(found != labels))

    note = "gap: share of labels that differ"
    return [
        Entry("certifit predict", lambda: ours.predict(X), unlike, "ours", note),
        Entry("scikit-learn predict", lambda: theirs.predict(X), unlike, "peer"),
    ]


def entries() -> list[Entry]:
    """Fit and predict in one list; read the ratios of each pair."""
    X, y = data()
    return fit_entries(X, y) + predict_entries(X, y)
