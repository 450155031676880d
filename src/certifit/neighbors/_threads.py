"""Work on several threads: the loops let go of Python's lock, so plain threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def threads(n_jobs: int | None) -> int:
    """Number of threads for scikit-learn's ``n_jobs``: None and −1 mean every core this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None or n_jobs == 0:
        return cores
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs


def each(work: Callable[[Any], Any], tasks: Sequence[Any], n_threads: int) -> list[Any]:
    """``[work(t) for t in tasks]``, side by side; what each returns does not depend on how many threads
    there are.
    """
    if n_threads <= 1 or len(tasks) <= 1:
        return [work(t) for t in tasks]
    with ThreadPoolExecutor(min(n_threads, len(tasks))) as pool:
        return list(pool.map(work, tasks))


def shares(n: int, parts: int) -> list[tuple[int, int]]:
    """0..n in consecutive ranges of nearly equal length, none empty."""
    parts = max(1, min(n, parts))
    return [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
