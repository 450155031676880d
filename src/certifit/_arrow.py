"""pyarrow, imported when it is first used: it is optional, and loading it takes longer than reading a small table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certifit._later import StandIn

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq
else:
    pa, pc = StandIn("pyarrow"), StandIn("pyarrow.compute")
    pacsv, pq = StandIn("pyarrow.csv"), StandIn("pyarrow.parquet")

__all__ = ["pa", "pacsv", "pc", "pq"]
