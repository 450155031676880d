"""Losses of a row of scores, one a class: the multi-class negative log-likelihood and the multi-class hinge."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp, softmax

from certifit._types import Array, Numeric
from certifit.losses._base import Loss, Targets, entr
from certifit.losses._registry import register


@dataclass(frozen=True)
class ClassScores(Loss):
    """A loss of K scores whose slopes are p − e_y with p in the simplex (p ≥ 0, Σp = 1).

    z has shape (n, K); y holds class codes 0..K−1. Slope and dual variables have the shape of z.

    Examples
    --------
    >>> [loss.name for loss in (Softmax(), MulticlassHinge()) if isinstance(loss, ClassScores)]
    ['softmax', 'multiclass_hinge']
    """

    targets: ClassVar[Targets] = "class"

    @staticmethod
    def one_hot(y: Array, k: int) -> Array:
        """Rows e_y of length k.

        Parameters
        ----------
        y : (n,) array of int
            Classes 0 … k − 1.
        """
        return np.asarray(np.asarray(y)[:, None] == np.arange(k), dtype=float)

    @abstractmethod
    def constants(self, mass: Array) -> Array:
        """The best constant scores.

        Parameters
        ----------
        mass : (K,) array
            Weight of each class.
        """

    def domain(self, y: Array) -> tuple[Array, Array]:
        raise TypeError(f"The domain of {self.name} is a simplex, not an interval: p = u + e_y ≥ 0 with sum one.")


@register
@dataclass(frozen=True)
class Softmax(ClassScores):
    r"""Softmax loss :math:`\log\sum_k e^{z_k} - z_y` of a row of K scores.

    ``curvature`` is the diagonal p(1−p) of the Hessian diag(p) − ppᵀ.

    Examples
    --------
    >>> float(Softmax().value(np.zeros((1, 4)), np.array([2])).round(6)[0])
    1.386294
    """

    name: ClassVar[str] = "softmax"
    smooth: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 0.5

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        if hasattr(z, "entropy"):  # error-bounded numbers
            return _log_sum_exp(*_shifted(z)) - z[np.arange(len(y)), y]
        z = np.asarray(z)
        return logsumexp(z, axis=1) - np.take_along_axis(z, np.asarray(y)[:, None], axis=1)[:, 0]

    def value_slope(self, z: Array, y: Array) -> tuple[Array, Array]:
        # One shift serves all rows unless scores are far apart: a maximum per row is slow for few classes.
        top, bottom = z.max(), z.min()
        p = z - (top if top - bottom < 500.0 else z.max(axis=1, keepdims=True))
        flat, at = p.reshape(-1), np.arange(0, p.size, p.shape[1]) + y
        own = flat[at]
        np.exp(p, out=p)
        total = p @ np.ones(p.shape[1])
        p /= total[:, None]
        value = np.log(total) - own
        flat[at] -= 1.0
        return value, p

    def slope(self, z: Array, y: Array) -> Array:
        return softmax(z, axis=1) - self.one_hot(y, z.shape[1])

    def curvature(self, z: Array, y: Array) -> Array:
        p = softmax(z, axis=1)
        return p * (1.0 - p)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        # u = p − e_y with p in the simplex; the conjugate is Σ p log p.
        return -1.0 * entr(u + self.one_hot(y, u.shape[1])).sum(axis=1)

    def constants(self, mass: Array) -> Array:
        return np.log(np.maximum(mass / max(float(mass.sum()), 1e-300), 1e-300))

    def fenchel_young(self, z: Numeric, u: Numeric, y: Numeric) -> Numeric:
        # lse(z) + Σ p log p − p·z with p = u + e_y; because Σp = 1, scores may be shifted, and small ones round less.
        p, (shifted, _) = u + self.one_hot(y, u.shape[1]), _shifted(z)
        return _log_sum_exp(shifted, 0.0) - entr(p).sum(axis=1) - (p * shifted).sum(axis=1)


@register
@dataclass(frozen=True)
class MulticlassHinge(ClassScores):
    r"""Crammer and Singer's hinge :math:`\max_k(z_k + [k \ne y]) - z_y` of a row of K scores.

    Zero where the score of the true class exceeds all others by at least 1. A tie counts as a mistake in the slope.

    Examples
    --------
    >>> loss, z = MulticlassHinge(), np.array([[2.0, 0.5, 1.5]])
    >>> [float(loss.value(z, np.array([k]))[0]) for k in range(3)]
    [0.5, 2.5, 1.5]
    """

    name: ClassVar[str] = "multiclass_hinge"

    def _asked(self, z: Numeric, y: Numeric) -> Numeric:
        """z + [k ≠ y]: the largest of these is what the own score falls short of."""
        return z + (1.0 - self.one_hot(y, z.shape[1]))

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return _largest(self._asked(z, y)) - z[np.arange(len(y)), y]

    def slope(self, z: Array, y: Array) -> Array:
        own, asked = self.one_hot(y, z.shape[1]), self._asked(z, y)
        others = np.where(own > 0.0, -np.inf, asked)
        wrong = others.max(axis=1) >= asked[np.arange(len(y)), y]
        return (self.one_hot(others.argmax(axis=1), z.shape[1]) - own) * wrong[:, None]

    def curvature(self, z: Array, y: Array) -> Array:
        return np.zeros(z.shape)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        # u = p − e_y with p in the simplex; the conjugate is p_y − 1, the others' share with a minus.
        return -1.0 * (u * (1.0 - self.one_hot(y, u.shape[1]))).sum(axis=1)

    def constants(self, mass: Array) -> Array:
        # Its dual is the largest circulation between classes that send at most their mass: all of it, unless one
        # class outweighs the others together.
        ahead = 2.0 * float(mass.max()) > float(mass.sum())
        return (np.arange(len(mass)) == mass.argmax()) * float(ahead)

    def fenchel_young(self, z: Numeric, u: Numeric, y: Numeric) -> Numeric:
        # Σ p_k (largest − asked_k) with p = u + e_y: no term is negative.
        p, asked = u + self.one_hot(y, u.shape[1]), self._asked(z, y)
        top = _largest(asked)
        return (p * (top.reshape(len(y), 1) - asked)).sum(axis=1)


def _largest(x: Numeric) -> Numeric:
    """The largest entry of each row, also of error-bounded numbers."""
    return reduce(np.maximum, (x[:, k] for k in range(x.shape[1])))


def _shifted(z: Numeric) -> tuple[Any, Array]:
    """Scores less about the largest of their row (of error-bounded numbers: the largest middle), and that."""
    top = np.asarray(getattr(z, "mid", z), dtype=float).max(axis=1)
    return z - top[:, None], top


def _log_sum_exp(shifted: Numeric, top: Numeric) -> Numeric:
    """log Σ exp over the columns of scores that were shifted by ``top``."""
    return np.log(np.exp(shifted).sum(axis=1)) + top
