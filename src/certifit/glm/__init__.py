"""Generalized linear models, built from the exponential family."""

from certifit.glm._glm import GLM, NegativeBinomial, Tweedie
from certifit.losses import ExponentialFamily

__all__ = ["ExponentialFamily", "GLM", "NegativeBinomial", "Tweedie"]
