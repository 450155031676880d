"""The largest gain of every node, against every threshold tried in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from certifit.certificates import tree_gains
from certifit.certificates.tree_gains import CountedRows, countable


def gini(counts):
    rows = int(counts.sum())
    return rows - Fraction(int((counts * counts).sum()), rows)


def every_threshold(x, codes, classes, least):
    """The largest gain of a threshold, and how many there are."""

    def count(part):
        return np.bincount(part, minlength=classes)

    sides = [x <= v for v in np.unique(x)[:-1]]
    sides = [left for left in sides if min(left.sum(), (~left).sum()) >= least]
    gains = [gini(count(codes)) - gini(count(codes[s])) - gini(count(codes[~s])) for s in sides]
    return max(gains, default=None), len(sides)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("least", [1, 4])
@pytest.mark.parametrize("limits", [(1 << 18, 1 << 14), (50, 16)])
@pytest.mark.parametrize("wide", [False, True])
def test_it_is_the_largest_of_all(classes, least, limits, wide, monkeypatch):
    monkeypatch.setattr(tree_gains, "_KEYS", limits[0])
    monkeypatch.setattr(tree_gains, "_PLACES", limits[1])
    rng = np.random.default_rng(classes)
    n = 120
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 6, n), rng.integers(0, 40, n), np.full(n, 2.0)]).astype(
        float
    )
    codes = (rng.integers(0, classes, n) + (X[:, 0] > 0)) % classes
    counted = CountedRows([np.ascontiguousarray(c) for c in X.T], codes, classes)
    if wide:
        counted.line = counted.line.astype(np.int64)  # as of a table with very many rows
    place, nodes = np.zeros(n, dtype=np.int64), 1
    for _ in range(4):
        counts = np.bincount(place, minlength=nodes + 1)[:nodes]
        totals = np.bincount(place * classes + codes, minlength=(nodes + 1) * classes).reshape(-1, classes)[:nodes]
        gain, compared = counted.largest_gains(counts, totals, least)
        for v in range(nodes):
            for j, x in enumerate(X.T):
                best, many = every_threshold(x[place == v], codes[place == v], classes, least)
                assert compared[j, v] == many
                if many:
                    assert best <= Fraction(gain[j, v]) <= best * (1 + Fraction(1, 10**14))
                else:
                    assert gain[j, v] == -np.inf
        side = np.where(place < nodes, rng.choice(3, n, p=(0.5, 0.4, 0.1)), 2)  # 2: the row is done
        counted.divide(side)
        present, place = np.unique(np.where(side < 2, side * nodes + place, 2 * nodes), return_inverse=True)
        nodes = len(present) - (present[-1] == 2 * nodes)


def test_numbers_that_floats_cannot_hold_are_left_to_others():
    assert countable(2**26, 2)
    assert not countable(2**26 + 1, 2)
    assert not countable(2**26, 2**12)
    assert not countable(10, 1)


@pytest.mark.parametrize("bits", [1, 5])
def test_rows_are_in_the_order_of_their_values(bits):
    rng = np.random.default_rng(bits)
    n = 3_000
    close = 1.0 + rng.integers(0, 2_000, n) * 2.0**-52  # the last bits tell them apart
    sizes = np.array([0.0, -0.0, 5e-324, -5e-324, 1e-300, -1e-300, 1.0, -1.0, 1e308, -1e308, np.inf, -np.inf])
    code = rng.integers(0, 2**bits, n)
    for x in (close, -close, rng.choice(sizes, n), rng.normal(size=n), np.full(n, -0.0), np.arange(3.0), np.ones(1)):
        numbers = np.arange(len(x)) << bits | code[: len(x)]
        found, values = tree_gains._in_order(x, numbers, bits)
        assert np.array_equal(np.sort(found), numbers)
        assert np.array_equal(x[found >> bits], values)
        assert np.array_equal(values, np.sort(x))
