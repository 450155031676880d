"""A network on the digits, to the same loss."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Entry

WHAT = "digits, 100 hidden units, to the loss that Adam reaches in 100 passes"
GOAL = "at least as fast as scikit-learn"


def entries() -> list[Entry]:
    """Both solvers of both libraries from the same seed; L-BFGS gets the iterations that it needs for that loss."""
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier as Plain

    from certifit.neural import MLPClassifier

    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    adam: dict[str, Any] = {"solver": "adam", "max_iter": 100, "tol": 0.0, "random_state": 0}
    target = Plain(**adam).fit(X, y).loss_
    steps = next(k for k in range(5, 500) if _lbfgs(Plain, k).fit(X, y).loss_ <= target)

    def loss(model: Any) -> float:
        return float(model.loss_)

    return [
        Entry("certifit", lambda: _lbfgs(MLPClassifier, steps).fit(X, y), loss, "ours", f"{steps} L-BFGS steps"),
        Entry("certifit (Adam)", lambda: MLPClassifier(**adam).fit(X, y), loss, "ours", "the gap is the loss", 3),
        Entry("scikit-learn", lambda: _lbfgs(Plain, steps).fit(X, y), loss, note=f"{steps} L-BFGS steps"),
        Entry("scikit-learn (Adam)", lambda: Plain(**adam).fit(X, y), loss, repeats=3),
    ]


def _lbfgs(kind: Any, steps: int) -> Any:
    return kind(solver="lbfgs", max_iter=steps, random_state=0)
