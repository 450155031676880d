r"""Complement naive Bayes: every weight follows from the counts of the other classes.

.. math:: w_{cj} = -\log \frac{N_j - N_{cj} + \alpha_j}{\sum_k (N_k - N_{ck} + \alpha_k)},
          \qquad N_j = \sum_c N_{cj}

With ``norm`` the logarithms of a class are divided by their sum. The counts are recomputed with error bounds: of rows
in memory, or as sums over a table in partitions (`sums`).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit.certificates._ball import Ball, ball
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._figures import above
from certifit.certificates._record import Check, Kind, Proof, equal, register, upper
from certifit.certificates._schema import FINITE, FLAG, LABELS, NUMBER
from certifit.certificates.class_sums import ClassTotals, Counts, column_count, every_class
from certifit.certificates.counts import (
    SHARE_ERROR,
    alpha_words,
    check_shape,
    count_cells,
    parameter,
    read_classes,
)
from certifit.certificates.moments import near
from certifit.certificates.sums import SumKind, weight_grid


@register
class ComplementCounts(Kind):
    """Evidence: ``classes``, ``alpha`` (one number, or one for each feature), ``feature_weights``, ``norm``."""

    name = "complement-counts"
    theorem = "counts of the other classes plus α, divided by their sum"
    needs: ClassVar = {"classes": LABELS, "alpha": FINITE, "feature_weights": FINITE, "norm": FLAG}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        classes, codes, known = read_classes(data, evidence)
        if not known.holds:
            return Proof({}, (known,))
        cells = data.X.data if scipy.sparse.issparse(data.X) else data.X
        if not (np.all(np.isfinite(cells)) and np.all(cells >= 0)):
            raise ValueError("counts are finite and not negative")
        counts = count_cells(data, codes, len(classes), lambda block, rows: block, data.X.shape[1], "float")
        figures, checks = _weights_proof(counts, evidence)
        return Proof(figures | {"rows": equal(int(data.X.shape[0]))}, (known, *checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if "rows" not in figures:
            return "The labels are not those of the model."
        of_sum = ", divided by the sum over its features" if evidence["norm"] else ""
        return (
            f"Every weight is the logarithm of a feature's relative frequency in all other classes, smoothed by "
            f"{alpha_words(evidence)}, in the {figures['rows']} rows{of_sum} (relative error {figures['error']:.1e})."
        )


def _weights_proof(counts: Ball, evidence: Evidence) -> tuple[dict[str, Any], tuple[Check, ...]]:
    """Whether every stated weight is that of the counts (K, d)."""
    classes, d = counts.shape
    stated = np.asarray(evidence["feature_weights"], dtype=float)
    check_shape((classes, d), feature_weights=stated)
    alpha, sane = parameter(evidence, "alpha")
    if np.shape(alpha) not in ((), (d,)):
        raise ValueError("alpha is one number, or one for each column")
    others = counts.sum(axis=0) - counts + ball(np.broadcast_to(alpha, (d,)))
    if not np.all(others.lower > 0):
        raise ValueError("a feature that no other class shows, without pseudo-counts")
    logs = np.log(others / others.sum(axis=1).reshape(-1, 1))
    best = logs / logs.sum(axis=1).reshape(-1, 1) if evidence["norm"] else -logs
    if stated.shape[1] == 1:  # the whole of the counts: its logarithm is 0, and no rounding of sums may blur that
        best = ball(np.full(stated.shape, np.nan if evidence["norm"] else 0.0))
    error = above((best - stated).magnitude)
    worst = float(np.max(error / np.maximum(np.abs(stated), 1e-300)))
    close = bool(np.all(error <= SHARE_ERROR * np.abs(stated) + 1e-300))
    right = Check("every weight is that of the other classes' counts", close, f"off by {worst:.1e}")
    return {"error": upper(worst), "classes": equal(classes)}, (sane, right)


@register
class ComplementSums(SumKind):
    """Every weight of a complement naive Bayes is that of the counts of a table in partitions."""

    name: ClassVar[str] = "complement-sums"
    theorem: ClassVar[str] = ComplementCounts.theorem
    claim = ComplementCounts.claim
    needs: ClassVar = {**ComplementCounts.needs, "columns": NUMBER}
    may: ClassVar = {"weight_exponent": NUMBER}
    weighted: ClassVar[bool] = True

    def statistic(self, evidence: Evidence) -> Counts:
        classes = np.asarray(evidence["classes"])
        return Counts(classes, {"model": "multinomial"}, column_count(evidence), weight_grid(evidence))

    def conclude(self, found: ClassTotals, evidence: Evidence) -> Proof:
        figures, checks = _weights_proof(near(found.total, found.radius), evidence)
        return Proof(figures | {"rows": equal(int(found.counts.sum()))}, (every_class(found), *checks))
