"""Kernel ridge: how far the objective is from its minimum.

With weights s, P(c) = Σ sᵢ(yᵢ − (Kc)ᵢ)² + α cᵀKc. For r = √s(y − Kc) − αc/√s (c = 0 where s = 0) the minimum is
exactly rᵀ(√sK√s + αI)⁻¹(√sK√s) r below P(c), which is at most ‖r‖², because K is positive semi-definite. In feature
space the function is then within √(‖r‖²/α) of the optimum, so each prediction within that times √k(x, x).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from certifit.certificates._ball import Ball, ball
from certifit.certificates._data import Data, Rigor
from certifit.certificates._record import Check, Kind, Proof, lower, register, upper
from certifit.certificates.gram import GramSource


class _KernelRidge(Kind):
    theorem: ClassVar[str] = "the distance from the minimum of a quadratic, from its gradient"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        source = GramSource(data, evidence, rigor)
        c = np.asarray(evidence["dual_coef"], dtype=float).reshape(source.n, -1)
        y = np.asarray(data.y, dtype=float).reshape(source.n, -1)
        alpha = np.broadcast_to(np.asarray(evidence["alpha"], dtype=float), (c.shape[1],))
        s = data.weights
        f = source.scores(np.arange(source.n), c)
        root = np.sqrt(ball(s, like=f))
        counted = np.flatnonzero(s > 0)
        value, excess, null = Ball(0.0), Ball(0.0), Ball(0.0)
        for k in range(c.shape[1]):
            miss = ball(y[:, k], like=f) - f[:, k]
            own = ball(c[:, k], like=f)
            value = value + (miss.square() * s).sum() + float(alpha[k]) * (own * f[:, k]).sum()
            rest = root[counted] * miss[counted] - float(alpha[k]) * own[counted] / root[counted]
            excess = excess + rest.square().sum()
            null = null + (ball(y[:, k], like=f).square() * s).sum()
        figures = {
            "value": upper(value),
            "bound": lower(value - excess),
            "gap": upper(excess),
            "relative_gap": upper(excess / null if bool(np.all(null.mid > 0)) else Ball(0.0) * excess),
            "prediction_error": upper(np.sqrt(excess / float(alpha.min()))),
        }
        checks = (
            Check("rows of weight zero have no coefficient", bool(np.all(c[s == 0] == 0))),
            Check("the penalty is positive", bool(np.all(alpha > 0))),
            Check("the gap is a finite number", bool(np.isfinite(figures["gap"].stated))),
            self._convex(source),
        )
        return Proof(figures, checks)

    def _convex(self, source: GramSource) -> Check:
        return Check("the kernel is Mercer", source.mercer)

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        return (
            f"Within {figures['relative_gap']:.2g} of the best possible fit; every prediction is within "
            f"{figures['prediction_error']:.2g} times √k(x, x) of the exact one."
        )


@register
class KernelRidgeFit(_KernelRidge):
    """Kernel ridge with a kernel that is Mercer by construction."""

    name: ClassVar[str] = "kernel-ridge"


@register
class GramRidgeFit(_KernelRidge):
    """Kernel ridge on given kernel values."""

    name: ClassVar[str] = "kernel-ridge-gram"
    assumes: ClassVar[tuple[str, ...]] = ("the given kernel values come from a Mercer kernel",)

    def _convex(self, source: GramSource) -> Check:
        return Check("kernel values are given", source.given is not None)
