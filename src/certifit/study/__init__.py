"""The study: from a table to a model you can defend in one call.

`run` reads a table, finds what its columns are, compares every model that applies by nested cross-validation on
the same folds, says which differences are significant, refits the chosen one on all rows and proves it. With ``out``
it writes ``report.html``, ``model.certifit`` and ``record.json``.
"""

from typing import TYPE_CHECKING

from certifit._passing import later
from certifit.study._conformal import decisions, prediction_sets
from certifit.study._evaluate import evaluate, raw_features
from certifit.study._explain import Explanation, explain
from certifit.study._facts import Facts, examine
from certifit.study._fit import fit
from certifit.study._models import TABLE, Candidate
from certifit.study._run import Listener, Study, run

if TYPE_CHECKING:
    from certifit.study._large import encoded, run_large

__all__ = [
    "TABLE",
    "Candidate",
    "Explanation",
    "Facts",
    "Listener",
    "Study",
    "decisions",
    "encoded",
    "evaluate",
    "examine",
    "explain",
    "fit",
    "prediction_sets",
    "raw_features",
    "run",
    "run_large",
]

# Studies of files larger than memory load as much again as all others: when they are asked for.
__getattr__ = later(__name__, dict.fromkeys(("encoded", "run_large"), "certifit.study._large"))
