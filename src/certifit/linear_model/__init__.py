"""Linear models: scikit-learn's names, with a proof of how good each fit is."""

from certifit._passing import pass_on
from certifit.linear_model._lasso import ElasticNet, Lasso
from certifit.linear_model._lasso_path import enet_path, lasso_path
from certifit.linear_model._linear_model import LinearModel
from certifit.linear_model._linear_regression import LinearRegression
from certifit.linear_model._logistic import LogisticRegression
from certifit.linear_model._perceptron import Perceptron
from certifit.linear_model._random import RandomLinearClassifier
from certifit.linear_model._ridge import Ridge
from certifit.linear_model._voted import AveragedPerceptron, VotedPerceptron

__all__ = [
    "AveragedPerceptron",
    "ElasticNet",
    "Lasso",
    "LinearModel",
    "LinearRegression",
    "LogisticRegression",
    "Perceptron",
    "RandomLinearClassifier",
    "Ridge",
    "VotedPerceptron",
    "enet_path",
    "lasso_path",
]

_ELSEWHERE = dict.fromkeys(("GammaRegressor", "PoissonRegressor", "TweedieRegressor"), "certifit.glm")
__getattr__, __dir__ = pass_on(__name__, "sklearn.linear_model", _ELSEWHERE)
