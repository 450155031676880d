"""The nearest rows of a query: distances, brute force, k-d tree, and exact order where floats cannot tell.

The search behind `certifit.neighbors` and the graphs of `certifit.semi_supervised`.
"""

from certifit.nearest._metrics import NAMES, OTHERS, Metric, check_axioms, resolve
from certifit.nearest._search import Index, choose_method, owned

__all__ = [
    "NAMES",
    "OTHERS",
    "Index",
    "Metric",
    "check_axioms",
    "choose_method",
    "owned",
    "resolve",
]
