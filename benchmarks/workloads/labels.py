"""Labels that spread over a graph of nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry

ROWS, COLUMNS, CLASSES, KNOWN, ALPHA = 20_000, 10, 5, 0.02, 0.9
WHAT = f"{ROWS} x {COLUMNS}, {CLASSES} classes, {KNOWN:.0%} labelled, 7 neighbours, alpha {ALPHA}"
GOAL = "5 times scikit-learn, every score within 1e-6"


def entries() -> list[Entry]:
    """certifit (to rounding) and scikit-learn, iterated until its scores are within 1e-6."""
    from sklearn.semi_supervised import LabelSpreading as Plain

    from certifit.semi_supervised import LabelSpreading

    rng = np.random.default_rng(0)
    centres = rng.normal(scale=1.5, size=(CLASSES, COLUMNS))
    group = rng.integers(CLASSES, size=ROWS)
    X = centres[group] + rng.normal(size=(ROWS, COLUMNS))
    y = np.where(rng.uniform(size=ROWS) < KNOWN, group, -1)
    given: dict[str, Any] = {"kernel": "knn", "n_neighbors": 7, "alpha": ALPHA}
    exact = LabelSpreading(**given).fit(X, y).label_distributions_

    def error(model: Any) -> float:
        return float(np.abs(model.label_distributions_ - exact).max())

    def plain() -> Any:
        return Plain(max_iter=1000, tol=1e-6, **given).fit(X, y)

    return [
        Entry("certifit", lambda: LabelSpreading(**given).fit(X, y), error, "ours", repeats=3),
        Entry("scikit-learn", plain, error, repeats=3),
    ]
