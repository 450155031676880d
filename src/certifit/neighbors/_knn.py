"""k-nearest-neighbour classification and regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from certifit._types import Array, Grid, Matrix
from certifit._validation import check_is_fitted
from certifit.neighbors import _votes
from certifit.neighbors._base import LabelAnswers, Searcher, ValueAnswers
from certifit.neighbors._folds import class_votes, neighbor_answers, read_neighbors, value_means
from certifit.resampling import FoldAnswers, FoldTable, require


class KNeighborsClassifier(LabelAnswers, Searcher):
    """Vote of the nearest training rows, in exact order, with a proof for every query.

    A query x gets the class c with the largest Σ wᵢ over those of its k nearest rows i that have yᵢ = c
    (ties: the first class).

    Parameters
    ----------
    n_neighbors : int ≥ 1 or None, default=5
        Number of rows that vote; None: all of them (use it with ``weights="gaussian"`` or ``"distance"``).
    weights : {"uniform", "distance", "gaussian"}, callable or None, default="uniform"
        1; 1/d; exp(−d²/2h²) with h = ``bandwidth``; or a function of the array of distances.
    algorithm : {"auto", "kd_tree", "ball_tree", "brute"}, default="auto"
        The search algorithm; the result is the same. ``algorithm_`` says what was used ("ball_tree" is searched by
        the k-d tree, or by brute force where the metric has no boxes).
    leaf_size : int ≥ 1, default=30
        Most rows in a leaf of the tree.
    p : float > 0, default=2
        Power of the minkowski distance.
    metric : str or callable, default="minkowski"
        euclidean, manhattan, chebyshev, minkowski, cosine, precomputed (a sparse matrix holds the distances that are
        known), or a function of two rows, whose axioms are checked on a dozen training rows. scikit-learn's other
        metrics by name ("nan_euclidean" leaves missing cells out) are computed by scikit-learn, and its DistanceMetric
        objects by themselves.
    metric_params : dict, default=None
        ``p`` and ``w`` (weights of the features), or arguments of the function.
    n_jobs : int, default=None
        Threads; None: all cores.
    feature_weights : array of shape (n_features,), default=None
        Weights wⱼ ≥ 0 inside the distance: (Σ wⱼ|xⱼ − qⱼ|ᵖ)^(1/p).
    bandwidth : float > 0, default=None
        h of the gaussian weights; None: the median distance of a training row to its n_neighbors-th (√n-th
        when that is None) other row.
    check_metric : bool, default=True
        Whether to check the axioms of a function given as metric.

    Attributes
    ----------
    classes_ : array of labels, or list of arrays for several outputs
    algorithm_ : str
    bandwidth_ : float
        Only with gaussian weights.
    effective_metric_, effective_metric_params_, n_samples_fit_, outputs_2d_, n_features_in_ :
        As in scikit-learn.
    certificate_ : Certificate
        The stored rows are the training rows, and how many training errors are unavoidable;
        `certificate_for` proves the neighbours of queries.

    Notes
    -----
    Sparse X is converted to dense. Neighbours at equal distance are ordered by row number (unspecified in
    scikit-learn).

    References
    ----------
    T. Cover and P. Hart, "Nearest neighbor pattern classification", IEEE Trans. Information Theory 13 (1967).

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> model = KNeighborsClassifier(n_neighbors=3).fit(X, y)
    >>> model.predict([[1.1]]).tolist()
    ['a']
    >>> print(model.certificate_for([[1.1]]).claim)
    By euclidean distance, the listed 3 rows are the 3 nearest training rows to the query, equal distances by lower
    row number: the last lies within 1.1, all others at least 0.8 farther away.
    >>> float(model.predict_proba([[1.1]])[0, 0].round(4))
    0.6667
    """

    def predict_proba(self, X: Matrix) -> Any:
        """Fraction of the (weighted) vote for each class: (n, n_classes), a list of them for several outputs.

        X=None means the training rows, none of which is its own neighbour.
        """
        check_is_fitted(self, "n_samples_fit_")
        sets = self.classes_ if self.outputs_2d_ else [self.classes_]
        parts: list[list[Array]] = [[] for _ in sets]
        for _, rows, w in self._voting(X):
            for j, classes in enumerate(sets):
                codes = self._codes[:, j]
                if rows is not None:
                    parts[j].append(_votes.shares(codes[rows], len(classes), w))
                else:
                    votes = w @ np.eye(len(classes))[codes]
                    parts[j].append(votes / votes.sum(axis=1, keepdims=True))
        joined = [np.vstack(p) for p in parts]
        return joined if self.outputs_2d_ else joined[0]

    def predict(self, X: Matrix) -> Array:
        """The class with the most votes (ties: the first of ``classes_``); X as in `predict_proba`."""
        shares = self.predict_proba(X)
        if not self.outputs_2d_:
            return np.asarray(self.classes_[np.argmax(shares, axis=1)])
        return np.stack([c[np.argmax(s, axis=1)] for c, s in zip(self.classes_, shares)], axis=1)

    _score_name = "accuracy"

    def _fold_path(self, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
        """Shared work for `certifit.model_selection`: one search answers every k, weighting and fold."""
        require(set(response) <= {"predict", "predict_proba"}, "the score needs other predictions")
        read, points = read_neighbors(self, table, grid, labels=True)
        require(type_of_target(read.y) in ("binary", "multiclass"), "fit rejects the labels")
        return neighbor_answers(self, read, grid, points, class_votes(read.y, response))


class KNeighborsRegressor(ValueAnswers, Searcher):
    """Mean of the nearest training rows' values, in exact order, with a proof for every query.

    ŷ(x) = Σ wᵢyᵢ / Σ wᵢ over the k nearest rows i.

    Parameters
    ----------
    n_neighbors, weights, algorithm, leaf_size, p, metric, metric_params, n_jobs :
        As in `KNeighborsClassifier`.
    feature_weights, bandwidth, check_metric :
        As in `KNeighborsClassifier`. ``n_neighbors=None`` with ``weights="gaussian"`` is kernel regression
        (Nadaraya and Watson).

    Attributes
    ----------
    algorithm_, bandwidth_, effective_metric_, effective_metric_params_, n_samples_fit_, n_features_in_ :
        As in `KNeighborsClassifier`.
    certificate_ : Certificate
        The stored rows are the training rows, and the squared error that is unavoidable.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> KNeighborsRegressor(n_neighbors=2).fit(X, y).predict([[2.4]]).tolist()
    [6.5]
    """

    def predict(self, X: Matrix) -> Array:
        """The (weighted) mean of the neighbours' values.

        X=None means the training rows, none of which is its own neighbour.
        """
        parts = []
        for _, rows, w in self._voting(X):
            if rows is not None:
                parts.append(_votes.means(self._values[rows], w))
            else:
                parts.append(w @ self._values / w.sum(axis=1)[:, None])
        out = np.vstack(parts)
        return out[:, 0] if self._flat else out

    _score_name = "r2"

    def _fold_path(self, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
        """Shared work for `certifit.model_selection`: one search answers every k, weighting and fold."""
        require(response == ("predict",), "the score needs more than predictions")
        read, points = read_neighbors(self, table, grid, labels=False)
        return neighbor_answers(self, read, grid, points, value_means(read.y))
