"""Distances: their names, their reduced form, and the axioms that a user's own must keep.

With feature weights w ≥ 0:  euclidean √Σw(x−q)², manhattan Σw|x−q|, chebyshev max w|x−q|,
minkowski (Σw|x−q|ᵖ)^(1/p), cosine 1 − Σwxq/√(Σwx²·Σwq²). Searching uses the *reduced* distance (no root).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances

from certifit._types import Array, Record

CODES = {"euclidean": 0, "manhattan": 1, "chebyshev": 2, "minkowski": 3}
NAMES = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "l1": "manhattan",
    "chebyshev": "chebyshev",
    "infinity": "chebyshev",
    "minkowski": "minkowski",
    "p": "minkowski",
    "cosine": "cosine",
    "precomputed": "precomputed",
}
OTHERS = {
    "braycurtis", "canberra", "correlation", "dice", "hamming", "haversine", "jaccard", "mahalanobis", "nan_euclidean",
    "rogerstanimoto", "russellrao", "seuclidean", "sokalsneath", "sqeuclidean", "yule",
}  # fmt: skip
"""scikit-learn's other metrics by name; it computes them."""


@dataclass(frozen=True)
class Metric:
    """A distance: its canonical name, power, feature weights, and the function when it is the user's own.

    ``by_name`` is one of SciPy's or scikit-learn's other distances ("canberra", "hamming", ...), computed by them: to
    the search it is a function.
    """

    name: str = "euclidean"
    p: float = 2.0
    weights: Array | None = None
    function: Callable[..., float] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    by_name: str | None = None

    @property
    def code(self) -> int:
        """Number of the reduced distance in the loops."""
        return CODES[self.name]

    @property
    def evidence(self) -> Record:
        """What a proof about distances needs to know of it."""
        return {"metric": self.name, "p": self.p if self.name == "minkowski" else None, "weights": self.weights}

    def rooted(self, reduced: Array) -> Array:
        """Distances from reduced distances."""
        if self.name == "euclidean":
            return np.sqrt(reduced)
        return reduced ** (1.0 / self.p) if self.name == "minkowski" else reduced


def resolve(
    metric: Any, p: float | None, params: Mapping[str, Any] | None, feature_weights: Any, n_features: int
) -> Metric:
    """The metric that scikit-learn's parameters, and our feature weights, describe."""
    given = dict(params or {})
    if callable(metric) or hasattr(metric, "pairwise"):
        if feature_weights is not None:
            raise ValueError(
                "feature_weights cannot be used with a metric given as a function: weight the features inside it."
            )
        return Metric(name="function", function=metric, arguments=given)
    if isinstance(metric, str) and metric not in NAMES:
        if feature_weights is not None:
            raise ValueError(f"feature_weights cannot be used with metric={metric!r}.")
        return Metric(name="function", arguments=given, by_name=metric)
    name = NAMES[metric]
    p = float(given.pop("p", 2.0 if p is None else p))
    w = _weights(given.pop("w", None), feature_weights, n_features, name)
    if given:
        raise ValueError(
            f"metric_params has {sorted(given)}, which metric={metric!r} does not accept; it accepts p and w."
        )
    if name == "minkowski":
        name = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(p, name)
    return Metric(name=name, p=p, weights=w)


def _weights(inside: Any, outside: Any, n_features: int, name: str) -> Array | None:
    total = None
    for what, given in (("metric_params['w']", inside), ("feature_weights", outside)):
        if given is None:
            continue
        if name == "precomputed":
            raise ValueError(
                f"{what} cannot be used with metric='precomputed': the distances have already been computed."
            )
        w = np.asarray(given, dtype=float)
        if w.shape != (n_features,):
            raise ValueError(f"{what} has shape {w.shape}; it needs one weight for each of the {n_features} features.")
        if not np.all(np.isfinite(w)) or np.any(w < 0) or not np.any(w > 0):
            raise ValueError(f"{what} must be finite, at least zero, and not all zero.")
        total = w if total is None else total * w
    return total


def check_axioms(metric: Metric, X: Array, sample: int = 12) -> None:
    """Try a user's distance on a few rows; a broken axiom is named, with the rows that break it.

    The axioms: d(x, x) = 0; d(x, z) > 0 for x ≠ z; d(x, z) = d(z, x); d(x, z) ≤ d(x, y) + d(y, z).
    """
    rows = np.unique(np.linspace(0, len(X) - 1, min(sample, len(X))).astype(int))
    D = np.array([[_call(metric, X[i], X[j]) for j in rows] for i in rows])
    same = np.array([[np.array_equal(X[i], X[j]) for j in rows] for i in rows])
    slack = 1e-9 * max(1e-300, float(np.max(np.abs(D[np.isfinite(D)]), initial=0.0)))

    def broken(axiom: str, mask: Array, text: str) -> None:
        if np.any(mask):
            at = np.unravel_index(int(np.argmax(mask)), mask.shape)
            names = ", ".join(str(rows[i]) for i in at)
            raise ValueError(
                f"The metric is not a distance: {axiom} is violated ({text}) by training rows {names}. "
                "Correct the function, or pass check_metric=False to use it as it is."
            )

    broken("finiteness", ~np.isfinite(D), "d(x, z) must be a finite number")
    broken("non-negativity", -slack > D, "d(x, z) ≥ 0")
    broken("identity", same & (np.abs(D) > slack), "d(x, x) = 0")
    broken("positivity", ~same & (D <= 0), "d(x, z) > 0 when x and z differ")
    broken("symmetry", np.abs(D - D.T) > slack, "d(x, z) = d(z, x)")
    detour = D[:, :, None] + D[None, :, :]  # x to y, then y to z
    broken("the triangle inequality", D[:, None, :] > detour + slack, "d(x, z) ≤ d(x, y) + d(y, z) for x, y, z")


def _call(metric: Metric, a: Array, b: Array) -> float:
    assert metric.function is not None
    return float(metric.function(a, b, **metric.arguments))


def function_block(metric: Metric, Q: Array, X: Array) -> Array:
    """Distances of a user's function, query by query; of scikit-learn's other metrics all at once."""
    if metric.by_name is not None:
        return np.asarray(pairwise_distances(Q, X, metric=metric.by_name, **metric.arguments), dtype=float)
    pairwise = getattr(metric.function, "pairwise", None)
    if pairwise is not None:  # scikit-learn's DistanceMetric
        return np.asarray(pairwise(Q, X), dtype=float)
    return np.array([[_call(metric, q, x) for x in X] for q in Q], dtype=float).reshape(len(Q), len(X))
