"""scikit-learn's estimator contract."""

import pytest

from certifit.cluster import KMeans
from tests.contract import contract


# Some checks fit four different rows: fewer than n_clusters, of which scikit-learn warns, too.
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@contract([KMeans(), KMeans(n_clusters=3, init="random", n_init=2, trace=True)])
def test_contract(estimator, check):
    check(estimator)
