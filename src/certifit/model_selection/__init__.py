"""Evaluating and selecting models: held-out scores with intervals, at about the cost of one fit where possible.

Everything takes any scikit-learn estimator, pipeline and splitter, and fits preprocessing inside the folds (give the
whole pipeline). Random choices are made before work is distributed: results are the same for any number of workers.
Weights are used in fitting and in scoring.

The shared-work protocol
------------------------
`Search`, `cross_validate` and what is built on them know no estimator by name. An estimator that can serve all folds
and all grid points from one piece of work says so by one method::

    def _fold_path(self, table, grid, response):
        '''Answers of every grid point on each fold's test rows.'''

``table``
    A `certifit.resampling.FoldTable`: X, y and weights of all rows, as the user gave them (not validated), and the
    folds, a list of (train, test) arrays of row numbers. They may overlap or leave rows out; only where
    ``table.complementary`` may a fold's training part be taken as "all minus test".
``grid``
    List of dicts of parameters, each to be laid over the parameters of ``self``.
``response``
    Tuple of the methods whose answers are needed: "predict", "predict_proba", "decision_function".
returns
    A `certifit.resampling.FoldAnswers` (made by `certifit.resampling.assemble`), which yields, fold by fold in order, a
    dict from each response to an array of shape (len(grid), len(test), ...): what
    ``clone(self).set_params(**grid[i]).fit(X[train], y[train])`` would answer for ``X[test]``,
    to well within 1e-6 of any score, or to the estimator's own ``tol`` where it has one (each answer then has the gap
    that ``tol`` asks for). Columns of probabilities are the sorted labels of the fold's training rows. Where it has a
    ``refit``, `Search` fits the chosen model to all rows by it.
raises
    `certifit.resampling.CannotShare` when these parameters, data or responses cannot be shared, at once or on the way:
    each point is then fitted separately, and ``sharing_`` gives the reason.

The method leaves ``self`` as it is. A subclass that changes ``fit`` or an answer without giving its own path is fitted
one by one. A class whose ``score`` is written anew but is still accuracy or R² says so by ``_score_name``. A pipeline
whose last step has the method shares too: its preprocessing is fitted once per fold and setting, and the last step is
asked with that fold alone. A step before it whose columns are nested (ranks of a PCA) says so by
``_nested_columns(grid)``, which returns one point and, for each point of the grid, how many of that one's first columns
are its own (or None): one fit per fold then serves them all. A class whose ``score`` looks at predictions only may give
it as ``_score_predictions(y, predictions, sample_weight)``.
"""

from certifit._passing import pass_on
from certifit.model_selection._bias_variance import BiasVariance, bias_variance
from certifit.model_selection._bootstrap import Bootstrap, bootstrap
from certifit.model_selection._compare import Comparison, Difference, compare
from certifit.model_selection._cross_val import cross_val_predict, cross_val_score
from certifit.model_selection._cross_validate import CrossValidation, HoldOut, cross_validate, hold_out
from certifit.model_selection._curves import Curve, learning_curve, validation_curve
from certifit.model_selection._leakage import Leakage, leakage_check
from certifit.model_selection._nested import NestedCrossValidation, nested_cross_validate
from certifit.model_selection._search import RandomizedSearchCV, Search
from certifit.model_selection._shared import Sharing

GridSearchCV = Search
"""The same class under scikit-learn's name."""

__all__ = [
    "BiasVariance",
    "Bootstrap",
    "Comparison",
    "CrossValidation",
    "Curve",
    "Difference",
    "GridSearchCV",
    "HoldOut",
    "Leakage",
    "NestedCrossValidation",
    "RandomizedSearchCV",
    "Search",
    "Sharing",
    "bias_variance",
    "bootstrap",
    "compare",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "hold_out",
    "learning_curve",
    "leakage_check",
    "nested_cross_validate",
    "validation_curve",
]

__getattr__, __dir__ = pass_on(__name__, "sklearn.model_selection")
