"""scikit-learn's contract, all checks."""

from __future__ import annotations

from certifit.neighbors import (
    CondensedNeighbors,
    EditedNeighbors,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
)
from tests.contract import contract


@contract(
    [
        KNeighborsClassifier(),
        KNeighborsRegressor(),
        KNeighborsClassifier(n_neighbors=None, weights="gaussian"),
        KNeighborsRegressor(n_neighbors=3, weights="distance", metric="manhattan", algorithm="kd_tree"),
        NearestNeighbors(),
        EditedNeighbors(),
        CondensedNeighbors(),
    ]
)
def test_contract(estimator, check):
    check(estimator)
