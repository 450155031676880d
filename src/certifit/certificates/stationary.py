r"""Fits that are certified by their equations: gradient of the objective zero, up to a stated residual.

For families and links whose objective is not convex no gap can be proved this way; what can be stated is by how
little the (penalised) likelihood equations fail,

.. math:: \text{residual} = \max_j \frac{|\sum_i s_i\,\varphi'(z_i)\,x_{ij} + \Lambda(w_j - w_{0j})|}
          {\sum_i s_i\,|\varphi'(z_i)\,x_{ij}| + \Lambda|w_j|} .

Evidence: ``coef``, ``intercept``, ``fit_intercept``, ``loss``, ``lam`` (sum form of ½‖w‖²).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from certifit.certificates._ball import gamma
from certifit.certificates._data import Data, Rigor
from certifit.certificates._record import Check, Figure, Kind, Proof, about, register
from certifit.losses import get_loss


@register
class Stationary(Kind):
    """Claim: the likelihood equations hold up to ``residual``."""

    name: ClassVar[str] = "stationary"
    theorem: ClassVar[str] = "Fermat: at a minimum the gradient is zero (necessary, not sufficient)"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        loss = get_loss(evidence["loss"])
        w, b = np.ravel(evidence["coef"]).astype(float), float(np.ravel(evidence["intercept"])[0])
        fit_intercept, strength = bool(evidence["fit_intercept"]), float(np.ravel(evidence["lam"])[0])
        checks = [
            Check("coefficients match the data", len(w) == data.X.shape[1]),
            Check("no offset where none is allowed", fit_intercept or b == 0.0),
        ]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        y = np.asarray(data.y, dtype=float)
        z = np.asarray(data.X @ w) + b + (0.0 if data.offset is None else data.offset)
        rho = data.weights * loss.slope(z, y)
        g = np.asarray(data.X.T @ rho).ravel() + strength * w
        size = np.asarray(abs(data.X).T @ np.abs(rho)).ravel() + strength * np.abs(w)
        if fit_intercept:
            g, size = np.append(g, rho.sum()), np.append(size, np.abs(rho).sum())
        residual = float(np.max(np.abs(g) / np.maximum(size, 1e-300), initial=0.0))
        slack = gamma(len(y) + len(w) + 20)
        value = float(data.weights @ loss.value(z, y) + 0.5 * strength * w @ w) / float(data.weights.sum())
        checks.append(Check("the equations hold", bool(residual <= 1e-6), f"residual {residual:.1e}"))
        figures = {"value": about(value), "residual": Figure(residual + 2 * slack, residual + slack, "upper")}
        return Proof(figures, tuple(checks))

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        if not figures:
            return "The evidence does not fit the data."
        return f"The likelihood equations hold to {figures['residual']:.0e} of their terms (a gap is not proved here)."
