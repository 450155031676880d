"""Ridge: one Gram matrix, whatever the library."""

from sklearn.linear_model import Ridge as Sklearn

from benchmarks.gram import contest
from benchmarks.harness import Entry
from certifit.linear_model import Ridge

WHAT = "ridge, 100 000 × 200, in float64 and float32"
GOAL = "≥ 1.5× the best peer; ≤ 1.3× one XᵀX"


def entries() -> list[Entry]:
    """Both precisions."""
    return [entry for dtype in ("float64", "float32") for entry in contest(Ridge, Sklearn, 200, dtype)]
