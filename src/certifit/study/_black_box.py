"""scikit-learn's ensembles of trees, to be chosen only where a study allows it: nothing is proved about them.

They are fitted by scikit-learn and kept as plain arrays (the nodes of all trees, one after the other), so that a model
file holds numbers and no code here either.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from certifit._sklearn import trees_of_boosting
from certifit._types import Array, Matrix, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data

BOOSTING, FOREST = "gradient boosting", "random forest"
NOTHING = "Nothing is proved about this model."
_CELLS = 20_000_000  # rows × trees that are walked through at once


class _Trees(BaseEstimator):
    """Many trees as arrays: node i asks whether x[feature[i]] ≤ threshold[i]; a leaf's children are itself."""

    def _keep(self, trees: list[dict[str, Array]], outputs: list[int], start: Array, single: bool) -> None:
        sizes = np.array([len(t["feature"]) for t in trees])
        first = np.concatenate([[0], np.cumsum(sizes)])
        own = np.concatenate([np.arange(n) for n in sizes])
        shift = np.repeat(first[:-1], sizes)
        feature = np.concatenate([t["feature"] for t in trees])
        leaf = np.concatenate([t["left"] for t in trees]) < 0
        self.feature_ = np.where(leaf, 0, feature).astype(np.int64)
        self.threshold_ = np.where(leaf, np.inf, np.concatenate([t["threshold"] for t in trees]))
        for name in ("left", "right"):
            child = np.where(leaf, own, np.concatenate([t[name] for t in trees])) + shift
            setattr(self, f"{name}_", child.astype(np.int64))
        self.value_ = np.concatenate([t["value"] for t in trees])
        self.roots_, self.outputs_ = first[:-1].astype(np.int64), np.array(outputs, dtype=np.int64)
        self.depth_ = max(int(t["depth"]) for t in trees)
        self.start_, self.single_ = np.asarray(start, dtype=float), single

    def _leaves(self, X: Array) -> Array:
        """The leaf of every row in every tree, (n, trees)."""
        X = X.astype(np.float32).astype(float) if self.single_ else X  # a forest compares numbers of single precision
        at = np.tile(self.roots_, (len(X), 1))
        rows = np.arange(len(X))[:, None]
        for _ in range(self.depth_):
            at = np.where(X[rows, self.feature_[at]] <= self.threshold_[at], self.left_[at], self.right_[at])
        return at

    def _answers(self, X: Matrix) -> Array:
        """Sums (boosting) or means (forest) of the leaves' values, (n, outputs)."""
        check_is_fitted(self, "roots_")
        X = validate_data(self, X, reset=False)
        out = np.tile(self.start_, (len(X), 1))
        block = max(1, _CELLS // max(len(self.roots_), 1))
        for i in range(0, len(X), block):
            leaves = self._leaves(X[i : i + block])
            if self.kind == FOREST:
                out[i : i + block] += self.value_[leaves].mean(axis=1)
                continue
            for t, k in enumerate(self.outputs_):
                out[i : i + block, k] += self.value_[leaves[:, t], 0]
        return out

    def _fit_trees(self, made: Any, X: Matrix, y: VectorLike, sample_weight: Weights) -> Any:
        X = validate_data(self, X)
        made.fit(X, y, sample_weight=sample_weight)
        if self.kind == BOOSTING:
            self._keep(*trees_of_boosting(made), single=False)
            return made
        trees = [e.tree_ for e in made.estimators_]
        parts = [
            {
                "feature": t.feature, "threshold": t.threshold, "left": t.children_left, "right": t.children_right,
                "value": t.value[:, 0] / (t.value[:, 0].sum(axis=1, keepdims=True) if self._shares else 1.0),
                "depth": np.asarray(t.max_depth),
            }
            for t in trees
        ]  # fmt: skip
        self._keep(parts, [0] * len(parts), np.zeros(parts[0]["value"].shape[1]), single=True)
        return made

    _shares = False
    kind: str


class BlackBoxClassifier(ClassifierMixin, _Trees):
    """Classes by scikit-learn's gradient boosting or random forest with its default settings; nothing is proved.

    Parameters
    ----------
    kind : {"gradient boosting", "random forest"}, default="gradient boosting"
    random_state : int, default=0

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> X = np.arange(60.0)[:, None]
    >>> model = BlackBoxClassifier("random forest").fit(X, X[:, 0] > 29)
    >>> model.predict([[10.0], [50.0]]).tolist()
    [False, True]
    """

    _shares = True

    def __init__(self, kind: str = BOOSTING, random_state: int | None = 0) -> None:
        self.kind = kind
        self.random_state = random_state

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> BlackBoxClassifier:
        """Fit scikit-learn's ensemble and keep its trees."""
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

        cls = HistGradientBoostingClassifier if self.kind == BOOSTING else RandomForestClassifier
        made = self._fit_trees(cls(random_state=self.random_state), X, y, sample_weight)
        self.classes_ = made.classes_
        return self

    def predict_proba(self, X: Matrix) -> Array:
        """Probabilities of the classes."""
        found = self._answers(X)
        if self.kind == FOREST:
            return found
        if found.shape[1] > 1:
            return np.asarray(softmax(found, axis=1))
        p = expit(found[:, 0])
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Matrix) -> Array:
        """The most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class BlackBoxRegressor(RegressorMixin, _Trees):
    """Numbers by scikit-learn's gradient boosting or random forest with its default settings; nothing is proved.

    Parameters
    ----------
    kind : {"gradient boosting", "random forest"}, default="gradient boosting"
    counts : bool, default=False
        Whether boosting minimises the Poisson deviance instead of squared errors.
    random_state : int, default=0

    Examples
    --------
    >>> X = np.arange(60.0)[:, None]
    >>> BlackBoxRegressor().fit(X, np.where(X[:, 0] > 29, 5.0, 1.0)).predict([[10.0], [50.0]]).round(1)
    array([1., 5.])
    """

    def __init__(self, kind: str = BOOSTING, counts: bool = False, random_state: int | None = 0) -> None:
        self.kind = kind
        self.counts = counts
        self.random_state = random_state

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> BlackBoxRegressor:
        """Fit scikit-learn's ensemble and keep its trees."""
        from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

        loss = "poisson" if self.counts else "squared_error"
        boosting = self.kind == BOOSTING
        made = HistGradientBoostingRegressor(loss=loss) if boosting else RandomForestRegressor()
        self._fit_trees(made.set_params(random_state=self.random_state), X, y, sample_weight)
        return self

    def predict(self, X: Matrix) -> Array:
        """Predicted numbers."""
        found = self._answers(X)[:, 0]
        return np.exp(found) if self.counts and self.kind == BOOSTING else found
