"""What the neighbour certificates prove, and that they refuse anything else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import digest_evidence
from certifit.neighbors import CondensedNeighbors, EditedNeighbors, KNeighborsClassifier, KNeighborsRegressor

RNG = np.random.default_rng(1)
X, Q, Y = RNG.normal(size=(60, 3)), RNG.normal(size=(4, 3)), RNG.integers(0, 2, size=60)


def forged(certificate, **evidence):
    """The certificate with other evidence and a digest to match."""
    changed = {**certificate.evidence, **evidence}
    digests = {**certificate.digests, "evidence": digest_evidence(changed)}
    return certificate.tampered(evidence=changed, digests=digests)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "minkowski"])
@pytest.mark.parametrize("w", [None, [1.0, 0.3, 2.0]])
def test_neighbours_are_proved(metric, w):
    model = KNeighborsClassifier(metric=metric, p=3, feature_weights=w).fit(X, Y)
    proof = model.certificate_for(Q)
    assert proof.holds
    assert proof.verify(X, Y).holds
    assert proof.verify(X, Y, rigor="exact").holds
    distances, _ = model.kneighbors(Q, 6)
    assert proof.farthest >= distances[:, 4].max()
    assert 0 <= proof.separation <= (distances[:, 5] - distances[:, 4]).min()
    np.testing.assert_allclose(proof.separation, (distances[:, 5] - distances[:, 4]).min(), atol=1e-12)
    assert Certificate.from_dict(proof.to_dict()).verify(X, Y).holds
    assert model.certificate_for(None, 3).verify(X, Y).holds


def test_a_query_may_move_by_half_the_separation():
    model = KNeighborsClassifier().fit(X, Y)
    for q in Q:
        proof = model.certificate_for([q])
        step = RNG.normal(size=3)
        step *= 0.49 * proof.separation / np.linalg.norm(step)
        assert set(model.kneighbors([q + step])[1][0]) == set(proof.evidence["indices"][0])


@given(st.integers(0, 10**6), st.sampled_from(["euclidean", "manhattan", "chebyshev", "cosine"]))
def test_ties_and_copies_are_proved_too(seed, metric):
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 3, size=(30, 3)) * 0.1 + float(rng.choice([0.0, 0.1]))
    model = KNeighborsClassifier(4, metric=metric).fit(A, rng.integers(0, 2, 30))
    proof = model.certificate_for(A[:3])
    if metric != "cosine":  # its order is that of rounded unit rows: a near tie may be refused, never wrongly proved
        assert proof.holds
    assert proof.separation >= 0


def test_other_neighbours_are_refused():
    proof = KNeighborsClassifier(3).fit(X, Y).certificate_for(Q)
    rows = proof.evidence["indices"].copy()
    swapped = rows.copy()
    swapped[0, [0, 1]] = swapped[0, [1, 0]]
    other = rows.copy()
    other[2, 2] = next(i for i in range(60) if i not in rows[2])
    twice = rows.copy()
    twice[1, 1] = twice[1, 0]
    for bad in (swapped, other, twice, rows + 60, rows - 0.5):
        assert not forged(proof, indices=bad).verify(X, Y).holds
    assert not forged(proof, queries=proof.evidence["queries"] + 1.0).verify(X, Y).holds
    assert not forged(proof, metric="chebyshev").verify(X, Y).holds
    assert not forged(proof, metric="nonsense").verify(X, Y).holds
    assert not forged(proof, weights=np.array([1.0, 0.0, 0.0])).verify(X, Y).holds
    assert not proof.tampered(evidence={**proof.evidence, "indices": swapped}).verify(X, Y).holds
    assert not proof.tampered(figures={**proof.figures, "farthest": 0.0}).verify(X, Y).holds
    assert not proof.tampered(figures={**proof.figures, "separation": 9.0}).verify(X, Y).holds
    assert not proof.tampered(claim="All is well.").verify(X, Y).holds
    other_data = proof.verify(X + 1e-9, Y)
    assert not other_data.same_data
    assert not issue("neighbors", Data.of(X, Y), {**proof.evidence, "indices": swapped}).holds


def test_given_distances_refuse_another_order():
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    proof = KNeighborsClassifier(3, metric="precomputed").fit(D, Y).certificate_for(D[:2])
    assert proof.verify(D, Y).holds
    assert not forged(proof, indices=proof.evidence["indices"][:, ::-1].copy()).verify(D, Y).holds
    assert not forged(proof, distances=proof.evidence["distances"][::-1].copy()).verify(D, Y).holds


def test_numbers_too_large_are_a_doubt():
    A = X * 1e200
    proof = KNeighborsClassifier(3).fit(A, Y).certificate_for(A[:1])
    assert not proof.holds
    assert "small enough" in proof.failures[0]


def test_stored_rows_count_what_no_rule_can_avoid():
    A = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [2.0]])
    y = ["a", "b", "a", "b", "c", "a"]
    proof = KNeighborsClassifier(1).fit(A, y).certificate_
    assert (proof.rows, proof.distinct, proof.unavoidable) == (6, 3, 2)
    assert proof.verify(A, y).holds
    assert not forged(proof, rows="0" * 64).verify(A, y).holds
    assert not proof.tampered(figures={**proof.figures, "unavoidable": 0}).verify(A, y).holds
    values = [0.0, 1.0, 2.0, 5.0, 7.0, 3.0]
    proof = KNeighborsRegressor(1).fit(A, values).certificate_
    assert proof.unavoidable == pytest.approx(2.0 + 2.0)
    assert proof.verify(A, values).holds


@given(st.integers(0, 10**6), st.sampled_from(["euclidean", "manhattan", "chebyshev"]))
def test_condensed_set_answers_as_the_whole(seed, metric):
    rng = np.random.default_rng(seed)
    A = np.round(rng.normal(size=(50, 2)), int(rng.integers(0, 3)))
    b = np.where(A[:, 0] + 0.5 * rng.normal(size=50) > 0, "yes", "no")
    small = CondensedNeighbors(metric=metric).fit(A, b)
    whole = KNeighborsClassifier(1, metric=metric).fit(A, b)
    np.testing.assert_array_equal(small.predict(A), whole.predict(A))
    assert small.certificate_.holds
    assert small.certificate_.verify(A, b).holds
    assert small.certificate_.prototypes == len(small.prototype_indices_) < 50


def test_condensed_certificate_refuses_a_smaller_set():
    model = CondensedNeighbors().fit(X, Y)
    kept = model.prototype_indices_
    proof = model.certificate_
    assert not forged(proof, prototypes=kept[1:]).verify(X, Y).holds
    assert not forged(proof, prototypes=np.append(kept, kept[0])).verify(X, Y).holds
    assert not proof.verify(X, 1 - Y).holds
    np.testing.assert_array_equal(model.predict_proba(Q).argmax(axis=1), model.predict(Q))


@given(st.integers(0, 10**6))
def test_editing_keeps_exactly_the_confirmed_rows(seed):
    rng = np.random.default_rng(seed)
    A = np.round(rng.normal(size=(40, 2)), 1)
    b = (A[:, 0] > 0).astype(int)
    model = EditedNeighbors(3).fit(A, b)
    wanted = np.flatnonzero(KNeighborsClassifier(3).fit(A, b).predict(None) == b)
    np.testing.assert_array_equal(model.prototype_indices_, wanted)
    proof = model.certificate_
    assert proof.holds
    assert proof.verify(A, b).holds
    assert not forged(proof, kept=wanted[1:]).verify(A, b).holds
    wrong = proof.evidence["neighbors"].copy()
    wrong[0] = wrong[0][::-1]
    assert not forged(proof, neighbors=wrong).verify(A, b).holds


def test_editing_that_leaves_nothing_says_so():
    with pytest.raises(ValueError, match="leaves no row"):
        EditedNeighbors(1).fit([[0.0], [0.1], [5.0], [5.1]], [0, 1, 0, 1])
    with pytest.raises(ValueError, match="1 sample"):
        EditedNeighbors().fit([[0.0]], [0])
