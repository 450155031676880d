"""Five passes of the perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry

WHAT = "perceptron, 200 000 × 50, 5 passes, shuffled; the answers are equal to the last bit"
GOAL = "≥ 1.5× the best peer"


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 50))
    return X, (X @ rng.normal(size=50) + 2 * rng.normal(size=len(X)) > 0).astype(int)


def entries() -> list[Entry]:
    from sklearn.linear_model import Perceptron as Peer

    from certifit.linear_model import Perceptron

    X, y = data()
    ask: dict[str, Any] = {"max_iter": 5, "tol": None, "random_state": 0}
    out = [
        Entry("certifit", lambda: Perceptron(**ask).fit(X, y), kind="ours"),
        Entry("certifit, with proof", lambda: Perceptron(**ask).fit(X, y).certificate_, kind="ours", repeats=3),
        Entry("scikit-learn", lambda: Peer(**ask).fit(X, y)),
    ]
    in_order = {**ask, "shuffle": False}
    out.append(Entry("certifit", lambda: Perceptron(**in_order).fit(X, y), kind="ours", case="in order"))
    out.append(Entry("scikit-learn", lambda: Peer(**in_order).fit(X, y), case="in order"))
    return out
