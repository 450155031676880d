r"""Complement naive Bayes: every weight follows from the counts of the other classes.

.. math:: w_{cj} = -\log \frac{N_j - N_{cj} + \alpha_j}{\sum_k (N_k - N_{ck} + \alpha_k)},
          \qquad N_j = \sum_c N_{cj}

With ``norm`` the logarithms of a class are divided by their sum. The counts are recomputed with error bounds.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse

from certifit.certificates._ball import ball
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, equal, register, upper
from certifit.certificates._schema import FINITE, FLAG, LABELS
from certifit.certificates.counts import (
    _SHARE,
    _all_known,
    _alpha_words,
    _check_shape,
    _count_cells,
    _parameter,
    class_codes,
)


@register
class ComplementCounts(Kind):
    """Evidence: ``classes``, ``alpha`` (one number, or one for each feature), ``feature_weights``, ``norm``."""

    name = "complement-counts"
    theorem = "counts of the other classes plus α, divided by their sum"
    needs: ClassVar = {"classes": LABELS, "alpha": FINITE, "feature_weights": FINITE, "norm": FLAG}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        classes, d = np.asarray(evidence["classes"]), data.X.shape[1]
        codes = class_codes(data.y, classes)
        known = Check("every label is a known class", _all_known(codes, data))
        if not known.holds:
            return Proof({}, (known,))
        cells = data.X.data if scipy.sparse.issparse(data.X) else data.X
        if not (np.all(np.isfinite(cells)) and np.all(cells >= 0)):
            raise ValueError("counts are finite and not negative")
        stated = np.asarray(evidence["feature_weights"], dtype=float)
        _check_shape((len(classes), d), feature_weights=stated)
        alpha, sane = _parameter(evidence, "alpha")
        if np.shape(alpha) not in ((), (d,)):
            raise ValueError("alpha is one number, or one for each column")
        counts = _count_cells(data, codes, len(classes), lambda block, rows: block, d, "float")
        others = counts.sum(axis=0) - counts + ball(np.broadcast_to(alpha, (d,)))
        if not np.all(others.lower > 0):
            raise ValueError("a feature that no other class shows, without pseudo-counts")
        logs = np.log(others / others.sum(axis=1).reshape(-1, 1))
        best = logs / logs.sum(axis=1).reshape(-1, 1) if evidence["norm"] else -logs
        error = (best - stated).magnitude.astype(float)
        worst = float(np.max(error / np.maximum(np.abs(stated), 1e-300)))
        near = bool(np.all(error <= _SHARE * np.abs(stated) + 1e-300))
        figures = {"error": upper(worst), "rows": equal(int(data.X.shape[0])), "classes": equal(len(classes))}
        checks = (known, sane, Check("every weight is that of the other classes' counts", near, f"off by {worst:.1e}"))
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if "rows" not in figures:
            return "The labels are not those of the model."
        of_sum = ", divided by the sum over its features" if evidence["norm"] else ""
        return (
            f"Every weight is the logarithm of a feature's relative frequency in all other classes, smoothed by "
            f"{_alpha_words(evidence)}, in the {figures['rows']} rows{of_sum} (relative error {figures['error']:.1e})."
        )
