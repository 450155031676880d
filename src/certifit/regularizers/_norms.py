"""Norms, their mixtures, and the constraint w ≥ 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy  # optimize loads on first use

from certifit._types import Array, Numeric
from certifit.regularizers._base import Regularizer
from certifit.regularizers._registry import register


@register
@dataclass(frozen=True)
class Zero(Regularizer):
    """No penalty: R(w) = 0.

    Examples
    --------
    >>> Zero().value(np.array([3.0, 4.0]))
    0.0
    """

    name: ClassVar[str] = "none"
    smooth: ClassVar[bool] = True

    def value(self, w: Numeric) -> Numeric:
        return 0.0

    def gradient(self, w: Array) -> Array:
        return np.zeros_like(w)

    def prox(self, w: Array, step: float) -> Array:
        return np.array(w, dtype=float)

    def conjugate(self, v: Numeric) -> Numeric:
        return 0.0

    def gauge(self, v: Numeric) -> Numeric:
        return np.inf

    def fenchel_young(self, w: Numeric, v: Numeric) -> Numeric:
        return -1.0 * (v * w).sum()


@register
@dataclass(frozen=True)
class SquaredL2(Regularizer):
    r"""Ridge penalty :math:`c\,\lVert w - w_0\rVert^2`, around a prior guess or around zero.

    Parameters
    ----------
    factor : float > 0, default=1.0
        c; 1 or ½ in most textbooks.
    prior : sequence of float, default=None
        w₀; zero when not given.

    Examples
    --------
    >>> float(SquaredL2(0.5).value(np.array([3.0, 4.0])))
    12.5
    """

    factor: float = 1.0
    prior: tuple[float, ...] | None = None

    name: ClassVar[str] = "l2"
    smooth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0.0 < self.factor < np.inf:
            raise ValueError(f"SquaredL2 needs a factor > 0, got {self.factor}.")
        if self.prior is not None:
            object.__setattr__(self, "prior", tuple(float(p) for p in np.ravel(self.prior)))

    @property
    def convexity(self) -> float:
        return 2.0 * self.factor

    def _centre(self) -> Array:
        return np.zeros(()) if self.prior is None else np.array(self.prior)

    def value(self, w: Numeric) -> Numeric:
        return self.factor * np.square(w - self._centre()).sum()

    def gradient(self, w: Array) -> Array:
        return 2.0 * self.factor * (w - self._centre())

    def prox(self, w: Array, step: float) -> Array:
        t = 2.0 * self.factor * step
        return (w + t * self._centre()) / (1.0 + t)

    def conjugate(self, v: Numeric) -> Numeric:
        return (v * self._centre()).sum() + np.square(v).sum() / (4.0 * self.factor)

    def gauge(self, v: Numeric) -> Numeric:
        return 0.0

    def fenchel_young(self, w: Numeric, v: Numeric) -> Numeric:
        # Completing the square avoids the cancellation of the sum.
        return self.factor * np.square(w - self._centre() - v / (2.0 * self.factor)).sum()


@register
@dataclass(frozen=True)
class L1(Regularizer):
    r"""Lasso penalty :math:`\lVert w\rVert_1`.

    Examples
    --------
    >>> L1().prox(np.array([3.0, -0.5]), 1.0)
    array([ 2., -0.])
    """

    name: ClassVar[str] = "l1"

    def value(self, w: Numeric) -> Numeric:
        return np.abs(w).sum()

    def prox(self, w: Array, step: float) -> Array:
        return np.sign(w) * np.maximum(np.abs(w) - step, 0.0)

    def conjugate(self, v: Numeric) -> Numeric:
        return 0.0

    def gauge(self, v: Numeric) -> Numeric:
        return np.abs(v).max()


@register
@dataclass(frozen=True)
class PNorm(Regularizer):
    r"""p-norm :math:`\lVert w\rVert_p` for 1 < p < ∞ (p = 2 is the plain, not the squared, norm).

    Parameters
    ----------
    p : float > 1, default=2.0

    Examples
    --------
    >>> float(PNorm(2.0).value(np.array([3.0, 4.0])))
    5.0
    """

    p: float = 2.0

    name: ClassVar[str] = "p_norm"

    def __post_init__(self) -> None:
        if not 1.0 < self.p < np.inf:
            raise ValueError(f"PNorm needs 1 < p < inf, got p={self.p}; for p=1 use L1().")

    @staticmethod
    def _norm(w: Numeric, p: float) -> Numeric:
        size = np.abs(w)
        # (w/top)^p neither overflows nor vanishes where it matters; any positive number would do for top.
        top = float(np.max(upper_end(size), initial=0.0)) or 1.0
        return np.power(np.power(size / top, p).sum(), 1.0 / p) * top

    @property
    def dual_p(self) -> float:
        """q with 1/p + 1/q = 1."""
        return self.p / (self.p - 1.0)

    def value(self, w: Numeric) -> Numeric:
        return self._norm(w, self.p)

    def prox(self, w: Array, step: float) -> Array:
        # Moreau: prox of a norm is w minus the projection onto the dual ball of radius `step`.
        return np.asarray(w) - _project_ball(np.asarray(w, dtype=float), self.dual_p, step)

    def conjugate(self, v: Numeric) -> Numeric:
        return 0.0

    def gauge(self, v: Numeric) -> Numeric:
        return self._norm(v, self.dual_p)


def less_than_one(ratio: float, x: Numeric) -> Numeric:
    """1 − ρ in the arithmetic of x: where that bounds rounding, the rounding of this difference too."""
    return x.sum() * 0.0 + 1.0 - ratio if hasattr(x, "entropy") else 1.0 - ratio


def upper_end(x: Numeric) -> Array:
    """Upper ends of error-bounded numbers; plain arrays as they are."""
    return np.asarray(getattr(x, "upper", x))


def _project_ball(w: Array, q: float, radius: float) -> Array:
    """Nearest point to w with ‖·‖_q ≤ radius (1 < q < ∞), by two nested root searches.

    The projection solves x + μ x^(q−1) = |w| coordinatewise (up to sign), with μ ≥ 0 such that ‖x‖_q = radius.
    """
    size = np.abs(w)
    if radius <= 0.0:
        return np.zeros_like(w)
    if PNorm._norm(size, q) <= radius:
        return w.copy()

    if q == 2.0:
        return w * (radius / float(np.sqrt(np.sum(size * size))))

    used = size > 0
    log_size = np.log(size[used])

    def log_shrunk(log_mu: float) -> Array:
        # In t = log x the equation is log(eᵗ + μe^((q−1)t)) = log|w|: convex and nearly linear, so that Newton from
        # the right needs a few steps.
        t = np.minimum(log_size, (log_size - log_mu) / (q - 1.0))
        for _ in range(50):
            second = log_mu + (q - 1.0) * t
            total = np.logaddexp(t, second)
            step = (total - log_size) / (np.exp(t - total) + (q - 1.0) * np.exp(second - total))
            t = t - step
            if np.all(np.abs(step) <= 1e-15 * (1.0 + np.abs(t))):
                break
        return t

    def excess(log_mu: float) -> float:
        t = log_shrunk(log_mu)
        top = float(t.max())
        return top + float(np.log(np.sum(np.exp(q * (t - top))))) / q - float(np.log(radius))

    low, high = -1.0, 1.0
    while excess(low) < 0.0:
        low *= 2.0
    while excess(high) > 0.0:
        high *= 2.0
    x = np.zeros_like(size)
    x[used] = np.exp(log_shrunk(scipy.optimize.brentq(excess, low, high, xtol=1e-14, rtol=1e-15)))
    return np.sign(w) * x


@register
@dataclass(frozen=True)
class ElasticMix(Regularizer):
    r"""Elastic net penalty :math:`\rho\lVert w\rVert_1 + \tfrac12(1-\rho)\lVert w\rVert^2`.

    Parameters
    ----------
    l1_ratio : float in (0, 1), default=0.5
        ρ. Use `L1` for 1 and `SquaredL2(0.5)` for 0.

    Examples
    --------
    >>> float(ElasticMix(0.5).value(np.array([2.0])))
    2.0
    """

    l1_ratio: float = 0.5

    name: ClassVar[str] = "elastic"

    def __post_init__(self) -> None:
        if not 0.0 < self.l1_ratio < 1.0:
            raise ValueError(
                f"ElasticMix needs 0 < l1_ratio < 1, got {self.l1_ratio}; use L1() for 1 and SquaredL2(0.5) for 0."
            )

    @property
    def convexity(self) -> float:
        return 1.0 - self.l1_ratio

    def value(self, w: Numeric) -> Numeric:
        return self.l1_ratio * np.abs(w).sum() + 0.5 * (less_than_one(self.l1_ratio, w) * np.square(w).sum())

    def prox(self, w: Array, step: float) -> Array:
        soft = np.sign(w) * np.maximum(np.abs(w) - step * self.l1_ratio, 0.0)
        return soft / (1.0 + step * (1.0 - self.l1_ratio))

    def conjugate(self, v: Numeric) -> Numeric:
        excess = np.maximum(np.abs(v) - self.l1_ratio, 0.0)
        return np.square(excess).sum() / (2.0 * less_than_one(self.l1_ratio, v))

    def gauge(self, v: Numeric) -> Numeric:
        return 0.0


@register
@dataclass(frozen=True)
class NonNegative(Regularizer):
    """A coordinatewise even penalty together with the constraint w ≥ 0.

    Because the penalty is even, R*(v) of the pair is the penalty's own conjugate at max(v, 0).

    Parameters
    ----------
    base : Zero, SquaredL2 without prior, L1 or ElasticMix, default=Zero()

    Examples
    --------
    >>> NonNegative(L1()).prox(np.array([3.0, -5.0]), 1.0)
    array([2., 0.])
    """

    base: Regularizer = Zero()

    name: ClassVar[str] = "non_negative"

    def __post_init__(self) -> None:
        even = isinstance(self.base, (Zero, L1, ElasticMix)) or (
            isinstance(self.base, SquaredL2) and self.base.prior is None
        )
        if not even:
            raise ValueError(f"w ≥ 0 goes with none, l2 without a prior, l1 or elastic, not with {self.base}.")

    @property
    def convexity(self) -> float:
        return self.base.convexity

    def value(self, w: Numeric) -> Numeric:
        return self.base.value(w)

    def prox(self, w: Array, step: float) -> Array:
        return self.base.prox(np.maximum(w, 0.0), step)

    def conjugate(self, v: Numeric) -> Numeric:
        return self.base.conjugate(np.maximum(v, 0.0))

    def gauge(self, v: Numeric) -> Numeric:
        positive = np.maximum(v, 0.0)
        if isinstance(self.base, Zero):
            return 0.0 if np.all(upper_end(v) <= 0) else np.inf  # 0, which exact numbers compare with
        return self.base.gauge(positive)


def mix_of_norms(ratio: float, *, positive: bool = False, prior: Numeric = None) -> Regularizer:
    r"""The penalty :math:`\rho\lVert w\rVert_1 + \tfrac{1-\rho}2\lVert w - w_0\rVert^2`, with or without w ≥ 0.

    Parameters
    ----------
    ratio : float in [0, 1]
        ρ: 1 is `L1`, 0 is half of `SquaredL2`.
    positive : bool, default=False
    prior : array, default=None
        w₀, for ρ = 0 only.

    Examples
    --------
    >>> mix_of_norms(1.0), mix_of_norms(0.0), mix_of_norms(0.25, positive=True)
    (L1(), SquaredL2(factor=0.5, prior=None), NonNegative(base=ElasticMix(l1_ratio=0.25)))
    """
    base: Regularizer
    if ratio == 0.0:
        base = SquaredL2(0.5, None if prior is None else tuple(np.ravel(prior).tolist()))
    else:
        base = L1() if ratio == 1.0 else ElasticMix(float(ratio))
    return NonNegative(base) if positive else base
