"""pyarrow, imported when it is first used: it is optional, and loading it takes longer than reading a small table."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING, Any

from certifit._later import StandIn

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq
else:
    pa, pc = StandIn("pyarrow"), StandIn("pyarrow.compute")
    pacsv, pq = StandIn("pyarrow.csv"), StandIn("pyarrow.parquet")


class _Refused(MetaPathFinder):
    """Finds no pandas."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        """Refuse pandas, and leave everything else to others."""
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is left alone for now")


def without_pandas() -> None:
    """Let Arrow know that nobody uses pandas in this process, unless it is loaded already.

    Arrow would import it at the first conversion, only to see whether it was given one of its objects: a third of a
    second. Explicit conversions from pandas still work.
    """
    if "pandas" in sys.modules:
        return
    refused = _Refused()
    sys.meta_path.insert(0, refused)
    try:
        pa.array([0])  # Arrow asks once
    finally:
        sys.meta_path.remove(refused)


__all__ = ["pa", "pacsv", "pc", "pq", "without_pandas"]
