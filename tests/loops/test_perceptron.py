"""Every compiled pass against a few lines of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from certifit.loops import perceptron as loops


def plain_pass(X, s, order, w, b, up, down, offset, shrink=1.0, alpha=0.0):
    log, loss = [], 0.0
    for t, i in enumerate(order):
        score = s[i] * (X[i] @ w + b)
        loss += 0.5 * alpha * (w @ w)
        w = w * shrink
        if score <= 0:
            loss -= score
            step = up if s[i] > 0 else -down
            w = w + step * X[i]
            b += step * offset
            log.append(t)
    return w, b, log, loss


def plain_shuffle(order, seed):
    state = seed or 1
    for i in range(len(order) - 1):
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
        j = i + (state % 2**31) % (len(order) - i)
        order[i], order[j] = order[j], order[i]


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_passes_equal_plain_ones(offset, dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(40, 5)).astype(dtype)  # integers: sums are exact in any order
    s, order = rng.choice([-1.0, 1.0], 40), rng.permutation(40)
    start, log, times = rng.integers(-2, 3, 5).astype(float), *np.zeros((2, 40), dtype=np.int64)
    w, b, steps, loss = plain_pass(X, s, order, start, 1.0, 1.0, 2.0, offset)
    S = scipy.sparse.csr_array(X)
    for run in (
        lambda v: loops.dense_pass(X, s, order, v, 1.0, 1.0, 2.0, offset, log, times),
        lambda v: loops.shrinking_pass(X, s, order, v, 1.0, 1.0, 2.0, offset, log, times, 1.0, 0.0),
        lambda v: loops.sparse_pass(
            S.data, S.indices, S.indptr, s, order, v, 1.0, 1.0, 2.0, offset, log, times, 1.0, 0.0
        ),
    ):
        v = start.copy()
        times.fill(0)
        count, offset_after, total = run(v)
        np.testing.assert_array_equal(v, w)
        assert (offset_after, log[:count].tolist(), total) == (b, steps, loss)
        assert np.flatnonzero(times == 1).tolist() == sorted(order[steps])
        assert times.sum() == count


@pytest.mark.parametrize("shrink", [0.9, 1e-4, 0.0])
def test_shrinking_passes_equal_plain_ones(shrink):
    rng = np.random.default_rng(1)
    X, s, order = rng.normal(size=(30, 4)), rng.choice([-1.0, 1.0], 30), rng.permutation(30)
    log = np.zeros(30, dtype=np.int64)
    w, b, steps, loss = plain_pass(X, s, order, np.ones(4), 0.0, 1.0, 1.0, True, shrink, 0.1)
    S = scipy.sparse.csr_array(X)
    tail = (0.0, 1.0, 1.0, True, log, np.zeros(30, dtype=np.int64), shrink, 0.1)
    for run in (
        lambda v: loops.shrinking_pass(X, s, order, v, *tail),
        lambda v: loops.sparse_pass(S.data, S.indices, S.indptr, s, order, v, *tail),
    ):
        v = np.ones(4)
        count, offset_after, total = run(v)
        np.testing.assert_allclose(v, w, rtol=1e-9)
        assert log[:count].tolist() == steps
        assert total == pytest.approx(loss)
        assert offset_after == b


@pytest.mark.parametrize("seed", [0, 1, 123456789, 2**31 - 2])
def test_shuffle_equals_the_plain_one(seed):
    fast, slow = np.arange(50), list(range(50))
    loops.shuffle(fast, seed)
    plain_shuffle(slow, seed)
    assert fast.tolist() == slow


def test_joint_passes_separate_or_say_no():
    X, y = np.array([[1.0, 0, 1], [0, 1, 1], [-1, -1, 1]]), np.array([0, 1, 2])
    W = np.zeros((3, 3))
    assert loops.joint_passes(X, y, W, 100)
    assert np.argmax(X @ W.T, axis=1).tolist() == y.tolist()
    assert not loops.joint_passes(np.ones((2, 1)), np.array([0, 1]), np.zeros((2, 1)), 5)


def test_warm_compiles_everything():
    loops.warm()
