"""Neighbours without labels: scikit-learn's answers, exact order, graphs that hold distances."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.neighbors
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.neighbors import KNeighborsClassifier, NearestNeighbors


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["euclidean", "manhattan", "canberra"]), st.integers(1, 4))
def test_scikit_learn_finds_the_same(seed, metric, k):
    rng = np.random.default_rng(seed)
    X, Q = rng.normal(size=(25, 3)), rng.normal(size=(6, 3))
    ours = NearestNeighbors(n_neighbors=k, radius=1.5, metric=metric).fit(X)
    theirs = sklearn.neighbors.NearestNeighbors(n_neighbors=k, radius=1.5, metric=metric).fit(X)
    for mine, other in zip(ours.kneighbors(Q), theirs.kneighbors(Q)):
        np.testing.assert_allclose(mine, other)
    both = [m.radius_neighbors(Q, sort_results=True) for m in (ours, theirs)]
    for mine, other in zip(*(b[1] for b in both)):
        assert mine.tolist() == other.tolist()
    for ask in ("kneighbors_graph", "radius_neighbors_graph"):
        graphs = [getattr(m, ask)(Q, mode="distance").toarray() for m in (ours, theirs)]
        np.testing.assert_allclose(*graphs)
    assert all(i not in row for i, row in enumerate(ours.radius_neighbors()[1]))


def test_what_is_not_stored_in_a_sparse_graph_is_far():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    graph = NearestNeighbors(n_neighbors=6).fit(X).kneighbors_graph(X, mode="distance")
    plain = KNeighborsClassifier(5).fit(X, y)
    given_ = KNeighborsClassifier(5, metric="precomputed").fit(graph, y)
    np.testing.assert_array_equal(given_.predict(graph), plain.predict(X))
    with pytest.raises(ValueError, match="some samples have only 6"):
        KNeighborsClassifier(8, metric="precomputed").fit(graph, y).predict(graph)
    with pytest.raises(TypeError, match="explicit zeros"):
        given_.predict(scipy.sparse.dok_matrix(graph))


def test_certificates_speak_of_the_rows():
    X = np.array([[0.0], [1.0], [1.0], [5.0]])
    model = NearestNeighbors(n_neighbors=2).fit(X)
    assert model.certificate_.verify(X)
    assert (model.certificate_.rows, model.certificate_.distinct) == (4, 3)
    assert not model.certificate_.verify(X + 1.0)
    assert not model.certificate_.verify(X, np.zeros(4))
    assert model.certificate_for([[0.9]]).verify(X)
    assert model.kneighbors([[0.9]])[1].tolist() == [[1, 2]]


def test_a_power_below_one_is_no_distance():
    X = np.arange(8.0).reshape(4, 2)
    with pytest.warns(UserWarning, match="not distance metrics"):
        assert NearestNeighbors(p=0.5).fit(X).algorithm_ == "brute"
    with pytest.raises(ValueError, match="0 < p < 1"):
        NearestNeighbors(p=0.5, algorithm="kd_tree").fit(X)
