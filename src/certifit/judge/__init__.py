"""`certify`: judge a fitted model, ours or anybody's, by its own objective; and what no estimator made: coefficients,
dual variables, components, clusterings.
"""

from certifit.judge._by_hand import certify_coefficients, certify_components, certify_dual
from certifit.judge._certify import certify
from certifit.judge._clusters import certify_clusters
from certifit.judge._diagnose import diagnose
from certifit.judge._findings import Diagnosis, Finding
from certifit.judge._tree import certify_tree
from certifit.judge._written_down import WrittenObjective, objective

__all__ = [
    "Diagnosis",
    "Finding",
    "WrittenObjective",
    "certify",
    "certify_clusters",
    "certify_coefficients",
    "certify_components",
    "certify_dual",
    "certify_tree",
    "diagnose",
    "objective",
]
