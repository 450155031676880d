"""Tables larger than memory, on one machine or many: bit-identical results, with proof.

`fit` takes an ordinary estimator and a table in partitions (files of Parquet, Arrow or CSV, a Dask collection), reads
it in one or a few passes and returns the ordinary fitted estimator. Sums do not depend on the order of their terms
(`certifit.certificates.sums`): any partitioning, any engine and any number of workers gives the same bits.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from certifit.scale._api import Evaluation, cross_validate, evaluate, fit, predict, sample, verify
    from certifit.scale._engine import Engine, EngineError, Local, Serial
    from certifit.scale._folds import FoldScores
    from certifit.scale._source import Source

__all__ = [
    "Engine",
    "EngineError",
    "Evaluation",
    "FoldScores",
    "Local",
    "Serial",
    "Source",
    "cross_validate",
    "evaluate",
    "fit",
    "predict",
    "sample",
    "verify",
]

# A worker needs the sums and no estimator: names are looked up when they are asked for.
_HOMES = {
    **dict.fromkeys(("Evaluation", "cross_validate", "evaluate", "fit", "predict", "sample", "verify"), "_api"),
    **dict.fromkeys(("Engine", "EngineError", "Local", "Serial"), "_engine"),
    "FoldScores": "_folds",
    "Source": "_source",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
