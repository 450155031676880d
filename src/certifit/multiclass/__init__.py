"""Many classes from two-class models."""

from certifit.multiclass._one_vs_rest import OneVsRest

__all__ = ["OneVsRest"]
