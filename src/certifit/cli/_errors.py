"""A command line that cannot be meant."""

from __future__ import annotations

from certifit._errors import CertifitError


class UsageError(CertifitError):
    """Wrong usage: exit code 2."""
