"""Bayesian learning: finite hypotheses, conjugate priors, linear regression, optimal rules for known distributions."""

from certifit.bayes import conjugate
from certifit.bayes._basis import Bumps, Powers
from certifit.bayes._density import Density, fit_density
from certifit.bayes._hypotheses import HypothesisSpace
from certifit.bayes._linear import BayesianLinearRegression
from certifit.bayes._optimal import BayesOptimal
from certifit.bayes._ridge import BayesianRidge

__all__ = [
    "BayesOptimal",
    "BayesianLinearRegression",
    "BayesianRidge",
    "Bumps",
    "Density",
    "HypothesisSpace",
    "Powers",
    "conjugate",
    "fit_density",
]
