"""scikit-learn's estimator contract."""

from certifit.bayes import BayesianLinearRegression
from tests.contract import contract


@contract([BayesianLinearRegression(), BayesianLinearRegression(noise_precision=2.0, fit_intercept=False)])
def test_contract(estimator, check):
    check(estimator)
