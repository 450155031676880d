"""Editing and condensation keep what they promise, and their certificates refuse anything else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.neighbors import CondensedNeighbors, EditedNeighbors, KNeighborsClassifier
from tests.certificates.tampering import forged

RNG = np.random.default_rng(1)
X, Q, Y = RNG.normal(size=(60, 3)), RNG.normal(size=(4, 3)), RNG.integers(0, 2, size=60)


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
