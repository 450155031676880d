"""Nyström features: a kernel seen from some of the rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state

from certifit._sklearn import Interval, StrOptions, usual
from certifit._types import Array, Matrix, RandomState, VectorLike
from certifit._validation import check_is_fitted
from certifit.kernels import Gaussian
from certifit.preprocessing._base import numbers

_SMALL = 1e-10  # fraction of the largest eigenvalue below which a direction is rounding


@dataclass(eq=False, repr=False)
class NystroemBasis(TransformerMixin, BaseEstimator):
    r"""Features :math:`K_{xm} K_{mm}^{-1/2}` of the Gaussian kernel :math:`e^{-\gamma\lVert x-z\rVert^2}` and m rows.

    Products of features equal the kernel among the m rows (the landmarks) and approach it elsewhere as m grows. A
    linear model of them is a convex problem in m numbers, whatever the number of rows.

    Parameters
    ----------
    n_components : int ≥ 1, default=300
        m, at most the number of rows.
    gamma : float > 0 or "scale", default="scale"
        "scale" is 1 / (columns · variance of all numbers in X).
    random_state : int, RandomState or None, default=None
        Chooses the landmarks.

    Attributes
    ----------
    landmarks_ : (m, d) array
    map_ : (m, rank) array
    gamma_ : float
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> Z = NystroemBasis(gamma=0.5).fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, np.exp(-0.5 * (X - X.T) ** 2)))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "gamma": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"scale"})],
        "random_state": ["random_state"],
    } | usual("n_components≥1")

    n_components: int = 300
    _: KW_ONLY
    gamma: float | str = "scale"
    random_state: RandomState = None

    def fit(self, X: Matrix, y: VectorLike | None = None) -> NystroemBasis:
        """Choose the landmarks and factor their Gram matrix."""
        self._validate_params()
        X = numbers(self, X, reset=True)
        rng = check_random_state(self.random_state)
        spread = float(X.var())
        self.gamma_ = 1.0 / (X.shape[1] * spread if spread > 0 else 1.0) if self.gamma == "scale" else float(self.gamma)
        chosen = np.sort(rng.permutation(len(X))[: self.n_components])
        self.landmarks_ = X[chosen].astype(float)
        values, vectors = np.linalg.eigh(self._kernel(self.landmarks_))
        kept = values > _SMALL * values[-1]
        self.map_ = vectors[:, kept] / np.sqrt(values[kept])
        self._n_features_out = self.map_.shape[1]
        return self

    def _kernel(self, X: Array) -> Array:
        kernel = Gaussian(sigma=float(np.sqrt(0.5 / self.gamma_)))
        return np.asarray(kernel.gram(np.ascontiguousarray(X, dtype=float), self.landmarks_))

    def transform(self, X: Matrix) -> Array:
        """The features of each row, (n, rank)."""
        check_is_fitted(self)
        X = numbers(self, X, reset=False)
        return np.asarray(self._kernel(X) @ self.map_).astype(X.dtype, copy=False)

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> Array:
        """Names "nystroem0", "nystroem1" and so on."""
        check_is_fitted(self)
        return np.array([f"nystroem{k}" for k in range(self.map_.shape[1])], dtype=object)
