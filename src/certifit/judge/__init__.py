"""Certify fitted models of any library by their own objective, and answers that do not come from an estimator.

These are coefficients, dual variables, components, clusterings, counts, neighbours and densities.
"""

from certifit.judge._by_hand import certify_coefficients, certify_components, certify_dual
from certifit.judge._certify import certify
from certifit.judge._clusters import certify_clusters
from certifit.judge._density import certify_density
from certifit.judge._diagnose import diagnose
from certifit.judge._findings import Diagnosis, Finding
from certifit.judge._naive_bayes import certify_naive_bayes
from certifit.judge._neighbors import certify_neighbors
from certifit.judge._perceptron import certify_perceptron
from certifit.judge._tree import certify_tree
from certifit.judge._votes import diagnose_votes
from certifit.judge._written_down import WrittenObjective, objective

__all__ = [
    "Diagnosis",
    "Finding",
    "WrittenObjective",
    "certify",
    "certify_clusters",
    "certify_coefficients",
    "certify_components",
    "certify_density",
    "certify_dual",
    "certify_naive_bayes",
    "certify_neighbors",
    "certify_perceptron",
    "certify_tree",
    "diagnose",
    "diagnose_votes",
    "objective",
]
