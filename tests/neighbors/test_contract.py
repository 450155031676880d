"""scikit-learn's contract, all checks."""

from __future__ import annotations

from certifit.neighbors import CondensedNeighbors, EditedNeighbors, KNeighborsClassifier, KNeighborsRegressor
from tests.contract import contract


@contract(
    [
        KNeighborsClassifier(),
        KNeighborsRegressor(),
        KNeighborsClassifier(n_neighbors=None, weights="gaussian"),
        KNeighborsRegressor(n_neighbors=3, weights="distance", metric="manhattan", algorithm="kd_tree"),
        EditedNeighbors(),
        CondensedNeighbors(),
    ]
)
def test_contract(estimator, check):
    check(estimator)
