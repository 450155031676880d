"""How much one request may bring and take; and how messages are packed for the worker. Nothing heavy is imported."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """How much one request may bring and take.

    Parameters
    ----------
    points : int, default=2000
    rows : int, default=200_000
        Of a table.
    bytes : int, default=16 MiB
        Of a message.
    seconds : float, default=60
        For one request. The first use of an algorithm compiles its loops, which takes most of it.

    Examples
    --------
    >>> Limits().points
    2000
    """

    points: int = 2000
    rows: int = 200_000
    bytes: int = 16 << 20
    seconds: float = 60.0


def pack(data: bytes) -> bytes:
    """Length in four bytes, then the bytes.

    Examples
    --------
    >>> pack(b"ab").hex()
    '020000006162'
    """
    return len(data).to_bytes(4, "little") + data
