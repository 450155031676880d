"""Logistic regression on a grid: 50 000 × 50, 10 folds × 20 C, refit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.harness import Entry, installed

WHAT = "logistic regression on 50 000 × 50, 10 folds × 20 C, refit"
GOAL = "≥ 15 times the best peer"
STRENGTHS = np.logspace(-4, 4, 20)


def _data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 50)) * rng.uniform(0.5, 2.0, size=50)
    p = 1.0 / (1.0 + np.exp(-X @ rng.normal(size=50) / 4))
    return X, (rng.random(len(X)) < p).astype(int)


def entries() -> list[Entry]:
    """certifit's Search, scikit-learn's GridSearchCV (also with accelerated fits), and its LogisticRegressionCV."""
    from sklearn.linear_model import LogisticRegression as SklearnLogistic
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.model_selection import GridSearchCV

    from certifit.linear_model import LogisticRegression
    from certifit.model_selection import Search

    X, y = _data()
    grid = {"C": STRENGTHS}
    exact = GridSearchCV(
        SklearnLogistic(solver="newton-cholesky", tol=1e-10), {"C": STRENGTHS[::5]}, cv=10, refit=False
    )
    exact.fit(X, y)

    def ours() -> Any:
        search = Search(LogisticRegression(), grid, cv=10).fit(X, y)
        return np.asarray(search.cv_results_["mean_test_score"])

    def peer(model: Any) -> Any:
        def run() -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return np.asarray(GridSearchCV(model, grid, cv=10).fit(X, y).cv_results_["mean_test_score"])

        return run

    def own_path() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegressionCV(Cs=STRENGTHS, cv=10, l1_ratios=(0.0,), use_legacy_attributes=False).fit(X, y)
        return model.scores_.reshape(10, -1).mean(axis=0)

    def apart(scores: Any) -> float:
        """Largest difference of a mean accuracy from scikit-learn's at a tight tolerance, at every fifth C."""
        return float(np.abs(scores[::5] - exact.cv_results_["mean_test_score"]).max())

    note = "gap: largest difference of a mean accuracy from tight fits"
    found = [
        Entry("certifit Search", ours, apart, "ours", note, repeats=3),
        Entry("scikit-learn", peer(SklearnLogistic()), apart, "peer", "GridSearchCV", repeats=1),
        Entry("scikit-learn path", own_path, apart, "peer", "LogisticRegressionCV", repeats=1),
    ]
    if installed("sklearnex"):
        from sklearnex.linear_model import LogisticRegression as Intel

        found.append(Entry("scikit-learn-intelex", peer(Intel()), apart, "peer", "GridSearchCV", repeats=1))
    return found
