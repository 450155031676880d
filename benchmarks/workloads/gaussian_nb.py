"""Gaussian naive Bayes on a million rows: fitting is one read, predicting another.

scikit-learn is the only peer: its accelerated twin has no Gaussian naive Bayes and hands the work back to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry, Work

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

    case, note = f"fit, {X.dtype}", "gap: largest error of a mean"
    entries = [
        Entry("certifit", lambda: GaussianNB().fit(X, y), error, "ours", note, case=case, work=Work(X.nbytes)),
        Entry("scikit-learn", lambda: sklearn.naive_bayes.GaussianNB().fit(X, y), error, case=case),
    ]
    entries.append(Entry("one read of X", lambda: X.sum(), kind="floor", case=case, work=Work(X.nbytes)))
    return entries


def predict_entries(X: np.ndarray, y: np.ndarray) -> list[Entry]:
    """Predictions from models fitted beforehand."""
    import sklearn.naive_bayes

    from certifit.naive_bayes import GaussianNB

    ours, theirs = GaussianNB().fit(X, y), sklearn.naive_bayes.GaussianNB().fit(X, y)
    labels = theirs.predict(X)

    def unlike(found: np.ndarray) -> float:
        return float(np.mean(found != labels))

    case, note = f"predict, {X.dtype}", "gap: fraction of labels that differ"
    return [
        Entry("certifit", lambda: ours.predict(X), unlike, "ours", note, case=case, work=Work(X.nbytes)),
        Entry("scikit-learn", lambda: theirs.predict(X), unlike, "peer", case=case),
    ]


def entries() -> list[Entry]:
    """Fits and predictions, in both precisions."""
    X, y = data()
    both = [(A, y) for A in (X, X.astype(np.float32))]
    return [e for pair in both for e in fit_entries(*pair) + predict_entries(*pair)]
