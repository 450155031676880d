"""k-means: plain Lloyd, scikit-learn, enumeration and exact arithmetic as witnesses; every claim attacked."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from hypothesis import given, settings
from hypothesis import strategies as st

import certifit
from certifit import load, save
from certifit.certificates import Data, issue
from certifit.cluster import KMeans, choose_k
from certifit.cluster._bound import block_evidence, closed_form_evidence, line_evidence
from certifit.cluster._lloyd import ClusterRows, lloyd
from certifit.exceptions import ChangedDataError, ConvergenceWarning
from tests.certificates.tampering import forged, refuses_everything, reissued

AT_MOST = ("value", "gap", "excess", "reassignment_gain", "centre_gain", "move_gain")


def blobs(seed=0, n=30, spread=0.5):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(m, spread, size=(n, 2)) for m in [(0, 0), (4, 0), (2, 4)]])


def cost(X, labels, weights):
    """Φ of a partition in exact arithmetic."""
    total = Fraction(0)
    for c in set(labels):
        rows = [i for i, label in enumerate(labels) if label == c and weights[i]]
        W = sum(Fraction(weights[i]) for i in rows)
        for j in range(X.shape[1] if rows else 0):
            values = [Fraction(float(X[i, j])) for i in rows]
            mean = sum(Fraction(weights[i]) * v for i, v in zip(rows, values)) / W
            total += sum(Fraction(weights[i]) * (v - mean) ** 2 for i, v in zip(rows, values))
    return total


def best_cost(X, k, weights):
    """The least Φ over all partitions into at most k parts."""
    n = len(X)
    return min(
        cost(X, labels, weights) for labels in itertools.product(range(k), repeat=n - 1) for labels in [(0, *labels)]
    )


def plain_lloyd(X, C, weights, max_iter):
    labels = None
    for i in range(max_iter):
        D = ((X[:, None] - C[None]) ** 2).sum(axis=2)
        new = D.argmin(axis=1)
        if labels is not None and np.array_equal(new, labels):
            return labels, C, i
        labels = new
        C = np.array([np.average(X[labels == c], axis=0, weights=weights[labels == c]) for c in range(len(C))])
    return labels, C, max_iter


@pytest.mark.parametrize("k", [2, 5, 9])
@pytest.mark.parametrize("d", [2, 7])
def test_bounds_change_no_cluster(k, d):
    rng = np.random.default_rng(k * d)
    X, weights = rng.normal(size=(400, d)), rng.integers(1, 4, size=400).astype(float)
    start = X[rng.choice(400, k, replace=False)]
    labels, C, _ = plain_lloyd(X, start, weights, 300)
    rows = ClusterRows(X, weights)
    found = lloyd(rows, start, 300, 0.0, False)
    assert np.array_equal(found.labels, labels)
    assert np.allclose(found.centres, C, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_from_the_same_start_the_cost_is_scikit_learns_or_less(seed):
    rng = np.random.default_rng(seed)
    X, k = rng.normal(size=(150, 3)), 2 + seed % 6
    start = X[rng.choice(150, k, replace=False)]
    theirs = sklearn.cluster.KMeans(k, init=start, n_init=1, tol=0).fit(X)
    ours = KMeans(k, init=start, tol=0).fit(X)
    assert ours.inertia_ <= theirs.inertia_ * (1 + 1e-12)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.certificate_.move_gain <= 1e-9 * ours.inertia_
    same = sklearn.cluster.KMeans(k, random_state=seed, n_init=1).fit(X)  # the same random numbers, too
    assert KMeans(k, random_state=seed).fit(X).inertia_ <= same.inertia_ * (1 + 1e-9)


def test_predictions_distances_and_scores_are_scikit_learns():
    X, new = blobs(), blobs(9)
    ours = KMeans(3, random_state=0).fit(X)
    theirs = sklearn.cluster.KMeans(3, init=ours.cluster_centers_, n_init=1).fit(X)
    assert np.allclose(ours.transform(new), theirs.transform(new))
    assert np.array_equal(ours.predict(new), theirs.predict(new))
    assert ours.score(new) == pytest.approx(theirs.score(new))
    assert np.array_equal(ours.predict(X), ours.labels_)
    assert list(ours.get_feature_names_out()) == ["kmeans0", "kmeans1", "kmeans2"]


def test_a_weight_is_a_number_of_copies():
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(60, 2)), rng.integers(0, 4, size=60)
    weighted = KMeans(4, random_state=0).fit(X, sample_weight=w)
    repeated = KMeans(4, random_state=0).fit(np.repeat(X, w, axis=0)[::-1])
    assert np.allclose(weighted.cluster_centers_, repeated.cluster_centers_)
    assert repeated.inertia_ == pytest.approx(weighted.inertia_, rel=1e-12)
    assert weighted.certificate_.verify(X, sample_weight=w).holds
    assert weighted.certificate_.move_gain <= 1e-9


def test_sparse_rows_give_the_dense_clusters():
    rng = np.random.default_rng(2)
    X = sp.random(120, 30, density=0.2, format="csr", random_state=0)
    start = X[:5].toarray() + 0.01 * rng.normal(size=(5, 30))
    dense = lloyd(ClusterRows(X.toarray(), np.ones(120)), start, 300, 0.0, False)
    sparse = lloyd(ClusterRows(X, np.ones(120)), start, 300, 0.0, False)
    assert np.array_equal(dense.labels, sparse.labels)
    model = KMeans(5, init=start).fit(X)
    assert model.inertia_ <= sklearn.cluster.KMeans(5, init=start, n_init=1).fit(X).inertia_ * (1 + 1e-12)
    assert model.certificate_.holds
    assert model.certificate_.verify(X.toarray()).holds
    assert model.certificate_.move_gain <= 1e-9 * model.inertia_
    assert (
        np.allclose(model.transform(X), KMeans(5, init=start).fit(X.toarray()).transform(X), atol=1e-6)
        or model.n_moves_
    )


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 2))
def test_no_bound_exceeds_the_best_clustering_by_enumeration(seed, k, d):
    """Closed form from the best and from a bad clustering, blocks, and one dimension, with weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(max(k, 2), 7))
    X = rng.integers(-3, 4, size=(n, d)) + rng.choice([0.0, 0.25, 1e-9, 5.0], size=(n, d))
    weights = rng.integers(0, 3, size=n).astype(float) if seed % 2 else np.ones(n)
    weights[0] = 1.0
    least = best_cost(X, k, weights)
    data = Data.of(X, None, weights)
    for labels in (KMeans(min(k, n), random_state=0, n_init=3), None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = rng.integers(0, k, size=n) if labels is None else labels.fit(X, sample_weight=weights).labels_
        at = np.zeros((k, d))
        evidence = {"labels": found.astype(np.int64), "centres": at}
        for told in (
            closed_form_evidence(X, weights, found, k)[1],
            block_evidence(data, k, float(least), 0.1, 0, None)[1],
        ):
            c = issue("clustering", data, evidence | told)
            assert c.holds
            assert Fraction(c.bound) <= least
            assert Fraction(c.value) >= least
        if d == 1:
            c = issue("clustering", data, evidence | line_evidence(X[:, 0], weights, k))
            assert Fraction(c.bound) <= least
            assert float(least) - c.bound <= 1e-9 * (1 + float(least) + np.abs(X).max() ** 2)


@pytest.mark.parametrize("seed", range(5))
def test_one_dimension_is_solved_exactly(seed):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(8, 1)), 2)
    for k in (1, 2, 3):
        model = KMeans(k).fit(x)
        assert Fraction(model.inertia_) == pytest.approx(best_cost(x, k, np.ones(8)), abs=1e-12)
        assert model.certificate_.excess < 1e-6 or model.inertia_ < 1e-12
    big = rng.normal(size=(300, 1)) + 1e6
    model = KMeans(6).fit(big)
    assert model.status_ == "closed form"
    assert model.inertia_ <= sklearn.cluster.KMeans(6, n_init=3, random_state=0).fit(big).inertia_ * (1 + 1e-9)
    assert model.certificate_.excess < 1e-6


def test_separated_clusters_are_proved_best_and_a_worse_clustering_never_is():
    X = blobs(spread=0.4)
    model = KMeans(3, n_init=3, random_state=0).fit(X)
    c = model.certificate_
    assert c.bound_method == "closed form"
    assert c.excess < 1e-9
    refuses_everything(c, X, None, at_most=AT_MOST)
    worse = model.labels_.copy()
    worse[0] = (worse[0] + 1) % 3
    judged = certifit.certify_clusters(worse, X)
    assert judged.holds
    assert judged.bound <= model.inertia_
    assert judged.excess > 0.01
    assert judged.move_gain > 0
    assert "Not settled" in judged.claim


def test_blocks_bound_a_cloud_and_every_part_of_the_evidence_is_needed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    model = KMeans(3, n_init=5, random_state=0).fit(X)
    before = model.certificate_
    done = []
    c = model.bound(time_budget=6, progress=lambda i, of: done.append((i, of)))
    assert done[-1][0] == done[-1][1]
    assert c.bound_method == "blocks"
    assert c.excess < 0.25
    assert c.bound > 2 * before.bound
    assert model.certificate_ is c
    refuses_everything(c, X, None, at_most=AT_MOST)
    data = Data.of(X)
    for change in ({"multipliers": -c.evidence["multipliers"]}, {"block": c.evidence["block"] - 1}, {"shift": [-1.0]}):
        assert not issue("clustering", data, {**c.evidence, **change}).holds
        assert not forged(c, **change).verify(X).holds
    raised = reissued(c, data, y=c.evidence["y"] + 0.1)
    assert raised.bound <= model.inertia_ * (1 + 1e-9)
    nothing = reissued(c, data, multipliers=0 * c.evidence["multipliers"], shift=np.zeros(1))
    assert nothing.bound < c.bound
    assert not forged(c, multipliers=0 * c.evidence["multipliers"]).verify(X).holds
    assert not issue("clustering", data, {**c.evidence, "block": np.append(c.evidence["block"], 0)}).holds


def test_many_blocks_add_up():
    X = blobs(3, n=170, spread=0.3)
    assert len(X) > 400
    model = KMeans(3, n_init=2, random_state=0).fit(X)
    assert model.certificate_.bound == 0.0
    assert "not known" in model.certificate_.claim
    evidence = block_evidence(Data.of(X), 3, model.inertia_, 20.0, 0, None)[1]
    c = issue("clustering", Data.of(X), {**model.certificate_.evidence, **evidence})
    assert len(np.unique(c.evidence["block"])) > 1
    assert c.excess < 0.05


def test_potentials_that_promise_too_much_prove_less():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 1))
    model = KMeans(4).fit(x)
    c = model.certificate_
    refuses_everything(c, x, None, at_most=AT_MOST)
    for factor in (1.5, 3.0):
        assert reissued(c, Data.of(x), potentials=factor * c.evidence["potentials"]).bound <= model.inertia_ * (
            1 + 1e-9
        )


def test_labels_and_centres_of_an_enemy_are_checked():
    X = blobs()
    c = KMeans(3, random_state=0).fit(X).certificate_
    for change in (
        {"labels": c.evidence["labels"] - 1},
        {"labels": c.evidence["labels"].astype(float)},
        {"labels": c.evidence["labels"][1:]},
        {"centres": c.evidence["centres"][:, :1]},
        {"centres": c.evidence["centres"] * np.nan},
        {"method": "magic"},
    ):
        assert not forged(c, **change).verify(X).holds
    negative = -np.ones(len(X))
    assert "not negative" in issue("clustering", Data.of(X, None, negative), c.evidence).failures[0]


def test_a_fit_that_was_cut_short_says_so():
    X = np.random.default_rng(0).normal(size=(500, 4))
    start = X[:6]
    model = KMeans(6, init=start, max_iter=1).fit(X)
    assert model.n_iter_ == 1
    assert model.status_ == "max_iter"
    assert model.certificate_.holds
    assert "Not settled" in model.certificate_.claim


def test_far_from_the_origin_and_with_few_different_rows():
    X = blobs() + 1e7
    model = KMeans(3, random_state=0).fit(X)
    assert model.certificate_.excess < 1e-5
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        few = KMeans(4, random_state=0).fit(np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0))
    assert few.inertia_ == 0.0
    assert few.certificate_.holds
    with pytest.raises(ValueError, match="n_clusters"):
        KMeans(4).fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="shape of the initial centers"):
        KMeans(2, init=np.zeros((3, 2))).fit(X)


def test_files_traces_and_changed_data(tmp_path):
    X = blobs()
    model = KMeans(3, random_state=0, trace=True, init="random", n_init=2).fit(X)
    assert model.trace_[0].phase == "Lloyd"
    values = model.trace_["objective"]
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(values))
    save(model, tmp_path / "m.certifit")
    again = load(tmp_path / "m.certifit")
    assert np.array_equal(again.predict(X), model.labels_)
    assert again.certificate_.verify(X).holds
    with pytest.raises(ValueError, match="certify_clusters"):
        again.bound()
    other = KMeans(3, random_state=0).fit(X)
    X[0] += 1.0
    with pytest.raises(ChangedDataError):
        _ = other.certificate_


def test_anybodys_clustering_is_judged_and_nonsense_refused():
    X = blobs()
    theirs = sklearn.cluster.KMeans(3, random_state=0, n_init=3).fit(X)
    assert certifit.certify_clusters(theirs, X).excess < 1e-6
    assert certifit.certify_clusters(theirs.cluster_centers_, X).value == pytest.approx(theirs.inertia_)
    words = np.array(["a", "b", "c"])[theirs.labels_]
    assert certifit.certify_clusters(words, X).excess < 1e-6
    searched = certifit.certify_clusters(KMeans(2, random_state=0).fit(X).labels_, X, time_budget=3.0)
    assert searched.holds
    for bad in (np.zeros(5), np.zeros((3, 7)), np.full((2, 2), np.nan)):
        with pytest.raises(ValueError):
            certifit.certify_clusters(bad, X)
    with pytest.raises(ValueError, match="not be negative"):
        certifit.certify_clusters(words, X, -np.ones(len(X)))


def test_choosing_k_finds_three_clusters_and_draws_them():
    from certifit import plot

    choice = choose_k(blobs(spread=0.4), range(1, 5), references=8, resamples=6, random_state=0)
    assert choice.best == {"silhouette": 3, "gap": 3, "stability": 3}
    assert "preferred" in str(choice)
    at = choice.k.index(3)
    assert choice.stability["low"][at] > 0.95
    for measure in (choice.silhouette, choice.gap, choice.stability):
        for low, value, high in zip(measure["low"], measure["value"], measure["high"]):
            assert np.isnan(value) or low - 1e-12 <= value <= high + 1e-12
    plot.number_of_clusters(choice).figure.canvas.draw()
    assert choice.plot().get_xlabel() == "number of clusters"
    ax = plot.clusters(KMeans(3, random_state=0).fit(blobs()), blobs())
    ax.figure.canvas.draw()
    assert len(ax.lines) == 4
    with pytest.raises(ValueError, match="two features"):
        plot.clusters(KMeans(1).fit(np.ones((3, 1))), np.ones((3, 1)))
    with pytest.raises(ValueError, match="half the number"):
        choose_k(blobs(), [500])


def test_given_centres_are_started_from_once():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(RuntimeWarning, match="only one init"):
        model = KMeans(2, init=X[:2], n_init=3).fit(X)
    assert model.inertia_ == KMeans(2, init=X[:2]).fit(X).inertia_
