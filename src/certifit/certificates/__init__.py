"""The trusted part: what is proved and how to re-check it.

Everything that `Certificate.verify` relies on is in this folder (with the formulas of `losses`, `regularizers` and
`kernels`): plain NumPy, no solver, no compiled loop, no random number. Solvers can be arbitrarily complicated,
because their answers are checked here.
"""

import importlib
from typing import TYPE_CHECKING, Any

from certifit.certificates._ball import Ball, ball, dot, gamma, rationals, to_float
from certifit.certificates._data import Data
from certifit.certificates._record import Certificate, Check, Verification, issue, kinds
from certifit.certificates._row_sums import dot_t

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
    from certifit.certificates._proof_file import load, write_table
    from certifit.certificates.definiteness import mercer

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


_HOMES = {"load": "_proof_file", "write_table": "_proof_file", "mercer": "definiteness"}


# `issue` and `verify` find every file of this folder by themselves; these names are imported on first use.
def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
