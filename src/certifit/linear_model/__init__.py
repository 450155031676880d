"""Linear models: scikit-learn's names, with a proof of how good each fit is."""

from certifit.linear_model._lasso import ElasticNet, Lasso
from certifit.linear_model._lasso_path import enet_path, lasso_path
from certifit.linear_model._linear_model import LinearModel
from certifit.linear_model._linear_regression import LinearRegression
from certifit.linear_model._ridge import Ridge

__all__ = ["ElasticNet", "Lasso", "LinearModel", "LinearRegression", "Ridge", "enet_path", "lasso_path"]
