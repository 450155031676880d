"""The multi-class negative log-likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp, softmax

from certifit._types import Array, Numeric
from certifit.losses._base import Loss, Targets, entr
from certifit.losses._registry import register


@register
@dataclass(frozen=True)
class Softmax(Loss):
    r"""Softmax loss :math:`\log\sum_k e^{z_k} - z_y` of a row of K scores.

    z has shape (n, K); y holds class codes 0..K−1. Slope and dual variables have the shape of z;
    ``curvature`` is the diagonal p(1−p) of the Hessian diag(p) − ppᵀ.

    Examples
    --------
    >>> float(Softmax().value(np.zeros((1, 4)), np.array([2])).round(6)[0])
    1.386294
    """

    name: ClassVar[str] = "softmax"
    targets: ClassVar[Targets] = "class"
    smooth: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 0.5

    @staticmethod
    def one_hot(y: Array, k: int) -> Array:
        """Rows e_y of length k.

        Parameters
        ----------
        y : (n,) array of int
            Classes 0 … k − 1.
        """
        return np.asarray(np.asarray(y)[:, None] == np.arange(k), dtype=float)

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        if hasattr(z, "entropy"):  # error-bounded numbers
            return _log_sum_exp(*_shifted(z)) - z[np.arange(len(y)), y]
        z = np.asarray(z)
        return logsumexp(z, axis=1) - np.take_along_axis(z, np.asarray(y)[:, None], axis=1)[:, 0]

    def value_slope(self, z: Array, y: Array) -> tuple[Array, Array]:
        # One shift serves all rows unless scores are far apart: a maximum per row is slow for few classes.
        top, bottom = z.max(), z.min()
        shifted = z - (top if top - bottom < 500.0 else z.max(axis=1, keepdims=True))
        own = np.take_along_axis(shifted, np.asarray(y)[:, None], axis=1)[:, 0]
        p = np.exp(shifted, out=shifted)
        total = p @ np.ones(p.shape[1])
        p /= total[:, None]
        value = np.log(total) - own
        p[np.arange(len(p)), y] -= 1.0
        return value, p

    def slope(self, z: Array, y: Array) -> Array:
        return softmax(z, axis=1) - self.one_hot(y, z.shape[1])

    def curvature(self, z: Array, y: Array) -> Array:
        p = softmax(z, axis=1)
        return p * (1.0 - p)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        # u = p − e_y with p in the simplex; the conjugate is Σ p log p.
        return -1.0 * entr(u + self.one_hot(y, u.shape[1])).sum(axis=1)

    def domain(self, y: Array) -> tuple[Array, Array]:
        raise TypeError("The softmax domain is a simplex, not an interval: p = u + e_y ≥ 0 with sum one.")

    def fenchel_young(self, z: Numeric, u: Numeric, y: Numeric) -> Numeric:
        # lse(z) + Σ p log p − p·z with p = u + e_y; because Σp = 1, scores may be shifted, and small ones round less.
        p, (shifted, _) = u + self.one_hot(y, u.shape[1]), _shifted(z)
        return _log_sum_exp(shifted, 0.0) - entr(p).sum(axis=1) - (p * shifted).sum(axis=1)


def _shifted(z: Numeric) -> tuple[Any, Array]:
    """Scores less about the largest of their row (of error-bounded numbers: the largest middle), and that."""
    top = np.asarray(getattr(z, "mid", z), dtype=float).max(axis=1)
    return z - top[:, None], top


def _log_sum_exp(shifted: Numeric, top: Numeric) -> Numeric:
    """log Σ exp over the columns of scores that were shifted by ``top``."""
    return np.log(np.exp(shifted).sum(axis=1)) + top
