"""Which BLAS? ``python -m benchmarks.blas [LIBRARY ...]``: one XᵀX of 100 000 rows with NumPy's and with others.

Other libraries are named by their files, such as libmkl_rt.so.3 of the package mkl, libscipy_openblas64_.so of
scipy-openblas64 or cy.*.so of blis (one thread); they are called through their C interface, without NumPy being built
again. Each is timed with threads of its own, and with one thread on each core's part of the rows, which is how certifit
works.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import machine

_ROW_MAJOR, _UPPER, _TRANSPOSED = 101, 121, 112
_BLIS_UPPER, _BLIS_AS_IT_IS = 0x60, 0


def foreign(path: str) -> Callable[[Any, Any], None]:
    """dsyrk of a shared library: C ← XᵀX."""
    library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    if hasattr(library, "bli_dsyrk"):
        return _blis(library)
    if hasattr(library, "scipy_cblas_dsyrk64_"):
        call, integer = library.scipy_cblas_dsyrk64_, ctypes.c_int64
    elif hasattr(library, "cblas_dsyrk"):
        call, integer = library.cblas_dsyrk, ctypes.c_int32
    else:
        raise ValueError(f"{path} has no cblas_dsyrk.")
    call.restype = None

    def syrk(X: Any, C: Any) -> None:
        n, d = X.shape
        sizes, one, zero = (integer(d), integer(n)), ctypes.c_double(1.0), ctypes.c_double(0.0)
        rows, out = (ctypes.c_void_p(A.ctypes.data) for A in (X, C))
        call(_ROW_MAJOR, _UPPER, _TRANSPOSED, *sizes, one, rows, integer(d), zero, out, integer(d))

    return syrk


def _blis(library: Any) -> Callable[[Any, Any], None]:
    """The same by the native interface of BLIS, which takes the strides of Xᵀ and of C."""
    one, zero, long = ctypes.c_double(1.0), ctypes.c_double(0.0), ctypes.c_int64
    library.bli_dsyrk.restype = None

    def syrk(X: Any, C: Any) -> None:
        n, d = X.shape
        rows, out = (ctypes.c_void_p(A.ctypes.data) for A in (X, C))
        library.bli_dsyrk(
            _BLIS_UPPER, _BLIS_AS_IT_IS, long(d), long(n), ctypes.byref(one), rows, long(1), long(d),
            ctypes.byref(zero), out, long(d), long(1),
        )  # fmt: skip

    return syrk


def main() -> None:
    """Both widths."""
    for width in (100, 200):
        compare(width)


def compare(width: int) -> None:
    """Median of nine alternating turns."""
    X = np.random.default_rng(0).normal(size=(100_000, width))
    C, right = np.zeros((width, width)), np.triu(X.T @ X)
    cores = os.cpu_count() or 1
    parts, sums = np.array_split(X, cores), np.zeros((cores, width, width))
    pool = ThreadPoolExecutor(cores)

    def apart(syrk: Callable[[Any, Any], Any]) -> Any:
        with threadpool_limits(1, user_api="blas"):
            list(pool.map(syrk, parts, sums))
        return np.add.reduce(sums)

    own = lambda A, out: np.matmul(A.T, A, out=out)  # noqa: E731
    contest: dict[str, Callable[[], Any]] = {"NumPy's": lambda: X.T @ X, "NumPy's, a thread a core": lambda: apart(own)}
    for path in sys.argv[1:]:
        syrk = foreign(path)
        syrk(X, C)
        assert np.allclose(np.triu(C), right), path
        contest[Path(path).name] = lambda syrk=syrk: syrk(X, C)
        contest[f"{Path(path).name}, a thread a core"] = lambda syrk=syrk: apart(syrk)
    watch, times = machine.Watch(), {name: list[float]() for name in contest}
    for run in contest.values():
        run()
    for _ in range(9):
        for name, run in contest.items():
            time.sleep(0.2)  # idle threads of the library before spin for a while
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    print(f"{width} columns", machine.describe()["blas"], f"other processes: {watch.others():.0%} of the machine")
    for name, seen in times.items():
        middle = sorted(seen)[len(seen) // 2]
        print(f"  {name:<36}{1e3 * middle:8.1f} ms{X.shape[0] * X.shape[1] ** 2 / middle / 1e9:8.1f} GFlop/s (half)")


if __name__ == "__main__":
    main()
