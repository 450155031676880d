"""What every loss can be asked."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import scipy.special

from certifit._registry import fields_of
from certifit._types import Array, Numeric, Record

Targets: TypeAlias = Literal["real", "sign", "class", "mean"]


def entr(x: Numeric) -> Numeric:
    """−x log x with 0 log 0 = 0, also of error-bounded numbers."""
    # SciPy's function stops being a ufunc (and so ignores other number types) under SCIPY_ARRAY_API.
    return x.entropy() if hasattr(x, "entropy") else scipy.special.entr(x)


def sigmoid(x: Numeric) -> Numeric:
    """1/(1 + e^−x), also of error-bounded numbers and of whatever else brings its own."""
    return x.sigmoid() if hasattr(x, "sigmoid") else scipy.special.expit(x)


def softplus(x: Numeric) -> tuple[Numeric, Numeric]:
    """log(1 + e^x) and its slope; for numbers that bring their own, error-bounded ones above all, from one e^x."""
    return x.softplus() if hasattr(x, "softplus") else (np.logaddexp(0.0, x), sigmoid(x))


def log_ratio(a: float, b: float) -> float | None:
    """log(a/b) of positive numbers; None for others."""
    return math.log(a) - math.log(b) if 0.0 < a < math.inf and 0.0 < b < math.inf else None


def capped(x: Numeric, cap: float) -> Numeric:
    """An exponent, cut where a float would overflow; error-bounded numbers overflow, which is no proof, and are not."""
    return x if hasattr(x, "entropy") else np.minimum(x, cap)


class EvaluationLoss(ABC):
    """A loss without a slope: for evaluating predictions and choosing thresholds, not for optimisation.

    Examples
    --------
    >>> from certifit.losses import ZeroOne
    >>> isinstance(ZeroOne(), EvaluationLoss), ZeroOne().value(np.array([-1.0, 1.0]), np.ones(2)).tolist()
    (True, [1.0, 0.0])
    """

    name: ClassVar[str]

    @abstractmethod
    def value(self, z: Numeric, y: Numeric) -> Numeric:
        """L(z, y), pointwise."""


class Loss(EvaluationLoss):
    r"""A convex loss with everything that solvers and certificates need (see the package docstring).

    A loss of a score z against a target y: :math:`L(z, y)`, with slope :math:`\partial L/\partial z`, curvature
    :math:`\partial^2 L/\partial z^2` and conjugate :math:`L^*(u, y) = \sup_z\,(uz - L(z, y))`. Scores z, slopes u and
    targets y are arrays of one shape.

    Examples
    --------
    >>> from certifit.losses import Logistic
    >>> loss, z, y = Logistic(), np.array([0.5]), np.ones(1)
    >>> u = loss.slope(z, y)
    >>> bool(np.isclose(loss.value(z, y) + loss.conjugate(u, y), u * z)[0])     # equality on the tangent
    True
    """

    targets: ClassVar[Targets]
    """What y may be: real numbers, −1/+1, class codes 0..K−1, or values whose mean a link leads to."""

    labels: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    """The smallest and the largest y the loss is for (for −1/+1 these two alone, for class codes integers)."""

    smooth: ClassVar[bool] = False
    """Whether the slope is continuous."""

    self_concordant: ClassVar[bool] = False
    """Whether |L‴| ≤ L″ (in z): then a small gradient proves a small gap even without a penalty."""

    curvature_bound: ClassVar[float] = np.inf
    """sup of the curvature (``inf`` where there is none)."""

    kinks: ClassVar[int] = 1
    """Where the slope of a loss that is not smooth jumps: how many places."""

    sgd_code: ClassVar[int | None] = None
    """The number by which the compiled loop of stochastic gradient descent knows the slope; None: it does not."""

    @abstractmethod
    def slope(self, z: Array, y: Array) -> Array:
        """dL/dz, pointwise.

        Parameters
        ----------
        z, y : arrays of one shape
            Scores and targets.
        """

    @abstractmethod
    def curvature(self, z: Array, y: Array) -> Array:
        """d²L/dz², pointwise, where it exists (0 on flat pieces).

        Parameters
        ----------
        z, y : arrays of one shape
            Scores and targets.
        """

    @abstractmethod
    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        """L*(u) = sup_z (u z − L(z, y)), for u inside the domain."""

    @abstractmethod
    def domain(self, y: Array) -> tuple[Array, Array]:
        """Ends of the interval of u where the conjugate is finite.

        Parameters
        ----------
        y : array
            Targets; the ends have its shape.
        """

    def best_constant(self, y: Array, weights: Array) -> float | None:
        """The score b that minimises Σ sᵢ L(b, yᵢ), where a formula gives it; None where a search has to.

        Parameters
        ----------
        y, weights : arrays of one shape
            Targets and their weights.
        """
        return None

    def fenchel_young(self, z: Numeric, u: Numeric, y: Numeric) -> Numeric:
        """L(z) + L*(u) − u z ≥ 0; zero exactly when u is a slope at z.

        Parameters
        ----------
        z, u, y : arrays of one shape
            Scores, slopes and targets.
        """
        return self.value(z, y) + self.conjugate(u, y) - u * z

    def value_slope(self, z: Array, y: Array) -> tuple[Array, Array]:
        """Value and slope together, where that saves an exponential.

        Parameters
        ----------
        z, y : arrays of one shape
            Scores and targets.
        """
        return self.value(z, y), self.slope(z, y)

    def value_slope_curvature(self, z: Array, y: Array) -> tuple[Array, Array, Array]:
        """Value, slope and curvature together, where that saves exponentials.

        Parameters
        ----------
        z, y : arrays of one shape
            Scores and targets.
        """
        return *self.value_slope(z, y), self.curvature(z, y)

    def level(self, y: Array) -> Array:
        """The part of the value that depends on y alone; a fit needs it once.

        Parameters
        ----------
        y : array
            Targets.
        """
        return np.zeros(np.shape(y)[:1])

    def above_level(self, z: Array, y: Array) -> tuple[Array, Array]:
        """`value_slope` without `level`.

        Parameters
        ----------
        z, y : arrays of one shape
            Scores and targets.
        """
        return self.value_slope(z, y)

    def possible(self, y: Array) -> Array:
        """Which targets the loss is for, entry by entry.

        Parameters
        ----------
        y : array
            Targets.
        """
        y = np.asarray(y)
        if self.targets == "sign":
            return np.abs(y) == 1.0
        low, high = self.labels
        return (low <= y) & (y <= high) & np.isfinite(y)

    def params(self) -> Record:
        """Parameters that, with the name, rebuild the loss."""
        return fields_of(self)
