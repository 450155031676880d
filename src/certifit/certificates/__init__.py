"""The trusted part: what is proved and how to re-check it.

Everything `Certificate.verify` relies on stands in this folder (with the formulas of `losses`, `regularizers`
and `kernels`): plain NumPy, no solver, no compiled loop, no random number. Solvers may be as clever as they
like, because what they claim is checked here.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from certifit.certificates._ball import Ball, ball, dot, dot_t, gamma, rationals, to_float
from certifit.certificates._data import Data
from certifit.certificates._proof_file import load, write_table
from certifit.certificates._record import Certificate, Check, Verification, issue, kinds
from certifit.certificates.definiteness import mercer

if TYPE_CHECKING:  # imported on first use, see below
    from certifit.certificates import (
        bayes,
        constant,
        counts,
        evaluation,
        isotonic,
        kernel_margin,
        least_squares,
        local,
        neighbors,
        optimality,
        perceptron,
        separation,
        spectrum,
        stationary,
        tree,
    )

__all__ = [
    "Ball",
    "Certificate",
    "Check",
    "Data",
    "Verification",
    "ball",
    "bayes",
    "constant",
    "counts",
    "dot",
    "dot_t",
    "evaluation",
    "gamma",
    "isotonic",
    "issue",
    "kernel_margin",
    "kinds",
    "least_squares",
    "load",
    "local",
    "mercer",
    "neighbors",
    "optimality",
    "perceptron",
    "rationals",
    "separation",
    "spectrum",
    "stationary",
    "to_float",
    "tree",
    "write_table",
]


# `issue` and `verify` find every file of this folder by themselves; the modules above are imported on first use.
def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
