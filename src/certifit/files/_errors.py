"""What can be wrong with a file, in one sentence."""

from __future__ import annotations

from certifit._errors import CertifitError


class TableError(CertifitError, ValueError):
    """A table that cannot be read or does not fit; the message says what and where.

    Examples
    --------
    >>> from certifit.files import Table
    >>> try:
    ...     Table.of(5)
    ... except TableError as error:
    ...     print(len(str(error)) > 20)
    True
    """


class ModelFileError(CertifitError, ValueError):
    """A model file that is refused: not one of ours, damaged, newer, or holding something that is not allowed.

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
