"""The trusted part: what is proved and how to re-check it.

Everything `Certificate.verify` relies on stands in this folder (with the formulas of `losses`, `regularizers`
and `kernels`): plain NumPy, no solver, no compiled loop, no random number. Solvers may be as clever as they
like, because what they claim is checked here.
"""

from certifit.certificates._ball import Ball, ball, dot, dot_t, gamma, rationals, to_float
from certifit.certificates._data import Data
from certifit.certificates._record import Certificate, Check, Verification, issue, kinds
from certifit.certificates import kernel_margin as _kernel_margin  # noqa: F401  (registers its kinds)
from certifit.certificates import kernel_ridge as _kernel_ridge  # noqa: F401  (registers its kinds)
from certifit.certificates import linear_svm as _linear_svm  # noqa: F401  (registers its kind)
from certifit.certificates import svm as _svm  # noqa: F401  (registers its kinds)
from certifit.certificates.definiteness import mercer

__all__ = [
    "Ball",
    "Certificate",
    "Check",
    "Data",
    "Verification",
    "ball",
    "dot",
    "dot_t",
    "gamma",
    "issue",
    "kinds",
    "mercer",
    "rationals",
    "to_float",
]
