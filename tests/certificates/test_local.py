"""The local bound: what it allows for rounding."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from certifit.certificates.local import curvature_drift
from certifit.losses import GammaLog, Logistic, Poisson, TweedieLog


def _tweedie(power: float):
    def exact(z: Decimal, y: Decimal) -> Decimal:
        p = Decimal(power)
        return (2 - p) * ((2 - p) * z).exp() + (p - 1) * y * ((1 - p) * z).exp()

    return exact


EXACT = {
    "poisson": (Poisson(), lambda z, y: z.exp()),
    "gamma": (GammaLog(), lambda z, y: y * (-z).exp()),
    "logistic": (Logistic(), lambda z, y: z.exp() / (1 + z.exp()) ** 2),
    "tweedie 1.1": (TweedieLog(1.1), _tweedie(1.1)),
    "tweedie 1.5": (TweedieLog(1.5), _tweedie(1.5)),
    "tweedie 1.9": (TweedieLog(1.9), _tweedie(1.9)),
}


@pytest.mark.parametrize("name", EXACT)
def test_the_room_for_rounding_covers_computed_curvatures(name):
    loss, exact = EXACT[name]
    rng = np.random.default_rng(0)
    z = rng.uniform(-600.0, 600.0, 200)
    y = (z > 0).astype(float) if name == "logistic" else rng.uniform(0.1, 10.0, len(z))
    with localcontext() as context:
        context.prec = 60
        wanted = [exact(Decimal(float(a)), Decimal(float(b))) for a, b in zip(z, y)]
        wrong = [
            float(abs(Decimal(float(c)) / w - 1)) for c, w in zip(loss.curvature(z, y), wanted) if float(w) > 1e-270
        ]
    assert len(wrong) > 80
    assert max(wrong) <= curvature_drift(0.0)
    assert curvature_drift(0.1) >= np.expm1(0.1)
