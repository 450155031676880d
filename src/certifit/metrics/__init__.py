"""Metrics of predictions, each with a confidence interval.

Three conventions hold throughout. Weight k counts as k rows (in the intervals too). Of two labels the last in
sorted order is the positive one. A figure is a float with ``.interval(level)``; the method is named in what
that returns:

===========================  =============================================================================
figure                       interval
===========================  =============================================================================
shares (accuracy, ...)       exact binomial (Clopper-Pearson), or Wilson on request
balanced accuracy            Wilson limits of the classes, combined (Zou and Donner)
F_β                          delta method on the log-odds scale, or bootstrap on request
averages, kappa, Matthews    delta method, cells as multinomial counts
area under the ROC curve     DeLong; the curve has a simultaneous band
average precision            binomial on the log-odds scale
means over rows (errors,     Student's t
cost, Brier, log loss)
R²                           delta method
===========================  =============================================================================

Everything that `sklearn.metrics` offers can be imported from here too (``accuracy_score``, ``make_scorer``, ...): those
are scikit-learn's own, loaded when they are asked for.
"""

from certifit._passing import pass_on
from certifit.metrics._confusion import Confusion, confusion
from certifit.metrics._interval import Figure, Interval, mean_figure, share
from certifit.metrics._probability import Calibration, brier_score, calibration, cost, log_score
from certifit.metrics._ranking import PrecisionRecall, Roc, precision_recall, roc, roc_auc
from certifit.metrics._regression import Errors, errors

__all__ = [
    "Calibration",
    "Confusion",
    "Errors",
    "Figure",
    "Interval",
    "PrecisionRecall",
    "Roc",
    "brier_score",
    "calibration",
    "confusion",
    "cost",
    "errors",
    "log_score",
    "mean_figure",
    "precision_recall",
    "roc",
    "roc_auc",
    "share",
]

__getattr__, __dir__ = pass_on(__name__, "sklearn.metrics")
