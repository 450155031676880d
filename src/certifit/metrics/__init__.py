"""How good predictions are, and how sure we are of it: every figure carries an interval.

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

scikit-learn's names (``accuracy_score``, ``roc_auc_score``, ...) give the same numbers as there, with
intervals.
"""

from certifit.metrics._confusion import Confusion, confusion
from certifit.metrics._interval import Figure, Interval, mean_figure, share
from certifit.metrics._names import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    fbeta_score,
    matthews_corrcoef,
    mean_absolute_error,
    mean_squared_error,
    precision_recall_curve,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
    roc_curve,
    root_mean_squared_error,
    zero_one_loss,
)
from certifit.metrics._probability import Calibration, brier_score, calibration, cost, log_loss
from certifit.metrics._ranking import PrecisionRecall, Roc, precision_recall, roc
from certifit.metrics._regression import Errors, errors

__all__ = [
    "Calibration",
    "Confusion",
    "Errors",
    "Figure",
    "Interval",
    "PrecisionRecall",
    "Roc",
    "accuracy_score",
    "average_precision_score",
    "balanced_accuracy_score",
    "brier_score",
    "brier_score_loss",
    "calibration",
    "cohen_kappa_score",
    "confusion",
    "confusion_matrix",
    "cost",
    "errors",
    "f1_score",
    "fbeta_score",
    "log_loss",
    "matthews_corrcoef",
    "mean_absolute_error",
    "mean_figure",
    "mean_squared_error",
    "precision_recall",
    "precision_recall_curve",
    "precision_score",
    "r2_score",
    "recall_score",
    "roc",
    "roc_auc_score",
    "roc_curve",
    "root_mean_squared_error",
    "share",
    "zero_one_loss",
]
