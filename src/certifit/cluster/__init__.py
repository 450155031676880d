"""Clustering with a proof of how far it is from the best possible one."""

from certifit._passing import pass_on
from certifit.cluster._choose import NumberOfClusters, choose_k
from certifit.cluster._kmeans import KMeans

__all__ = ["KMeans", "NumberOfClusters", "choose_k"]

__getattr__, __dir__ = pass_on(__name__, "sklearn.cluster")
