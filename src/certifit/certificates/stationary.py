r"""Fits that are certified by their equations: gradient of the objective zero, up to a stated residual.

For families and links whose objective is not convex no gap can be proved this way; what can be stated is by how
little the (penalised) likelihood equations fail,

.. math:: \text{residual} = \max_j \frac{|\sum_i s_i\,\varphi'(z_i)\,x_{ij} + \Lambda(w_j - w_{0j})|}
          {\sum_i s_i\,|\varphi'(z_i)\,x_{ij}| + \Lambda|w_j|} .

Evidence: ``objective`` (with the penalty ½‖w‖² or none), ``coef`` (1, d) and ``intercept`` (1,).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from certifit.certificates._ball import gamma
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, ProvedNumber, about, register
from certifit.certificates._schema import FINITE, RECORD
from certifit.certificates.optimality import read_objectives, sound
from certifit.losses import FamilyLoss, Loss
from certifit.regularizers import SquaredL2, Zero


def _refuse_idle_parameters(loss: Loss) -> None:
    """Parameters that a family has no use for stay as they are by default."""
    if isinstance(loss, FamilyLoss):
        used = {"negative_binomial": ("dispersion",), "tweedie": ("power",)}.get(loss.family, ())
        idle = {name: getattr(loss, name) for name in ("dispersion", "power") if name not in used}
        if any(value != getattr(FamilyLoss, name) for name, value in idle.items()):
            raise ValueError(f"the family {loss.family} has no such parameter")


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
        _refuse_idle_parameters(objective.loss)
        loss, weights, fit_intercept = objective.loss, targets[0].weights, objective.fit_intercept
        strength = objective.strength if isinstance(objective.regularizer, SquaredL2) else 0.0
        coef, intercept = (np.asarray(evidence[name], dtype=float) for name in ("coef", "intercept"))
        fits = coef.shape == (1, data.X.shape[1]) and intercept.shape == (1,)
        checks = [Check("coefficients match the data", fits), *sound(objective, targets[0], coef, intercept)]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        w, b, y = coef[0], float(intercept[0]), data.real_targets()
        z = np.asarray(data.X @ w) + b + (0.0 if data.offset is None else data.offset)
        rho = weights * loss.slope(z, y)
        g = np.asarray(data.X.T @ rho).ravel() + strength * w
        size = np.asarray(abs(data.X).T @ np.abs(rho)).ravel() + strength * np.abs(w)
        if fit_intercept:
            g, size = np.append(g, rho.sum()), np.append(size, np.abs(rho).sum())
        residual = float(np.max(np.abs(g) / np.maximum(size, 1e-300), initial=0.0))
        slack = gamma(len(y) + len(w) + 20)
        value = float(weights @ loss.value(z, y) + 0.5 * strength * w @ w) / float(weights.sum())
        checks.append(Check("the equations hold", bool(residual <= 1e-6), f"residual {residual:.1e}"))
        figures = {"value": about(value), "residual": ProvedNumber(residual + 2 * slack, residual + slack, "upper")}
        return Proof(figures, tuple(checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if not figures:
            return "The evidence does not match the data."
        return f"The likelihood equations hold to {figures['residual']:.0e} of their terms (a gap is not proved here)."
