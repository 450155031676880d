"""Whether the optimum of an unpenalised fit exists is answered on every kind of data, never passed over."""

import numpy as np
import pytest
import scipy.sparse

from certifit.exceptions import NoOptimumError
from certifit.glm import GLM
from certifit.linear_model import LogisticRegression


def rare_column(n, k, seed, flipped):
    """Overlapping rows and a column that is one on k rows of one class (all but the first, when ``flipped``)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (rng.random(n) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    rows = rng.choice(np.flatnonzero(y == 1), k, replace=False)
    y[rows[:1]] = 0 if flipped else 1
    return np.column_stack([X, np.isin(np.arange(n), rows)]), y


@pytest.mark.parametrize("n", [60, 900, 20_000])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
def test_a_column_that_only_one_class_has_leaves_no_optimum_however_rare_it_is(n, make):
    X, y = rare_column(n, 3, n, flipped=False)
    with pytest.raises(NoOptimumError, match=r"touching.*along w = \[.*1\.\]") as caught:
        LogisticRegression(C=np.inf).fit(make(X), y)
    assert caught.value.certificate.holds


@pytest.mark.parametrize("n", [60, 900, 20_000])
def test_a_rare_column_that_both_classes_have_gets_its_coefficient(n):
    X, y = rare_column(n, 3, n, flipped=True)
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.certificate_.holds
    assert model.certificate_.relative_gap < 1e-9
    # The equation of a column of zeros and ones: its rows are expected to hold as many ones as they do.
    assert model.predict_proba(X)[X[:, 2] == 1, 1].sum() == pytest.approx(2.0, abs=1e-3)


@pytest.mark.parametrize("n", [300, 30_000])
def test_softmax_too_says_when_there_is_no_optimum(n):
    rng = np.random.default_rng(n)
    y = rng.integers(0, 3, n)
    X = np.column_stack([rng.normal(size=n), np.arange(n) == 0])
    with pytest.raises(NoOptimumError, match="touching"):
        LogisticRegression(C=np.inf).fit(X, y)
    assert np.abs(LogisticRegression(C=np.inf).fit(X[:, [0, 0]], y).coef_).max() < 1  # dependent columns do no harm


@pytest.mark.parametrize("tol", [1e-1, 1e-4, 1e-8])
def test_the_tolerance_does_not_decide_whether_an_optimum_exists(tol):
    with pytest.raises(NoOptimumError, match="separable"):
        LogisticRegression(C=np.inf, tol=tol).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def test_rows_of_weight_zero_have_no_say():
    X, y = [[0.0], [1.0], [2.0], [3.0], [0.5], [2.5]], [0, 0, 1, 1, 1, 0]
    assert LogisticRegression(C=np.inf).fit(X, y).coef_.shape == (1, 1)
    with pytest.raises(NoOptimumError, match="separable"):
        LogisticRegression(C=np.inf).fit(X, y, sample_weight=[1, 1, 1, 1, 0, 0])


@pytest.mark.parametrize("weight", [{0: 0.0}, {1: 0.0}, {0: -1.0}, {0: np.inf}])
def test_class_weights_that_leave_one_class_are_refused(weight):
    model = LogisticRegression(class_weight=weight)
    with pytest.raises(ValueError, match=r"only one class|class_weight must contain"):
        model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def test_a_warm_start_fits_whatever_comes_next():
    rng = np.random.default_rng(0)
    X, model = rng.normal(size=(60, 3)), LogisticRegression(warm_start=True)
    for columns, classes in ((3, 2), (3, 3), (2, 3), (2, 2), (3, 4)):
        y = np.arange(60) % classes
        assert model.fit(X[:, :columns], y).certificate_.holds
        fresh = LogisticRegression().fit(X[:, :columns], y)
        np.testing.assert_allclose(model.predict_proba(X[:, :columns]), fresh.predict_proba(X[:, :columns]), atol=1e-4)


def test_costs_at_their_ends_and_costs_that_are_not_two():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    assert LogisticRegression(costs=(0, 1)).fit(X, y).predict(X).tolist() == [1, 1, 1, 1]
    assert LogisticRegression(costs=(1, 0)).fit(X, y).predict(X).tolist() == [0, 0, 0, 0]
    assert LogisticRegression(costs=(1, 0)).fit(X, y).certain(X).all()
    for costs in ((1,), (1, 2, 3), ()):
        with pytest.raises(ValueError, match="two numbers"):
            LogisticRegression(costs=costs).fit(X, y)


@pytest.mark.parametrize("n", [60, 20_000])
def test_poisson_counts_that_are_all_zero_on_a_rare_column_have_no_optimum(n):
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.normal(size=n), np.arange(n) < 2])
    y = rng.poisson(1.0, n)
    y[:2] = 0
    with pytest.raises(NoOptimumError, match="keeps increasing"):
        GLM("poisson").fit(X, y)
    y[0] = 3
    assert GLM("poisson").fit(X, y).predict(X)[:2].sum() == pytest.approx(3.0, abs=1e-4)


@pytest.mark.filterwarnings("ignore")  # overflow on the way is told by the outcome
@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e100, 1e200, 1e300])
@pytest.mark.parametrize("weight", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("intercept", [True, False])
def test_numbers_of_any_size_are_fitted_or_refused_but_never_hang(size, weight, intercept):
    X = size * np.array([[-1.0, 0.5], [0.3, 0.2], [1.0, -1.0], [0.7, 0.4], [-0.2, 0.9]])
    y, weights = [0, 1, 0, 1, 1], np.full(5, weight)
    model = LogisticRegression(fit_intercept=intercept)
    try:
        model.fit(X, y, weights)
    except ValueError as error:
        refused = str(error)
        assert "overflow" in refused
        return
    for certificate in model.certificates_:
        assert not certificate.holds or certificate.verify(X, y, weights).holds
