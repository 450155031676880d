r"""Fits that are certified by their equations: gradient of the objective zero, up to a stated residual.

For families and links whose objective is not convex no gap can be proved this way; what can be stated is by how
little the (penalised) likelihood equations fail,

.. math:: \text{residual} = \max_j \frac{|\sum_i s_i\,\varphi'(z_i)\,x_{ij} + \Lambda(w_j - w_{0j})|}
          {\sum_i s_i\,|\varphi'(z_i)\,x_{ij}| + \Lambda|w_j|} .

Every slope φ′ = (μ − y)/V(μ)·dμ/dz is enclosed, also where the fit is so good that μ − y is rounding itself: then
nothing is known of the quotient, and nothing is claimed.

Evidence: ``objective`` (with the penalty ½‖w‖² or none), ``coef`` (1, d) and ``intercept`` (1,).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from certifit._types import Array, Matrix
from certifit.certificates._ball import UNIT, Ball, dot
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, about, register, upper
from certifit.certificates._row_sums import dot_t
from certifit.certificates._schema import FINITE, RECORD
from certifit.certificates.optimality import read_objectives, sound
from certifit.losses import FamilyLoss
from certifit.regularizers import SquaredL2, Zero


def _refuse_idle_parameters(loss: FamilyLoss) -> None:
    """Parameters that a family has no use for stay as they are by default."""
    used = {"negative_binomial": ("dispersion",), "tweedie": ("power",)}.get(loss.family, ())
    idle = {name: getattr(loss, name) for name in ("dispersion", "power") if name not in used}
    if any(value != getattr(FamilyLoss, name) for name, value in idle.items()):
        raise ValueError(f"the family {loss.family} has no such parameter")


_ULPS = {"probit": 1024}  # accuracy granted to the links: 16 units in the last place, more in the normal's tails


def _enclosed(function: Callable[[Array], Array], x: Ball, ulps: int = 16) -> Ball:
    """The image of a short interval on which the function turns at most once: inside it moves no more than twice."""
    ends = np.array([function(v) for v in (x.lower, x.mid, x.upper)])
    return Ball(ends[1], 2.0 * np.ptp(ends, axis=0) + 2 * ulps * UNIT * np.abs(ends[1]))


def _slopes(loss: FamilyLoss, z: Ball, y: Array) -> tuple[Ball, Ball]:
    """Means and φ′(z), enclosed; NaN where a mean may be infinite."""
    family, link = loss.parts
    broken = (z.lower <= 0.0) & (z.upper >= 0.0) if link.name == "inverse" else np.zeros(len(y), dtype=bool)
    broken |= z.upper >= 700.0 if link.name in ("log", "cloglog") else False  # there the links are cut
    ulps = _ULPS.get(link.name, 16)
    mean = _enclosed(lambda v: np.where(broken, np.nan, link.inverse(v)), z, ulps)
    return mean, (mean - y) / _enclosed(family.variance_of, mean) * _enclosed(link.derivative, z, ulps)


def _residual(X: Matrix, rho: Ball, pull: Ball, used: Array, fit_intercept: bool) -> float:
    """The largest share that is left of the terms of an equation, from above; infinite where nothing is known."""
    g, size = dot_t(X, rho) + pull, dot_t(abs(X), abs(rho)) + abs(pull)
    left, least = g.magnitude, size.lower
    nothing = (abs(X).T @ used == 0.0) & (np.asarray(pull.mid) == 0.0)  # no terms at all
    if fit_intercept:
        left, least = np.append(left, rho.sum().magnitude), np.append(least, abs(rho).sum().lower)
        nothing = np.append(nothing, False)
    share = np.where(least > 0.0, left / np.where(least > 0.0, least, 1.0), np.inf)
    return float(np.max(np.where(nothing, 0.0, np.where(np.isnan(share), np.inf, share)), initial=0.0))


def _sizes(loss: FamilyLoss, y: Array, m: Array) -> Array:
    """What the terms of half a deviance add up to without their signs: their sum is rounded by a few units of this."""
    logs, k, p = np.abs(xlogy(y, y)) + np.abs(xlogy(y, m)), 1.0 / loss.dispersion, loss.power
    found: Any = np.inf  # a family of one's own
    if loss.family in ("gaussian", "inverse_gaussian"):
        found = loss.parts[0].half_deviance(y, m)
    elif loss.family == "binomial":
        found = 1.0 + np.abs(xlogy(y, m)) + np.abs(xlogy(1.0 - y, 1.0 - m))
    elif loss.family == "poisson":
        found = logs + y + m
    elif loss.family == "gamma":
        found = np.abs(np.log(m / y)) + y / m + 1.0
    elif loss.family == "negative_binomial":
        found = logs + (y + k) * (np.abs(np.log(y + k)) + np.abs(np.log(m + k)))
    elif loss.family == "tweedie":
        own = np.maximum(y, 0.0) ** (2 - p) / abs((1 - p) * (2 - p))
        found = own + np.abs(y * m ** (1 - p) / (1 - p)) + np.abs(m ** (2 - p) / (2 - p))
    return np.broadcast_to(np.asarray(found, dtype=float), y.shape)


@register
class Stationary(Kind):
    """Claim: the likelihood equations hold up to ``residual``."""

    name: ClassVar[str] = "stationary"
    theorem: ClassVar[str] = "Fermat: at a minimum the gradient is zero (necessary, not sufficient)"
    needs: ClassVar = {"objective": RECORD, "coef": FINITE, "intercept": FINITE}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        (objective, *more), targets = read_objectives(data, evidence)
        if more or objective.regularizer not in (Zero(), SquaredL2(0.5)) or objective.padding is not None:
            raise ValueError("the equations are those of one target with the penalty ½‖w‖² or none")
        if objective.stated != "mean":
            raise ValueError("the value is stated as a mean over the rows")
        if not isinstance(objective.loss, FamilyLoss):
            raise ValueError("the equations are those of a family and a link")
        _refuse_idle_parameters(objective.loss)
        loss, weights, fit_intercept = objective.loss, targets[0].weights, objective.fit_intercept
        strength = objective.strength if isinstance(objective.regularizer, SquaredL2) else 0.0
        coef, intercept = (np.asarray(evidence[name], dtype=float) for name in ("coef", "intercept"))
        fits = coef.shape == (1, data.X.shape[1]) and intercept.shape == (1,)
        checks = [Check("coefficients match the data", fits), *sound(objective, targets[0], coef, intercept)]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        w, b, y = coef[0], float(intercept[0]), data.real_targets()
        with np.errstate(all="ignore"):  # a NaN or an infinity fails the comparison below
            z = dot(data.X, w) + b + (0.0 if data.offset is None else data.offset)
            mean, slopes = _slopes(loss, z, y)
            residual = _residual(data.X, Ball(weights) * slopes, Ball(w) * strength, weights > 0, fit_intercept)
            value = float(weights @ loss.value(z.mid, y) + 0.5 * strength * w @ w) / float(weights.sum())
            moved = np.abs(mean.mid - y) / np.abs(loss.parts[0].variance_of(mean.mid)) * mean.rad
            open_by = float(weights @ (moved + 32 * UNIT * _sizes(loss, y, mean.mid))) / float(weights.sum())
        possible = bool(np.isfinite(value))  # infinite where a mean is none of the family's
        checks.append(Check("the equations hold", possible and residual <= 1e-6, f"residual {residual:.1e}"))
        figures = {"residual": upper(Ball(residual, 0.25 * residual))}
        if open_by <= 1e-10 * abs(value):  # else its digits are rounding
            figures["value"] = about(value)
        return Proof(figures, tuple(checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if not figures:
            return "The evidence does not match the data."
        return f"The likelihood equations hold to {figures['residual']:.0e} of their terms (a gap is not proved here)."
