"""Sums over rows: the same whatever the number of threads, and in the caller's NumPy settings."""

import numpy as np
import pytest

from certifit.design import _rows, as_design, side_by_side, sum_over_rows

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120_001, 9)) * 10.0 ** RNG.integers(-3, 4, 9)


@pytest.mark.parametrize("block", [None, 100, 1_000_000])
def test_every_row_is_counted_once(block):
    total, rows = sum_over_rows(lambda i: (X[i].T @ X[i], len(X[i])), X.shape, block)
    assert rows == len(X)
    np.testing.assert_allclose(total, X.T @ X, rtol=1e-10, atol=1e-8)


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    many = as_design(X).gram()
    monkeypatch.setattr(_rows, "threads", lambda: 1)
    assert np.array_equal(as_design(X).gram(), many)


def test_settings_of_the_caller_hold_in_the_threads():
    huge = np.full((140_000, 8), 1e300)
    with np.errstate(over="ignore"):
        assert sum_over_rows(lambda i: (float((huge[i] * huge[i]).sum()),), huge.shape) == (np.inf,)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        sum_over_rows(lambda i: (float((huge[i] * huge[i]).sum()),), huge.shape)


def test_a_sum_inside_a_sum_does_not_wait_for_itself():
    def outer(rows):
        return (sum_over_rows(lambda i: (float(X[i].sum()),), X.shape)[0] * len(X[rows]),)

    assert sum_over_rows(outer, X.shape, 50_000)[0] == pytest.approx(X.sum() * len(X))


@pytest.mark.parametrize(("asked", "most"), [("1", 1), ("1,2", 1), ("", 10**6), ("no", 10**6)])
def test_the_environment_limits_the_threads(monkeypatch, asked, most):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert 1 <= _rows.threads.__wrapped__() <= most


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_transposed_products_by_ranges(monkeypatch, order, columns):
    from certifit.design import _rows

    rng = np.random.default_rng(0)
    A, B = np.array(rng.normal(size=(700, 300)), order=order), rng.normal(size=(700, *columns))
    small = _rows.transposed_product(A, B)
    monkeypatch.setattr(_rows, "_LARGE", 0)
    np.testing.assert_allclose(_rows.transposed_product(A, B), small, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(small, A.T @ B, rtol=1e-10, atol=1e-10)


def test_side_by_side_keeps_the_order_and_may_be_nested():
    from certifit.design import side_by_side

    assert side_by_side(lambda i: sum(side_by_side(lambda j: i * j, range(3))), range(5)) == [0, 3, 6, 9, 12]


def test_an_error_in_one_part_stops_the_others_and_is_told():
    begun = []

    def work(k):
        begun.append(k)
        if k == 0:
            raise ValueError("no")
        return k

    with pytest.raises(ValueError, match="no"):
        side_by_side(work, range(1000))
    assert side_by_side(lambda k: k, range(5)) == [0, 1, 2, 3, 4]
