"""Plain Python first, machine code when it pays.

Compiling a loop takes seconds, once per installation; on a small table the same source runs in plain Python in less.
A loop under ``@tiered(seconds)`` is therefore interpreted while the work asked of it in this process is worth less than
its allowance, and compiled from then on. Where the compiled code is in Numba's cache already, it is used from the first
call; an account beside that cache sees to it that many small programs get their machine code in the end, too. The work
is estimated from the sizes of the arguments and not measured, so that a program does not depend on the load of the
machine. Both roads run the same lines; sums that Numba may reorder can differ in their last digit.

``CERTIFIT_COMPILE=always`` in the environment switches the plain road off. A loop that other loops of its file call
cannot be tiered: inside machine code its name must mean machine code.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

ALLOWANCE = 2.0  # seconds of plain Python, by estimate, that one loop may take in one process before it is compiled
LIFETIME = 10.0  # the same over all processes of an installation: after that the next one compiles it
_WORTH_NOTING = 0.1  # seconds; less is not entered in the account on disk


class Switch:
    """Whether every loop is compiled at its first call."""

    always = os.environ.get("CERTIFIT_COMPILE") == "always"


class Tiered:
    """A compiled loop that may also run as the plain Python it was written in (see `tiered`)."""

    def __init__(self, compiled: Any, seconds: Callable[..., float], plain: Callable[..., Any] | None = None) -> None:
        self.compiled = compiled
        self.seconds = seconds
        self.spent = 0.0
        self._noted = 0.0
        self._plain = plain
        self._settled = not hasattr(compiled, "py_func")  # NUMBA_DISABLE_JIT: it is plain Python already
        self.__doc__ = compiled.__doc__

    def __call__(self, *args: Any) -> Any:
        if self.pays(*args):
            return self.compiled(*args)
        if self._plain is None:
            self._plain = interpreted(self.compiled.py_func)
        return self._plain(*args)

    def pays(self, *args: Any) -> bool:
        """Whether a call with these arguments should run in machine code; the work is entered in the account."""
        if not self._settled:
            fresh, self.spent = self.spent == 0.0, self.spent + self.seconds(*args)
            self._settled = Switch.always or self.spent > ALLOWANCE or (fresh and self._in_cache())
            if not self._settled and self.spent - self._noted > _WORTH_NOTING:
                # Another process, a worker beside this one, may have compiled it meanwhile.
                self._settled = self._in_cache() or self._note(self.spent - self._noted) > LIFETIME
                self._noted = self.spent
        return self._settled

    def _place(self, ending: str) -> Path | None:
        """Where Numba keeps the machine code of this loop, as a pattern of file names."""
        f, folder = self.compiled.py_func, self.compiled.stats.cache_path
        return (
            None if folder is None else Path(folder) / f"{Path(f.__code__.co_filename).stem}.{f.__qualname__}{ending}"
        )

    def _in_cache(self) -> bool:
        """Whether an earlier process left the compiled loop behind."""
        place = self._place("-*.nbi")
        return place is not None and any(place.parent.glob(place.name))

    def _note(self, seconds: float) -> float:
        """Add to the account on disk; what is in it now. Without a place to write, every process begins anew."""
        place = self._place(".spent")
        if place is None:
            return 0.0
        with contextlib.suppress(OSError, ValueError):
            seconds += float(place.read_text()) if place.exists() else 0.0
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{seconds:.3f}")
        return seconds


def tiered(seconds: Callable[..., float], plain: Callable[..., Any] | None = None) -> Callable[[Any], Tiered]:
    """Decorate a compiled loop.

    ``seconds`` estimates, from the arguments of a call, what the plain road takes; ``plain`` is the same in NumPy,
    where the loop's own lines would be too slow in plain Python.
    """
    return lambda compiled: Tiered(compiled, seconds, plain)


def interpreted(function: Callable[..., Any], **instead: Any) -> Callable[..., Any]:
    """A loop as plain Python, together with the loops of its file that it calls, with other values of some names."""
    names: dict[str, Any] = function.__globals__ | instead
    for name, value in function.__globals__.items():
        loop = value.compiled if isinstance(value, Tiered) else value
        f = getattr(loop, "py_func", None)
        if f is not None:
            names[name] = FunctionType(f.__code__, names, f.__name__, f.__defaults__)
    plain = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    return np.errstate(all="ignore")(plain)  # as in machine code, whole numbers wrap and 1/0 is infinite
