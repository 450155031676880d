"""Records to pictures, in one quiet style (matplotlib; install ``certifit[plot]``).

Functions take what `certifit.metrics` and `certifit.model_selection` return and give a matplotlib figure.
"""

from certifit.plot._evaluation import (
    bias_variance,
    bootstrap,
    calibration,
    comparison,
    confusion,
    cross_validation,
    curve,
    leakage,
    precision_recall,
    roc,
    search,
)
from certifit.plot._style import COLOURS, figure, style

__all__ = [
    "COLOURS",
    "bias_variance",
    "bootstrap",
    "calibration",
    "comparison",
    "confusion",
    "cross_validation",
    "curve",
    "figure",
    "leakage",
    "precision_recall",
    "roc",
    "search",
    "style",
]
