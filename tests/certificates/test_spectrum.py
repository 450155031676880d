"""Principal components: what is claimed of any subspace is true of those that NumPy finds, and of random ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.certificates import Data, ball, issue
from certifit.certificates.spectrum import centred_scatter, covariance, frobenius, gram, semidefinite

RNG = np.random.default_rng(12)
SPREAD = np.array([4.0, 3.0, 2.0, 1.0, 0.5])
TALL, WIDE = RNG.normal(size=(60, 5)) * SPREAD + 7.0, RNG.normal(size=(5, 30))


def components(X, k):
    _, S, V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    values = S**2 / (len(X) - 1)
    return {"components": V[:k], "variances": values[:k], "mean": X.mean(axis=0), "slack": 1e-9 * values.sum()}


@pytest.mark.parametrize("X", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_true_components_are_proved(X, k):
    found = issue("principal-components", Data.of(X), components(X, k))
    values = np.sort(np.linalg.eigvalsh(np.cov(X.T)))[::-1]
    assert found.holds
    assert found.value <= values[:k].sum() * (1 + 1e-12)
    assert found.bound >= values[:k].sum() * (1 - 1e-12)
    assert found.relative_gap < 1e-6


@pytest.mark.parametrize("slack", [0.0, -1e-15])
def test_a_slack_without_room_for_rounding_is_lifted(slack):
    found = issue("principal-components", Data.of(TALL), components(TALL, 2) | {"slack": slack})
    assert found.holds
    assert found.bound >= np.sort(np.linalg.eigvalsh(np.cov(TALL.T)))[-2:].sum() * (1 - 1e-14)
    assert 0.0 < found.relative_gap < 1e-12


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_the_gap_of_any_subspace_is_never_understated(seed, k):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(5, k)))
    C = np.cov(TALL.T)
    kept = np.sort(np.diag(Q.T @ C @ Q))[::-1]
    evidence = {"components": Q.T, "variances": kept, "mean": TALL.mean(axis=0), "slack": 20.0}
    found = issue("principal-components", Data.of(TALL), evidence)
    best = np.sort(np.linalg.eigvalsh(C))[::-1][:k].sum()
    assert found.value <= np.trace(Q.T @ C @ Q) * (1 + 1e-9)
    assert not found.holds or found.gap >= best - np.trace(Q.T @ C @ Q) - 1e-9


def test_a_component_left_out_is_noticed():
    whole = components(TALL, 5)
    some = [0, 1, 3]
    forged = whole | {"components": whole["components"][some], "variances": whole["variances"][some]}
    assert not issue("principal-components", Data.of(TALL), forged).holds
    assert not issue("principal-components", Data.of(TALL), components(TALL, 2) | {"mean": np.zeros(5)}).holds
    assert not issue("principal-components", Data.of(TALL + 0.0), components(TALL * 1.1, 2)).holds


def test_matrices_are_enclosed():
    w = RNG.uniform(0.5, 2.0, 60)
    data = Data.of(TALL, None, w)
    expected = np.cov(TALL.T, aweights=w, ddof=0) * w.sum()
    found, shift, total = centred_scatter(data, np.zeros(5))
    np.testing.assert_allclose(found.mid, expected, rtol=1e-10)
    np.testing.assert_allclose(shift.mid, np.average(TALL, axis=0, weights=w))
    assert total.lower <= w.sum() <= total.upper
    plain = Data.of(WIDE)
    A, _ = covariance(plain, np.zeros(30))
    G, _, _ = gram(plain, np.zeros(30))
    values, other = (np.sort(np.linalg.eigvalsh(M.mid))[::-1][:4] for M in (A, G))
    np.testing.assert_allclose(values, other, rtol=1e-9)


@given(st.integers(0, 2**32 - 1), st.floats(-0.5, 0.5))
def test_what_is_called_semidefinite_is(seed, shift):
    B = np.random.default_rng(seed).normal(size=(4, 4))
    M = B @ B.T + shift * np.eye(4)
    M = (M + M.T) / 2
    ran, slack = semidefinite(ball(M))
    least = np.linalg.eigvalsh(M)[0]
    assert not ran or least >= -slack - 1e-12
    assert ran or least < 1e-9
    assert frobenius(ball(M)) >= np.linalg.norm(M) * (1 - 1e-15)
