"""Principal component analysis, with a proof that no other subspace keeps more."""

from certifit.decomposition._covariance import Covariance
from certifit.decomposition._pca import PCA

__all__ = ["PCA", "Covariance"]
