"""Exceptions and warnings, each with one clear sentence for a person."""

from __future__ import annotations


class CertifitError(Exception):
    """Base of the errors that only certifit raises."""


class PairingError(CertifitError, ValueError):
    """A loss, regularizer and solver that cannot work together; the message names a pairing that can."""


class DivergenceError(CertifitError, ArithmeticError):
    """An iteration left the finite numbers; the message says which step size would have been safe."""


class NoOptimumError(CertifitError, ValueError):
    """The objective has no finite minimiser; the message shows the direction along which it falls for ever."""


class NotSeparableError(CertifitError, ValueError):
    """A separating hyperplane was asked for where provably none exists; carries the proof as ``certificate``."""

    def __init__(self, message: str, certificate: object = None) -> None:
        super().__init__(message)
        self.certificate = certificate


class ThinMarginError(CertifitError, ValueError):
    """Separable classes whose margin is too thin for floating point; carries the proof as ``certificate``."""

    def __init__(self, message: str, certificate: object = None) -> None:
        super().__init__(message)
        self.certificate = certificate


class UnknownModelError(CertifitError, TypeError):
    """`certify` was given a model whose objective it does not know."""


class ChangedDataError(CertifitError, ValueError):
    """An array was changed in place after `fit`: a proof would speak of data that were never fitted."""


class MissingExtraError(CertifitError, ImportError):
    """An optional package is absent; the message says what to install."""


def need(module: str, extra: str) -> None:
    """Raise a kind error when an optional module is absent."""
    import importlib.util

    if importlib.util.find_spec(module) is None:
        raise MissingExtraError(f"This needs {module}: install it with  pip install 'certifit[{extra}]'.")


class ConvergenceWarning(UserWarning):
    """A fit stopped (budget or iteration limit) before the asked gap was proved; the gap reached is in it."""


class ConditioningWarning(UserWarning):
    """Columns are (nearly) dependent: the warning says what that does to the coefficients."""
