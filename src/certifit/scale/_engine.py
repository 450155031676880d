"""Who does the work: one process, several processes on this machine, or a Dask cluster.

An engine maps a statistic over partitions and merges what comes back, in whatever order it comes. Sums do not depend on
the order (`certifit.certificates.sums`), so no engine has to put anything in order. A task reads one partition and
returns one small object: it can be repeated at will, and is, when a worker dies.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from certifit.certificates.sums import Block, NotFiniteError, Statistic
from certifit.exceptions import EngineError as EngineError
from certifit.exceptions import TableError
from certifit.parallel import cores, one_thread, processes
from certifit.scale._source import Partition, Plan

Watch = Callable[[int], None]
"""Called with the number of rows of every partition that is done."""
Asked = Callable[[Partition, Plan], Any]
"""What is asked of a partition."""

_TRIES = 3  # how often a partition is tried before its failure counts


class Counted(Statistic):
    """Several statistics of the same rows, and how many rows there were."""

    def __init__(self, *parts: Statistic) -> None:
        self.parts, self.rows = parts, 0

    def of(self, blocks: Iterable[Block]) -> Counted:
        found = Counted()
        kept = _counting(blocks, found)
        found.parts = tuple(_all_of(self.parts, kept))
        return found

    def add(self, block: Block) -> None:
        for part in self.parts:
            part.add(block)
        self.rows += block.rows

    def merge(self, other: Counted) -> Counted:
        self.parts = tuple(mine.merge(its) for mine, its in zip(self.parts, other.parts))
        self.rows += other.rows
        return self

    def finish(self) -> tuple[Any, ...]:
        return tuple(part.finish() for part in self.parts)


def _counting(blocks: Iterable[Block], found: Counted) -> Iterator[Block]:
    for block in blocks:
        found.rows += block.rows
        yield block


def _all_of(parts: Sequence[Statistic], blocks: Iterable[Block]) -> list[Statistic]:
    """Every statistic of the same blocks; a fingerprint, which needs all of them, comes last."""
    from certifit.certificates.sums import Fingerprint

    prints = [p for p in parts if isinstance(p, Fingerprint)]
    others = [p for p in parts if not isinstance(p, Fingerprint)]
    if prints:
        own, found = prints[0].beside(others, blocks)
        answers: list[Statistic] = [own if isinstance(p, Fingerprint) else found.pop(0) for p in parts]
        return answers
    if len(others) == 1:
        return [others[0].of(blocks)]
    found = [p.of(()) for p in others]
    for block in blocks:
        for part in found:
            part.add(block)
    return found


def work(part: Partition, plan: Plan, statistic: Counted) -> Counted:
    """The statistic of one partition: what every worker does.

    A second try is for what a disk or a network may do better then; a table that is wrong stays wrong.
    """
    try:
        return _work(part, plan, statistic)
    except TableError as error:
        if not isinstance(error.__cause__, OSError):
            raise
        time.sleep(0.05)
        return _work(part, plan, statistic)


def _work(part: Partition, plan: Plan, statistic: Counted) -> Counted:
    last: list[Block] = []

    def watched() -> Iterator[Block]:
        for block in part.blocks(plan):
            last[:] = [block]
            yield block

    try:
        with one_thread(), np.errstate(all="ignore"):
            return statistic.of(watched())
    except NotFiniteError as error:
        raise TableError(_not_finite(last[0], plan, part.name)) from error


def _not_finite(block: Block, plan: Plan, name: str) -> str:
    bad = [plan.numbers[j] for j in np.flatnonzero(~np.isfinite(block.X).all(axis=1))]
    if not bad and plan.target is not None:
        bad = [plan.target]
    column = bad[0] if bad else "?"
    return f"{name}: column {column!r} holds a value that is missing or not finite; leave such rows or the column out."


class Engine(ABC):
    """Maps a statistic over partitions and merges the answers."""

    name: str
    workers: int

    def run(self, statistic: Counted, parts: Sequence[Partition], plan: Plan, watch: Watch) -> Counted:
        """The statistic of all partitions together."""
        total = statistic.of(())
        for _, found in self.answers(partial(work, statistic=statistic), parts, plan):
            watch(found.rows)
            total.merge(found)
        return total

    def map(self, function: Asked, parts: Sequence[Partition], plan: Plan) -> Iterator[Any]:
        """The result of a function for every partition, in order."""
        early: dict[int, Any] = {}
        nxt = 0
        for k, answer in self.answers(function, parts, plan):
            early[k] = answer
            while nxt in early:
                yield early.pop(nxt)
                nxt += 1

    @abstractmethod
    def answers(self, function: Asked, parts: Sequence[Partition], plan: Plan) -> Iterator[tuple[int, Any]]:
        """The result of a function for every partition with the number of that, in whatever order they come."""

    def close(self) -> None:  # noqa: B027  # most engines have nothing to let go of
        """Stop the workers that this engine started."""


class Serial(Engine):
    """This process alone: for small tables, and for debugging."""

    name = "serial"
    workers = 1

    def answers(self, function: Asked, parts: Sequence[Partition], plan: Plan) -> Iterator[tuple[int, Any]]:
        return ((k, function(part, plan)) for k, part in enumerate(parts))


class Local(Engine):
    """Processes on this machine, as many as there are processors by default, each with one partition at a time."""

    name = "local"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cores()
        self._pool: Any = None

    def _executor(self) -> Executor:
        if self._pool is None:
            self._pool = processes(self.workers)
        pool: Executor = self._pool
        return pool

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=True)
            self._pool = None

    def answers(self, function: Asked, parts: Sequence[Partition], plan: Plan) -> Iterator[tuple[int, Any]]:
        """As they come; a partition whose worker died is given to another."""
        left, tries = list(range(len(parts)))[::-1], [0] * len(parts)
        running: dict[Future[Any], int] = {}
        try:
            while left or running:
                while left and len(running) < 2 * self.workers:
                    k = left.pop()
                    tries[k] += 1
                    running[self._submit(function, parts[k], plan)] = k
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    k = running.pop(future)
                    error = future.exception()
                    if error is None:
                        yield k, future.result()
                        continue
                    self._judge(error, tries[k], parts[k])
                    left.append(k)
                    if isinstance(error, BrokenExecutor):  # all that was under way is lost with the pool
                        left.extend(running.values())
                        running.clear()
                        self.close()
                        break
        finally:
            for future in running:
                future.cancel()

    def _submit(self, function: Asked, part: Partition, plan: Plan) -> Future[Any]:
        try:
            return self._executor().submit(function, part, plan)
        except BrokenExecutor:  # a worker died after its last answer: nothing is lost but the pool
            self.close()
            return self._executor().submit(function, part, plan)

    def _judge(self, error: BaseException, tries: int, part: Partition) -> None:
        """Raise what another try cannot mend: only a dead worker is worth one."""
        if not isinstance(error, BrokenExecutor):
            raise error
        if tries >= _TRIES:
            raise EngineError(
                f"{part.name}: the process that worked on it ended {tries} times (was it killed, or out of memory?)."
            ) from error


@contextmanager
def running(engine: Any, workers: int | None = None) -> Iterator[Engine]:
    """The engine that a caller means, let go at the end where it was started here."""
    runner, ours = engine_of(engine, workers)
    try:
        yield runner
    finally:
        if ours:
            runner.close()


def engine_of(engine: Any, workers: int | None = None) -> tuple[Engine, bool]:
    """The engine that a caller means, and whether it is ours to close.

    Engines are "local", "serial", "dask", a scheduler's address, a `distributed.Client` or an Engine.
    """
    if isinstance(engine, Engine):
        return engine, False
    if engine in (None, "local"):
        count = workers or cores()
        return (Local(count), True) if count > 1 else (Serial(), True)
    if engine == "serial":
        return Serial(), True
    if type(engine).__module__.startswith("distributed") or engine == "dask" or isinstance(engine, str):
        from certifit.scale._dask import Dask

        return Dask(engine), True
    raise ValueError(
        f"engine is 'local', 'serial', 'dask', a scheduler's address or a distributed.Client, not {engine!r}."
    )
