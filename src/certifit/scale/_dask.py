"""The Dask engine: partitions go to the workers of a `distributed.Client`, and the answers are merged here.

No scheduler of our own: a client that exists is used, an address is connected to. Dask repeats tasks whose worker dies;
a lost scheduler ends the fit with one sentence.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit._arrow import pa
from certifit._errors import need
from certifit.exceptions import TableError
from certifit.scale._engine import Asked, Engine, EngineError
from certifit.scale._source import Partition, Plan, TablePart, kinds_of, truths_of


class Dask(Engine):
    """The workers of a Dask cluster: of a client, or of the scheduler at an address.

    "dask" is the client that is current, or a new cluster of processes on this machine where there is none.
    """

    name = "dask"

    def __init__(self, client: Any = "dask") -> None:
        need("distributed", "scale")
        distributed: Any = importlib.import_module("distributed")
        self._ours: list[Any] = []
        if isinstance(client, distributed.Client):
            self.client: Any = client
        elif client == "dask":
            try:
                self.client = distributed.get_client()
            except ValueError:
                cluster = distributed.LocalCluster(threads_per_worker=1, dashboard_address=":0")
                self.client = distributed.Client(cluster)
                self._ours = [self.client, cluster]
        else:
            try:
                self.client = distributed.Client(client, timeout=10)
            except (OSError, ValueError) as error:
                raise EngineError(f"No scheduler answers at {client}.") from error
            self._ours = [self.client]
        self.workers = max(1, len(self.client.scheduler_info(n_workers=-1)["workers"]))

    def close(self) -> None:
        for thing in self._ours:
            thing.close()
        self._ours = []

    def answers(self, function: Asked, parts: Sequence[Partition], plan: Plan) -> Iterator[tuple[int, Any]]:
        """As they come; the names of lost partitions where the cluster gives up."""
        distributed: Any = importlib.import_module("distributed")
        futures: dict[Any, int] = {}
        try:
            for k, part in enumerate(parts):
                futures[self._submit(function, part, plan)] = k
            for future in distributed.as_completed(list(futures)):
                k = futures[future]
                if future.status == "cancelled":
                    raise EngineError(f"{parts[k].name}: the Dask scheduler was lost before it was done.")
                try:
                    yield k, future.result()
                except distributed.KilledWorker as error:
                    raise EngineError(
                        f"{parts[k].name}: the workers that tried it died (were they killed, or out of memory?)."
                    ) from error
                future.release()
        except (distributed.comm.core.CommClosedError, distributed.CancelledError, OSError, TimeoutError) as error:
            if isinstance(error, TableError):
                raise
            raise EngineError("The Dask scheduler was lost; nothing was written. Start it and fit again.") from error
        finally:
            for future in futures:
                future.release()

    def _submit(self, function: Asked, part: Partition, plan: Plan) -> Any:
        if isinstance(part, HeldPart):  # what Dask holds is computed where it is, and handed to the function there
            held = self.client.compute(part.held)
            return self.client.submit(_of_held, function, held, part.name, plan, pure=False)
        return self.client.submit(function, part, plan, pure=False)


@dataclass(frozen=True)
class HeldPart(Partition):
    """A partition of a Dask collection."""

    held: Any
    name: str

    def batches(self, plan: Plan) -> Iterator[pa.RecordBatch]:
        yield from TablePart(as_arrow(self.held.compute(scheduler="synchronous")), self.name).batches(plan)


def _of_held(function: Asked, held: Any, name: str, plan: Plan) -> Any:
    return function(TablePart(as_arrow(held), name), plan)


def as_arrow(held: Any) -> Any:
    """An Arrow table of what a Dask partition holds: a data frame, or an array with columns x0, x1, …"""
    if isinstance(held, np.ndarray):
        rows = held.reshape(len(held), -1)
        return pa.table({f"x{j}": np.ascontiguousarray(rows[:, j]) for j in range(rows.shape[1])})
    return pa.Table.from_pandas(held, preserve_index=False)


def partitions_of(data: Any) -> tuple[tuple[Partition, ...], tuple[tuple[str, str], ...], frozenset[str]]:
    """Partitions, kinds of columns and columns of truth values of a dask.dataframe or a two-dimensional dask.array."""
    truths: frozenset[str] = frozenset()
    if hasattr(data, "to_delayed") and hasattr(data, "_meta") and hasattr(data, "columns"):
        parts = data.to_delayed()
        schema = as_arrow(data._meta_nonempty if hasattr(data, "_meta_nonempty") else data._meta).schema
        kinds, truths = kinds_of(schema), truths_of(schema)
    elif hasattr(data, "chunks") and getattr(data, "ndim", 0) == 2:
        whole = data.rechunk({1: -1})
        parts = [block[0] for block in whole.to_delayed()]
        kinds = tuple((f"x{j}", "number") for j in range(data.shape[1]))
    else:
        raise TableError(
            f"A Dask {type(data).__name__} is not a table: pass a dask.dataframe or a dask.array of two axes."
        )
    return tuple(HeldPart(part, f"partition {k}") for k, part in enumerate(parts)), kinds, truths
