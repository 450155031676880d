"""Every road leads to the same components: those of a singular value decomposition of the centred rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from certifit.decomposition import _spectrum as roads
from certifit.decomposition._covariance import Covariance

RNG = np.random.default_rng(10)
X = RNG.normal(size=(40, 8)) @ np.diag([5.0, 4, 3, 2, 1.5, 1, 0.5, 0.1]) + 3.0
K = 3
ROADS = {
    "covariance": lambda: roads.by_covariance(Covariance.of(X)),
    "gram": lambda: roads.by_gram(X),
    "svd": lambda: roads.by_svd(X),
    "random": lambda: roads.by_random_start(X, K, 5, 12, np.random.RandomState(0)),
    "lanczos": lambda: roads.by_lanczos(X, K, 0.0, np.random.RandomState(0)),
    "sparse lanczos": lambda: roads.by_lanczos(sp.csr_array(X), K, 0.0, np.random.RandomState(0)),
    "sparse random": lambda: roads.by_random_start(sp.csr_array(X), K, 5, 12, np.random.RandomState(0)),
}


@pytest.mark.parametrize("road", ROADS)
def test_variances_and_directions(road):
    found = ROADS[road]()
    _, S, V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(found.variances[:K], S[:K] ** 2 / 39, rtol=1e-6)
    np.testing.assert_allclose(np.abs(np.sum(found.vectors[:K] * V[:K], axis=1)), 1.0, atol=1e-6)
    np.testing.assert_allclose(found.vectors[:K], roads.turn(V[:K]), atol=1e-5)
    np.testing.assert_allclose(found.mean, X.mean(axis=0))
    assert found.total == pytest.approx((S**2).sum() / 39)


def test_few_components_of_a_wide_covariance():
    Z = RNG.normal(size=(900, 420))
    some = roads.by_covariance(Covariance.of(Z), 2)
    values = np.linalg.eigvalsh(np.cov(Z.T))[::-1]
    np.testing.assert_allclose(some.variances, values[:2], rtol=1e-9)
    assert some.total == pytest.approx(values.sum())


@given(hnp.arrays(float, (3, 4), elements=st.floats(-5, 5)))
def test_turning_makes_the_largest_entry_positive_and_happens_once(V):
    turned = roads.turn(V)
    at = np.abs(V).argmax(axis=1)
    assert np.all(turned[np.arange(3), at] >= 0)
    np.testing.assert_array_equal(np.abs(turned), np.abs(V))
    np.testing.assert_array_equal(roads.turn(turned), turned)
    np.testing.assert_array_equal(roads.turn(-V), turned)


def test_a_road_for_every_shape():
    assert roads.choose_solver((10_000, 50), 5, sparse=False) == "covariance_eigh"
    assert roads.choose_solver((100, 50), None, sparse=False) == "full"
    assert roads.choose_solver((600, 5000), 5, sparse=False) == "gram_eigh"
    assert roads.choose_solver((2000, 3000), 5, sparse=False) == "randomized"
    assert roads.choose_solver((600, 5000), 5, sparse=True) == "arpack"


def test_a_rough_random_start_still_states_the_variance_of_its_own_scores():
    wide = np.random.default_rng(2).normal(size=(60, 40))  # no gap in the spectrum: one iteration is far from the end
    found = roads.by_random_start(wide, 3, 2, 0, np.random.RandomState(0))
    scores = (wide - wide.mean(axis=0)) @ found.vectors.T
    np.testing.assert_allclose(found.variances, scores.var(axis=0, ddof=1))
    np.testing.assert_allclose(np.corrcoef(scores.T), np.eye(3), atol=1e-12)
