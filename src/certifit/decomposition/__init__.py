"""Principal component analysis, with a proof that no other subspace retains more variance."""

from certifit._passing import pass_on
from certifit.decomposition._covariance import Covariance
from certifit.decomposition._pca import PCA

__all__ = ["PCA", "Covariance"]

__getattr__, __dir__ = pass_on(__name__, "sklearn.decomposition")
