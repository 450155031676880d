"""Plots of results and fitted models, in one style (matplotlib; install ``certifit[plot]``).

Every function takes ``ax`` (axes to draw on; a fresh figure when None) and returns the axes.
``with style("dark"):`` draws for a dark background. Colours are safe for colour-blind readers, and classes
also differ in their markers.
"""

from certifit.plot._clusters import clusters, number_of_clusters
from certifit.plot._decisions import grid_values
from certifit.plot._descent import descent
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
from certifit.plot._models import (
    kernel_matrix,
    posterior,
    regularization_path,
    residuals,
    shape,
    tree,
)
from certifit.plot._regions import decision_regions, margins, perceptron_animation, perceptron_steps
from certifit.plot._style import COLOURS, figure, palette, style
from certifit.plot._trace import trace, trace_animation

__all__ = [
    "COLOURS",
    "bias_variance",
    "bootstrap",
    "calibration",
    "clusters",
    "comparison",
    "confusion",
    "cross_validation",
    "curve",
    "decision_regions",
    "descent",
    "figure",
    "grid_values",
    "kernel_matrix",
    "leakage",
    "margins",
    "number_of_clusters",
    "palette",
    "perceptron_animation",
    "perceptron_steps",
    "posterior",
    "precision_recall",
    "regularization_path",
    "residuals",
    "roc",
    "search",
    "shape",
    "style",
    "trace",
    "trace_animation",
    "tree",
]
