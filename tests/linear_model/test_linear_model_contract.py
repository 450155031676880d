"""scikit-learn's contract for LinearModel, one pairing per solver."""

from certifit.linear_model import LinearModel
from tests.contract import contract


@contract([LinearModel(), LinearModel("absolute", "l1"), LinearModel("squared", "l1"), LinearModel("absolute", "l2")])
def test_contract(estimator, check):
    check(estimator)
