"""Gram matrices in one pass: equal to plain products, whatever the precision, layout, weights and shift."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from certifit.design import Coordinates, GramBeside, as_design, gram_pass


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shifted", [False, True])
@pytest.mark.parametrize(("n", "d"), [(50, 20), (60_000, 20), (60_000, 96)])  # one block; several; the compiled loop
def test_equals_plain_products(dtype, order, weighted, shifted, n, d):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(1.0, 2.0, size=(n, d)), dtype=dtype, order=order)
    R = rng.normal(size=(n, 2))
    s = rng.uniform(0.1, 2.0, size=n) if weighted else None
    c = rng.normal(size=d) if shifted else None
    gram, cross, sums = gram_pass(X, R, s, c)
    A = X.astype(float) - (0.0 if c is None else c)
    w = np.ones(n) if s is None else s
    np.testing.assert_allclose(gram, (A * w[:, None]).T @ A, rtol=1e-10, atol=1e-12 * n)
    np.testing.assert_allclose(cross, A.T @ (w[:, None] * R), rtol=1e-10, atol=1e-12 * n)
    np.testing.assert_allclose(sums, w @ A, rtol=1e-10, atol=1e-12 * n)


def test_the_number_of_threads_changes_no_bit():
    rng = np.random.default_rng(2)
    X, R, s = rng.normal(size=(60_000, 96)), rng.normal(size=(60_000, 1)), rng.random(60_000)
    many = gram_pass(X, R, s)
    with threadpool_limits(1):
        alone = gram_pass(X, R, s)
    assert all(np.array_equal(a, b) for a, b in zip(many, alone))
    assert np.array_equal(many[0], many[0].T)


def test_without_targets():
    gram, cross, _ = gram_pass(np.eye(3))
    assert np.array_equal(gram, np.eye(3))
    assert cross.shape == (3, 0)


@pytest.mark.parametrize("n", [50, 60_000])
def test_rough_products_keep_six_digits(n):
    rng = np.random.default_rng(1)
    X, R = rng.normal(0.5, 2.0, size=(n, 20)).astype(np.float32), rng.normal(size=(n, 2))
    for rough, exact in zip(gram_pass(X, R, rough=True), gram_pass(X, R)):
        assert rough.dtype == np.float64
        np.testing.assert_allclose(rough, exact, rtol=1e-6, atol=1e-6 * n)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_hessians_in_coordinates_need_no_scaled_rows(fit_intercept):
    rng = np.random.default_rng(3)
    X, h = rng.normal(3.0, [2.0] * 50 + [1e-8] * 46, size=(60_000, 96)), rng.random(60_000)
    columns = Coordinates.of(as_design(X), np.ones(len(X)), fit_intercept)
    A = columns.rows(slice(None))
    expected = (A * h[:, None]).T @ A
    np.testing.assert_allclose(columns.gram(h), expected, rtol=1e-10, atol=1e-10 * np.diag(expected).max())


def test_pieces_in_any_order_give_the_same_bits():
    rng = np.random.default_rng(4)
    X, R = rng.normal(size=(3000, 20)), rng.normal(size=(3000, 1))
    one, two = GramBeside(X, R, np.ones(20)), GramBeside(X, R, np.ones(20))
    for part, first in ((0, 0), (0, 700), (1, 1400), (1, 2100)):
        one.take(part, first, first + 700 if first < 2100 else 3000)
    for part, first in ((1, 1400), (0, 0), (1, 2100), (0, 700)):
        two.take(part, first, first + 700 if first < 2100 else 3000)
    assert all(np.array_equal(a, b) for a, b in zip(one.parts(), two.parts()))
    np.testing.assert_allclose(one.parts()[1], (X - 1.0).T @ R, atol=1e-9)


def test_weighted_pieces_in_any_order_give_the_same_bits():
    rng = np.random.default_rng(5)
    X, R, s = rng.normal(size=(1000, 9)), rng.normal(size=(1000, 2)), rng.random(1000)
    edges = [(0, 300), (300, 300), (300, 650), (650, 1000)]
    one, two = GramBeside(X, R, weights=s), GramBeside(X, R, weights=s)
    for first, last in edges:
        one.take(0, first, last)
    for first, last in reversed(edges):
        two.take(0, first, last)
    assert all(np.array_equal(a, b) for a, b in zip(one.parts(), two.parts()))
    expected = X.T @ (X * s[:, None]), X.T @ (R * s[:, None]), X.T @ s
    for found, right in zip(one.parts(), expected):
        np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)
