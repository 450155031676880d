"""scikit-learn's estimator contract."""

from certifit.decomposition import PCA
from tests.contract import contract


@contract([PCA(), PCA(n_components=1, svd_solver="full", whiten=True), PCA(svd_solver="gram_eigh")])
def test_contract(estimator, check):
    check(estimator)
