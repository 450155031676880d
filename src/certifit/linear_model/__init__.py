"""Linear models: scikit-learn's names, with a proof of how good each fit is."""

from certifit.linear_model._linear_regression import LinearRegression
from certifit.linear_model._logistic import LogisticRegression
from certifit.linear_model._ridge import Ridge

__all__ = ["LinearRegression", "LogisticRegression", "Ridge"]
