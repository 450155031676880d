"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def write_atomic(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace ``path`` by ``data``: readers see either the old or the new contents.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and take the name in one step
    (``os.replace``). A kill in between leaves at most a hidden ``.name.*.part`` beside the untouched old file.

    Parameters
    ----------
    path : str or path
    data : bytes

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "answer"
    >>> write_atomic(path, b"42")
    >>> path.read_bytes()
    b'42'
    """
    with atomic(path) as name, open(name, "wb") as file:
        file.write(data)


@contextlib.contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[str]:
    """The name of a file to write, which takes the name ``path`` at the end; an error leaves what was there."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(descriptor)
    try:
        yield name
        with open(name, "r+b") as file:
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    _sync_folder(path.parent)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut (where the system lets a folder be opened)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
