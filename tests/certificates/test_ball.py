"""Balls contain the exact rational result of the same operations."""

import decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from certifit.certificates import Ball, ball, dot, dot_t, rationals, to_float
from certifit.certificates._row_sums import BlockSums, block_sums, columns_lengths, run_sum

numbers = st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False)
vectors = arrays(float, 4, elements=numbers)
matrices = arrays(float, (4, 4), elements=numbers)


def inside(x: Ball, exact) -> bool:
    if not (np.all(np.isfinite(x.mid)) and np.all(np.isfinite(x.rad))):
        return False
    lows = np.ravel(np.broadcast_to(x.lower, np.shape(exact)))
    highs = np.ravel(np.broadcast_to(x.upper, np.shape(exact)))
    pairs = zip(lows, np.ravel(exact), highs)
    return all(Fraction(float(a)) <= Fraction(int(e.p), int(e.q)) <= Fraction(float(b)) for a, e, b in pairs)


def exact(x):
    from flint import fmpq

    out = np.empty(np.shape(x), dtype=object)
    out.ravel()[:] = [fmpq(*float(v).as_integer_ratio()) for v in np.ravel(x)]
    return out


pytest.importorskip("flint", reason="the exact twin uses python-flint")


@given(a=vectors, b=vectors, c=vectors)
def test_chains_of_arithmetic(a, b, c):
    x = (Ball(a) + b) * c - Ball(b).square() * a
    A, B, C = exact(a), exact(b), exact(c)
    assert inside(x, (A + B) * C - B * B * A)
    assert inside(abs(Ball(a) - b).maximum(c), np.maximum(abs(A - B), C))
    assert inside((Ball(a) * b).sum(), np.array((A * B).sum(), dtype=object))


@given(a=vectors, b=arrays(float, 4, elements=st.floats(0.5, 1e3)))
def test_division(a, b):
    assert inside(Ball(a) / b, exact(a) / exact(b))


@given(A=matrices, b=vectors)
def test_products(A, b):
    X, B = exact(A), exact(b)
    assert inside(dot(A, ball(b)), X @ B)
    assert inside(dot_t(A, Ball(b)), X.T @ B)
    noisy = dot(A, Ball(b, np.full(4, 0.5)))
    for corner in ([1, 1, 1, 1], [1, -1, 1, -1], [-1, -1, 1, 1]):
        assert inside(noisy, X @ (B + exact(0.5 * np.array(corner))))


def test_blocked_product_of_a_tall_matrix():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(3000, 2)), rng.normal(size=3000)
    assert inside(dot_t(A, b), exact(A).T @ exact(b))


@pytest.mark.parametrize("rows", [40, 64, 100, 1000])
def test_sums_of_blocks_by_absolute_values_and_by_lengths(rows):
    rng = np.random.default_rng(rows)
    A, b = rng.normal(size=(1000, 3)), Ball(rng.normal(size=(1000, 2)) * [1.0, 1e8], np.full((1000, 2), 1e-9))
    slow, quick = BlockSums(b, 3, rows), BlockSums(b, 3, rows)
    for start in range(0, 1000, rows):
        part = slice(start, min(1000, start + rows))
        slow.add(part, A[part], np.empty_like(A[part]))
        quick.add(part, A[part])
    lengths = np.sqrt(np.square(A).sum(axis=0)) * (1 + 1e-12)
    for found in (slow.finish(), quick.finish(lengths)):
        assert inside(found, exact(A).T @ exact(b.mid))
        worst = exact(b.mid) + exact(1e-9 * np.sign(A[:, :1]))  # the ends that the first column notices most
        assert inside(Ball(found.mid[0], found.rad[0]), exact(A[:, 0]) @ worst)
    assert np.all(quick.finish(lengths).rad >= slow.finish().rad)


@pytest.mark.parametrize("scale", [1.0, 1e-170, 1e200])
def test_lengths_of_columns_are_upper_bounds(scale):
    A = np.random.default_rng(0).normal(size=(300, 3)) * scale
    found, true = columns_lengths(A), np.linalg.norm(A / scale, axis=0) * scale
    assert np.all(true <= found * (1 + 1e-13))
    assert np.all(found <= 20 * true + 1e-150)
    assert columns_lengths(np.zeros((0, 2))).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("n", [0, 1, 64, 65, 5000, 300_001])
def test_sums_in_runs_of_runs(n):
    rng = np.random.default_rng(n)
    b = Ball(rng.normal(size=n) * 10.0 ** rng.uniform(-9, 9, size=n), np.full(n, 1e-12))
    found = run_sum(b)
    assert inside(found, np.array(sum((exact(v)[()] for v in b.mid), start=exact(1e-12)[()] * n), dtype=object))
    assert float(found.rad) <= 400 * 2.0**-53 * float(np.abs(b.mid).sum()) + 1.1e-12 * n + 1e-300


def test_sums_of_no_rows():
    assert np.array_equal(block_sums(iter(()), Ball(np.empty(0)), 2).mid, np.zeros(2))


@given(x=st.floats(-20, 20), r=st.floats(0, 1e-3))
def test_functions_contain_their_values_at_the_ends(x, r):
    b = Ball(np.array([x]), np.array([r]))
    for f in (np.exp, np.expm1):
        assert f(b).contains(f(np.array([x - r]))).all()
        assert f(b).contains(f(np.array([x + r]))).all()
    if x - r > 1e-6:
        for f in (np.log, np.log1p, np.sqrt):
            assert f(b).contains(f(np.array([x + r]))).all()
    both = np.logaddexp(b, 1.0)
    assert both.contains(np.logaddexp(np.array([x]), 1.0)).all()


def _decimal(function, x):
    """The exact value (to many digits) at an exact number."""
    with decimal.localcontext(prec=120):
        x = (
            decimal.Decimal(x)
            if isinstance(x, float)
            else decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)
        )
        return Fraction(function(x))


@pytest.mark.parametrize("radius", [0.0, 1e-16, 1e-9, 2.0**-10, 2.0**-9])
def test_functions_of_narrow_balls_contain_the_exact_values(radius):
    one = decimal.Decimal(1)
    functions = {
        "exp": (np.exp, lambda x: x.exp()),
        "sigmoid": (lambda b: b.sigmoid(), lambda x: one / (one + (-x).exp())),
        "softplus": (lambda b: np.logaddexp(0.0, b), lambda x: (one + x.exp()).ln()),
    }
    rng = np.random.default_rng(0)
    at = np.concatenate([rng.normal(size=8), rng.uniform(-40, 40, size=8), [0.0, 1e-300, -1e-12, 30.0, -36.8, -100.0]])
    for ball_of, exact_of in functions.values():
        found = ball_of(Ball(at, np.full(len(at), radius)))
        whole = ball_of(Ball(at)) if radius == 0.0 else found
        for i, x in enumerate(at):
            for end in (Fraction(x) - Fraction(radius), Fraction(x), Fraction(x) + Fraction(radius)):
                true = _decimal(exact_of, end)
                for b in (found, whole):
                    assert abs(true - Fraction(float(b.mid[i]))) <= Fraction(float(np.broadcast_to(b.rad, b.shape)[i]))


def test_entropy_of_exact_numbers_is_computed_once():
    x = np.concatenate([[0.0, -1.0, 1.0, 5e-324, 1e-310], np.random.default_rng(0).uniform(0, 50, size=50)])
    found = Ball(x).entropy()
    assert found.mid[0] == found.rad[0] == found.mid[1] == 0.0
    for value, mid, rad in zip(x[2:], found.mid[2:], found.rad[2:]):
        true = _decimal(lambda t: -t * t.ln(), float(value))
        assert abs(true - Fraction(float(mid))) <= Fraction(float(rad))
        assert rad <= 1e-14 * abs(mid) + 1e-300


@given(x=st.floats(0, 3), r=st.floats(0, 0.1))
def test_entropy(x, r):
    from scipy.special import entr

    b = Ball(np.array([x]), np.array([r])).entropy()
    for t in np.linspace(max(0.0, x - r), x + r, 11):
        assert b.contains(entr(t)).all()


def test_exact_balls_stay_exact():
    x = Ball(rationals(np.array([0.1, 0.2])))
    y = (x * 3 - x / 7 + 1.0).square().sum()
    assert y.exact
    assert to_float(y.rad) == 0.0
    e = np.exp(x)
    assert e.exact
    assert e.contains(rationals(np.exp(np.array([0.1, 0.2])))).all()


def test_overflow_is_a_doubt_not_a_proof():
    with np.errstate(over="ignore", invalid="ignore"):
        big = Ball(np.array([1e308])) * 10.0
    assert not (big.upper < 1e309).all() or not np.isfinite(big.rad).all()
    zero = Ball(np.array([1.0])) / Ball(np.array([0.0]), np.array([0.1]))
    assert not (zero.upper <= 1e300).any()


HARD = {
    "plain": lambda rng: rng.normal(size=3001),
    "cancelling": lambda rng: (lambda a: rng.permutation(np.concatenate([a, -a, [1e-9]])))(rng.normal(size=900) * 1e8),
    "many sizes": lambda rng: rng.normal(size=2000) * 10.0 ** rng.integers(-300, 290, 2000),
    "denormal": lambda rng: rng.normal(size=700) * 1e-310,
}


@pytest.mark.parametrize("name", HARD)
def test_long_sums_lose_little_more_than_the_rounding_of_the_result(name):
    rng = np.random.default_rng(0)
    x = HARD[name](rng)
    radius = np.abs(x) * 1e-12
    true = sum(map(Fraction, x.tolist()))
    found, wide, level = Ball(x).sum(), Ball(x, radius).sum(), Ball(x, 1e-3).sum()
    assert Fraction(float(found.lower)) <= true <= Fraction(float(found.upper))
    assert float(found.rad) <= 4e-16 * abs(float(true)) + 1e-28 * np.abs(x).sum() + 1e-320
    room = sum(map(Fraction, radius.tolist()))
    assert Fraction(float(wide.lower)) <= true - room
    assert true + room <= Fraction(float(wide.upper))
    assert Fraction(float(level.upper)) - Fraction(float(level.lower)) >= 2 * len(x) * Fraction(1e-3)


def test_a_long_sum_whose_pairs_overflow_is_still_right():
    x = np.tile([1e308, 1e308, -1e308, -1e308], 400)
    x = np.concatenate([x[x > 0], x[x < 0]])
    assert np.isnan(Ball(x).sum().mid) or Ball(x).sum().contains(0.0)
    assert np.isnan(Ball(np.full(2000, 1e308)).sum().mid)


@pytest.mark.parametrize("scale", [1.0, 1e150, 1e-170])
@pytest.mark.parametrize("weighted", ["no", "yes", "huge", "tiny"])
@pytest.mark.parametrize("tail", ["normal", "one far row"])
def test_moments_about_a_centre_contain_the_exact_ones(scale, weighted, tail):
    from certifit.certificates import Data
    from certifit.certificates._by_class import deviation_sums
    from certifit.certificates.spectrum import centred_scatter

    rng = np.random.default_rng(1)
    X = (rng.normal(size=(60, 3)) + 1e3) * scale
    X[7] *= 1.0 if tail == "normal" else 1e9
    w = None if weighted == "no" else rng.uniform(size=60) * {"yes": 1.0, "huge": 1e150, "tiny": 1e-300}[weighted]
    data, centre = Data.of(X, None, w), X.mean(axis=0)
    t, s = exact(X) - exact(centre), exact(np.ones(60) if w is None else w)
    first, second = s @ t, t.T @ (t * s[:, None])
    with np.errstate(all="ignore"):
        product, mean, total = centred_scatter(data, centre, about_mean=False)
        whole, sums, squares = deviation_sums(data, X, None, np.zeros(60, dtype=int), centre[None], "float")
    pairs = [(product, second), (mean, first / s.sum()), (total, s.sum())]
    pairs += [(sums[0], first), (squares[0], np.diag(second)), (whole[0], np.full(3, s.sum()))]
    for found, true in pairs:
        unknown = not np.all(np.isfinite(found.mid) & np.isfinite(found.rad))
        assert unknown if scale > 1.0 and not inside(found, true) else inside(found, true)  # beyond the largest float


@pytest.mark.parametrize("seed", range(3))
def test_underflow_beside_huge_numbers_is_covered(seed):
    """Rounding of γ|b| to zero, or of a radius before a division by almost nothing, is not nothing after it."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(6, 5)) * 1e300, rng.normal(size=5) * 1e-311
    assert inside(dot(A, b), exact(A) @ exact(b))
    assert inside(dot_t(A.T, b), exact(A) @ exact(b))
    below = Ball(np.full(4, 1e-310), np.full(4, 1e-313))
    above = rng.random(4) * 1e-320
    assert inside(Ball(above) / below, exact(above) / exact(below.mid - below.rad))
