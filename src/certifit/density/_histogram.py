"""Histograms as densities: the maximum-likelihood density that is constant on cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from certifit._certified import Certified
from certifit._sklearn import check_sample_weight
from certifit._types import Array, Matrix, RandomState, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates.density import cells

_MOST = 1_000_000  # cells


@dataclass(eq=False, repr=False)
class Histogram(Certified, BaseEstimator):
    r"""A density that is constant on cells: on a cell with a fraction p of the rows and volume v it is p/v.

    .. math:: f(x) = \frac{1}{\sum_i s_i} \sum_i \frac{s_i\,[x_i \text{ in the cell of } x]}{\text{volume of the cell}}

    Parameters
    ----------
    bins : int ≥ 1, str or sequence, default="auto"
        Cells per column, a rule of `numpy.histogram_bin_edges`, or the edges (for several columns a sequence of edges).
        A rule gives fewer cells where there would be more than a million.

    Attributes
    ----------
    edges_ : list of ndarray
    heights_ : ndarray, one axis for each column
    certificate_ : Certificate
        The heights are the counts per volume.

    Examples
    --------
    >>> model = Histogram(bins=2).fit([[0.0], [0.5], [1.0], [2.0]])
    >>> model.heights_.tolist(), model.certificate_.holds
    ([0.5, 0.5], True)
    """

    bins: Any = "auto"

    def fit(self, X: Matrix, y: VectorLike | None = None, sample_weight: Weights = None) -> Histogram:
        """Count rows X in cells, each ``sample_weight`` times; y is ignored."""
        X = validate_data(self, X, dtype=np.float64)
        weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.edges_ = self._edges(np.repeat(X, _copies(weights), axis=0), X.shape[1])
        shape = tuple(len(e) - 1 for e in self.edges_)
        if np.prod([float(k) for k in shape]) > _MOST:
            raise ValueError(f"{shape} are too many cells: use fewer bins, or KernelDensity for many columns.")
        cell, inside = cells(X, self.edges_)
        counts = np.bincount(cell[inside], weights[inside], int(np.prod(shape)))
        volume = np.ones(())
        for e in self.edges_:
            volume = np.multiply.outer(volume, np.diff(e))
        self.heights_ = (counts / (weights.sum() * volume.ravel())).reshape(shape)
        evidence = {
            "edges": np.concatenate(self.edges_),
            "bins": np.array(shape),
            "heights": self.heights_.ravel(),
        }
        given = None if sample_weight is None else weights
        self._promise_certificate("histogram", evidence, X, None, given)
        return self

    def _edges(self, X: Array, d: int) -> list[Array]:
        if d > 32:
            raise ValueError(f"A histogram of {d} columns has too many cells: use KernelDensity, or fewer columns.")
        if isinstance(self.bins, (int, np.integer)):
            return [np.histogram_bin_edges(X[:, j], self.bins) for j in range(d)]
        if isinstance(self.bins, str):
            counts = [len(np.histogram_bin_edges(X[:, j], self.bins)) - 1 for j in range(d)]
            fits = np.prod([float(c) for c in counts]) <= _MOST
            most = max(counts) if fits else max(1, int(_MOST ** (1.0 / d)))
            return [np.histogram_bin_edges(X[:, j], min(c, most)) for j, c in enumerate(counts)]
        given = [np.asarray(self.bins, dtype=float)] if np.ndim(self.bins[0]) == 0 else list(self.bins)
        edges = [np.asarray(e, dtype=float) for e in given]
        if len(edges) != d or any(len(e) < 2 or np.any(np.diff(e) <= 0) for e in edges):
            raise ValueError(f"bins must contain increasing edges for each of the {d} columns.")
        return edges

    def score_samples(self, X: Matrix) -> Array:
        """Log of the density at each row of X; −inf outside of all cells."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        cell, inside = cells(X, self.edges_)
        with np.errstate(divide="ignore"):
            return np.where(inside, np.log(self.heights_.ravel()[cell]), -np.inf)

    def score(self, X: Matrix, y: VectorLike | None = None) -> float:
        """Sum of the log densities of rows X."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw rows: a cell by its probability, then a point in it.

        Parameters
        ----------
        n_samples : int ≥ 1, default=1
        random_state : int, RandomState or None, default=None

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        rng, share = check_random_state(random_state), self.heights_.copy()
        for j, e in enumerate(self.edges_):
            share = share * np.diff(e).reshape([-1 if k == j else 1 for k in range(share.ndim)])
        chosen = rng.choice(share.size, size=n_samples, p=share.ravel() / share.sum())
        at = np.unravel_index(chosen, share.shape)
        columns = [e[i] + rng.uniform(size=n_samples) * np.diff(e)[i] for i, e in zip(at, self.edges_)]
        return np.column_stack(columns)


def _copies(weights: Array) -> Array:
    """Rows as often as they count for a rule of bins; weights that are not whole count once."""
    whole = np.all(weights == np.round(weights)) and weights.sum() < 1e7
    return weights.astype(np.int64) if whole else (weights > 0).astype(np.int64)
