"""Mercer kernels: k(x, z) as an inner product of features, their algebra, and blocks of their Gram matrices.

``Linear``, ``Polynomial``, ``RBF`` (by γ) and ``Gaussian`` (by σ), ``Sigmoid`` (not Mercer),
``FeatureMap``, ``Function`` and ``Precomputed``; ``k1 + k2``, ``k1 * k2``, ``2.0 * k`` and ``k.normalized()``.
Each kernel has ``proof``: why it is Mercer, or None. ``mercer(K_or_kernel, X)`` proves or refutes it on points.
"""

from __future__ import annotations

from certifit._passing import later
from certifit._registry import discover
from certifit.kernels._base import (
    KERNELS,
    Arithmetic,
    Kernel,
    Normalized,
    Product,
    Proof,
    Scaled,
    Sum,
    rebuild,
    register,
    rows,
)
from certifit.kernels._choice import NAMES, choose, scale_gamma
from certifit.kernels._kernels import (
    RBF,
    FeatureMap,
    Function,
    Gaussian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)

__all__ = [
    "Arithmetic",
    "Blocks",
    "FeatureMap",
    "Function",
    "Gaussian",
    "Kernel",
    "Linear",
    "NAMES",
    "Normalized",
    "Polynomial",
    "Precomputed",
    "Product",
    "Proof",
    "RBF",
    "Scaled",
    "Sigmoid",
    "Sum",
    "blocks",
    "choose",
    "mercer",
    "rebuild",
    "register",
    "rows",
    "scale_gamma",
]

# A kernel in a file of its own in this folder is known, and public, without being named here.
discover(__name__, __path__)
_own = {cls.__name__: cls for cls in KERNELS.classes()}
globals().update(_own)
__all__ += sorted(set(_own) - set(__all__))


# Public names that stand on kernels and live on a higher floor: the question "is this Mercer?" is answered with a
# certificate, and blocks of Gram matrices are computed by the engine.
_ELSEWHERE = {"mercer": "certifit.certificates", "Blocks": "certifit.design", "blocks": "certifit.design"}


__getattr__ = later(__name__, _ELSEWHERE)
