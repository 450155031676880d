"""Rows within a radius: scikit-learn's answers, exact at the edge, and proofs that a forger cannot keep."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sklearn.neighbors
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.certificates import Data, issue
from certifit.neighbors import NearestNeighbors, RadiusNeighborsClassifier, RadiusNeighborsRegressor

METRICS = ["euclidean", "manhattan", "chebyshev", "cosine"]


def _power(metric):
    return 2 if metric == "euclidean" else 1


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(METRICS[:3]), st.sampled_from([0.1, 1.0, 1e-200]))
def test_the_edge_belongs_to_the_ball_and_nothing_beyond_it(seed, metric, unit):
    """On a grid many rows lie at the radius itself; rational arithmetic says which are inside."""
    rng = np.random.default_rng(seed)
    X, Q = rng.integers(0, 4, size=(20, 2)) * unit, rng.integers(0, 4, size=(4, 2)) * unit
    radius = float(rng.integers(0, 4) * unit)
    model = NearestNeighbors(radius=radius, metric=metric).fit(X)
    for q, found in zip(Q, model.radius_neighbors(Q, return_distance=False)):
        gaps = [[abs(Fraction(a) - Fraction(b)) for a, b in zip(q.tolist(), x.tolist())] for x in X]
        sizes = [max(g) if metric == "chebyshev" else sum(v ** _power(metric) for v in g) for g in gaps]
        assert found.tolist() == [i for i, s in enumerate(sizes) if s <= Fraction(radius) ** _power(metric)]
    assert model.certificate_within(Q).verify(X)


@pytest.mark.parametrize("metric", METRICS)
def test_a_list_with_a_row_too_many_or_too_few_is_not_proved(metric):
    rng = np.random.default_rng(1)
    X, Q = rng.normal(size=(15, 3)), rng.normal(size=(2, 3))
    radius = 0.8 if metric == "cosine" else 1.6
    true = NearestNeighbors(radius=radius, metric=metric).fit(X).certificate_within(Q)
    assert true.holds
    assert true.verify(X, rigor="exact")
    counts, rows = true.evidence["counts"].astype(int), true.evidence["indices"].astype(int)
    lists = [part.tolist() for part in np.split(rows, np.cumsum(counts)[:-1])]
    others = [i for i in range(15) if i not in lists[0]]
    for forged in ([*lists[0], others[0]], lists[0][1:], [others[0], *lists[0][1:]]):
        evidence = {"indices": np.array([*forged, *lists[1]]), "counts": np.array([len(forged), len(lists[1])])}
        assert not issue("radius-neighbors", Data.of(X), {**true.evidence, **evidence}).holds
    for radius_ in (radius * 3, radius / 3):
        assert not issue("radius-neighbors", Data.of(X), {**true.evidence, "radius": radius_}).holds
    assert not true.verify(X[::-1].copy())


def test_a_row_is_not_its_own_neighbour_and_zero_is_a_radius():
    X = np.array([[0.0], [0.0], [1e-200], [2.0]])
    model = NearestNeighbors(radius=0.0).fit(X)
    assert [list(r) for r in model.radius_neighbors(return_distance=False)] == [[1], [0], [], []]
    assert model.certificate_within(None).holds
    with pytest.raises(ValueError, match="at least 0"):
        model.radius_neighbors(X, radius=-1.0)
    with pytest.raises(ValueError, match="nothing can be proved"):
        NearestNeighbors(metric="canberra").fit(X + 1).certificate_within(X)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.array([v**2 + 0.1 for v in d], dtype=object)])
@pytest.mark.parametrize("outputs", [1, 2])
def test_scikit_learn_answers_the_same(weights, outputs):
    rng = np.random.default_rng(3)
    X, Q = rng.normal(size=(60, 2)), np.vstack([rng.normal(size=(10, 2)), [[50.0, 50.0]]])
    Q[0] = X[0]
    y, values = rng.integers(0, 3, size=(60, outputs)), rng.normal(size=(60, outputs))
    y, values = (y.ravel(), values.ravel()) if outputs == 1 else (y, values)
    for label in ("most_frequent", 1):
        pair = [m(0.9, weights=weights, outlier_label=label).fit(X, y)
                for m in (RadiusNeighborsClassifier, sklearn.neighbors.RadiusNeighborsClassifier)]  # fmt: skip
        np.testing.assert_array_equal(*(m.predict(Q) for m in pair))
        np.testing.assert_allclose(*(m.predict_proba(Q) for m in pair), atol=1e-12)
        assert pair[0].outlier_label_ == pair[1].outlier_label_
    pair = [m(0.9, weights=weights).fit(X, values)
            for m in (RadiusNeighborsRegressor, sklearn.neighbors.RadiusNeighborsRegressor)]  # fmt: skip
    with pytest.warns(UserWarning, match="predicting NaN"):
        np.testing.assert_allclose(*(m.predict(Q) for m in pair), atol=1e-12)


def test_queries_without_neighbours_need_a_label():
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="No neighbors found for test samples"):
        RadiusNeighborsClassifier().fit(X, y).predict([[9.0]])
    with pytest.warns(UserWarning, match="not in training classes"):
        assert RadiusNeighborsClassifier(outlier_label=7).fit(X, y).predict([[9.0]]).tolist() == [7]
    for bad, error in (([0, 1], ValueError), ("a", TypeError), ([[0]], TypeError)):
        with pytest.raises(error, match="outlier_label"):
            RadiusNeighborsClassifier(outlier_label=bad).fit(X, y)
    assert RadiusNeighborsClassifier().fit(X, y).score(None, y) == 0.75


def test_missing_cells_are_left_out_of_the_distance():
    X = np.array([[0.0, np.nan], [1.0, 1.0], [np.nan, 3.0], [4.0, 4.0]])
    ours = NearestNeighbors(n_neighbors=2, metric="nan_euclidean").fit(X)
    theirs = sklearn.neighbors.NearestNeighbors(n_neighbors=2, metric="nan_euclidean").fit(X)
    Q = np.array([[0.5, 2.9], [np.nan, 0.0]])
    for mine, other in zip(ours.kneighbors(Q), theirs.kneighbors(Q)):
        np.testing.assert_allclose(mine, other)
    pair = [m(2.0, metric="nan_euclidean", outlier_label=1).fit(X, [0, 0, 1, 1])
            for m in (RadiusNeighborsClassifier, sklearn.neighbors.RadiusNeighborsClassifier)]  # fmt: skip
    np.testing.assert_array_equal(*(m.predict(Q) for m in pair))
    with pytest.raises(ValueError, match="NaN"):
        NearestNeighbors().fit(X)


def test_every_algorithm_finds_the_same_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 2))
    found = [NearestNeighbors(radius=0.5, algorithm=a).fit(X).radius_neighbors_graph(mode="distance")
             for a in ("auto", "brute", "kd_tree", "ball_tree")]  # fmt: skip
    for a, b in itertools.pairwise(found):
        assert (a != b).nnz == 0
