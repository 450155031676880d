"""The usual kernels, and two ways to add one's own: a feature map and a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix, Numeric
from certifit.kernels._base import PLAIN, Arithmetic, Kernel, Proof, register

_EXPONENT_CAP = 600.0  # e^600 squared would overflow; tanh is 1 to the last digit long before


@register
@dataclass(frozen=True)
class Linear(Kernel):
    r"""Linear kernel :math:`k(x, z) = x^\top z`.

    Examples
    --------
    >>> float(Linear()([[1.0, 2.0]], [[3.0, 4.0]])[0, 0])
    11.0
    """

    name: ClassVar[str] = "linear"

    @property
    def proof(self) -> Proof:
        return Proof("an inner product: vᵀKv = ‖Σ vᵢxᵢ‖² ≥ 0")

    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return arithmetic.products(X, Z)

    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return arithmetic.squares(X)


def _power(base: Numeric, degree: int) -> Numeric:
    """Integer power by multiplications, so that it runs in any arithmetic."""
    result = base
    for bit in bin(degree)[3:]:
        result = result * result
        if bit == "1":
            result = result * base
    return result


@register
@dataclass(frozen=True)
class Polynomial(Kernel):
    r"""Polynomial kernel :math:`k(x, z) = (\gamma\, x^\top z + c)^p`.

    Parameters
    ----------
    degree : int ≥ 1, default=2
    offset : float, default=1.0
        c; Mercer when c ≥ 0 (the features are then all monomials up to degree p).
    gamma : float, default=1.0
        γ; Mercer when γ ≥ 0.

    Examples
    --------
    >>> float(Polynomial(degree=2, offset=0)([[1.0, 2.0]], [[3.0, 4.0]])[0, 0])
    121.0
    """

    degree: int = 2
    offset: float = 1.0
    gamma: float = 1.0

    name: ClassVar[str] = "polynomial"

    def __post_init__(self) -> None:
        if int(self.degree) != self.degree or self.degree < 1:
            raise ValueError(f"The degree of a polynomial kernel is an integer ≥ 1, not {self.degree}.")

    @property
    def proof(self) -> Proof | None:
        if self.offset < 0 or self.gamma < 0:
            return None
        below = (Linear().proof, Proof("a constant ≥ 0"))
        return Proof("a product of sums of Mercer kernels: (γ k + c)^p with γ, c ≥ 0", below)

    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return self._formula(arithmetic.products(X, Z))

    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return self._formula(arithmetic.squares(X))

    def _formula(self, products: Numeric) -> Numeric:
        return _power(products * self.gamma + self.offset, int(self.degree))


@register
@dataclass(frozen=True)
class RBF(Kernel):
    r"""Radial kernel :math:`k(x, z) = \exp(-\gamma \lVert x - z\rVert^2)`.

    Parameters
    ----------
    gamma : float > 0, default=0.5

    Examples
    --------
    >>> float(RBF(gamma=0.5)([[0.0]], [[2.0]])[0, 0].round(6))
    0.135335
    """

    gamma: float = 0.5

    name: ClassVar[str] = "rbf"

    @property
    def proof(self) -> Proof | None:
        if self.gamma < 0:
            return None
        series = Proof("exp(2γ xᵀz): a limit of sums of products of Mercer kernels", (Linear().proof,))
        return Proof("f(x) k(x, z) f(z) with f(x) = exp(−γ‖x‖²) and k Mercer", (series,))

    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        # ‖x − z‖² = ‖x‖² + ‖z‖² − 2xᵀz loses digits when the rows are long beside their distances, so the
        # caller is free to shift them; the distance is cut at zero, where cancellation could cross it.
        square = arithmetic.squares(X).reshape(-1, 1) + arithmetic.squares(Z).reshape(1, -1)
        square = np.maximum(square - 2.0 * arithmetic.products(X, Z), 0.0)
        return np.exp(square * (-float(self.gamma)))

    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return arithmetic.exact(np.ones(X.shape[0]))


def Gaussian(sigma: float = 1.0) -> RBF:
    r"""Gaussian kernel :math:`k(x, z) = \exp(-\lVert x - z\rVert^2 / 2\sigma^2)`: RBF with γ = 1/(2σ²).

    Parameters
    ----------
    sigma : float > 0, default=1.0

    Examples
    --------
    >>> Gaussian(sigma=1.0).gamma
    0.5
    """
    if not sigma > 0:
        raise ValueError(f"The width of a Gaussian kernel is positive, not {sigma}.")
    return RBF(gamma=1.0 / (2.0 * sigma * sigma))


@register
@dataclass(frozen=True)
class Sigmoid(Kernel):
    r"""Sigmoid kernel :math:`k(x, z) = \tanh(\gamma\, x^\top z + c)`; not Mercer in general.

    Parameters
    ----------
    gamma : float, default=1.0
    offset : float, default=0.0

    Examples
    --------
    >>> Sigmoid().proof is None
    True
    >>> float(Sigmoid()([[1.0]], [[1.0]])[0, 0].round(6))
    0.761594
    """

    gamma: float = 1.0
    offset: float = 0.0

    name: ClassVar[str] = "sigmoid"

    @property
    def proof(self) -> None:
        return None

    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return self._formula(arithmetic.products(X, Z))

    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return self._formula(arithmetic.squares(X))

    def _formula(self, products: Numeric) -> Numeric:
        t = np.minimum(2.0 * (products * float(self.gamma) + float(self.offset)), _EXPONENT_CAP)
        return 1.0 - 2.0 / (np.exp(t) + 1.0)


@dataclass(frozen=True)
class FeatureMap(Kernel):
    r"""Kernel of a feature map: :math:`k(x, z) = \varphi(x)^\top \varphi(z)`.

    Parameters
    ----------
    phi : callable
        Takes rows X, returns one row of features for each (for one-dimensional features, a column).

    Examples
    --------
    >>> k = FeatureMap(lambda X: np.column_stack([X[:, 0], X[:, 0] ** 2]))
    >>> float(k([[2.0]], [[3.0]])[0, 0])
    42.0
    """

    phi: Callable[[Any], Any]

    @property
    def proof(self) -> Proof:
        return Proof("an inner product of features: vᵀKv = ‖Σ vᵢφ(xᵢ)‖² ≥ 0")

    def _features(self, X: Matrix) -> Matrix:
        features = self.phi(X)
        if scipy.sparse.issparse(features):
            return features.tocsr()
        features = np.asarray(features, dtype=float)
        return features.reshape(X.shape[0], -1)

    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return arithmetic.products(self._features(X), self._features(Z))

    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return arithmetic.squares(self._features(X))


@dataclass(frozen=True)
class Function(Kernel):
    """A user-defined function (X, Z) → Gram matrix, like scikit-learn's callable kernels; without a proof.

    Parameters
    ----------
    function : callable

    Examples
    --------
    >>> distance = Function(lambda X, Z: -abs(X[:, 0][:, None] - Z[:, 0][None, :]))
    >>> float(distance([[1.0]], [[3.0]])[0, 0]), distance.proof
    (-2.0, None)
    """

    function: Callable[[Any, Any], Any]

    @property
    def proof(self) -> None:
        return None

    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        K = self.function(X, Z)
        K = np.asarray(K.toarray() if scipy.sparse.issparse(K) else K, dtype=float)
        if K.shape != (X.shape[0], Z.shape[0]):
            raise ValueError(
                f"The kernel function returned shape {K.shape} for {X.shape[0]} by {Z.shape[0]} rows; "
                "it must return one value for each pair."
            )
        return arithmetic.exact(K)

    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        values = [self.gram(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])]
        return arithmetic.exact(np.array(values, dtype=float))


@register
@dataclass(frozen=True)
class Precomputed(Kernel):
    """The given rows are rows of a Gram matrix already.

    Examples
    --------
    >>> Precomputed()(np.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    name: ClassVar[str] = "precomputed"

    @property
    def proof(self) -> None:
        return None

    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return arithmetic.exact(X)

    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Array:
        raise ValueError("A precomputed kernel knows k(x, x) only for the rows it was computed from.")
