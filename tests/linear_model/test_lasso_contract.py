"""scikit-learn's contract for the lasso family."""

from certifit.linear_model import ElasticNet, Lasso
from tests.contract import contract


@contract([Lasso(alpha=0.1), ElasticNet(alpha=0.1), Lasso(), ElasticNet()])
def test_contract(estimator, check):
    check(estimator)
