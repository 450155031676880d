"""Exact sums: whatever the order and the pieces, the same numbers, and the true sum within the stated radius."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.certificates.sums import Block, Fingerprint, Grid, NotFiniteError, Products, Side

SIZES = st.sampled_from([1e-200, 1e-30, 1e-3, 1.0, 7.0, 1e9, 1e200])


@st.composite
def tables(draw):
    seed, rows = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 60))
    rng = np.random.default_rng(seed)
    scale = np.array([draw(SIZES) for _ in range(3)])
    zeros = rng.random((3, rows)) < draw(st.sampled_from([0.0, 0.9]))  # whole pieces without a number
    return np.where(zeros, 0.0, rng.standard_t(2, size=(3, rows)) * scale[:, None]), rng


def in_pieces(make, A, B, rng, pieces):
    """The sum over the columns in a shuffled order, in so many pieces, merged in another shuffled order."""
    order = rng.permutation(A.shape[1])
    parts = []
    for piece in np.array_split(order, pieces):
        part = make()
        part.add(A[:, piece], None if B is None else B[:, piece])
        parts.append(part)
    rng.shuffle(parts)
    total = make()
    for part in parts:
        total.merge(part)
    return total


@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(1, 4), st.sampled_from([1, 2, 7, 64]), st.integers(-40, 40))
def test_order_and_pieces_do_not_matter_and_the_radius_is_true(table, digits, pieces, exponent):
    A, rng = table
    sides = (lambda: Products(Side(np.full(3, exponent), digits)),
             lambda: Products(Side(np.full(3, exponent), digits), Side(np.zeros(3), 2)))  # fmt: skip
    for make, B in zip(sides, (None, A[::-1].copy())):
        whole, other = make(), in_pieces(make, A, B, rng, pieces)
        whole.add(A, B)
        assert np.array_equal(whole.exact(), other.exact())
        assert np.array_equal(whole.radius(), other.radius())
        C = A if B is None else B
        for i in range(3):
            for j in range(3):
                if not np.isfinite(whole.radius()[i, j]):
                    continue
                true = sum(Fraction(a) * Fraction(b) for a, b in zip(A[i], C[j]))
                assert abs(true - Fraction(str(whole.exact()[i, j]))) <= Fraction(float(whole.radius()[i, j]))


def test_many_rows_do_not_overflow():
    rows = np.full((1, 5000), 1.0 - 2.0**-53)
    side = Products(Side(np.zeros(1), 3))
    side.add(rows)
    assert side.values()[0, 0] == float(5000 * Fraction(1.0 - 2.0**-53) ** 2)


def test_what_is_not_finite_is_refused():
    with pytest.raises(NotFiniteError) as caught:
        Products(Side(np.zeros(2), 2)).add(np.array([[1.0, 2.0], [np.nan, 0.0]]))
    assert caught.value.column == 1


@given(st.integers(0, 2**32 - 1), st.floats(-1e300, 1e300), st.floats(0, 1e300))
def test_a_grid_reaches_its_ends(seed, low, width):
    high = np.array([low + width])
    if not np.isfinite(high[0]):
        return
    grid = Grid.of(np.array([low]), high)
    x = np.random.default_rng(seed).uniform(0, 1, size=(1, 5)) * (high[0] - low) + low
    assert np.all(np.abs(grid.shift(x)) <= np.ldexp(1.0, grid.exponent)[:, None] * (1 + 1e-15))


def test_a_fingerprint_does_not_see_blocks_but_sees_every_bit():
    X, y = np.arange(12.0).reshape(2, 6), np.array(list("abcdef"))
    one = Fingerprint().of([Block(X, y, part="p")]).finish()
    two = Fingerprint().of(Block(X, y, part="p").pieces(4)).finish()
    assert one.root == two.root
    changed = X.copy()
    changed[1, 3] = np.nextafter(changed[1, 3], 10)
    other = Fingerprint().of([Block(changed, y, part="p")]).finish()
    assert one.changes(other) == ["p was changed"]
    assert one.changes(Fingerprint().of([Block(X, y, part="q")]).finish()) == []  # the same rows under another name
