"""A word on stderr when compiling takes more than a second: nobody should wonder what the first fit is doing.

Numba compiles a loop at its first call and keeps the machine code beside the source (or in ``NUMBA_CACHE_DIR``), so
the wait comes once per installation; ``certifit warm`` gets it over with.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from numba.core import config, event

_SETTINGS: Any = config  # its names are made at run time

AFTER = 1.0  # seconds of compiling, per file of loops, before anything is said
WORDS = {
    "active_set": "the lasso",
    "conjugate_gradients": "logistic regression",
    "coordinate": "coordinate descent",
    "decisions": "planning",
    "density": "kernel density",
    "gram": "matrix products",
    "hulls": "hard margins",
    "kmeans": "k-means",
    "linear_svc": "linear support vector machines",
    "moments": "naive Bayes",
    "neighbors_brute": "nearest neighbours",
    "neighbors_integers": "nearest neighbours",
    "neighbors_order": "nearest neighbours",
    "neighbors_leaves": "nearest neighbours",
    "neighbors_tree": "nearest neighbours",
    "one_score": "logistic and Poisson regression",
    "perceptron": "perceptrons",
    "radial": "support vector machines",
    "sgd": "stochastic gradient descent",
    "smo": "support vector machines",
    "tree_sample": "tree growing",
}


# Files whose loops branch at every step: to look for vector instructions there takes a third of the compiling, and what
# is found makes trees grow half as slowly again. LLVM's second level of optimisation takes a fifth less time than its
# third, and trees grow as fast.
BRANCHING = ("tree_growing",)


class Watch(event.Listener):
    """Counts the time that compiling our loops takes, and speaks up once for each kind of them.

    Loops that branch at every step have settings of LLVM of their own, for which Numba has no option of a loop.
    """

    def __init__(self) -> None:
        self.seconds = 0.0  # processor time of the compiling threads, of all loops
        self.spent: dict[str, float] = {}
        self.said: set[str] = set()
        self._depth = 0
        self._begun = (0.0, 0.0)
        self._timer: threading.Timer | None = None
        self._settings = _SETTINGS.LOOP_VECTORIZE, _SETTINGS.OPT

    def on_start(self, event: Any) -> None:
        """A loop is being compiled; those that it calls are compiled within this time."""
        self._depth += 1
        words = about(event)
        if self._depth > 1 or words is None:
            return
        self._begun = (time.perf_counter(), time.thread_time())
        self._settings = _SETTINGS.LOOP_VECTORIZE, _SETTINGS.OPT
        if _file(event) in BRANCHING:
            _SETTINGS.LOOP_VECTORIZE, _SETTINGS.OPT = 0, type(_SETTINGS.OPT)("2")
        if words not in self.said:
            self._timer = threading.Timer(max(0.0, AFTER - self.spent.get(words, 0.0)), self._say, (words,))
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        """The loop is compiled."""
        self._depth -= 1
        words = about(event)
        if self._depth > 0 or words is None:
            return
        _SETTINGS.LOOP_VECTORIZE, _SETTINGS.OPT = self._settings
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.spent[words] = self.spent.get(words, 0.0) + time.perf_counter() - self._begun[0]
        self.seconds += time.thread_time() - self._begun[1]

    def _say(self, words: str) -> None:
        self.said.add(words)
        print(f"certifit: compiling {words}, once per installation …", file=sys.stderr, flush=True)


def _file(event: Any) -> str | None:
    """The file of the loop of an event, without its ending; None for the code of others."""
    package, _, file = str(event.data["dispatcher"].py_func.__module__).rpartition(".")
    return file if package == "certifit.loops" else None


def about(event: Any) -> str | None:
    """What the loop of an event is for, in words; None for the code of others."""
    file = _file(event)
    return None if file is None else WORDS.get(file, file.replace("_", " "))


WATCH = Watch()
event.register("numba:compile", WATCH)
