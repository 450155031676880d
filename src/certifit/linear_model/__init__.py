"""Linear models: scikit-learn's names, with a proof of how good each fit is."""

from certifit._passing import pass_on
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

_ELSEWHERE = dict.fromkeys(("GammaRegressor", "PoissonRegressor", "TweedieRegressor"), "certifit.glm")
_ELSEWHERE["BayesianRidge"] = "certifit.bayes"
# They stand on scikit-learn's own classes, whose import takes longer than all of the above.
_ELSEWHERE |= dict.fromkeys(("SGDClassifier", "SGDRegressor"), "certifit.linear_model._sgd")
__getattr__, __dir__ = pass_on(__name__, "sklearn.linear_model", _ELSEWHERE)
