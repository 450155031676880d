"""Votes of nearest rows: right ones are accepted, slips are named, each with the lists that elect the labels."""

import numpy as np
import pytest
import sklearn.neighbors

import certifit as cf


def table(seed, n=60, classes=2):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[rng.permutation(np.arange(n) % classes)]
    return (
        rng.normal(size=(n, 2)) * [1.0, 8.0] + np.column_stack([y == "b", y == "c"]),
        y,
        rng.normal(size=(40, 2)) * [1.0, 8.0],
    )


def theirs(X, y, Q, k=5, metric="euclidean", weights="uniform"):
    return sklearn.neighbors.KNeighborsClassifier(k, metric=metric, weights=weights).fit(X, y).predict(Q)


@pytest.mark.parametrize("seed", range(8))
def test_right_votes_of_others(seed):
    X, y, Q = table(seed, classes=2 + seed % 2)
    for k in (1, 2, 5, 8):
        for metric in ("euclidean", "manhattan", "chebyshev", "cosine"):
            for weights in ("uniform", "distance"):
                labels = theirs(X, y, Q, k, metric, weights)
                assert cf.diagnose_votes(labels, X, y, Q, k=k, metric=metric, weights=weights).right
        own = cf.neighbors.KNeighborsClassifier(k).fit(X, y).predict(Q)
        assert cf.diagnose_votes(own, X, y, Q, k=k).right


@pytest.mark.parametrize("seed", range(20))
def test_equal_distances_and_equal_votes_are_nobodys_mistake(seed):
    rng = np.random.default_rng(seed)
    X, Q = rng.integers(0, 4, size=(30, 2)).astype(float), rng.integers(0, 4, size=(10, 2)).astype(float)
    y = rng.integers(0, 3, size=30)
    for order in (np.arange(30), rng.permutation(30)):
        for k in (1, 2, 3, 6):
            assert cf.diagnose_votes(theirs(X[order], y[order], Q, k), X, y, Q, k=k).right


SLIPS = {
    "k = 4": lambda X, y, Q: theirs(X, y, Q, 4),
    "k = 6": lambda X, y, Q: theirs(X, y, Q, 6),
    "votes by distance": lambda X, y, Q: theirs(X, y, Q, 5, weights="distance"),
    "labels swapped": lambda X, y, Q: np.where(theirs(X, y, Q, 5) == "a", "b", "a"),
    "other distance": lambda X, y, Q: theirs(X, y, Q, 5, "manhattan"),
    "scaled columns": lambda X, y, Q: theirs((X - X.mean(0)) / X.std(0), y, (Q - X.mean(0)) / X.std(0), 5),
    "nearest row alone": lambda X, y, Q: theirs(X, y, Q, 1),
    "all rows vote": lambda X, y, Q: theirs(X, y, Q, len(X)),
}


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("seed", range(4))
def test_each_slip_is_named_and_proved(slip, seed):
    X, y, Q = table(seed)
    found = cf.diagnose_votes(SLIPS[slip](X, y, Q), X, y, Q, k=5)
    assert not found.right
    assert slip in [f.name for f in found]
    assert all(f.certificate.holds for f in found)


@pytest.mark.parametrize("seed", range(5))
def test_own_rows(seed):
    X, y, _ = table(seed)
    lists = sklearn.neighbors.NearestNeighbors(n_neighbors=5).fit(X)
    near = lists.kneighbors(return_distance=False)
    labels = np.where((y[near] == "a").sum(axis=1) > 2, "a", "b")
    assert cf.diagnose_votes(labels, X, y, k=5).right
    found = cf.diagnose_votes(theirs(X, y, X, 5), X, y, k=5)
    assert "own row counted" in [f.name for f in found]
    weighted = cf.diagnose_votes(theirs(X, y, X + 0.01, 5), X, y, X + 0.01, k=5, weights="distance")
    assert "one vote each" in [f.name for f in weighted]


def test_a_single_wrong_vote_is_pointed_at():
    X, y, Q = table(1)
    labels = theirs(X, y, Q, 5)
    labels[7] = "b" if labels[7] == "a" else "a"
    found = cf.diagnose_votes(labels, X, y, Q, k=5)
    assert [f.name for f in found] == ["wrong vote"]
    assert found[0].sentence.startswith("Query 7: the nearest rows [")


def test_refusals_are_one_sentence():
    X, y, Q = table(0)
    for changed in ({"k": 0}, {"k": 61}, {"metric": "minkowski"}, {"weights": "none"}):
        with pytest.raises(ValueError, match="must be"):
            cf.diagnose_votes(["a"] * 40, X, y, Q, **changed)
    with pytest.raises(ValueError, match="one class for each of the 40"):
        cf.diagnose_votes(["a"], X, y, Q)
