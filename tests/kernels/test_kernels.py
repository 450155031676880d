"""Kernels: formulas, algebra, Gram blocks, and proofs of being Mercer."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise as sk

from certifit import kernels as k
from certifit.certificates._data import digest_evidence
from certifit.certificates.gram import BALLS

X = np.random.default_rng(0).normal(size=(30, 4))
Z = np.random.default_rng(1).normal(size=(7, 4))
PAIRS = [
    (k.Linear(), sk.linear_kernel),
    (k.Polynomial(degree=3, offset=0.5, gamma=0.3), lambda A, B: sk.polynomial_kernel(A, B, 3, 0.3, 0.5)),
    (k.RBF(gamma=0.2), lambda A, B: sk.rbf_kernel(A, B, 0.2)),
    (k.Gaussian(sigma=2.0), lambda A, B: sk.rbf_kernel(A, B, 0.125)),
    (k.Sigmoid(gamma=0.3, offset=-0.2), lambda A, B: sk.sigmoid_kernel(A, B, 0.3, -0.2)),
    (k.Linear().normalized(), sk.cosine_similarity),
    (k.Linear() + 2.0 * k.RBF(gamma=1.0), lambda A, B: sk.linear_kernel(A, B) + 2 * sk.rbf_kernel(A, B, 1.0)),
    (k.Linear() * k.RBF(gamma=1.0), lambda A, B: sk.linear_kernel(A, B) * sk.rbf_kernel(A, B, 1.0)),
    (k.FeatureMap(lambda A: A**2), lambda A, B: (A**2) @ (B**2).T),
    (k.Function(sk.laplacian_kernel), sk.laplacian_kernel),
]


@pytest.mark.parametrize(("kernel", "formula"), PAIRS)
def test_values_diagonal_and_rounding(kernel, formula):
    np.testing.assert_allclose(kernel(X, Z), formula(X, Z), atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(kernel(X)), atol=1e-12)
    enclosed = kernel.gram(X, Z, BALLS)
    assert np.all(enclosed.contains(formula(X, Z).astype(np.longdouble).astype(float)) | (enclosed.rad == 0))
    assert float(np.max(enclosed.rad)) < 1e-10


@pytest.mark.parametrize(("kernel", "formula"), PAIRS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_are_cuts_of_the_gram_matrix(kernel, formula, dtype):
    K = formula(X, X)
    blocks = k.blocks(kernel, X, dtype)
    atol = 1e-4 if dtype == np.float32 else 1e-10
    i, j = np.array([3, 1, 7]), np.array([0, 29])
    np.testing.assert_allclose(blocks.block(i, j), K[np.ix_(i, j)], atol=atol)
    np.testing.assert_allclose(blocks.diagonal(), np.diagonal(K), atol=atol)
    w = np.array([0.5, -2.0, 1.0])
    np.testing.assert_allclose(blocks.combine(i, w), w @ K[i], atol=10 * atol)
    part = blocks.take(np.array([5, 3, 8]))
    np.testing.assert_allclose(part.combine(np.array([1]), np.ones(1)), K[3, [5, 3, 8]], atol=atol)


def test_rows_are_kept_under_the_memory_limit():
    kernel = k.Linear() + k.RBF(gamma=0.3)
    blocks = k.blocks(kernel, X, np.float64, memory=30 * 8 * 4)
    for start in range(0, 24, 3):
        i = np.arange(start, start + 3)
        np.testing.assert_allclose(blocks.combine(i, np.ones(3)), kernel(X)[i].sum(axis=0))
        assert len(blocks._kept) <= 4
    np.testing.assert_allclose(blocks.block(np.array([1]), np.array([2])), kernel(X)[1:2, 2:3])


@pytest.mark.parametrize("kernel", [p[0] for p in PAIRS if p[0].record() is not None])
def test_records_rebuild(kernel):
    assert k.rebuild(kernel.record()) == kernel


def test_sparse_rows_give_the_same_numbers():
    S = scipy.sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    for kernel in (k.Linear(), k.RBF(gamma=0.5), k.Polynomial(degree=2)):
        np.testing.assert_allclose(kernel(S), kernel(S.toarray()), atol=1e-12)
        np.testing.assert_allclose(k.blocks(kernel, S).combine(np.array([2]), np.ones(1)), kernel(S)[2], atol=1e-12)


@given(seed=st.integers(0, 10**6), a=st.floats(0.01, 5.0), degree=st.integers(1, 4))
def test_sums_products_and_scalings_stay_mercer(seed, a, degree):
    points = np.random.default_rng(seed).normal(size=(15, 3))
    kernel = a * k.RBF(gamma=a) * k.Polynomial(degree=degree) + k.Linear().normalized()
    assert kernel.proof is not None
    assert k.mercer(kernel, points).verdict == "mercer"
    matrix = k.mercer(kernel(points))
    assert matrix.verdict == "mercer"
    assert matrix.holds
    assert matrix.least_eigenvalue <= np.linalg.eigvalsh(kernel(points))[0] + 1e-12


@pytest.mark.parametrize(
    "kernel",
    [
        k.Sigmoid(gamma=1.0, offset=-1.0),
        k.Function(lambda A, B: -np.linalg.norm(A[:, None] - B[None], axis=2)),
        -1.0 * k.RBF(),
        k.Polynomial(degree=1, offset=-3.0),
    ],
)
def test_others_are_refuted_with_a_vector(kernel):
    c = k.mercer(kernel, X)
    assert c.verdict == "not mercer"
    assert c.holds
    v = c.evidence["vector"]
    assert v @ kernel(X) @ v < 0
    assert c.verify(X)


def test_a_feature_map_is_decided_by_computation():
    c = k.mercer(k.FeatureMap(lambda A: A**2), X)
    assert (c.verdict, c.method) == ("mercer", "cholesky")
    assert c.assumes


def test_rounding_that_hides_the_sign_is_undecided_or_semidefinite():
    K = np.ones((3, 3))
    assert k.mercer(K).verdict == "mercer"
    K[0, 1] = K[1, 0] = 1.0 + 1e-6
    assert k.mercer(K).verdict == "not mercer"


def test_mercer_certificates_refuse_tampering():
    c = k.mercer(np.array([[1.0, 2.0], [2.0, 1.0]]))
    evidence = dict(c.evidence) | {"vector": np.array([1.0, 1.0])}
    digests = dict(c.digests) | {"evidence": digest_evidence(evidence)}
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert c.verify(K)
    assert not c.tampered(evidence=evidence).verify(K)
    assert not c.tampered(evidence=evidence, digests=digests).verify(K)
    assert not c.tampered(figures=dict(c.figures) | {"verdict": "mercer"}).verify(K)
    assert not c.verify(2 * K).same_data
    built = k.mercer(k.RBF(), X)
    wrong = dict(built.evidence) | {"kernel": ["sigmoid", 1.0, 0.0]}
    assert not built.tampered(
        evidence=wrong, digests=dict(built.digests) | {"evidence": digest_evidence(wrong)}
    ).verify(X)


def test_clear_errors():
    with pytest.raises(ValueError, match="integer"):
        k.Polynomial(degree=0)
    with pytest.raises(ValueError, match="positive"):
        k.Gaussian(sigma=0.0)
    with pytest.raises(ValueError, match="pass points"):
        k.mercer(k.Sigmoid())
    with pytest.raises(ValueError, match="NaN or infinity"):
        k.mercer(np.array([[np.nan]]))
    with pytest.raises(ValueError, match="one value for each pair"):
        k.Function(lambda A, B: np.ones(3))(X, Z)
    with pytest.raises(ValueError, match="square"):
        k.mercer(np.ones((2, 3)))
    assert str(k.RBF().proof).count("\n") == 2


def test_gamma_scale_counts_weights_as_copies():
    w = np.random.default_rng(2).integers(0, 4, 30)
    assert k.scale_gamma(X, w) == pytest.approx(1 / (4 * np.repeat(X, w, axis=0).var()))
    assert k.scale_gamma(scipy.sparse.csr_array(X), w) == pytest.approx(k.scale_gamma(X, w))
