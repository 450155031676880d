"""Tables larger than memory, and many machines: the answers of one laptop, bit for bit, with proof.

`fit` takes an ordinary estimator and a table in partitions (files of Parquet, Arrow or CSV, a Dask collection), reads
it in one or a few passes and returns the ordinary fitted estimator. Sums do not depend on the order of their terms
(`certifit.certificates.sums`): any partitioning, any engine and any number of workers gives the same bits.
"""

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
