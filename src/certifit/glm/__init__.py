"""Generalized linear models, built from the exponential family."""

from certifit.glm._glm import GLM, NegativeBinomial, Tweedie
from certifit.glm._regressors import GammaRegressor, PoissonRegressor, TweedieRegressor
from certifit.glm._vector_family import VectorFamily, VectorFit
from certifit.losses import ExponentialFamily

__all__ = [
    "ExponentialFamily",
    "GLM",
    "GammaRegressor",
    "NegativeBinomial",
    "PoissonRegressor",
    "Tweedie",
    "TweedieRegressor",
    "VectorFamily",
    "VectorFit",
]
