"""Graphs of neighbours: scikit-learn's matrices, from rows or from a search that exists."""

import numpy as np
import pytest
import sklearn.neighbors

from certifit.neighbors import NearestNeighbors, kneighbors_graph, radius_neighbors_graph

X = np.random.default_rng(0).normal(size=(30, 2))


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("include_self", [True, False, "auto"])
def test_scikit_learn_draws_the_same_graph(mode, include_self):
    options = {"mode": mode, "include_self": include_self}
    for ours, theirs, size in (
        (kneighbors_graph, sklearn.neighbors.kneighbors_graph, 3),
        (radius_neighbors_graph, sklearn.neighbors.radius_neighbors_graph, 0.7),
    ):
        np.testing.assert_allclose(ours(X, size, **options).toarray(), theirs(X, size, **options).toarray())


def test_a_fitted_search_is_used_as_it_is():
    search = NearestNeighbors(n_neighbors=5, radius=1.0, metric="manhattan").fit(X)
    graph = kneighbors_graph(search, 2, metric="manhattan", mode="distance")
    assert graph.nnz == 60
    assert radius_neighbors_graph(search, 0.5, metric="manhattan").nnz < search.radius_neighbors_graph().nnz
    with pytest.raises(ValueError, match="Got minkowski for metric"):
        kneighbors_graph(search, 2)
