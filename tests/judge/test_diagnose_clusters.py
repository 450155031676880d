"""Clusterings with a known slip are told what it was; those of k-means are called right."""

import numpy as np
import pytest
import sklearn.cluster

import certifit as cf


def blobs(seed, spread=(10.0, 1.0)):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(15, 2)) + c for c in ([0, 0], [0, 5], [5, 5])]) * spread


def names(given, X):
    return [f.name for f in cf.certify_clusters(given, X).diagnose(X)]


@pytest.mark.parametrize("seed", range(20))
def test_what_k_means_finds_is_right(seed):
    X = blobs(seed, (1.0, 1.0))
    ours = cf.cluster.KMeans(3, n_init=3, random_state=seed).fit(X)
    found = cf.certify_clusters(ours, X).diagnose(X)
    assert found.right
    assert found == []
    assert str(found).startswith("Right.")
    theirs = sklearn.cluster.KMeans(3, n_init=10, random_state=seed, tol=0).fit(X)
    assert cf.certify_clusters(theirs.labels_, X).diagnose(X).right


def test_slips():
    X = blobs(0)
    scaled = cf.cluster.KMeans(3, random_state=0).fit(X / X.std(axis=0)).labels_
    assert names(scaled, X)[0] == "scaled columns"
    start = X[[0, 1, 2]]
    assert "centres that are not means" in names(start, X)
    ours = cf.cluster.KMeans(3, random_state=0).fit(X)
    medians = np.array([np.median(X[ours.labels_ == k], axis=0) for k in range(3)])
    far = cf.certify_clusters(medians, X)
    assert "medians for means" in [f.name for f in far.diagnose(X)] or np.any(far.evidence["labels"] != ours.labels_)
    wrong = ours.labels_.copy()
    wrong[:4] = (wrong[:4] + 1) % 3
    assert "rows not with their nearest centre" in names(wrong, X)
    for finding in cf.certify_clusters(wrong, X).diagnose(X):
        assert finding.certificate.verify is not None
        assert finding.sentence.endswith((".", "?"))
