"""Regularizers R(w): what large coefficients cost. The offset is never penalised.

Conventions:

- ``value(w)`` is R(w) and ``conjugate(v)`` = sup_w (v·w − R(w)).
- ``prox(w, step)`` = argmin_u ½‖u − w‖² + step·R(u).
- ``gauge(v)``: the smallest t ≥ 0 with v/t in the domain of the conjugate, for regularizers that are norms
  (then R*(v) is 0 where gauge ≤ 1, else ∞); 0 where every v is allowed; ∞ where only v = 0 is.
- ``convexity`` is the strong convexity constant m of R (0 when there is none).

Formulas use NumPy ufuncs and ``.sum()`` only, so they also run on error-bounded numbers
(`certifit.certificates.Ball`).
"""

from certifit._registry import discover
from certifit.regularizers._base import Regularizer
from certifit.regularizers._joint import ColumnNorms
from certifit.regularizers._norms import L1, ElasticMix, NonNegative, PNorm, SquaredL2, Zero, mix_of_norms
from certifit.regularizers._registry import (
    REGULARIZERS,
    get_regularizer,
    register,
    regularizer_names,
    regularizer_spec,
)

__all__ = [
    "ColumnNorms",
    "ElasticMix",
    "L1",
    "NonNegative",
    "PNorm",
    "Regularizer",
    "SquaredL2",
    "Zero",
    "get_regularizer",
    "mix_of_norms",
    "register",
    "regularizer_names",
    "regularizer_spec",
]

# A regularizer in a file of its own in this folder is known, and public, without being named here.
discover(__name__, __path__)
_own = {cls.__name__: cls for cls in REGULARIZERS.classes()}
globals().update(_own)
__all__ += sorted(set(_own) - set(__all__))
