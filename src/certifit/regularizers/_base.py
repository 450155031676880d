"""What every regularizer can be asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from certifit._registry import fields_of
from certifit._types import Array, Numeric, Record


class Regularizer(ABC):
    r"""A convex penalty on the coefficients (see the package docstring).

    A penalty :math:`R(w)` with prox :math:`\arg\min_v \tfrac12\lVert v - w\rVert^2 + t R(v)` and conjugate
    :math:`R^*(u) = \sup_w\,(u\cdot w - R(w))`.

    Examples
    --------
    >>> from certifit.regularizers import SquaredL2
    >>> penalty, w = SquaredL2(), np.array([1.0, 2.0])
    >>> float(penalty.value(w)), penalty.prox(w, 0.5).tolist()
    (5.0, [0.5, 1.0])
    """

    name: ClassVar[str]

    smooth: ClassVar[bool] = False
    """Whether there is a gradient everywhere."""

    joint: ClassVar[bool] = False
    """Whether the outputs are penalised together: then w is a matrix with one row an output."""

    @property
    def convexity(self) -> float:
        """The μ of strong convexity: R(w) − (μ/2)‖w‖² is still convex."""
        return 0.0

    @abstractmethod
    def value(self, w: Numeric) -> Numeric:
        """R(w), a number."""

    @abstractmethod
    def prox(self, w: Array, step: float) -> Array:
        """argmin_u ½‖u − w‖² + step·R(u)."""

    @abstractmethod
    def conjugate(self, v: Numeric) -> Numeric:
        """R*(v), for v inside the domain."""

    @abstractmethod
    def gauge(self, v: Numeric) -> Numeric:
        """How far v must be shrunk to lie in the domain of R* (0: never)."""

    def gradient(self, w: Array) -> Array:
        """∇R(w), for smooth regularizers."""
        raise TypeError(f"{self.name} is not smooth: it has a prox, not a gradient.")

    def fenchel_young(self, w: Numeric, v: Numeric) -> Numeric:
        """R(w) + R*(v) − v·w ≥ 0; zero exactly when v is a (sub)gradient at w."""
        return self.value(w) + self.conjugate(v) - (v * w).sum()

    def params(self) -> Record:
        """Parameters that, with the name, rebuild the regularizer."""
        return fields_of(self)
