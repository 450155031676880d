"""Work side by side: threads for what lets go of Python's lock, processes for everything else.

How many threads? As many as there are cores for this process (`joblib.cpu_count` knows about affinity and containers),
or fewer where ``OMP_NUM_THREADS``, the environment of the BLAS library or `threadpoolctl.threadpool_limits` say so. An
explicit ``n_jobs`` counts as scikit-learn's does: 3 means three threads, −1 all of them, −2 all but one; None is −1.

Each thread works with a BLAS of one thread: on few cores that beats a BLAS that brings threads of its own, and nothing
spins while others work. All callers share the helpers, so that work inside work, or several fits at once, do not start
more threads than there are cores. What is computed never depends on the number of threads: tasks are cut by the data
alone, or in a way that no result can see, and put together in their order.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import cache, partial
from itertools import pairwise
from typing import Any, TypeVar

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

from certifit._copies import end_with

Task = TypeVar("Task")
Answer = TypeVar("Answer")

_STRIPES = 8  # ranges of rows that are summed on their own: a fixed number, so that rounding is always the same
_IDLE = 300.0  # seconds after which a process with nothing to do ends
_SMALL = 1 << 20  # numbers below which threads do not pay
_ENVIRONMENT = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class _Shared:
    """What all threads of this process share: the helpers, how many are busy, and the limit we put on BLAS."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pool = ThreadPoolExecutor(max_workers=1 << 16, thread_name_prefix="certifit")  # started when first needed
        self.busy = 0
        self.alone = 0  # how many `one_thread` contexts are open
        self.before: list[int] = []  # threads of each BLAS outside of them


_shared = _Shared()


def _fresh() -> None:
    """A child process has none of its parent's threads (and maybe a lock that nobody will open)."""
    global _shared
    fresh = _Shared()
    fresh.alone, fresh.before = _shared.alone, _shared.before
    _shared = fresh


os.register_at_fork(after_in_child=_fresh)


@cache
def cores() -> int:
    """How many cores this process may use.

    Examples
    --------
    >>> cores() >= 1
    True
    """
    return int(joblib.cpu_count())


@cache
def _blas() -> list[Any]:
    """The controllers of every BLAS library that is loaded: NumPy and SciPy bring one each."""
    import scipy.linalg  # noqa: F401  # so that its library is loaded, too

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [b for b in found if getattr(b, "threading_layer", None) != "disabled"]


def threads(n_jobs: int | None = None) -> int:
    """How many threads to use (see the top of this module).

    Examples
    --------
    >>> threads(3), threads(-1) == threads(), threads(-1000)
    (3, True, 1)
    """
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    limits = [int(asked)] if asked.isdigit() and int(asked) > 0 else []
    with _shared.lock:
        limits += _shared.before if _shared.alone else _counts()
    most = min([cores(), *limits])
    return max(1, most + 1 + n_jobs) if n_jobs else most


@contextmanager
def one_thread() -> Iterator[None]:
    """Context in which BLAS uses one thread; contexts of several threads may overlap.

    NumPy and SciPy each bring a BLAS with threads of its own, and on few cores the idle threads of the one (they spin
    for a while) slow the other down tenfold.

    Examples
    --------
    >>> with one_thread():
    ...     float(np.ones((2, 2)).sum())
    4.0
    """
    mine = [(b, b.num_threads) for b in _blas() if _per_thread(b)]
    for b, _ in mine:
        b.set_num_threads(1)
    with _shared.lock:
        if _shared.alone == 0:
            _shared.before = _counts()
            _limit([1] * len(_shared.before))
        _shared.alone += 1
    try:
        yield
    finally:
        with _shared.lock:
            _shared.alone -= 1
            if _shared.alone == 0:
                _limit(_shared.before)
        for b, before in mine:
            b.set_num_threads(before)


def _per_thread(library: Any) -> bool:
    """Whether each thread has a limit of its own (OpenMP), instead of one for the whole process."""
    return getattr(library, "threading_layer", None) == "openmp"


def _counts() -> list[int]:
    return [b.num_threads or 1 for b in _blas()]


def _limit(counts: list[int]) -> None:
    """So many threads for every BLAS with one limit for the whole process."""
    for b, count in zip(_blas(), counts):
        if not _per_thread(b) and b.num_threads != count:
            # threadpoolctl lets only the thread that began set the limit of OpenBLAS; the last to leave may be another.
            release = getattr(b, "clear_controlling_thread", lambda force: None)
            release(force=True)
            b.set_num_threads(count)
            release(force=True)


def ranges(n: int, parts: int) -> list[tuple[int, int]]:
    """0..n in consecutive ranges of nearly equal length, none of them empty (one, if n is 0).

    Examples
    --------
    >>> ranges(7, 3)
    [(0, 2), (2, 4), (4, 7)]
    """
    parts = max(1, min(n, parts))
    return [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]


def tapering(n: int, most: int, least: int) -> list[tuple[int, int]]:
    """0..n in consecutive ranges: each takes a quarter of what is left, but at least and at most so many.

    Threads that take them in turn end nearly together, although few ranges have to be put together.

    Examples
    --------
    >>> tapering(100, 20, 5)
    [(0, 20), (20, 40), (40, 55), (55, 66), (66, 74), (74, 80), (80, 85), (85, 90), (90, 95), (95, 100)]
    """
    ends = [0]
    while not ends[1:] or ends[-1] < n:
        left = n - ends[-1]
        ends.append(ends[-1] + min(left, max(least, min(most, left // 4))))
    return list(pairwise(ends))


def side_by_side(work: Callable[[Task], Answer], tasks: Sequence[Task], n_jobs: int | None = None) -> list[Answer]:
    """``[work(t) for t in tasks]``, each on one core; what a task gives does not depend on how many cores there are.

    ``work`` lets go of Python's lock for most of its time: compiled loops, NumPy and SciPy do.

    Examples
    --------
    >>> side_by_side(lambda k: k * k, range(4))
    [0, 1, 4, 9]
    """
    if len(tasks) == 1:
        with one_thread():
            return [work(tasks[0])]
    most = threads(n_jobs)
    helpers = _borrow(min(most, len(tasks)) - 1, most - 1)
    done: list[Any] = [None] * len(tasks)
    left = iter(range(len(tasks)))  # next() on it is atomic

    def loop() -> None:
        for k in left:
            done[k] = work(tasks[k])

    def help_out() -> None:
        try:
            with one_thread():
                loop()
        finally:
            _give_back(1)

    with one_thread():
        # In a copy of the context NumPy's errstate holds in the other threads too.
        others = [_shared.pool.submit(copy_context().run, help_out) for _ in range(helpers)]
        try:
            loop()
        finally:
            deque(left, maxlen=0)  # after an error nothing more is begun
            _give_back(sum(other.cancel() for other in others))
            wait(others)
    for other in others:
        if not other.cancelled():
            other.result()
    return done


def _borrow(wanted: int, most: int) -> int:
    """So many helpers, or fewer when more than ``most`` would be busy with them."""
    if wanted < 1:
        return 0
    with _shared.lock:
        granted = max(0, min(wanted, most - _shared.busy))
        _shared.busy += granted
    return granted


def _give_back(count: int) -> None:
    if count:
        with _shared.lock:
            _shared.busy -= count


def by_ranges(work: Callable[[int, int], Any], n: int, least: int, n_jobs: int | None = None) -> None:
    """``work(first, last)`` on ranges of 0..n of at least ``least`` each: for work that fills arrays in place.

    What it writes at a place must not depend on where the ranges are cut; a shorter range is not worth a thread.

    Examples
    --------
    >>> out = np.zeros(5)
    >>> by_ranges(lambda a, b: out[a:b].fill(1.0), 5, least=2)
    >>> out
    array([1., 1., 1., 1., 1.])
    """
    parts = min(threads(n_jobs), max(1, n // least))
    side_by_side(lambda part: work(*part), ranges(n, parts), n_jobs)


def sum_over_rows(
    work: Callable[[slice], tuple[Any, ...]], shape: tuple[int, int], block: int | None = None
) -> tuple[Any, ...]:
    """The sums of what ``work(rows)`` returns over blocks of the rows of a matrix of this shape.

    ``work`` takes a slice of rows and returns numbers and fresh arrays; ``block`` is about how many rows it takes at a
    time, None chooses by d.

    Examples
    --------
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> sum_over_rows(lambda rows: (float(X[rows].sum()), len(X[rows])), X.shape)
    (15.0, 3)
    """
    n, d = shape
    if n * d <= _SMALL:
        with one_thread():
            return work(slice(0, n))
    size = block or max(1024, 1_500_000 // max(d, 1))
    edges = np.linspace(0, n, _STRIPES + 1).astype(int)

    def stripe(k: int) -> tuple[Any, ...]:
        total: tuple[Any, ...] = ()
        first, length = edges[k], edges[k + 1] - edges[k]
        for a, b in ranges(length, round(length / size)):  # of equal length: no short one at the end
            total = _add(total, work(slice(first + a, first + b)))
        return total

    total: tuple[Any, ...] = ()
    for part in side_by_side(stripe, range(_STRIPES)):
        total = _add(total, part)
    return total


def _add(total: tuple[Any, ...], part: tuple[Any, ...]) -> tuple[Any, ...]:
    """Term by term; the arrays of ``total`` are overwritten."""
    if not (total and part):
        return total or part
    return tuple(np.add(a, b, out=a) if isinstance(a, np.ndarray) else a + b for a, b in zip(total, part))


def _nothing() -> None:
    """A task, or a preparation, with nothing to do."""


def processes(count: int, start: Callable[..., None] = _nothing, arguments: tuple[Any, ...] = ()) -> Any:
    """An executor (as in `concurrent.futures`) of worker processes that use one thread each.

    ``start`` is called in every process once, with ``arguments``: it may keep data that all tasks need. Large arguments
    keep the caller waiting until a process has started; hand those over with the tasks, or in a file.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    return ProcessPoolExecutor(
        count, timeout=_IDLE, initializer=_begin, initargs=(start, arguments), env=dict.fromkeys(_ENVIRONMENT, "1")
    )


_EARLY: dict[tuple[int, str], Any] = {}


@contextmanager
def starting_processes(count: int, module: str, more: Sequence[str] = ()) -> Iterator[None]:
    """Context in which ``count`` processes start and import modules, while this process does something else.

    `loaded_processes` takes them over, for the first of the modules; those that nobody has taken, or that were given
    back, are ended with the context.
    """
    _EARLY[count, module] = executor = processes(count, _import, (module, *more))
    executor.submit(_nothing)  # starts them; with several tasks waiting, loky's own thread may fail at an early end
    try:
        yield
    finally:
        if (left := _EARLY.pop((count, module), None)) is not None:
            # Even those that are still starting: else their end and that of this process meet, and locks may be left.
            left.shutdown(wait=True, kill_workers=True)


def loaded_processes(count: int, module: str) -> Any:
    """`processes` that have imported a module: those started ahead or given back if there are any, else new ones."""
    kept = _EARLY.pop((count, module), None)
    if kept is not None:
        with suppress(Exception):  # one was killed meanwhile, and its executor takes no more work
            kept.submit(_nothing)
            return kept
    return processes(count, _import, (module,))


def give_back(executor: Any, count: int, module: str) -> None:
    """Keep the processes of `loaded_processes` for later work: the next study need not wait for their start.

    As with joblib's workers, those that have nothing to do for five minutes end by themselves, and all of them with
    this process.
    """
    _EARLY[count, module] = executor


def aside(count: int, module: str, work: Callable[..., Answer], *arguments: Any) -> Callable[[], Answer]:
    """Begin some work in an idle process that was started ahead or given back; calling what this returns waits for it.

    Where there are no such processes, or one fails, the work is done by that call.

    Examples
    --------
    >>> later = aside(1, "certifit.losses", max, [3, 5])
    >>> later()
    5
    """
    executor = _EARLY.get((count, module))
    if executor is None:
        return partial(work, *arguments)
    begun = executor.submit(work, *arguments)

    def answer() -> Answer:
        try:
            found: Answer = begun.result()
        except Exception:  # what was wrong with the work itself is raised here again
            found = work(*arguments)
        return found

    return answer


def _import(*modules: str) -> None:
    for module in modules:
        importlib.import_module(module)


def _begin(start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    from threadpoolctl import threadpool_limits

    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    threadpool_limits(1)
    start(*arguments)
