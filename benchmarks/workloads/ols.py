"""Least squares: one Gram matrix, whatever the library."""

from sklearn.linear_model import LinearRegression as Sklearn

from benchmarks.gram import contest
from benchmarks.harness import Entry
from certifit.linear_model import LinearRegression

WHAT = "least squares, 100 000 × 100, in float64 and float32"
GOAL = "≥ 1.5× the best peer; ≤ 1.3× one XᵀX"


def entries() -> list[Entry]:
    """Both precisions."""
    return [entry for dtype in ("float64", "float32") for entry in contest(LinearRegression, Sklearn, 100, dtype)]
