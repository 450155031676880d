"""Class centres: the point with the smallest sum of (squared) distances to the rows of its class.

Squared euclidean distances are smallest at the mean: a point off by δ costs n‖δ‖² more. Manhattan distances are
smallest at any median: no more than half of the values lie on either side, which is counted without rounding.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._types import Array
from certifit.certificates._ball import UNIT
from certifit.certificates._by_class import deviation_sums
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._figures import above
from certifit.certificates._record import Check, Kind, Proof, equal, register, upper
from certifit.certificates._schema import FINITE, LABELS, word
from certifit.certificates.counts import check_shape, exact_moments, read_classes

_MEAN = 1e-9  # a mean may be off by this fraction of the standard deviation


def _spread_over_rounding(centres: Array, variance: Any) -> Array:
    """How far a mean may be off: a small fraction of its standard deviation, and the rounding of its own digits."""
    spread = np.sqrt(np.maximum(np.asarray(variance.upper, dtype=float), 0.0))
    return np.asarray(_MEAN * spread + 16 * UNIT * np.abs(centres))


@register
class ClassCentres(Kind):
    """Evidence: ``classes``, ``centres`` (one line for each class), ``distance`` ("euclidean" or "manhattan")."""

    name = "class-centres"
    theorem = "the mean minimises a sum of squares, a median a sum of absolute values"
    needs: ClassVar = {"classes": LABELS, "centres": FINITE, "distance": word("euclidean", "manhattan")}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        classes, codes, known = read_classes(data, evidence)
        centres = np.asarray(evidence["centres"], dtype=float)
        check_shape((len(classes), data.X.shape[1]), centres=centres)
        if not known.holds:
            return Proof({}, (known,))
        X = np.asarray(data.X.toarray() if scipy.sparse.issparse(data.X) else data.X, dtype=float)
        if not np.all(np.isfinite(X)):
            raise ValueError("the data are not finite")
        counts = np.bincount(codes, minlength=len(classes))
        figures: dict[str, Any] = {"rows": equal(len(X)), "classes": equal(len(classes))}
        checks = (known, Check("every class has rows", bool(np.all(counts > 0))))
        if evidence["distance"] == "manhattan":
            if data.sample_weight is not None:
                raise ValueError("medians are of rows without weights")
            sides = [np.maximum((X[codes == c] < m).sum(axis=0), (X[codes == c] > m).sum(axis=0))
                     for c, m in enumerate(centres)]  # fmt: skip
            halves = bool(np.all(2 * np.array(sides) <= counts[:, None]))
            return Proof(figures, (*checks, Check("no more than half of a class lies on either side", halves)))
        if not np.all(counts > 0):
            return Proof(figures, checks)
        W, r1, r2 = deviation_sums(data, X, None, codes, centres, rigor)
        shift, variance = exact_moments(W, r1, r2)
        off = above(shift.magnitude)
        figures["gap"] = upper((W * shift.square()).sum())
        near = bool(np.all(off <= _spread_over_rounding(centres, variance)) and np.isfinite(figures["gap"].stated))
        return Proof(figures, (*checks, Check("every centre is the mean of its class", near)))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if "rows" not in figures:
            return "The labels are not those of the model."
        who = f"The {figures['classes']} centres, before any shrinking, are"
        if evidence["distance"] == "manhattan":
            return f"{who} medians of their classes: no point has a smaller sum of manhattan distances to the rows."
        cost = (
            f" The sum of squared distances is within {figures['gap']:.1e} of its minimum." if "gap" in figures else ""
        )
        return f"{who} the means of their classes in the {figures['rows']} rows.{cost}"
