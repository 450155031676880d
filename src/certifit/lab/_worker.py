"""The process that computes: requests come in on standard input, answers go out on standard output.

A process of its own can be ended when a request takes too long, whatever compiled code it is in; the server starts
another. A message is its length in four bytes, then JSON; an answer is followed by its rasters in the same way.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
from typing import IO

from certifit.lab._limits import Limits, pack
from certifit.lab._messages import Desk

_LENGTH = 4


def _take(source: IO[bytes]) -> bytes | None:
    head = source.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    return source.read(int.from_bytes(head, "little"))


def _answered(desk: Desk, message: bytes) -> bytes:
    request = json.loads(message)
    try:
        reply, rasters = desk.answer(request)
        text = json.dumps(reply, allow_nan=False)
    except Exception as error:  # a fault of ours: the person keeps the page, the terminal gets the place
        traceback.print_exc()
        text = json.dumps({"id": request.get("id"), "problem": f"This scene failed: {error!r}.", "rasters": 0})
        rasters = []
    return pack(text.encode()) + b"".join(pack(raster) for raster in rasters)


def main() -> None:
    """Answer until standard input is closed."""
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints, prints to standard error
    desk = Desk(Limits(**json.loads(sys.argv[1])) if len(sys.argv) > 1 else None)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        while (message := _take(source)) is not None:
            sink.write(_answered(desk, message))
            sink.flush()


if __name__ == "__main__":
    main()
