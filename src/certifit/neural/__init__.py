"""Networks: perceptrons combined, proved by truth table; trained layers, with labels proved stable around each row."""

from certifit.neural._classifier import MLPClassifier
from certifit.neural._perceptrons import PerceptronNetwork
from certifit.neural._regressor import MLPRegressor

__all__ = ["MLPClassifier", "MLPRegressor", "PerceptronNetwork"]
