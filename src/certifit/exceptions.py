"""Exceptions and warnings, each with a clear message.

Errors that only certifit raises derive from `CertifitError` and from the built-in one that they resemble, so that
``except ValueError`` keeps working. scikit-learn's own (`NotFittedError`, ...) can be imported from here too.
"""

from __future__ import annotations

from certifit._passing import pass_on

__all__ = [
    "CertifitError",
    "ChangedDataError",
    "ConvergenceWarning",
    "DivergenceError",
    "EngineError",
    "ExportError",
    "LabError",
    "MissingExtraError",
    "ModelFileError",
    "NoOptimumError",
    "NotSeparableError",
    "OptionError",
    "PairingError",
    "TableError",
    "ThinMarginError",
    "UnknownModelError",
]


class CertifitError(Exception):
    """Base of the errors that only certifit raises.

    Examples
    --------
    >>> from certifit.exceptions import CertifitError, PairingError
    >>> issubclass(PairingError, CertifitError), issubclass(PairingError, ValueError)
    (True, True)
    """


class PairingError(CertifitError, ValueError):
    """A loss, regularizer and solver that cannot work together; the message names a pairing that can.

    Examples
    --------
    >>> from certifit.linear_model import LinearModel
    >>> try:
    ...     LinearModel("absolute", "l1", solver="newton").fit([[0.0], [1.0]], [0.0, 1.0])
    ... except PairingError as error:
    ...     print("works for this pairing" in str(error))
    True
    """


class DivergenceError(CertifitError, ArithmeticError):
    """An iteration overflowed; the message says which step size would have been safe.

    Examples
    --------
    >>> issubclass(DivergenceError, ArithmeticError)
    True
    """


class NoOptimumError(CertifitError, ValueError):
    """The objective has no finite minimiser; the message shows a direction along which it keeps decreasing.

    Examples
    --------
    >>> from certifit.linear_model import LogisticRegression
    >>> try:
    ...     LogisticRegression(C=float("inf")).fit([[0.0], [1.0]], [0, 1])
    ... except NoOptimumError as error:
    ...     print("separable" in str(error))
    True
    """


class _ProvedError(CertifitError, ValueError):
    """An error that carries its proof as ``certificate``."""

    def __init__(self, message: str, certificate: object = None) -> None:
        super().__init__(message)
        self.certificate = certificate


class NotSeparableError(_ProvedError):
    """A separating hyperplane was asked for where provably none exists; carries the proof as ``certificate``.

    Examples
    --------
    >>> from certifit.svm import HardMarginSVC
    >>> try:
    ...     HardMarginSVC().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    ... except NotSeparableError as error:
    ...     print(error.certificate.holds)
    True
    """


class ThinMarginError(_ProvedError):
    """Separable classes whose margin is too thin for floating point; carries the proof as ``certificate``.

    Examples
    --------
    >>> issubclass(ThinMarginError, ValueError)
    True
    """


class UnknownModelError(CertifitError, TypeError):
    """`certifit.certify` was given a model whose objective it does not know.

    Examples
    --------
    >>> import certifit as cf
    >>> try:
    ...     cf.certify(object(), [[0.0]], [0.0])
    ... except UnknownModelError as error:
    ...     print("does not know the objective of object" in str(error))
    True
    """


class ChangedDataError(CertifitError, ValueError):
    """An array was changed in place after `fit`: a proof would be about data that were never fitted.

    Examples
    --------
    >>> issubclass(ChangedDataError, ValueError)
    True
    """


class MissingExtraError(CertifitError, ImportError):
    """An optional package is absent; the message says what to install.

    Examples
    --------
    >>> issubclass(MissingExtraError, ImportError)
    True
    """


class TableError(CertifitError, ValueError):
    """A table that cannot be read or does not match; the message says what is wrong and where.

    Examples
    --------
    >>> from certifit.files import Table
    >>> try:
    ...     Table.of(5)
    ... except TableError as error:
    ...     print(len(str(error)) > 20)
    True
    """


class OptionError(TableError):
    """An invalid option: it names a column, model, metric or class that does not exist, or contradicts another option.

    Examples
    --------
    >>> from certifit.study import examine
    >>> try:
    ...     examine({"x": [1.0, 2.0], "y": [0.0, 1.0]}, "y", drop=["z"])
    ... except OptionError as error:
    ...     print(error)
    There is no column 'z'; the table has 'x', 'y'.
    """


class ModelFileError(CertifitError, ValueError):
    """A model file that is rejected: not a certifit file, damaged, newer, or with forbidden content.

    Examples
    --------
    >>> from certifit.files import from_bytes
    >>> try:
    ...     from_bytes(b"not a model")
    ... except ModelFileError as error:
    ...     print(len(str(error)) > 20)
    True
    """


class ExportError(CertifitError, ValueError):
    """A model that cannot be written in the other format; the message says which part of it, and what can.

    Examples
    --------
    >>> from certifit.files import to_onnx
    >>> from certifit.neighbors import KNeighborsClassifier
    >>> model = KNeighborsClassifier(1, metric="cosine").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    >>> try:
    ...     to_onnx(model)
    ... except ExportError as error:
    ...     print("cosine" in str(error))
    True
    """


class LabError(CertifitError, ValueError):
    """The lab cannot show what was requested; one sentence says why, and what would work.

    Examples
    --------
    >>> issubclass(LabError, ValueError)
    True
    """


class EngineError(CertifitError, RuntimeError):
    """A partition of a large table could not be worked on, or the cluster was lost; the message names it.

    Examples
    --------
    >>> issubclass(EngineError, RuntimeError)
    True
    """


class ConvergenceWarning(UserWarning):
    """A fit stopped (time budget or iteration limit) before the requested gap was proved; it states the gap.

    Examples
    --------
    >>> issubclass(ConvergenceWarning, UserWarning)
    True
    """


__getattr__, __dir__ = pass_on(__name__, "sklearn.exceptions")
