"""Multiclass classification with two-class models."""

from certifit._passing import pass_on
from certifit.multiclass._one_vs_rest import OneVsRest

__all__ = ["OneVsRest"]

__getattr__, __dir__ = pass_on(__name__, "sklearn.multiclass")
