"""The machine that measures: what it is, what else runs on it, and how fast it reads and multiplies at best."""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import psutil
from threadpoolctl import threadpool_info, threadpool_limits

QUIET = 0.1  # fraction of all cores that other processes may use while ratios still mean something
_LIBRARIES = ("certifit", "numpy", "scipy", "scikit-learn", "numba")


def describe() -> dict[str, Any]:
    """Processor, cores, memory, threads, BLAS and versions, for the head of a table and its JSON."""
    blas = [i for i in threadpool_info() if i["user_api"] == "blas"]
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in _LIBRARIES},
        "blas": sorted({f"{i['internal_api']} {i['version']} ({i.get('architecture')})" for i in blas}),
        "threads": {name: os.environ[name] for name in sorted(os.environ) if name.endswith("_NUM_THREADS")},
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


class Watch:
    """How much of the machine other processes use, from one moment to another.

    The load average also counts ourselves and lags by minutes. So: processor time spent on the whole machine, less what
    this process and its children spent, over the time that all cores had.
    """

    def __init__(self) -> None:
        self.start = self._now()

    @staticmethod
    def _now() -> tuple[float, float, float]:
        spent = psutil.cpu_times()
        busy = sum(spent) - spent.idle - getattr(spent, "iowait", 0.0) - getattr(spent, "guest", 0.0)
        me = psutil.Process()
        own = sum(me.cpu_times()[:4])  # with children that have ended
        for child in me.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                own += sum(child.cpu_times()[:4])
        return time.perf_counter(), busy, own

    def others(self) -> float:
        """Share of all cores that others have used since the start, at most one.

        The system counts processor time in ticks of 10 ms, so over a shorter time one tick may exceed what there was.
        """
        (t0, busy0, own0), (t1, busy1, own1) = self.start, self._now()
        used = max(0.0, (busy1 - busy0) - (own1 - own0))
        return min(1.0, used / max(1e-9, (t1 - t0) * (os.cpu_count() or 1)))


def idle_for(seconds: float = 2.0) -> float:
    """Share of all cores in use while we do nothing for a moment."""
    watch = Watch()
    time.sleep(seconds)
    return watch.others()


def _best(run: Callable[[], Any], repeats: int = 7) -> float:
    seen = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seen.append(time.perf_counter() - start)
    return min(seen)


@cache
def bandwidth() -> float:
    """Bytes a second that all cores together read from memory: a sum over an array that no cache holds."""
    words = np.ones(1 << 25)
    cores = os.cpu_count() or 1
    parts = np.array_split(words, cores)
    with ThreadPoolExecutor(cores) as pool:
        return words.nbytes / _best(lambda: list(pool.map(np.add.reduce, parts)))


@cache
def flops(dtype: str = "float64") -> float:
    """Operations a second on all cores: of square products with NumPy's BLAS, or of certifit's own loop if faster.

    Both work on numbers that stay in a cache, one product on each core. Threads of a BLAS that share one product wait
    for each other, which would make the peak look lower than it is.
    """
    A = np.ones((1500, 1500), dtype)
    cores = os.cpu_count() or 1
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(cores) as pool:
        blas = cores * 2.0 * len(A) ** 3 / _best(lambda: list(pool.map(A.__matmul__, [A] * cores)))
        return max(blas, _tiles(pool, cores, np.dtype(dtype).type))


def _tiles(pool: ThreadPoolExecutor, cores: int, dtype: type) -> float:
    """Operations a second of the compiled loop for XᵀX; its sums of a width that leaves no tile half empty."""
    from certifit.design import GramSum
    from certifit.loops.gram import LANES

    if not LANES:
        return 0.0
    rows, d, times = 1024, 48 * LANES - 1, 20
    X, none = np.ones((rows, d), dtype), np.empty((rows, 0))
    sums = [GramSum(np.zeros(d), 0, False, dtype) for _ in range(cores)]

    def work(total: GramSum) -> None:
        for _ in range(times):
            total.add(X, none, np.empty(0))

    return cores * times * rows * d * (d + 1.0) / _best(lambda: list(pool.map(work, sums)))


def roofline(bytes_read: float, operations: float, dtype: str = "float64") -> float:
    """Seconds below which no implementation can stay that must read and compute so much."""
    return max(bytes_read / bandwidth(), operations / flops(dtype))
