"""What can be wrong with a file, in one sentence."""

from __future__ import annotations

from certifit._errors import CertifitError


class TableError(CertifitError, ValueError):
    """A table that cannot be read or does not fit; the message says what and where."""


class ModelFileError(CertifitError, ValueError):
    """A model file that is refused: not one of ours, damaged, newer, or holding something that is not allowed."""


class ExportError(CertifitError, ValueError):
    """A model that cannot be written in the other format; the message says which part of it, and what can."""
