"""scikit-learn's contract, all checks."""

from __future__ import annotations

from certifit.neighbors import (
    CondensedNeighbors,
    EditedNeighbors,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from tests.contract import contract


@contract(
    [
        KNeighborsClassifier(),
        KNeighborsRegressor(),
        KNeighborsClassifier(n_neighbors=None, weights="gaussian"),
        KNeighborsRegressor(n_neighbors=3, weights="distance", metric="manhattan", algorithm="kd_tree"),
        KNeighborsClassifier(metric="nan_euclidean"),
        NearestNeighbors(),
        RadiusNeighborsClassifier(outlier_label="most_frequent", radius=2.0),
        RadiusNeighborsRegressor(radius=30.0, weights="distance"),
        NearestCentroid(),
        NearestCentroid(metric="manhattan", priors="empirical"),
        EditedNeighbors(),
        CondensedNeighbors(),
    ]
)
def test_contract(estimator, check):
    check(estimator)
