"""Regularizers by name; None means no penalty."""

from __future__ import annotations

from certifit._registry import Registry
from certifit.regularizers._base import Regularizer

REGULARIZERS: Registry[Regularizer] = Registry(
    "regularizer",
    Regularizer,
    "it is convex and that its value, prox and conjugate are those of one function",
    absent="none",
)
register, regularizer_names = REGULARIZERS.register, REGULARIZERS.names
get_regularizer, regularizer_spec = REGULARIZERS.build, REGULARIZERS.spec
