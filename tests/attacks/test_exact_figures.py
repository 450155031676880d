"""Figures and claims that rounding, underflow or overflow had made better than the truth, in floats or with rigor="exact"."""

from __future__ import annotations

import numpy as np
import pytest

from certifit._objective import Objective
from certifit.bayes import BayesianLinearRegression
from certifit.certificates import Data, issue, mercer
from certifit.linear_model import ElasticNet, LinearModel, LinearRegression, LogisticRegression, Ridge
from certifit.losses import Squared
from certifit.naive_bayes import BernoulliNB, GaussianNB, MixedNB, MultinomialNB
from certifit.neighbors import KNeighborsRegressor
from certifit.regularizers import L1
from certifit.svm import LinearSVR
from tests.attacks.cases import all_cases
from tests.attacks.siege import refused_by_checker

RIGORS = ("float", "exact")


def case_of(kind, name):
    return next(c for c in all_cases()[kind] if c.name == name)


@pytest.mark.parametrize("rigor", RIGORS)
def test_a_matrix_with_an_infinite_entry_has_no_eigenvalues(rigor):
    K = np.array([[2.0, 1.0, 0.5], [1.0, 2.0, 0.0], [0.5, 0.0, 2.0]])
    evidence = mercer(K).evidence
    K[1, 0] = np.inf  # the entry across from it is finite: their difference is infinite, and so is the allowance for it
    assert not issue("mercer", Data.of(K), evidence, rigor).holds


@pytest.mark.parametrize(("kind", "row"), [("harmonic-labels", 2), ("condensed-neighbors", 6), ("stored-rows", 0)])
def test_nan_is_no_label(kind, row):
    for case in all_cases()[kind]:
        y = np.asarray(case.y, dtype=float).copy()
        y[row] = np.nan
        assert not issue(kind, Data.of(case.X, y), case.certificate.evidence).holds


@pytest.mark.parametrize("name", ["several targets tree", "counts tree"])
def test_nothing_is_compared_with_an_infinite_impurity(name):
    case = case_of("tree-general", name)
    for row in range(len(case.X)):
        y = np.array(case.y, dtype=float)
        y[row] = np.finfo(float).max
        assert not issue(case.kind, Data.of(case.X, y, case.sample_weight), case.certificate.evidence).holds


@pytest.mark.parametrize("rigor", RIGORS)
def test_a_share_of_an_error_that_vanishes_is_not_stated(rigor):
    y = np.array([1e-200, 2e-200, 3e-200])
    far = issue("constant", Data.of(np.zeros((3, 1)), y), {"loss": "squared", "value": np.array([1e-199])}, rigor)
    assert far.relative_gap == np.inf
    assert "of it" not in far.claim


def test_a_loss_near_zero_has_all_its_digits():
    X, y, w = np.zeros((3, 1)), np.array([0, 1, 1]), np.array([1e-16, 0.5, 0.5])
    evidence = {"loss": "log", "classes": np.array([0, 1]), "shares": np.array([1e-16, 1.0 - 2.0**-53])}
    for rigor in RIGORS:
        certificate = issue("constant", Data.of(X, y, w), evidence, rigor)
        assert certificate.holds
        assert refused_by_checker(certificate, X, y, w) is None


def test_a_column_without_variation_is_said_to_have_variance_one():
    X, y = np.array([[7.0, 1.0], [7.0, 2.0], [7.0, 4.0]]), np.array([0, 1, 1])
    certificate = MixedNB().fit(X, y).certificate_
    assert certificate.constant_columns == 1
    assert "1 column without variation beyond rounding: variance 1" in certificate.claim
    assert "variation" not in MixedNB().fit(X[:, 1:], y).certificate_.claim


@pytest.mark.parametrize("classes", [3, 5, 10, 49])
@pytest.mark.parametrize("rigor", RIGORS)
def test_equal_class_shares_are_rounded(classes, rigor):
    y = np.arange(2 * classes) % classes
    X = np.random.default_rng(0).integers(0, 4, size=(len(y), 2)).astype(float)
    honest = MultinomialNB(fit_prior=False).fit(X, y).certificate_
    certificate = issue(honest.kind, Data.of(X, y), honest.evidence, rigor)
    assert certificate.holds
    assert refused_by_checker(certificate, X, y, None) is None


@pytest.mark.parametrize("rigor", RIGORS)
@pytest.mark.parametrize("seen", [1e-301, 5e-324])
def test_what_was_seen_has_a_probability(rigor, seen):
    X, y = np.array([[1.0, 0.0], [1.0, seen], [0.0, 3.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
    honest = MultinomialNB().fit(X, y).certificate_
    with np.errstate(divide="ignore"):
        impossible = np.log(np.array([[1.0, 0.0], [0.25, 0.75]]))  # the log posterior is minus infinity
    evidence = {**honest.evidence, "alpha": 0.0, "feature_log_prob": impossible}
    assert not issue(honest.kind, Data.of(X, y), evidence, rigor).holds
    X[1, 1] = 0.0
    assert issue(honest.kind, Data.of(X, y), evidence, rigor).holds


@pytest.mark.parametrize("model", [BernoulliNB(), GaussianNB()])
def test_an_error_below_the_smallest_float_is_not_called_zero(model):
    X, y, w = np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1]), np.array([1e-250, 1e90, 1e91])
    honest = model.fit(X, y, sample_weight=w).certificate_
    exact = issue(honest.kind, Data.of(X, y, w), honest.evidence, "exact")
    assert exact.prior_error > 0.0
    assert not exact.holds or refused_by_checker(exact, X, y, w) is None


def test_the_rest_of_an_elastic_penalty_is_exact():
    X = np.array([[1.0], [-2.0], [-3.0], [3.0], [0.0], [-1.0]], dtype=np.float32)
    y = np.array([-1.0, 1.0, 1.0, -2.0, -1.0, -1.0])
    honest = ElasticNet(0.011711868899615436, l1_ratio=0.2718970708927569, tol=0.01).fit(X, y).certificate_
    exact = issue(honest.kind, Data.of(X, y), honest.evidence, "exact")
    assert exact.holds
    assert refused_by_checker(exact, X, y, None) is None


def test_a_multiplier_outside_its_domain_by_less_than_rounding():
    X, y = np.array([[1.0], [2.0**-60]]), np.array([2.0, 2.0])
    objective = Objective(Squared(0.5), L1(), 1.0, fit_intercept=False).to_dict()
    evidence = {"objective": objective, "coef": np.array([[1.0]]), "intercept": np.zeros(1)}
    inside = issue("duality", Data.of(X, y), {**evidence, "dual": np.array([[-1.0], [0.0]])}, "exact")
    assert inside.holds
    assert not issue("duality", Data.of(X, y), {**evidence, "dual": np.array([[-1.0], [-1.0]])}, "exact").holds


@pytest.mark.parametrize("value", [0.1, 0.3, 1e5 + 0.1, 4e-101])
def test_equal_targets_of_equal_rows_leave_nothing_unavoidable(value):
    X, y = np.zeros((10, 1)), np.full(10, value)
    certificate = KNeighborsRegressor(1).fit(X, y).certificate_
    assert certificate.unavoidable == 0.0
    y[0] += 1e-9 * value
    certificate = KNeighborsRegressor(1).fit(X, y).certificate_
    assert refused_by_checker(certificate, X, y, None) is None


@pytest.mark.filterwarnings("ignore")
def test_fits_beside_overflow_and_underflow_end_in_words_or_in_a_proof():
    X, w = np.array([[50464.0], [11400.0], [-3256.0], [-11400.0]]), np.array([1e-45, 3e290, 5e-125, 1e-228])
    y = np.array([-7.9e-101, -2e-101, -7.5e-101, 1.1e-100])
    certificate = LinearModel("absolute", "l2", lam=40.0, tol=0.01).fit(X, y, sample_weight=w).certificate_
    assert not certificate.holds or refused_by_checker(certificate, X, y, w) is None
    with pytest.raises(ValueError, match="beyond the largest float"):
        BayesianLinearRegression().fit(X, np.array([1e180, -1e180, 1.0, 2.0]))


@pytest.mark.parametrize("weight", [6e4, 1e20])
def test_a_wrong_coefficient_has_no_digits_however_heavy_other_rows_are(weight):
    X, y, w = np.array([[0.0], [2.0], [2.0]]), np.array([-0.9, 1.5, 1.1]), np.array([weight, 1e-2, 1e-3])
    honest = LinearRegression(fit_intercept=False).fit(X, y, sample_weight=w).certificate_
    assert honest.digits > 12
    assert issue(honest.kind, Data.of(X, y, w), {**honest.evidence, "coef": np.zeros((1, 1))}).digits == 0.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("model", [LinearSVR(), Ridge(alpha=0.1), LogisticRegression()], ids=lambda m: type(m).__name__)
def test_an_objective_that_rounding_hides_is_stated_as_it_is(model, seed):
    """Perfect fits of few rows: floats knew the value by its order of magnitude only, and stated it to all digits."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4, 4)) * 1e6
    y = np.arange(4) % 3 if isinstance(model, LogisticRegression) else rng.normal(size=4) * 1e-5
    c = next(c for c in model.fit(X, y).certificates_ if c.kind == "duality")
    assert c.holds
    assert c.verify(X, y, rigor="exact").holds
