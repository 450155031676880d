"""The model file: a zip of four members, each with its SHA-256 in the manifest.

manifest.json       format number, who wrote it, digests of the others
schema.json         columns, kinds, categories, target (null for a model saved without a table)
certificates.json   what is proved about the fit
model.skops         the fitted estimator with its preprocessing, without pickle
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from typing import Any

from certifit._types import Record
from certifit.exceptions import ModelFileError

FORMAT = 1
_MEMBERS = ("schema.json", "certificates.json", "model.skops")
_LIMIT = 4 << 30  # bytes after unpacking: more is taken for a zip bomb
_SMALL, _GROWTH = 64 << 20, 200  # and so is what is not small and grows more than this many times
_PLAINLY = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_WHEN = (1980, 1, 1, 0, 0, 0)  # equal contents give equal files


def pack(parts: dict[str, bytes], about: Record) -> bytes:
    """The bytes of a model file."""
    digests = {name: hashlib.sha256(parts[name]).hexdigest() for name in _MEMBERS}
    manifest = {"format": FORMAT, **about, "digests": digests}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (("manifest.json", as_json(manifest)), *((m, parts[m]) for m in _MEMBERS)):
            info = zipfile.ZipInfo(name, _WHEN)
            # What shrinks too well would look like a bomb to whoever reads it.
            tight = len(zlib.compress(data, 1)) * (_GROWTH // 2) > len(data)
            info.compress_type = zipfile.ZIP_DEFLATED if tight else zipfile.ZIP_STORED
            archive.writestr(info, data)
    return buffer.getvalue()


def refuse_bombs(archive: zipfile.ZipFile, size: int, where: str) -> None:
    """Raise for an archive that would unpack to far more than it is, or that is packed in an unusual way."""
    members = archive.infolist()
    total = sum(i.file_size for i in members)
    if total > min(_LIMIT, max(_SMALL, _GROWTH * size)):
        raise ModelFileError(f"{where} would unpack to {total >> 20} MB from {size >> 10} KB: refused.")
    if any(i.compress_type not in _PLAINLY or i.flag_bits & 1 for i in members):
        raise ModelFileError(f"{where} is encrypted, or packed in a way that certifit does not write: refused.")


def as_json(record: Any) -> bytes:
    """Readable JSON without NaN."""
    return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False).encode()


def unpack(data: bytes, where: str) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Members and manifest of a model file; anything unexpected is rejected with one sentence."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if "manifest.json" not in names:
                raise ModelFileError(f"{where} is a zip file, but not a certifit model: it has no manifest.")
            refuse_bombs(archive, len(data), where)
            manifest = _manifest(archive.read("manifest.json"), where)
            if sorted(names) != sorted(("manifest.json", *_MEMBERS)):
                raise ModelFileError(f"{where} does not hold the members of a certifit model: refused.")
            parts = {name: archive.read(name) for name in _MEMBERS}
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, MemoryError, RuntimeError, OSError) as error:
        hint = "truncated or damaged" if data[:2] == b"PK" else "not a certifit model file"
        raise ModelFileError(f"{where} is {hint} ({error}).") from None
    except ValueError as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{where} is damaged ({error}).") from None
    for name, content in parts.items():
        if hashlib.sha256(content).hexdigest() != manifest["digests"].get(name):
            raise ModelFileError(f"{where} was changed after it was written: {name} has another SHA-256.")
    return parts, manifest


def _manifest(text: bytes, where: str) -> Record:
    try:
        manifest = json.loads(text)
        number = manifest["format"]
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ValueError(f"format {number!r}")
        if number > FORMAT:
            raise ModelFileError(
                f"{where} was written by a newer certifit ({manifest.get('certifit', 'unknown')}, format {number}); "
                f"this one reads up to format {FORMAT}: upgrade certifit."
            )
        if not isinstance(manifest["digests"], dict):
            raise ValueError("digests")
    except (KeyError, TypeError, UnicodeDecodeError) as error:
        raise ModelFileError(f"{where} has a manifest that cannot be read ({error!r}).") from None
    return dict(manifest)
