"""A small estimator that shares work: class shares (or mean), shrunk towards even odds (or zero)."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from certifit.resampling import CannotShare, assemble, require


class ShrunkenMean(RegressorMixin, BaseEstimator):
    """Predicts (1 − shrink)·mean(y) + slope·x₀; the fits of all folds and grid points come from sums."""

    def __init__(self, shrink=0.0, slope=0.0, trouble=None):
        self.shrink, self.slope, self.trouble = shrink, slope, trouble

    def fit(self, X, y, sample_weight=None):
        self.n_features_in_ = np.shape(X)[1]
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X):
        return (1 - self.shrink) * self.mean_ + self.slope * np.asarray(X)[:, 0]

    def _fold_path(self, table, grid, response):
        require(response == ("predict",) and not any("trouble" in point for point in grid), "there is trouble")
        type(self).calls = getattr(type(self), "calls", 0) + 1
        path = self._path(np.asarray(table.X), np.asarray(table.y, dtype=float), table.folds, grid, table.weights)
        return assemble(grid, [(list(range(len(grid))), path)])

    def _path(self, X, y, folds, grid, sample_weight):
        w = np.ones(len(y)) if sample_weight is None else sample_weight
        shrink = np.array([point.get("shrink", self.shrink) for point in grid])
        slope = np.array([point.get("slope", self.slope) for point in grid])
        for train, test in folds:
            if self.trouble == "late":
                raise CannotShare("half-way")
            mean = w[train] @ y[train] / w[train].sum()
            short = test[:-1] if self.trouble == "short" else test
            yield {"predict": ((1 - shrink) * mean)[:, None] + slope[:, None] * X[short, 0]}


class ClassShares(ClassifierMixin, BaseEstimator):
    """P(second class) = training share, shrunk, moved by the sign of x₀: labels, probabilities and decisions."""

    def __init__(self, shrink=0.0):
        self.shrink = shrink

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        self.share_ = np.mean(np.asarray(y) == self.classes_[-1])
        return self

    def decision_function(self, X):
        return (1 - self.shrink) * (self.share_ - 0.5) + np.tanh(np.asarray(X)[:, 0])

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-self.decision_function(X)))
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def _fold_path(self, table, grid, response):
        require(table.weights is None, "rows have weights")
        path = self._path(np.asarray(table.X), np.asarray(table.y), table.folds, grid, response)
        return assemble(grid, [(list(range(len(grid))), path)])

    def _path(self, X, y, folds, grid, response):
        shrink = np.array([point.get("shrink", self.shrink) for point in grid])[:, None]
        for train, test in folds:
            classes = np.unique(y[train])
            z = (1 - shrink) * (np.mean(y[train] == classes[-1]) - 0.5) + np.tanh(X[test, 0])
            p = 1 / (1 + np.exp(-z))
            every = {
                "decision_function": z,
                "predict_proba": np.stack([1 - p, p], axis=-1),
                "predict": classes[(z > 0).astype(int)],
            }
            yield {name: every[name] for name in response}
