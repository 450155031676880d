"""Folds, bootstrap draws, the one-standard-error rule, and how folds and grid points share work.

Splitters are scikit-learn's; this module adds a few things around them. Random choices are made before any work is
distributed, so results are the same for any number of workers.

A family of models shares work in three steps: it reads the `FoldTable` and the grid (or raises `CannotShare` with the
reason), puts points that one piece of work serves together (`group_grid`), and yields the predictions of each group
fold by fold; `assemble` lays them out in the order of the grid. The protocol is described
in `certifit.model_selection`.
"""

from certifit.design import Fold as Fold
from certifit.design import FoldMoments, FoldSums, FoldTable
from certifit.resampling._folds import folds
from certifit.resampling._rules import SIMPLER, bootstrap_counts, complexity, one_standard_error, standard_error
from certifit.resampling._sharing import (
    CannotShare,
    FoldAnswers,
    assemble,
    group_grid,
    is_number,
    models_of,
    read_table,
    require,
    require_shared,
)

__all__ = [
    "SIMPLER",
    "CannotShare",
    "FoldAnswers",
    "FoldMoments",
    "FoldSums",
    "FoldTable",
    "assemble",
    "bootstrap_counts",
    "complexity",
    "folds",
    "group_grid",
    "is_number",
    "models_of",
    "one_standard_error",
    "read_table",
    "require",
    "require_shared",
    "standard_error",
]
