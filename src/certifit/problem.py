r"""One objective: hypothesis, loss, regularizer and data.

.. math:: J(w, b) = \frac1S\Big(\sum_i s_i\,L(w\cdot x_i + b,\ y_i)\Big) + \lambda R(w), \qquad S = \sum_i s_i

Weights enter through their sum, so that weight k is the same as k copies. The offset b is never penalised.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from certifit._types import Array
from certifit.certificates._balance import balance
from certifit.design import Design
from certifit.losses import Loss, best_offset
from certifit.regularizers import Regularizer


@dataclass(frozen=True)
class Problem:
    """J and its derivatives for one target.

    Attributes
    ----------
    design : Design
    y : (n,) array
        Real targets, or −1/+1.
    loss : Loss
    regularizer : Regularizer
    lam : float ≥ 0
    weights : (n,) array or None
    fit_intercept : bool

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit.losses import Squared
    >>> from certifit.regularizers import Zero
    >>> p = Problem(as_design(np.eye(2)), np.array([1.0, 3.0]), Squared(), Zero(), 0.0, None, True)
    >>> p.objective(np.zeros(2), 2.0)
    1.0
    """

    design: Design
    y: Array
    loss: Loss
    regularizer: Regularizer
    lam: float
    weights: Array | None
    fit_intercept: bool

    @property
    def s(self) -> Array:
        """Weights (ones when none were given)."""
        return np.ones(self.design.shape[0]) if self.weights is None else self.weights

    @property
    def total(self) -> float:
        return float(self.s.sum())

    def scores(self, w: Array, b: float) -> Array:
        return self.design.product(w) + b

    def objective(self, w: Array, b: float) -> float:
        """J(w, b)."""
        return self.objective_at(self.scores(w, b), w)

    def objective_at(self, z: Array, w: Array) -> float:
        """J from scores that are already known."""
        data = float(self.s @ self.loss.value(z, self.y)) / self.total
        return data + self.lam * float(self.regularizer.value(w))

    def gradient(self, w: Array, b: float) -> tuple[Array, float]:
        """∇J of the loss part plus that of a smooth regularizer."""
        rho = self.s * self.loss.slope(self.scores(w, b), self.y) / self.total
        g = self.design.product_t(rho) + self.lam * self.regularizer.gradient(w)
        return g, float(rho.sum()) if self.fit_intercept else 0.0

    def best_intercept(self, w: Array) -> float:
        """argmin_b J(w, b)."""
        return best_offset(self.loss, self.design.product(w), self.y, self.s) if self.fit_intercept else 0.0

    def dual_value(self, w: Array, b: float) -> float:
        """A lower bound on min J from the slopes at (w, b), best offset assumed; −inf where there is none."""
        low, high = self.loss.domain(self.y)
        with np.errstate(invalid="ignore"):
            low, high = np.nan_to_num(self.s * low, nan=0.0), np.nan_to_num(self.s * high, nan=0.0)
        beta = np.clip(self.s * self.loss.slope(self.scores(w, b), self.y), low, high)
        balanced = balance(beta, low, high) if self.fit_intercept else beta
        if self.lam == 0.0 or balanced is None:
            return -np.inf
        beta = balanced
        u = beta / np.where(self.s > 0, self.s, 1.0)
        v = -self.design.product_t(beta) / (self.lam * self.total)
        shrink = min(1.0, 1.0 / max(float(self.regularizer.gauge(v)), 1e-300))
        data = float(self.s @ self.loss.conjugate(shrink * u, self.y)) / self.total
        return -data - self.lam * float(self.regularizer.conjugate(shrink * v))

    def with_lam(self, lam: float) -> Problem:
        """The same problem at another λ."""
        return replace(self, lam=lam)
