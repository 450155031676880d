"""Kernel scores with bounds: what is computed by rows contains the exact sums, whatever the data."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from certifit.certificates.gram import BALLS, _by_chunks, new_scores
from certifit.kernels import RBF


def true_scores(gamma, X, V, coef):
    """Σ coef exp(−γ‖x − v‖²) to eighty digits."""
    with localcontext() as context:
        context.prec, context.Emin = 80, -10_000_000

        def value(x, v):
            square = sum((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(x, v)) * Fraction(gamma)
            return (-Decimal(square.numerator) / Decimal(square.denominator)).exp()

        return [[sum(Decimal(float(c)) * value(x, v) for c, v in zip(column, V)) for column in coef.T] for x in X]


@pytest.mark.parametrize(
    ("scale", "offset", "gamma", "weight"),
    [
        (1.0, 0.0, 0.5, 1.0),
        (1.0, 1e6, 0.5, 1.0),  # rows far from the origin
        (1e-170, 0.0, 0.5, 1.0),  # squares vanish
        (1e-150, 0.0, 1e300, 1e200),
        (1e120, 0.0, 1e-240, 1e-300),
        (30.0, 0.0, 1.0, 1e300),  # values near the smallest float
        (1e-3, 1e9, 1e5, 1.0),
    ],
)
def test_radial_scores_contain_the_exact_ones(scale, offset, gamma, weight):
    rng = np.random.default_rng(0)
    X, V = (rng.normal(size=(n, 3)) * scale + offset for n in (9, 40))
    V[:3] = X[:3]  # distance zero
    V[3] = np.nextafter(X[3], np.inf)
    coef = rng.normal(size=(40, 2)) * weight
    coef[:20] = -coef[20:]
    found = new_scores(RBF(gamma), X, V, coef)
    for i, line in enumerate(true_scores(gamma, X, V, coef)):
        for j, true in enumerate(line):
            assert Decimal(float(found.lower[i, j])) <= true <= Decimal(float(found.upper[i, j]))
    with np.errstate(all="ignore"):
        entries = _by_chunks(9, 40, lambda i, j: RBF(gamma).gram(X[i], V[j], BALLS), coef)  # bounds by entries
    assert not np.any(found.rad > 10.0 * entries.rad + 1e-310 * np.abs(coef).sum())


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("spread", [0.0, 2.0])  # vectors of about one length, and of very different ones
def test_radial_scores_in_blocks_contain_the_exact_ones(columns, spread):
    rng = np.random.default_rng(1)
    V = rng.normal(size=(600, 3)) * np.exp(spread * rng.normal(size=(600, 1)))
    X, coef = V[:5] + 0.1 * rng.normal(size=(5, 3)), rng.normal(size=(600, columns))
    found = new_scores(RBF(0.3), X, V, coef)
    for i, line in enumerate(true_scores(0.3, X, V, coef)):
        for j, true in enumerate(line):
            assert Decimal(float(found.lower[i, j])) <= true <= Decimal(float(found.upper[i, j]))
    with np.errstate(all="ignore"):
        entries = _by_chunks(5, 600, lambda i, j: RBF(0.3).gram(X[i], V[j], BALLS), coef)
    assert not np.any(found.rad > 10.0 * entries.rad)


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e200])
def test_what_overflows_proves_nothing(value):
    X = np.array([[0.0, value], [1.0, 2.0]])
    found = new_scores(RBF(1.0), X, X, np.ones((2, 1)))
    assert not np.any(np.isfinite(found.rad[:1]))
