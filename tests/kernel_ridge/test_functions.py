"""Kernels of other people: scikit-learn's names, functions of rows with their arguments, functions of tables."""

import numpy as np
import pytest
import sklearn.kernel_ridge
from sklearn.metrics.pairwise import laplacian_kernel

from certifit.kernel_ridge import KernelRidge
from certifit.kernel_ridge._functions import OfRows, as_table_function

RNG = np.random.default_rng(0)
X, Y, Q = RNG.random((20, 3)), RNG.normal(size=20), RNG.random((5, 3))


def least(a, b, power=1.0):
    """The histogram intersection of two rows."""
    return float(np.minimum(a, b).sum() ** power)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "laplacian", "gamma": 0.5},
        {"kernel": "cosine"},
        {"kernel": "chi2", "gamma": 1.0},
        {"kernel": "additive_chi2", "alpha": 50.0},
        {"kernel": "polynomial", "degree": 2.5, "gamma": 0.7},
        {"kernel": least},
        {"kernel": least, "kernel_params": {"power": 0.5}},
    ],
)
def test_scikit_learn_fits_the_same(options):
    ours, theirs = (m(**options).fit(X, Y) for m in (KernelRidge, sklearn.kernel_ridge.KernelRidge))
    np.testing.assert_allclose(ours.predict(Q), theirs.predict(Q), rtol=1e-6)
    if options["kernel"] != "additive_chi2":  # negative definite: no gap to prove
        assert ours.certificate_.relative_gap < 1e-9


def test_a_function_of_tables_is_called_once():
    calls = []

    def table(A, B, gamma=1.0):
        calls.append(np.shape(A))
        return laplacian_kernel(A, B, gamma=gamma)

    model = KernelRidge(kernel=table, kernel_params={"gamma": 0.5}).fit(X, Y)
    assert (20, 3) in calls
    np.testing.assert_allclose(model.predict(Q), KernelRidge(kernel="laplacian", gamma=0.5).fit(X, Y).predict(Q))


def test_a_square_table_does_not_turn_rows_into_tables():
    """Three rows of three columns: elementwise functions return the right shape and the wrong numbers."""
    square = RNG.random((3, 3))
    found = as_table_function(lambda a, b: (np.asarray(a) * b).sum(), {}, square)
    assert isinstance(found, OfRows)
    np.testing.assert_allclose(found(square, square), square @ square.T)
