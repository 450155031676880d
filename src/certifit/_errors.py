"""The exceptions as the library itself imports them, and the kind refusal when an optional package is absent."""

from __future__ import annotations

import importlib.util

from certifit.exceptions import (
    CertifitError,
    ChangedDataError,
    ConvergenceWarning,
    DivergenceError,
    MissingExtraError,
    NoOptimumError,
    NotSeparableError,
    PairingError,
    ThinMarginError,
    UnknownModelError,
)

__all__ = [
    "CertifitError",
    "ChangedDataError",
    "ConvergenceWarning",
    "DivergenceError",
    "MissingExtraError",
    "NoOptimumError",
    "NotSeparableError",
    "PairingError",
    "ThinMarginError",
    "UnknownModelError",
    "need",
]


def need(module: str, extra: str) -> None:
    """Raise a kind error when an optional module is absent."""
    if importlib.util.find_spec(module) is None:
        raise MissingExtraError(f"This needs {module}: install it with  pip install 'certifit[{extra}]'.")
