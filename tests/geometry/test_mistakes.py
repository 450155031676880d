"""The fewest mistakes of a line: against trying every line, and forged proofs."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import certifit as cf
from certifit.geometry import FewestMistakes, fewest_mistakes


def by_trying(X, y):
    """In the plane: every line through two points, moved and turned a little, and every one-sided answer."""
    signs = np.where(y == np.unique(y)[1], 1, -1)
    best = min(np.sum(signs > 0), np.sum(signs < 0))
    for i, j in combinations(range(len(X)), 2):
        across = X[j] - X[i]
        normal = np.array([-across[1], across[0]])
        for turn in (-1e-4, 0.0, 1e-4):
            c, s = np.cos(turn), np.sin(turn)
            w = np.array([[c, -s], [s, c]]) @ normal
            for at in (X[i], X[j], (X[i] + X[j]) / 2):
                for b in (-w @ at - 1e-3, -w @ at + 1e-3):
                    wrong = np.sum(signs * (X @ w + b) <= 0)
                    best = min(best, wrong, len(X) - wrong if np.all(X @ w + b != 0) else len(X))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_no_line_that_is_tried_does_better(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 2))
    y = (X[:, 0] + 0.8 * rng.normal(size=9) > 0).astype(int)
    y[0], y[1] = 0, 1
    found = cf.fewest_mistakes(X, y)
    assert found.count == by_trying(X, y)
    assert found.verify(X, y)
    assert len(found.rows) == found.count


def test_separable_equal_and_mixed_rows():
    assert cf.fewest_mistakes([[0.0], [1.0]], [0, 1]).count == 0
    assert cf.fewest_mistakes([[1.0], [1.0], [1.0]], [0, 1, 1]).count == 1
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    found = cf.fewest_mistakes(X, [0, 1, 0, 1, 0])
    assert found.count == 2
    assert "fewer than 2 mistakes" in str(found)


def test_forged_proofs_are_refused():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    found = cf.fewest_mistakes(X, y)
    assert found.verify(X, y)
    assert not replace(found, count=0, rows=()).verify(X, y)
    assert not replace(found, groups={}).verify(X, y)
    assert not replace(found, groups={frozenset(): (0, 1)}).verify(X, y)
    assert not replace(found, count=2, rows=(0, 1)).verify(X, y)
    assert not found.verify(X, [0, 0, 1, 1])


def test_sentences():
    with pytest.raises(ValueError, match="two labels"):
        cf.fewest_mistakes([[0.0], [1.0]], [0, 0])
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="stopped after"):
        cf.fewest_mistakes(rng.normal(size=(40, 3)), rng.integers(0, 2, 40), max_groups=10)


def test_a_row_that_is_named_twice_and_weights_that_are_none_are_refused():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [2.0], [2.1], [2.2], [0.15]])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])  # the last row alone is on the wrong side
    found = fewest_mistakes(X, y)
    assert (found.count, found.verify(X, y)) == (1, True)
    # Its number and −1 are the same row: out of the others, it would be counted twice.
    whole = tuple(range(7))
    twice = {
        frozenset(): (*whole, -1),
        frozenset({-1}): (*whole, 7),
        **{frozenset({i}): tuple({*whole, 7} - {i}) for i in whole},
    }
    w, b = np.array([-1.0]), 0.12
    assert not FewestMistakes(5, (2, 3, 4, 5, 6), w, b, twice).verify(X, y)
    two = FewestMistakes(2, (3, 7), np.array([1.0]), -0.25, twice)
    assert not two.verify(X, y)
    assert not FewestMistakes(0, (), np.array([np.nan]), 0.0, {}).verify(X, y)
    assert not FewestMistakes(0, (), np.array([np.inf]), 0.0, {}).verify(X, y)
    assert not FewestMistakes(1, (7,), np.array([[1.0]]), -1.0, found.groups).verify(X, y)


def test_the_mistakes_are_counted_without_rounding():
    X, y = np.array([[1.0, 1e-30], [1.0, -1e-30]]), np.array([1, 0])
    model = FewestMistakes(0, (), np.array([1.0, 1.0]), -1.0, {})
    assert model.verify(X, y)  # 1 + 1e-30 − 1 > 0, which floats call 0
