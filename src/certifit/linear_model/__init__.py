"""Linear models: scikit-learn's names, with a proof of how good each fit is."""

from typing import TYPE_CHECKING

from certifit._passing import pass_on

if TYPE_CHECKING:
    from certifit.linear_model._lasso import ElasticNet, Lasso
    from certifit.linear_model._lasso_path import enet_path, lasso_path
    from certifit.linear_model._linear_model import LinearModel
    from certifit.linear_model._linear_regression import LinearRegression
    from certifit.linear_model._logistic import LogisticRegression
    from certifit.linear_model._logistic_cv import LogisticRegressionCV
    from certifit.linear_model._multitask import MultiTaskElasticNet, MultiTaskLasso
    from certifit.linear_model._path_cv import ElasticNetCV, LassoCV, MultiTaskElasticNetCV, MultiTaskLassoCV
    from certifit.linear_model._perceptron import Perceptron
    from certifit.linear_model._random import RandomLinearClassifier
    from certifit.linear_model._ridge import Ridge
    from certifit.linear_model._ridge_classifier import RidgeClassifier
    from certifit.linear_model._ridge_cv import RidgeClassifierCV, RidgeCV
    from certifit.linear_model._voted import AveragedPerceptron, VotedPerceptron

__all__ = [
    "AveragedPerceptron",
    "ElasticNet",
    "ElasticNetCV",
    "Lasso",
    "LassoCV",
    "LinearModel",
    "LinearRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultiTaskElasticNet",
    "MultiTaskElasticNetCV",
    "MultiTaskLasso",
    "MultiTaskLassoCV",
    "Perceptron",
    "RandomLinearClassifier",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "SGDRegressor",
    "VotedPerceptron",
    "enet_path",
    "lasso_path",
]

# A class is imported with its file when it is first asked for: all of them together take longer than scikit-learn's.
_FILES = {
    "_lasso": ("ElasticNet", "Lasso"),
    "_lasso_path": ("enet_path", "lasso_path"),
    "_linear_model": ("LinearModel",),
    "_linear_regression": ("LinearRegression",),
    "_logistic": ("LogisticRegression",),
    "_logistic_cv": ("LogisticRegressionCV",),
    "_multitask": ("MultiTaskElasticNet", "MultiTaskLasso"),
    "_path_cv": ("ElasticNetCV", "LassoCV", "MultiTaskElasticNetCV", "MultiTaskLassoCV"),
    "_perceptron": ("Perceptron",),
    "_random": ("RandomLinearClassifier",),
    "_ridge": ("Ridge",),
    "_ridge_classifier": ("RidgeClassifier",),
    "_ridge_cv": ("RidgeClassifierCV", "RidgeCV"),
    "_voted": ("AveragedPerceptron", "VotedPerceptron"),
    "_sgd": ("SGDClassifier", "SGDRegressor"),
}
_HOMES = {name: f"certifit.linear_model.{file}" for file, names in _FILES.items() for name in names}
_HOMES |= dict.fromkeys(("GammaRegressor", "PoissonRegressor", "TweedieRegressor"), "certifit.glm")
_HOMES["BayesianRidge"] = "certifit.bayes"
__getattr__, __dir__ = pass_on(__name__, "sklearn.linear_model", _HOMES)
