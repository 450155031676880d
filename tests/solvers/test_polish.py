"""The last digits of a machine: gaps near rounding, whatever the kernel's rank, and never a worse fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.design import blocks
from certifit.kernels import RBF, Linear, Sigmoid
from certifit.loops import smo as loops
from certifit.solvers import Options
from certifit.solvers._box_dual import Box
from certifit.solvers.smo import smo


def _task(seed, n, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, -1] = X[:, 0] + X[:, -1] * (seed % 2)  # every second table has dependent columns
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y, rng.uniform(0.5, 2.0, n)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([RBF(gamma=0.7), Linear()]), st.sampled_from([12, 60, 150]))
def test_the_gap_falls_to_rounding(seed, kernel, n):
    X, y, cost = _task(seed, n)
    box, size = Box.of_labels(y, cost), cost.sum()
    coarse = smo(lambda dtype: blocks(kernel, X, dtype), box, 1e-4 * size)
    fine = smo(lambda dtype: blocks(kernel, X, dtype), box, 1e-4 * size, rounded=1e-14 * size)
    F = kernel.gram(X, X) @ fine.value.beta - y
    gap = loops.gap_at(F, fine.value.beta, box.lo, box.hi, fine.value.offset)
    assert gap <= max(1e-12 * size, 0.1 * coarse.value.gap)
    assert fine.value.gap <= max(1e-14 * size, coarse.value.gap)  # below it there is nothing left to do
    assert np.all((box.lo <= fine.value.beta) & (fine.value.beta <= box.hi))


@pytest.mark.parametrize(("n", "seed"), [(12, 4090), (60, 4145), (60, 4173), (150, 4001), (150, 4112), (150, 4169)])
def test_degenerate_tables(n, seed):
    # A linear kernel of rank one or two: more free rows than the rank, bounds that block every long step, one free row.
    X, y, cost = _task(seed, n)
    found = smo(lambda dtype: blocks(Linear(), X, dtype), Box.of_labels(y, cost), 1e-4 * cost.sum(), rounded=0.0)
    assert found.value.gap <= 1e-13 * cost.sum()


@pytest.mark.parametrize("seed", [0, 1])
def test_single_precision_is_no_limit(seed):
    X, y, cost = _task(seed, 900, 4)
    box = Box.of_labels(y, cost)
    found = smo(lambda dtype: blocks(RBF(gamma=0.3), X, dtype), box, 1e-5 * cost.sum(), single=True, rounded=0.0)
    F = RBF(gamma=0.3)(X) @ found.value.beta - y
    gap = loops.gap_at(F, found.value.beta, box.lo, box.hi, found.value.offset)
    assert gap <= 1e-12 * cost.sum()


def test_a_trace_tells_of_it():
    X, y, cost = _task(3, 40)
    box = Box.of_labels(y, cost)
    found = smo(
        lambda dtype: blocks(RBF(gamma=0.7), X, dtype), box, 1e-3 * cost.sum(), Options(trace=True), rounded=0.0
    )
    assert found.trace[-1].gap == found.value.gap < 1e-10 < found.trace[-2].gap


def test_an_indefinite_kernel_leaves_nothing_inside():
    X = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0], [3.0, 3.0, 3.0]])
    y, kernel = np.array([-1.0, -1.0, 1.0, 1.0, 1.0]), Sigmoid(gamma=1.0)
    for columns in ([0, 1, 2], [0, 1], [2]):
        rows = X[:, columns]
        found = smo(
            lambda dtype, rows=rows: blocks(kernel, rows, dtype), Box.of_labels(y, np.ones(5)), 1e-5, rounded=0.0
        )
        assert np.all(np.isfinite(found.value.beta))
