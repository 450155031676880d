"""Fingerprints: any change of bits and any move of numbers is seen, whatever the layout."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from certifit import parallel
from certifit.design import _fingerprint, fingerprint, look

LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda A: np.repeat(A, 2, axis=0)[::2],
    "float32": lambda A: A.astype(np.float32),
    "int8": lambda A: (A * 50).astype(np.int8),
    "words": lambda A: A.round(3).astype("U7"),
    "objects": lambda A: A.astype(object),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(7, 3), (1, 1), (400, 1), (3000, 64), (70_001, 2), (40, 5000), (5000, 41)])
def test_cells_rows_and_columns(layout, shape):
    rng = np.random.default_rng(0)
    if layout in ("words", "objects") and np.prod(shape) > 1000:
        shape = (30, 7)
    A = LAYOUTS[layout](rng.uniform(0.1, 1.0, size=shape))
    before = fingerprint(A)
    assert fingerprint(A.copy()) == fingerprint(A.copy())
    for _ in range(20):
        i, j = (int(rng.integers(s)) for s in shape)
        k, m = (int(rng.integers(s)) for s in shape)
        moves = [((i, slice(None)), (k, slice(None))), ((slice(None), j), (slice(None), m)), ((i, j), (k, m))]
        for first, second in moves:
            if np.array_equal(A[first], A[second]):
                continue
            a, b = copy.copy(A[first]), copy.copy(A[second])
            A[first], A[second] = b, a
            assert fingerprint(A) != before
            A[first], A[second] = a, b
        old = copy.copy(A[i, j])
        A[i, j] = A.dtype.type(77) if A.dtype != object else 7.0
        assert fingerprint(A) != before
        A[i, j] = old
    assert fingerprint(A) == before


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("n", "d"), [(9000, 16), (4096, 32), (3000, 64), (70_000, 3)])
def test_rows_of_zeros_and_ones_at_any_distance(order, n, d):
    """Sums of bits and of columns do not see that rows of 0 and 1 change places; neither may powers of two hide it."""
    rng = np.random.default_rng(1)
    A = np.zeros((n, d), order=order)
    A[np.arange(n), rng.integers(0, d, n)] = 1.0
    before = fingerprint(A)
    for distance in (1, 2, 16, 31, 64, 509, 512, 1000, 1024, 2047, 2048, 2049):
        i = int(rng.integers(n - distance))
        if A[i].argmax() == A[i + distance].argmax():
            continue
        A[[i, i + distance]] = A[[i + distance, i]]
        assert fingerprint(A) != before
        A[[i, i + distance]] = A[[i + distance, i]]
    assert fingerprint(A) == before


@given(hnp.arrays(np.float64, st.integers(0, 40), elements=st.floats(width=64)), st.data())
def test_single_bits(v, data):
    before = fingerprint(v)
    assert fingerprint(v.copy()) == before
    if len(v):
        i, bit = data.draw(st.integers(0, len(v) - 1)), data.draw(st.integers(0, 63))
        v.view(np.uint64)[i] ^= np.uint64(1) << np.uint64(bit)
        assert fingerprint(v) != before


def test_the_shape_counts_and_so_does_none():
    A = np.arange(6.0)
    assert len({fingerprint(p) for p in (A, A.reshape(2, 3), A.reshape(3, 2), A[:5], np.arange(6), None, A[:0])}) == 7


def test_threads_do_not_count(monkeypatch):
    A = np.random.default_rng(0).normal(size=(60_000, 40))
    many = look(A)
    monkeypatch.setattr(parallel, "threads", lambda n_jobs=None: 1)
    assert look(A) == many
    assert look(A)[0] == fingerprint(A)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_looking_finds_what_is_not_finite(bad, dtype):
    A = np.ones((701, 301), dtype)
    assert look(A)[1]
    for cell in ((0, 0), (700, 300), (350, 7)):
        B = A.copy()
        B[cell] = bad
        assert not look(B)[1]


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_sparse(layout):
    S = sp.random(50, 8, density=0.3, format=layout, random_state=0)
    before = fingerprint(S)
    assert fingerprint(S.copy()) == before
    S.data[[0, 1]] = S.data[[1, 0]]
    assert fingerprint(S) != before


@pytest.mark.parametrize("shape", [(130, 60), (1000, 3), (3, 2000), (40_000,)])
def test_prints_are_the_sums_at_the_top_of_the_module(shape):
    """A sum for every place of a line, over the lines of a block, in plain whole numbers."""
    _, lines, _ = _fingerprint._as_lines(np.random.default_rng(3).normal(size=shape))
    of_line, of_word = (odd.tolist() for odd in _fingerprint._odd())
    for first, found in zip(range(0, len(lines), _fingerprint._LINES), _fingerprint._fold(lines)):
        block, half = lines[first : first + _fingerprint._LINES].tolist(), 2**32
        sums = [
            sum(a % half * (w % half) + a // half * (w // half) for a, w in zip(of_line, column)) % 2**64
            for column in zip(*block)
        ]
        assert int(found) == sum(((s >> 31) ^ s) * b for s, b in zip(sums, of_word)) % 2**64


def test_the_numbers_of_lines_are_odd_and_differ_in_both_halves():
    of_line, of_word = _fingerprint._odd()
    assert np.all(of_word % 2 == 1)
    for halves in (of_line % 2**32, of_line // 2**32):
        assert np.all(halves % 2 == 1)
        assert len(np.unique(halves)) == len(of_line)


def test_lines_are_rows_where_these_are_whole_words_of_a_fair_number():
    lengths = {(9, 48): 48, (9, 1024): 1024, (9000, 47): 256, (9, 1025): 256, (9000,): 256}
    for shape, length in lengths.items():
        _, lines, rest = _fingerprint._as_lines(np.zeros(shape))
        assert lines.shape[1] == length
        assert lines.size + rest.size == np.prod(shape)
    assert _fingerprint._as_lines(np.zeros((99, 100), np.float32))[1].shape == (99, 50)
    assert _fingerprint._as_lines(np.zeros((99, 101), np.float32))[1].shape[1] == 256
    assert _fingerprint._as_lines(np.zeros((100, 99), order="F"))[1].shape == (99, 100)
