"""Small fits that once ran for ever, broke, or could not be read."""

import time
import warnings

import numpy as np
import pytest

from certifit.kernels import scale_gamma
from certifit.linear_model import Lasso, LinearModel
from certifit.solvers._gram_descent import Active
from certifit.solvers.linear_svc import newton_step
from certifit.svm import SVC, LinearSVC
from tests.soundness.tables import labels, table


@pytest.mark.parametrize(("kernel", "centre"), [("poly", 74.0), ("linear", 1e5), ("poly", 12623.0), ("linear", 1e8)])
def test_rows_far_from_the_origin_end(kernel, centre):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 2)) + centre, np.arange(25) % 2
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        certificate = SVC(kernel=kernel, tol=1e-7).fit(X, y).certificate_
    assert time.perf_counter() - start < 30.0
    assert certificate.holds
    assert certificate.verify(X, y).holds


def test_repeated_rows_and_signs():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(12, 8))[rng.integers(0, 12, 12)] * 10.0 ** rng.uniform(-8, 8, 8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = Lasso(0.01, positive=True, tol=1e-12).fit(X, rng.normal(size=12))
        assert model.certificate_.holds


@pytest.mark.parametrize("seed", [28, 76, 86, 104])
def test_squared_hinges_with_the_one_norm_end_soon(seed):
    """Columns far from the origin or in units far apart took half a minute, huge numbers a division by zero."""
    rng = np.random.default_rng([seed, 77])
    X = np.full((6, 2), 1e300) * rng.normal(size=(6, 2)) if seed == 104 else table(rng)
    y = labels(rng, X.shape[0], 2)
    lam, tol = float(10.0 ** rng.uniform(-4, 2)), float(10.0 ** rng.integers(-10, -1))
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        certificate = LinearModel("squared_hinge", "l1", lam=lam, tol=tol).fit(X, y).certificate_
    assert time.process_time() - start < 8.0
    assert certificate.verify(X, y).holds == certificate.holds
    assert not certificate.holds or seed == 104 or certificate.relative_gap <= max(tol, 1e-5)


def test_an_inverse_that_was_given_up_is_not_copied():
    active = Active()
    active.reserve(0, 1)
    active.k = -1
    active.reserve(1, 2)
    assert active.inverse.shape == (2, 2)


def test_gamma_of_huge_numbers():
    assert scale_gamma(np.full((3, 1), 1e200)) == 1.0


def test_a_step_that_overflows_ends_the_fit():
    """LAPACK's least squares never came back from the infinite entries of a Hessian."""
    step = newton_step(np.array([[np.inf, 1.0], [1.0, np.nan]]), np.array([1.0, 1.0]))
    assert not step.any()
    X = np.array([[1e200, 1.0], [-1e200, 2.0], [3e200, -1.0], [-1.0, 0.5]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LinearSVC(C=10.0).fit(X, [0, 1, 1, 0]).certificate_  # noqa: B018
