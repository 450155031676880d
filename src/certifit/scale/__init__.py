"""Tables larger than memory, on one machine or many: bit-identical results, with proof.

`fit` takes an ordinary estimator and a table in partitions (files of Parquet, Arrow or CSV, a Dask collection), reads
it in one or a few passes and returns the ordinary fitted estimator. Sums do not depend on the order of their terms
(`certifit.certificates.sums`): any partitioning, any engine and any number of workers gives the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from certifit._passing import later

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
_FILES = {
    "_api": ("Evaluation", "cross_validate", "evaluate", "fit", "predict", "sample", "verify"),
    "_engine": ("Engine", "EngineError", "Local", "Serial"),
    "_folds": ("FoldScores",),
    "_source": ("Source",),
}
__getattr__ = later(__name__, {name: f"{__name__}.{file}" for file, names in _FILES.items() for name in names})


def __dir__() -> list[str]:
    return __all__
