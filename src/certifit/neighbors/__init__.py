"""Nearest neighbours: exact order, a proof for every query, editing and condensation.

Conventions: neighbours are ordered by distance, equal distances by lower row number; votes that tie go to
the first class. `KNeighborsClassifier.certificate_for` proves that no other row is nearer,
`RadiusNeighborsClassifier.certificate_within` that exactly the rows listed lie within the radius.
"""

from certifit._passing import pass_on
from certifit.neighbors._centroid import NearestCentroid
from certifit.neighbors._graph import kneighbors_graph, radius_neighbors_graph
from certifit.neighbors._knn import KNeighborsClassifier, KNeighborsRegressor
from certifit.neighbors._nearest import NearestNeighbors
from certifit.neighbors._radius import RadiusNeighborsClassifier, RadiusNeighborsRegressor
from certifit.neighbors._reduce import CondensedNeighbors, EditedNeighbors

__all__ = [
    "CondensedNeighbors",
    "EditedNeighbors",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "NearestCentroid",
    "NearestNeighbors",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "kneighbors_graph",
    "radius_neighbors_graph",
]

__getattr__, __dir__ = pass_on(__name__, "sklearn.neighbors", {"KernelDensity": "certifit.density"})
