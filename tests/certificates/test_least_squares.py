"""Least squares where the columns depend on one another, and digits that are stated: truth by exact arithmetic."""

import itertools
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.linear_model
from hypothesis import example, given
from hypothesis import strategies as st

from certifit import certify
from certifit._objective import Objective
from certifit.certificates import Data, issue
from certifit.certificates._dependence import excess, spanning_columns
from certifit.certificates.least_squares import _digits
from certifit.linear_model import LinearRegression, Ridge
from certifit.losses import Squared
from certifit.regularizers import NonNegative, Zero
from certifit.solvers.dual import evidence_of
from tests.attacks.siege import refused_by_checker
from tests.proof_runs import Case, outcome
from tests.soundness.exact import least_squares_gap, least_squares_solution


def state(X, y, coef, intercept=0.0, offset=False, positive=False):
    """The certificate of any coefficients at all."""
    penalty = NonNegative(Zero()) if positive else Zero()
    evidence = evidence_of(Objective(Squared(), penalty, 0.0, offset), np.array([coef]), np.array([intercept]))
    return issue("least-squares", Data.of(X, y), evidence)


@pytest.mark.parametrize("c", [0.0, 1e-12, 1e-6])
def test_zero_is_no_solution_because_two_columns_are_equal(c):
    x = np.arange(1.0, 5.0)
    certificate = state(np.column_stack([x, x]), x, np.array([c, c]))
    assert certificate.gap >= 7.5 * (1 - 2 * c) ** 2
    assert certificate.rank == 1


@pytest.mark.parametrize("model", [LinearRegression(), LinearRegression(positive=True), Ridge()], ids=repr)
def test_the_certificate_of_a_fit_is_verified_in_exact_arithmetic_too(model):
    """The digits were missing there, so that no certificate with digits was."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    certificate = model.fit(X, y).certificate_
    assert certificate.digits > 10
    assert certificate.verify(X, y, rigor="exact").holds


@pytest.mark.parametrize("n", [12, 400])
@pytest.mark.parametrize("factor", [1 / 3, 0.7])
def test_columns_that_are_dependent_but_for_rounding(n, factor):
    """As real numbers they are independent, and the exact optimum uses that: the stated gap must cover it."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 60 if n > 100 else 3))
    X[:, -1] = X[:, 0] * factor
    y = rng.normal(size=n)
    model = LinearRegression(fit_intercept=False).fit(X, y)
    assert model.rank_ == X.shape[1] - 1
    certificate = model.certificate_
    assert certificate.holds
    if n < 100:
        truth = least_squares_gap(X, y, np.ones(n), model.coef_, 0.0, offset=False)
        assert truth > Fraction(1, 10**6)
        assert truth <= Fraction(certificate.gap)
        assert certificate.gap < 1.001 * float(truth)
    else:  # too large for integers: nothing better than the loss itself is known
        assert certificate.gap >= certificate.value


def test_indicator_columns_beside_an_offset():
    """A table too large for integers, with columns that add up to the constant one exactly."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 5, 3000)
    X = np.column_stack([group[:, None] == np.arange(5), rng.normal(size=(3000, 3)), np.zeros(3000)])
    X = np.column_stack([X, X[:, 6], -2.0 * X[:, 5]])
    y = rng.normal(size=3000) + group
    model = LinearRegression().fit(X, y)
    assert model.certificate_.relative_gap < 1e-20
    assert model.certificate_.rank == 7
    worse = state(X, y, model.coef_ * 0.0, y.mean(), offset=True)
    assert worse.gap >= 0.999 * (worse.value - model.certificate_.value)


@given(st.integers(0, 10_000))
def test_a_basis_is_believed_only_when_it_spans(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 4))
    exact = rng.integers(0, 2)
    X[:, 3] = X[:, 1] * 2.0 if exact else X[:, 1] * 2.0 + np.eye(20)[0] * 1e-13
    found = spanning_columns(X, np.ones(20), bool(rng.integers(0, 2)))
    assert (found is not None and len(found) == 3) if exact else (found is None or len(found) == 4)


@given(st.integers(0, 10_000))
def test_excess_is_the_quadratic_form_of_the_pseudoinverse(seed):
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, size=(rng.integers(1, 5), 4))
    q = A.T @ rng.integers(-3, 4, size=len(A))
    H = A.T @ A
    found, rank = excess([[Fraction(int(v)) for v in row] for row in H], [Fraction(int(v)) for v in q])
    assert rank == np.linalg.matrix_rank(A)
    assert float(found) == pytest.approx(q @ np.linalg.pinv(H) @ q, abs=1e-8)


@pytest.mark.parametrize("offset", [True, False])
def test_non_negative_without_an_offset_has_a_certificate(offset):
    rng = np.random.default_rng(1)
    X, y = np.abs(rng.normal(size=(20, 3))), rng.normal(size=20)
    certificate = LinearRegression(positive=True, fit_intercept=offset).fit(X, y).certificate_
    assert certificate.holds
    assert certificate.relative_gap < 1e-12
    exact = issue("least-squares", Data.of(X, y), certificate.evidence, "exact")
    assert exact.holds
    assert exact.relative_gap < 1e-12


@given(st.integers(0, 10_000))
def test_every_stated_digit_is_there(seed):
    rng = np.random.default_rng(seed)
    n, d, offset = int(rng.integers(4, 12)), int(rng.integers(1, 4)), bool(rng.integers(0, 2))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.choice([0.0, 8.0, -8.0, 150.0, -150.0], size=d)
    X = X + rng.choice([0.0, 0.0, 1e6]) * np.abs(X).max()
    y = rng.normal(size=n) * 10.0 ** rng.choice([0.0, 100.0, -100.0])
    if rng.integers(0, 2):
        y = y - y.mean()  # an offset near zero
    model = LinearRegression(fit_intercept=offset).fit(X, y)
    certificate = model.certificate_
    if "digits" not in certificate.figures:
        return
    w, b = least_squares_solution(X, y, np.ones(n), offset)
    for mine, best in [*zip(model.coef_, w), (float(model.intercept_), b)]:
        wrong = abs(Fraction(float(mine)) - best)
        alike = wrong <= Fraction(10) ** -int(certificate.digits) * abs(best) if best else wrong == 0
        assert alike or wrong >= abs(Fraction(float(mine))) / 2  # or it cannot be told from zero


def test_numbers_of_all_sizes_are_read_without_an_error():
    rng = np.random.default_rng(0)
    for size in (1e-310, 1e-300, 1e-150, 1e150, 1e300):
        X, y = rng.normal(size=(8, 2)) * size, rng.normal(size=8)
        for model in (LinearRegression(), LinearRegression(fit_intercept=False), Ridge(1.0)):
            certificate = model.fit(X, y).certificate_
            assert certificate.holds == bool(np.all(np.isfinite(model.coef_)))
    for size in (1e-45, 1e-38, 1e38):
        X = (rng.uniform(-1, 1, size=(8, 2)) * size).astype(np.float32)
        model = LinearRegression().fit(X, rng.normal(size=8).astype(np.float32))
        assert model.certificate_.holds == bool(np.all(np.isfinite(model.coef_)))


@pytest.mark.parametrize("seed", range(12))
def test_non_negative_fits_on_dependent_columns_are_proved_by_both(seed, tmp_path):
    """Copies, sums of columns and more columns than rows: the columns that are not used do not blur the bound."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-9, 9, size=(10, 3)).astype(float)
    X = np.column_stack([A, A[:, 0] + A[:, 1], A[:, 0]]) if seed % 2 else rng.normal(size=(5, 12))
    y = rng.normal(size=len(X))
    model = LinearRegression(positive=True).fit(X, y)
    certificate = model.certificate_
    assert certificate.holds
    assert certificate.gap <= 1e-12 * np.var(y)
    assert outcome(*Case(certificate, X, y).proof(tmp_path)) == "PROVED"


def smallest_non_negative(X, y):
    """The smallest sum of squares with w ≥ 0, over all sets of columns (SciPy's active sets err on dependent ones)."""
    best = y @ y
    for used in itertools.product([False, True], repeat=X.shape[1]):
        A = X[:, used]
        w = np.linalg.lstsq(A, y)[0] if A.size else np.zeros(0)
        if np.all(w >= -1e-9):
            best = min(best, np.sum(np.square(A @ w - y)))
    return best


@given(st.integers(0, 2**32 - 1))
@example(39916801)  # SciPy's active sets stop at 33.7 where 32.7 is the smallest
def test_a_non_negative_fit_is_as_good_as_the_best_set_of_columns(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(rng.integers(2, 8), rng.integers(1, 5))).astype(float)
    X = np.column_stack([X, X[:, 0]]) if seed % 2 else X
    y = rng.integers(-5, 6, size=len(X)).astype(float)
    coef = LinearRegression(positive=True, fit_intercept=False).fit(X, y).coef_
    assert np.all(coef >= 0)
    assert np.sum(np.square(X @ coef - y)) == pytest.approx(smallest_non_negative(X, y), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("size", "target"), [(1e-300, 1e-300), (1.0, 1e-300), (1e-310, 1e-300), (1e150, 1.0)])
@pytest.mark.parametrize("Model", [LinearRegression, Ridge])
def test_a_non_negative_fit_does_not_depend_on_units(Model, size, target):
    """SciPy's methods stop by absolute sizes: targets of 1e-300 were fitted badly, and columns of 1e-310 overflowed."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        model = Model(positive=True).fit(rng.normal(size=(8, 3)) * size, rng.normal(size=8) * target)
        assert model.certificate_.relative_gap < 1e-9


@given(st.integers(0, 2**32 - 1))
@example(39916801)
def test_the_gap_of_any_non_negative_coefficients_covers_the_true_one(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 8), rng.integers(1, 5)
    X = rng.integers(-3, 4, size=(n, d)).astype(float)
    X = np.column_stack([X, X[:, 0]]) if seed % 2 else X
    y = rng.integers(-5, 6, size=n).astype(float)
    coef = rng.integers(0, 3, size=X.shape[1]).astype(float) * rng.choice([0.5, 1.0])
    certificate = state(X, y, coef, positive=True)
    best = smallest_non_negative(X, y)
    here = np.sum(np.square(X @ coef - y))
    assert certificate.holds
    assert certificate.gap >= (here - best) / n * (1 - 1e-9) - 1e-12


@pytest.mark.parametrize("coef", [[0.5, -0.1], [1e-3, 1e-3], [0.0, 0.0], [2.0, 0.0]])
def test_coefficients_that_are_wrong_altogether_have_no_digits(coef):
    """An error beyond 100 % says that a coefficient cannot be told from zero, not that it does not count."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = X @ [2.0, -1.0] + 0.1 * rng.normal(size=2000)
    fit = LinearRegression().fit(X, y).certificate_
    assert fit.digits > 12
    stated = {"coef": np.array([coef]), "intercept": np.zeros(1)}
    assert issue("least-squares", Data.of(X, y), {"objective": fit.evidence["objective"], **stated}).digits < 1


def test_no_digits_are_stated_where_the_size_of_a_coefficient_overflows():
    """Divided by infinity its error would count as nothing, and the digits would be those of the other coefficient."""
    fine, beyond = (SimpleNamespace(power=np.array([0, e]), fit_intercept=False) for e in (0, 2000))
    plain = SimpleNamespace(unit=0, value=SimpleNamespace(mid=1.0), null=SimpleNamespace(mid=1.0))
    factor = SimpleNamespace(T=np.eye(2))
    assert _digits(fine, factor, 1e-9, np.ones(2), 0.0, plain) == pytest.approx(9.0, abs=1e-6)
    assert _digits(beyond, factor, 1e-9, np.ones(2), 0.0, plain) == 0.0


@pytest.mark.parametrize("seed", range(8))
def test_near_copies_of_columns_leave_non_negative_fits_a_small_gap(seed):
    """One of the copies, or both (where the gradient alone bounds the gap by percents), by our fit and by another's."""
    rng = np.random.default_rng(seed)
    n, d, offset, close = 25, 5, bool(seed % 2), 10.0 ** -(9 + seed % 6)
    X = rng.normal(size=(n, d))
    X[:, 1] = X[:, 0] + close * rng.normal(size=n)
    y = X @ np.abs(rng.normal(size=d)) + rng.normal(size=n)
    weight = None if seed % 3 else rng.integers(0, 4, size=n).astype(float)
    model = LinearRegression(positive=True, fit_intercept=offset).fit(X, y, weight)
    other = sklearn.linear_model.LinearRegression(positive=True, fit_intercept=offset).fit(X, y, weight)
    other.coef_, other.intercept_ = model.coef_.copy(), model.intercept_
    other.coef_[:2] = model.coef_[:2].sum() * np.array([0.375, 0.625])
    for c in (model.certificate_, certify(other, X, y, sample_weight=weight)):
        assert c.holds
        assert c.relative_gap <= 1e-8
        assert c.verify(X, y, sample_weight=weight).holds
        assert c.verify(X, y, sample_weight=weight, rigor="exact").holds
        assert refused_by_checker(c, X, y, weight) is None
