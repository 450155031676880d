"""scikit-learn's estimator contract on networks."""

from __future__ import annotations

import pytest

from certifit.neural import MLPClassifier, MLPRegressor
from tests.contract import contract


@pytest.mark.filterwarnings("ignore:.*before the stopping rule was met")
@contract(
    [
        MLPClassifier((3,), activation="tanh", alpha=1.0, tol=1e-11, max_iter=2000),
        MLPClassifier((8,), solver="adam", learning_rate_init=0.05, max_iter=40, random_state=0),
        MLPRegressor(hidden_layer_sizes=(3,), activation="tanh", alpha=1.0, tol=1e-11, max_iter=2000),
    ]
)
def test_contract(estimator, check):
    check(estimator)
