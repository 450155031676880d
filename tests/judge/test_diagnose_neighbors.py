"""Lists of nearest rows with a known slip are told what it was; right ones are accepted, ties in any order."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

import certifit as cf

K = 4


def cloud(seed, n=25, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * [1.0, 6.0, 0.3][:d], rng.normal(size=(6, d)) * [1.0, 6.0, 0.3][:d]


def nearest(X, Q, metric="l2", k=K, skip=0):
    far = {
        "l2": lambda a: np.sqrt((a**2).sum(-1)),
        "l1": lambda a: np.abs(a).sum(-1),
        "max": lambda a: np.abs(a).max(-1),
    }[metric](X[None] - Q[:, None])
    return np.argsort(far, axis=1, kind="stable")[:, skip : skip + k]


def standard(X, Q):
    return (X - X.mean(0)) / X.std(0), (Q - X.mean(0)) / X.std(0)


def unit(X, Q):
    return (X - X.min(0)) / np.ptp(X, 0), (Q - X.min(0)) / np.ptp(X, 0)


SLIPS = {
    "other distance": lambda X, Q: nearest(X, Q, "l1"),
    "counted from 1": lambda X, Q: nearest(X, Q) + 1,
    "farthest first": lambda X, Q: nearest(X, Q)[:, ::-1],
    "not in order": lambda X, Q: np.sort(nearest(X, Q), axis=1),
    "farthest for nearest": lambda X, Q: nearest(X, Q, k=len(X))[:, ::-1][:, :K],
    "nearest row left out": lambda X, Q: nearest(X, Q, skip=1),
    "scaled columns": lambda X, Q: nearest(*standard(X, Q)),
    "columns scaled to [0, 1]": lambda X, Q: nearest(*unit(X, Q)),
    "one column": lambda X, Q: nearest(X[:, [2]], Q[:, [2]]),
}


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("seed", range(4))
def test_each_slip_is_named(slip, seed):
    X, Q = cloud(seed)
    found = cf.certify_neighbors(SLIPS[slip](X, Q), X, Q).diagnose(X)
    assert not found.right
    assert slip in [f.name for f in found]
    assert found[0].sentence in str(found)


def test_the_own_row():
    X, _ = cloud(0)
    counted = cf.certify_neighbors(nearest(X, X), X)
    assert not counted.holds
    assert [f.name for f in counted.diagnose(X)] == ["own row counted"]
    left_out = cf.certify_neighbors(nearest(X, X, skip=1), X, X)
    assert [f.name for f in left_out.diagnose(X)] == ["own row left out"]
    assert cf.certify_neighbors(nearest(X, X, skip=1), X).diagnose(X).right


def test_weights_of_columns():
    X, Q = cloud(1)
    certificate = cf.certify_neighbors(nearest(X, Q), X, Q, feature_weights=[9.0, 0.1, 3.0])
    assert "weights of columns left out" in [f.name for f in certificate.diagnose(X)]


def test_what_no_slip_explains_is_said():
    X, Q = cloud(0)
    rows = np.random.default_rng(5).permuted(np.tile(np.arange(25), (6, 1)), axis=1)[:, :K]
    found = cf.certify_neighbors(rows, X, Q).diagnose(X)
    assert found == []
    assert str(found).endswith("None of the usual mistakes explains it.")


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
def test_lists_of_scikit_learn_are_right(metric):
    for seed in range(50):
        X, Q = cloud(seed)
        if seed % 2:  # whole numbers: many equal distances, which others order as they like
            X, Q = np.rint(X), np.rint(Q)
        rows = NearestNeighbors(n_neighbors=K, metric=metric, algorithm="brute").fit(X).kneighbors(Q)[1]
        found = cf.certify_neighbors(rows, X, Q, metric=metric).diagnose(X)
        if metric == "cosine" and seed % 2 and not found.right:
            # rounding in their distances may order rows whose distances are equal or nearly so
            near = np.sort(
                1 - (Q @ X.T) / np.outer(np.linalg.norm(Q, axis=1) + 1e-300, np.linalg.norm(X, axis=1) + 1e-300)
            )
            assert np.any(np.diff(near[:, : K + 1]) < 1e-15)
            continue
        assert found.right, seed
