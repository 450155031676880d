"""The local bound: what it allows for rounding."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from certifit.certificates import Ball
from certifit.certificates.local import Neighbourhood, curvature_drift
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


@pytest.mark.parametrize("power", [[3, 3, 3, 1], [3, -2, 3, 1], [60, 60, 60, 0], [-300, -300, -300, 0], [5, 5, 5]])
@pytest.mark.parametrize("centre", [0.0, 2.0])
@pytest.mark.parametrize("rows", [None, np.array([1, 7, 8, 299])])
def test_quick_lengths_are_upper_bounds_of_the_sharp_ones(power, centre, rows):
    rng = np.random.default_rng(0)
    p, X = len(power), rng.normal(size=(300, 3)) * np.ldexp(1.0, power[:3]) + centre
    area = Neighbourhood(rng.normal(size=(p, p)), 0.1, 1.0, np.full(3, centre), np.array(power))
    sharp, quick = area.lengths(X, rows), area.quick_lengths(X, rows)
    assert sharp.shape == quick.shape == (300 if rows is None else 4,)
    assert np.all(sharp <= quick * (1 + 1e-9))
    assert np.all(quick <= 100 * sharp)


@pytest.mark.parametrize("radius", [0.0, 1e-12, 1e-4, 0.5])
def test_logistic_values_and_slopes_from_one_exponential(radius):
    z = np.concatenate([np.linspace(-800.0, 800.0, 33), [0.0, 1e-300, -1e-17]])
    for sign in (-1.0, 1.0):
        y = np.full(len(z), sign)
        value, slope = Logistic().above_level(Ball(z, np.full(len(z), radius)), Ball(y))
        with localcontext() as context:
            context.prec, context.Emin = 400, -10_000
            for i, middle in enumerate(z):
                for at in (Decimal(float(middle)) - Decimal(radius), Decimal(float(middle)) + Decimal(radius)):
                    e = (-Decimal(sign) * at).exp()
                    assert Decimal(float(value.lower[i])) <= (1 + e).ln() <= Decimal(float(value.upper[i]))
                    exact = -Decimal(sign) * e / (1 + e)
                    assert Decimal(float(slope.lower[i])) <= exact <= Decimal(float(slope.upper[i]))
