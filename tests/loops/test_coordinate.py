"""The compiled coordinate loops against a few lines of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from certifit.loops.active_set import DONE, active_set, enter, leave, mirror
from certifit.loops.coordinate import (
    cd_blocks,
    cd_curved,
    cd_dense,
    cd_gram,
    cd_rows,
    cd_sparse,
    centre,
    follow,
    gap,
    take,
)


def slow_sweeps(A, y, w, l1, l2, positive, order, epochs):
    w = w.copy()
    for _ in range(epochs):
        for j in order:
            r = y - A @ w
            rho = A[:, j] @ r + A[:, j] @ A[:, j] * w[j]
            size = rho if positive else abs(rho)
            w[j] = np.sign(rho) * max(size - l1[j], 0.0) / (A[:, j] @ A[:, j] + l2[j])
    return w


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    A = np.asfortranarray(rng.normal(size=(12, 7)))
    return A, rng.normal(size=12), rng.normal(size=7), rng.uniform(0.5, 2, 7), rng.uniform(0, 1, 7), rng.permutation(7)


@pytest.mark.parametrize("positive", [False, True])
def test_sweeps(problem, positive):
    A, y, w, l1, l2, order = problem
    w = np.abs(w) if positive else w
    expected = slow_sweeps(A, y, w, l1, l2, positive, order, 3)
    G, q, v = np.ascontiguousarray(A.T @ A), A.T @ (y - A @ w), w.copy()
    cd_gram(G, q, v, 7, l1, l2, positive, order, 3, 0.0)
    np.testing.assert_allclose(v, expected, atol=1e-12)
    np.testing.assert_allclose(q, A.T @ (y - A @ v), atol=1e-11)
    r, v = y - A @ w, w.copy()
    cd_dense(A, r, v, np.diag(G).copy(), l1, l2, positive, order, 3, 0.0)
    np.testing.assert_allclose(v, expected, atol=1e-12)
    np.testing.assert_allclose(r, y - A @ v, atol=1e-12)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
def test_sweeps_of_some_at_a_time(problem, positive, size):
    A, y, w, l1, l2, order = problem
    w = np.where(np.arange(7) % 3 == 0, 0.0, np.abs(w) if positive else w)
    G, q, v = np.ascontiguousarray(A.T @ A), A.T @ (y - A @ w), w.copy()
    cd_blocks(G, q, v, l1, l2, positive, order, size, 3, 2)
    for _ in range(2):
        left = list(order)
        while left:
            rho, block = A.T @ (y - A @ w), []
            while left and len(block) < size:
                j = left.pop(0)
                if w[j] != 0.0 or (rho[j] if positive else abs(rho[j])) > l1[j]:
                    block.append(j)
            w = slow_sweeps(A, y, w, l1, l2, positive, block, 3)
    np.testing.assert_allclose(v, w, atol=1e-12)
    np.testing.assert_allclose(q, A.T @ (y - A @ v), atol=1e-11)


def test_columns_of_zeros_are_passed_over_in_blocks():
    G, q, w = np.diag([0.0, 2.0]), np.array([5.0, 5.0]), np.zeros(2)
    cd_blocks(G, q, w, np.ones(2), np.zeros(2), False, np.arange(2), 8, 2, 2)
    assert w.tolist() == [0.0, 2.0]
    assert q.tolist() == [5.0, 1.0]


def test_sparse_sweeps_centre_without_forming_the_columns(problem):
    A, y, w, l1, l2, order = problem
    A = np.where(np.abs(A) > 0.7, A, 0.0)
    s = np.random.default_rng(1).uniform(0.5, 2, 12)
    root, mean = np.sqrt(s), s @ A / s.sum()
    B = root[:, None] * (A - mean)
    t = root * (y - s @ y / s.sum())
    expected = slow_sweeps(B, t, w, l1, l2, False, order, 3)
    C = scipy.sparse.csc_array(A)
    r, v = t - B @ w, w.copy()
    norms = np.sum(B * B, axis=0)
    cd_sparse(C.data, C.indices, C.indptr, root, mean, s.sum(), r, v, norms, l1, l2, False, order, 3, 0.0)
    np.testing.assert_allclose(v, expected, atol=1e-11)
    np.testing.assert_allclose(r, t - B @ v, atol=1e-11)


def test_take_and_follow(problem):
    A, y, *_ = problem
    G, rows = np.ascontiguousarray(A.T @ A), np.array([5, 1, 3])
    for road in (take, take.compiled, take._plain):
        out = np.empty((3, 3))
        road(G, rows, out)
        np.testing.assert_array_equal(out, G[np.ix_(rows, rows)])
    q, move = A.T @ y, np.array([0.5, 0.0, -1.0])
    after = q.copy()
    follow(G, after, 7, rows, move)
    np.testing.assert_allclose(after, q - G[:, rows] @ move)


def test_the_inverse_follows_changes():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(20, 6))
    H = A.T @ A
    inverse, S = np.zeros((6, 6)), np.arange(6)
    Z, V, kept = np.empty((3, 6)), np.empty((3, 6)), np.empty(3, dtype=np.int64)
    for k in (0, 3):  # three columns at a time
        block = np.ascontiguousarray(H[k : k + 3])
        assert enter(inverse, k, block, np.ascontiguousarray(H[k : k + 3, k : k + 3]), 3, Z, V, kept) == 3
    np.testing.assert_allclose(inverse, np.linalg.inv(H), atol=1e-12)
    leave(inverse, 6, 2, S)
    np.testing.assert_allclose(inverse[:5, :5], np.linalg.inv(H[np.ix_(S[:5], S[:5])]), atol=1e-12)
    again = np.array([0, 2])  # column 0 is there already, column 2 has just left
    both = np.ascontiguousarray(H[np.ix_(again, S[:5])])
    padded = np.zeros((2, 6))
    padded[:, :5] = both
    assert enter(inverse, 5, padded, np.ascontiguousarray(H[np.ix_(again, again)]), 2, Z, V, kept) == 1
    assert kept[0] == 1
    S[5] = 2
    np.testing.assert_allclose(inverse, np.linalg.inv(H[np.ix_(S, S)]), atol=1e-12)


@pytest.mark.parametrize("positive", [False, True])
def test_active_set_ends_at_the_optimum(problem, positive):
    A, y, _, l1, l2, _ = problem
    G, q, w = np.ascontiguousarray(A.T @ A), A.T @ y, np.zeros(7)
    k, _, status = active_set(
        G, q, w, 7, l1, l2, positive, np.zeros(7, dtype=np.int64), 0, np.zeros((7, 7)), 1e-12, 100
    )
    assert status == DONE
    assert k == np.count_nonzero(w)
    slow = slow_sweeps(A, y, np.zeros(7), l1, l2, positive, np.arange(7), 3000)
    np.testing.assert_allclose(w, slow, atol=1e-10)


def test_mirror():
    for road in (mirror, mirror.compiled, mirror._plain):
        A = np.arange(9.0).reshape(3, 3)
        road(A)
        np.testing.assert_array_equal(A, [[0, 1, 2], [1, 4, 5], [2, 5, 8]])


def test_centre():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(9, 4)) + 2.0
    padded = np.column_stack([A, np.ones(9)])
    scale = np.array([1.0, 2.0, 0.5, 3.0])
    Z = (A - A.mean(axis=0)) / scale
    for road in (centre, centre.compiled, centre._plain):
        M = padded.T @ padded
        road(M, A.mean(axis=0), 9.0, scale)
        np.testing.assert_allclose(M[:4, :4], Z.T @ Z, atol=1e-12)
        np.testing.assert_array_equal(M[4], padded.sum(axis=0))


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_gap_is_primal_minus_dual(problem, positive, ridge):
    """The dual point is c times the residual r, and D = ½‖y‖² − ½‖y − c r‖² − Σ (|c q| − l1)₊² / (2 l2)."""
    A, y, _, l1, _, _ = problem
    l2 = np.full(7, ridge)
    rng = np.random.default_rng(4)
    for shrink in (1.0, 0.01):
        w = np.abs(rng.normal(size=7)) * shrink
        r = y - A @ w
        q = A.T @ r
        found, c = gap(w, q, float(r @ r), l1, l2, positive)
        reach = q if positive else np.abs(q)
        excess = np.maximum(c * reach - l1, 0.0)
        assert ridge > 0 or np.all(excess <= 1e-9 * l1)
        over = np.sum(excess**2) / (2 * ridge) if ridge else 0.0
        primal = 0.5 * r @ r + l1 @ np.abs(w) + 0.5 * l2 @ w**2
        dual = 0.5 * y @ y - 0.5 * np.sum((y - c * r) ** 2) - over
        assert found == pytest.approx(primal - dual, rel=1e-9)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_the_gap_in_numpy_is_that_of_the_loop(ridge, positive):
    rng = np.random.default_rng(6)
    for scale in (0.1, 1.0, 10.0):
        w, q, l1 = rng.normal(size=9), scale * rng.normal(size=9), rng.uniform(0.5, 2.0, 9)
        l2, w[::2], l1[:2] = np.full(9, ridge), 0.0, (0.0, 1e-310)
        q[1], l2[3] = 0.0, 0.0
        for start in (0, 1, 2):  # with and without a coordinate that has no penalty, or one lost to underflow
            case = (w[start:], q[start:], 3.0, l1[start:], l2[start:], positive)
            np.testing.assert_allclose(gap._plain(*case), gap.compiled(*case), rtol=1e-12)


def test_a_sweep_over_rows():
    rng = np.random.default_rng(5)
    A, Y, W = rng.normal(size=(12, 5)), rng.normal(size=(12, 3)), rng.normal(size=(5, 3))
    l1, l2 = rng.uniform(0.5, 6, 5), rng.uniform(0, 1, 5)
    G, Q, V = np.ascontiguousarray(A.T @ A), A.T @ (Y - A @ W), W.copy()
    cd_rows(G, Q, V, l1, l2)
    for j in range(5):
        rho = A[:, j] @ (Y - A @ W) + G[j, j] * W[j]
        W[j] = max(1.0 - l1[j] / np.linalg.norm(rho), 0.0) * rho / (G[j, j] + l2[j])
    np.testing.assert_allclose(V, W, atol=1e-12)
    np.testing.assert_allclose(Q, A.T @ (Y - A @ W), atol=1e-11)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize(("classes", "ones"), [(1, True), (1, False), (3, True)])
def test_sweeps_over_sparse_rows_find_the_minimum_of_the_model(classes, ones, kind):
    """Its conditions of optimality, with every matrix written out; columns that are not asked for stay as they are."""
    rng = np.random.default_rng(classes)
    n, d, K = 40, 9, classes
    X = scipy.sparse.random(n, d, 0.4, random_state=3, format="csc")
    mean, scale = X.toarray().mean(axis=0), rng.uniform(0.5, 2.0, d)
    A = np.column_stack([(X.toarray() - mean) / scale, np.ones(n)])
    P = rng.dirichlet(np.ones(4), n)[:, :K]
    q, r = (P, P) if K > 1 else (P, np.zeros_like(P))
    H = np.array([np.diag(a) - np.outer(b, b) for a, b in zip(q, r)])
    which = np.array([0, 2, 3, 4, 7, 8] + [9] * ones)
    m = len(which)
    start, G, l1 = rng.normal(size=(m, K)), 3.0 * rng.normal(size=(m, K)), rng.uniform(0.2, 6.0, (m, K))
    l1[which == d], ridge, w = 0.0, np.where(which == d, 0.1, rng.uniform(0, 1, m)), start.copy()
    columns = X.data, X.indices.astype(kind), X.indptr.astype(kind)
    assert not cd_curved(*columns, q, r, mean, scale, which, start, G, w.copy(), l1, ridge, 1e-14, 2)
    assert cd_curved(*columns, q, r, mean, scale, which, start, G, w, l1, ridge, 1e-14, 100_000)
    move = A[:, which] @ (w - start)
    slope = G + A[:, which].T @ np.einsum("ikc,ic->ik", H, move) + ridge[:, None] * (w - start)
    used = w != 0.0
    assert 0 < used.sum() < w.size
    np.testing.assert_allclose(slope[used], -(l1 * np.sign(w))[used], atol=1e-5)
    assert np.all(np.abs(slope[~used]) <= l1[~used] + 1e-5)
