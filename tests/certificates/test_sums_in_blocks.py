"""Sums, products and functions of blocks against exact rationals: a radius always covers the number that was meant."""

from fractions import Fraction as Q

import numpy as np
import pytest

from certifit.certificates import Data
from certifit.certificates._ball import Ball
from certifit.certificates._by_class import value_sums
from certifit.certificates._frame import Frame
from certifit.certificates.local import tally
from certifit.certificates.neighbors import Space


def exact(values):
    return sum((Q(v) for v in np.ravel(values).tolist()), Q(0))


def covers(ball, wanted):
    mid, rad = np.ravel(ball.mid), np.ravel(np.broadcast_to(ball.rad, ball.mid.shape))
    return all(abs(Q(float(m)) - w) <= Q(float(r)) for m, r, w in zip(mid, rad, wanted))


@pytest.mark.parametrize("n", [3, 700, 16_385, 40_001])
@pytest.mark.parametrize("powers", [0, 150])
def test_long_sums(n, powers):
    rng = np.random.default_rng(n)
    values = rng.normal(size=n) * 10.0 ** rng.integers(-powers, powers + 1, size=n)
    total = Ball(np.append(values, -values[::2])).sum()
    assert covers(total, [exact(values) - exact(values[::2])])
    assert float(total.rad) <= 1e-14 * float(np.abs(values).sum())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("K", [2, 6, 40])
def test_sums_of_cells_by_class(K, weighted):
    rng = np.random.default_rng(K)
    X, codes = rng.normal(size=(500, 3)), rng.integers(-1, K, size=500)
    weight = rng.random(500) if weighted else None
    found = value_sums(Data.of(X, codes, weight), codes, K, lambda block, rows: block, 3)
    w = np.ones(500) if weight is None else weight
    for c in range(K):
        mine = np.flatnonzero(codes == c)
        assert covers(found[c], [sum((Q(w[i]) * Q(X[i, j]) for i in mine), Q(0)) for j in range(3)])
    assert np.all(found.rad <= 1e-15 * 500 * 500 / K)


@pytest.mark.parametrize("light", [1.0, 2.0**-40])
def test_sums_of_rows_times_residuals(light):
    rng = np.random.default_rng(1)
    X, weights, rho = rng.normal(size=(300, 3)) + 5.0, rng.random(300), rng.normal(size=300)
    weights[::7] *= light
    frame = Frame.of(X, weights, True, 0.0, Ball(rho[:, None]))
    q, centre = frame.half_gradient(X)[:, 0], frame.centre
    scale = [Q(2) ** int(-p) for p in frame.power]
    wanted = [sum(Q(r) * (Q(x) - Q(centre[j])) for r, x in zip(rho, X[:, j])) * scale[j] for j in range(3)]
    assert covers(q, [*wanted, exact(rho) * scale[3]])
    assert np.all(q.rad <= 1e-11 * np.abs(rho).sum())


def test_products_with_signs_are_not_rounded():
    y, z = Ball(np.array([1.0, -1.0])), Ball(np.array([0.1, 0.3]), np.array([1e-9, 0.0]))
    found = -1.0 * y * z
    assert found.mid.tolist() == [-0.1, 0.3]
    assert found.rad.tolist() == [1e-9, 0.0]
    assert float((Ball(np.array([1.0, 0.5])) * z).rad[1]) > 0.0


def test_values_are_counted_as_if_they_were_sorted():
    rng = np.random.default_rng(2)
    for y in (rng.poisson(2.0, size=50) * 1.0, rng.choice([-1.0, 1.0], size=9), rng.normal(size=9), np.array([1e300])):
        for found, wanted in zip(tally(y), np.unique(y, return_counts=True)):
            assert np.array_equal(found, wanted)


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e8])
def test_distances_from_products_are_no_larger_than_exact_ones(shift):
    rng = np.random.default_rng(3)
    space = Space(rng.normal(size=(12, 3)) + shift, "euclidean")
    rows = np.arange(12)
    points = [[Q(v) for v in row] for row in space.X]
    squares = [[sum((a - b) ** 2 for a, b in zip(p, q)) for q in points] for p in points]
    for j in rows:
        radii = np.array([float(np.nextafter(float(squares[i][j]), np.inf)) for i in rows])
        assert all(space.maybe_nearer(rows, radii)[i, j] for i in rows)
