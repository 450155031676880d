"""What the neighbour certificates prove, and that they refuse anything else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.certificates import Certificate, Data, issue
from certifit.certificates.neighbors import Space
from certifit.neighbors import CondensedNeighbors, KNeighborsClassifier, KNeighborsRegressor
from tests.certificates.tampering import forged, reissued

RNG = np.random.default_rng(1)
X, Q, Y = RNG.normal(size=(60, 3)), RNG.normal(size=(4, 3)), RNG.integers(0, 2, size=60)


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


@pytest.mark.parametrize("scale", [1e200, 1e-200, 5e-324, 1e300])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
def test_numbers_beyond_squares_are_compared_exactly(scale, metric):
    A = np.sign(X) * np.ceil(np.abs(X) * 4) * scale / (1.0 if scale < 1e299 else 1e2)
    model = KNeighborsClassifier(3, metric=metric).fit(A, Y)
    proof = model.certificate_for(A[:2])
    assert proof.holds
    assert proof.verify(A, Y).holds
    worse = np.roll(proof.evidence["indices"], 1, axis=1)
    assert not reissued(proof, Data.of(A, Y), indices=worse).holds


def test_a_zero_or_tiny_cosine_query_does_not_hide_the_nearest_row():
    for q in ([[1e-100, 0.0]], [[1e100, 0.0]], [[5e-324, 0.0]]):
        A = np.array([[1e-100, 0.0], [1.0, 1.0]])
        proof = KNeighborsClassifier(1, metric="cosine").fit(A, [0, 1]).certificate_for(q)
        assert proof.holds
        assert not reissued(proof, Data.of(A, [0, 1]), indices=np.array([[1]])).holds
    zero = KNeighborsClassifier(1, metric="cosine").fit(A, [0, 1]).certificate_for([[0.0, 0.0]])
    assert zero.holds  # every row is at distance 1: the first is listed, and no other may be
    assert zero.evidence["indices"].tolist() == [[0]]
    assert not reissued(zero, Data.of(A, [0, 1]), indices=np.array([[1]])).holds


def test_a_weight_magnifies_what_underflow_loses():
    A, w = np.array([[1e-170, 0.0], [0.0, 1e-130]]), np.array([1e100, 1.0])  # squared distances 1e-240 and 1e-260
    model = KNeighborsClassifier(1, metric_params={"w": w}).fit(A, [0, 1])
    proof = model.certificate_for(np.zeros((1, 2)))
    assert proof.evidence["indices"].tolist() == [[1]]
    assert proof.holds
    assert not reissued(proof, Data.of(A, [0, 1]), indices=np.array([[0]])).holds


def test_a_row_that_leaves_itself_out_says_so():
    A = np.array([[0.0], [5.0], [1.0]])
    proof = KNeighborsClassifier(1).fit(A, [0, 1, 0]).certificate_for([[0.0]])
    own = reissued(proof, Data.of(A, [0, 1, 0]), indices=np.array([[2]]), own=np.array([0]))
    assert own.holds
    assert "nearest other training row to training row 0" in own.claim
    assert not own.tampered(claim=proof.claim).verify(A, [0, 1, 0]).holds
    for wrong in ([1], [0.5], [-1], [3], [0, 0]):
        assert not forged(own, own=np.array(wrong)).verify(A, [0, 1, 0]).holds


@pytest.mark.parametrize("change", [{"p": np.nan}, {"p": -1.0}, {"p": 0.0}, {"p": np.inf}, {"weights": -np.ones(3)},
                                    {"weights": np.full(3, np.nan)}, {"queries": np.full((4, 3), np.nan)},
                                    {"p": 1e300}, {"metric": "euclidean "}])  # fmt: skip
def test_parameters_outside_their_range_are_refused(change):
    proof = KNeighborsClassifier(3, metric="minkowski", p=3).fit(X, Y).certificate_for(Q)
    assert proof.holds
    assert not forged(proof, **change).verify(X, Y).holds


def test_the_claim_names_the_distance():
    model = KNeighborsClassifier(1, metric="minkowski", p=3, feature_weights=[1, 2, 1]).fit(X, Y)
    assert model.certificate_for(Q[:1]).claim.startswith("By weighted Minkowski distance (p = 3), the listed row is")
    condensed = CondensedNeighbors().fit(X, Y).certificate_
    assert not forged(condensed, metric="cosine").verify(X, Y).holds


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


def test_zero_with_and_without_a_sign_is_one_label():
    model = KNeighborsClassifier(n_neighbors=1).fit(np.array([[1.0], [1.0], [2.0]]), np.array([0.0, -0.0, 1.0]))
    assert model.certificate_.holds
    assert model.certificate_.unavoidable == 0


@given(
    st.integers(0, 10**6), st.sampled_from([1e-200, 1e-160, 1e-3, 1.0, 1e160, 1e200]), st.sampled_from([0.0, 1.0, 1e8])
)
def test_the_quick_look_passes_over_no_nearer_row(seed, unit, shift):
    """Whatever is nearer in rational numbers is not cleared, from rows far from zero, of mixed sizes, and with copies."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 12)), int(rng.integers(1, 5))
    rows = unit * (shift + rng.normal(size=(n, d)) * 10.0 ** rng.integers(-9, 3, size=(n, 1)))
    rows[rng.integers(n)] = rows[rng.integers(n)]
    space = Space(rows, "euclidean", weights=rng.choice([1e-30, 0.0, 1.0, 3.0], size=d) if seed % 2 else None)
    listed = rng.integers(n, size=n)
    high = space.bounds(rows[:, None], listed[:, None])[1][:, 0]
    maybe = space.maybe_nearer(np.arange(n), high)
    assert maybe.shape == (n, n)
    for i, a in enumerate(listed):
        nearer = [j for j in range(n) if space.key(rows[i], j) < space.key(rows[i], int(a))]
        assert maybe[i, nearer].all()


def test_the_quick_look_clears_what_is_far():
    rows = np.random.default_rng(0).normal(size=(300, 4))
    space = Space(rows, "euclidean")
    assert space.maybe_nearer(np.arange(300), np.full(300, 1e-3)).sum() < 400
    many = space.bounds(rows[:5, None], np.arange(15).reshape(5, 3))
    for i in range(5):
        one = space.bounds(rows[i], np.arange(3 * i, 3 * i + 3))
        assert [part[i].tolist() for part in many] == [part.tolist() for part in one]
