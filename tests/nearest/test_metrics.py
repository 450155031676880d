"""Distances: names and powers mean what SciPy means by them; a broken axiom is named."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from certifit.nearest._metrics import Metric, check_axioms, function_block, resolve
from certifit.neighbors import KNeighborsRegressor

RNG = np.random.default_rng(8)
X = RNG.normal(size=(30, 3))
W = np.array([0.5, 2.0, 1.0])


@pytest.mark.parametrize(
    ("metric", "p", "name"),
    [("minkowski", 2, "euclidean"), ("minkowski", 1, "manhattan"), ("p", np.inf, "chebyshev"), ("l1", 2, "manhattan"),
     ("cityblock", 2, "manhattan"), ("l2", 5, "euclidean"), ("minkowski", 3, "minkowski")],
)  # fmt: skip
def test_names(metric, p, name):
    assert resolve(metric, p, None, None, 3).name == name


@pytest.mark.parametrize(
    ("metric", "p", "witness"),
    [("euclidean", 2, "euclidean"), ("manhattan", 2, "cityblock"), ("minkowski", 3, "minkowski")],
)
def test_weighted_distances_are_those_of_scipy(metric, p, witness):
    model = KNeighborsRegressor(5, metric=metric, p=p, feature_weights=W).fit(X, X[:, 0])
    found, rows = model.kneighbors(X[:6] + 0.1)
    options = {"w": W, "p": p} if witness == "minkowski" else {"w": W}
    D = cdist(X[:6] + 0.1, X, witness, **options)
    np.testing.assert_allclose(found, np.sort(D, axis=1)[:, :5], rtol=1e-12)
    np.testing.assert_array_equal(rows, np.argsort(D, axis=1)[:, :5])


def test_the_reduced_distance_orders_as_the_distance():
    reduced = np.sort(RNG.uniform(0, 9, 20))
    for metric, power in ((Metric("euclidean"), 2.0), (Metric("minkowski", p=3.0), 3.0), (Metric("manhattan"), 1.0)):
        np.testing.assert_allclose(metric.rooted(reduced) ** power, reduced)


def test_weights_of_both_places_multiply_and_are_checked():
    assert resolve("euclidean", None, {"w": [1.0, 2.0]}, [3.0, 0.5], 2).weights.tolist() == [3.0, 1.0]
    for bad in ([1.0], [-1.0, 1.0], [0.0, 0.0], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="feature_weights"):
            resolve("euclidean", None, None, bad, 2)
    with pytest.raises(ValueError, match="does not accept"):
        resolve("euclidean", None, {"V": 1}, None, 2)


@pytest.mark.parametrize(
    ("function", "axiom"),
    [(lambda a, b: float((a - b).sum()), "non-negativity"), (lambda a, b: 1.0, "identity"),
     (lambda a, b: float(((a - b) ** 2).sum()), "triangle"), (lambda a, b: np.nan, "finiteness"),
     (lambda a, b: float(abs(a[0] - b[0])) * (1.0 + (a[0] > b[0])), "symmetry")],
)  # fmt: skip
def test_broken_axioms_are_named(function, axiom):
    with pytest.raises(ValueError, match=axiom):
        check_axioms(Metric("function", function=function), X)


def test_a_real_distance_passes():
    city = Metric("function", function=lambda a, b: float(np.abs(a - b).sum()))
    check_axioms(city, X)
    np.testing.assert_allclose(function_block(city, X[:3], X), cdist(X[:3], X, "cityblock"))
