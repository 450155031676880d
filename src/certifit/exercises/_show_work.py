"""An algorithm on your own points, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._trace import Trace, TraceRow
from certifit._types import Array


def _estimator(module: str, name: str, **options: Any) -> Callable[..., Trace]:
    """The trace of a fit with ``trace=True``."""

    def run(X: Array, y: Array | None, **more: Any) -> Trace:
        import importlib

        model = getattr(importlib.import_module(f"certifit.{module}"), name)(**{**options, **more})
        if "trace" in model.get_params():
            model.set_params(trace=True)
        found: Trace = model.fit(X, y).trace_ if y is not None else model.fit(X).trace_
        return found

    return run


def _tree(X: Array, y: Array, max_depth: int = 2) -> Trace:
    """Every question that a tree considers, node by node, with its gain in Gini impurity."""
    rows: list[TraceRow] = []

    def impurity(part: Array) -> float:
        shares = np.array([np.mean(part == c) for c in np.unique(y)]) if len(part) else np.zeros(1)
        return float(1.0 - (shares**2).sum())

    def look(node: str, at: Array, depth: int) -> None:
        if depth == max_depth or len(np.unique(y[at])) < 2:
            return
        asked: list[tuple[float, int, float]] = []
        for j in range(X.shape[1]):
            values = np.unique(X[at, j])
            for t in (values[1:] + values[:-1]) / 2:
                left = at[X[at, j] <= t]
                right = at[X[at, j] > t]
                after = (len(left) * impurity(y[left]) + len(right) * impurity(y[right])) / len(at)
                asked.append((impurity(y[at]) - after, j, float(t)))
        best = max(asked, key=lambda a: a[0], default=None)
        for k in asked:
            found: dict[str, Any] = {
                "node": node,
                "question": f"x{k[1]} <= {k[2]:g}",
                "gain": k[0],
                "chosen": k is best,
            }
            rows.append(TraceRow(len(rows), float("nan"), **found))
        if best is not None:
            look(node + "L", at[X[at, best[1]] <= best[2]], depth + 1)
            look(node + "R", at[X[at, best[1]] > best[2]], depth + 1)

    look("root ", np.arange(len(y)), 0)
    return Trace(rows)


def _neighbours(X: Array, y: Array, query: Any = None, k: int = 3) -> Trace:
    """Distances from a query, nearest first, and the vote so far."""
    point = X.mean(axis=0) if query is None else np.asarray(query, dtype=float)
    far = np.sqrt(((X - point) ** 2).sum(axis=1))
    rows, votes = [], []
    for place, i in enumerate(np.argsort(far, kind="stable")):
        if place < k:
            votes.append(y[i])
        found = {"row": int(i), "distance": float(far[i]), "label": y[i], "votes": place < k}
        rows.append(TraceRow(place, float("nan"), **found))
    return Trace(rows)


def _bayes(X: Array, y: Array | None = None, a: float = 1.0, b: float = 1.0) -> Trace:
    """The Beta posterior of a share after each outcome, 0 or 1."""
    rows = [TraceRow(0, float("nan"), outcome=None, a=a, b=b, mean=a / (a + b))]
    for t, outcome in enumerate(np.ravel(X), start=1):
        a, b = (a + 1, b) if outcome else (a, b + 1)
        rows.append(TraceRow(t, float("nan"), outcome=int(outcome), a=a, b=b, mean=a / (a + b)))
    return Trace(rows)


WORKS: dict[str, tuple[str, Callable[..., Trace]]] = {
    "perceptron": ("Each mistake moves the line: w becomes w + yx, b becomes b + y.",
                   _estimator("linear_model", "Perceptron", shuffle=False)),
    "gradient descent": ("Logistic regression, steps against the gradient: θ becomes θ − η∇J(θ).",
                         _estimator("linear_model", "LinearModel", loss="logistic", regularizer="l2", lam=0.1,
                                    solver="gradient_descent")),
    "newton": ("Logistic regression by Newton's method: θ becomes θ − H⁻¹∇J(θ).",
               _estimator("linear_model", "LogisticRegression")),
    "coordinate descent": ("The lasso: one coefficient at a time, by soft thresholding.",
                           _estimator("linear_model", "Lasso", alpha=0.1)),
    "smo": ("A support vector machine: two multipliers move at a time, so that Σ αy stays zero.",
            _estimator("svm", "SVC", kernel="linear")),
    "k-means": ("Rows go to the nearest centre, centres to the mean of their rows.",
                _estimator("cluster", "KMeans", n_clusters=2, random_state=0)),
    "tree": ("Every question at every node, with its gain in Gini impurity; the best one is asked.", _tree),
    "neighbours": ("Rows by their distance from the query; the nearest vote.", _neighbours),
    "bayes": ("Outcomes 0 and 1 one by one: Beta(a, b) becomes Beta(a + 1, b) or Beta(a, b + 1).", _bayes),
}  # fmt: skip


def show_work(
    algorithm: str, X: Any, y: Any = None, *, say: Callable[[str], Any] | None = print, **options: Any
) -> Trace:
    """Run an algorithm on your data and print its steps.

    Parameters
    ----------
    algorithm : str
        "perceptron", "gradient descent", "newton", "coordinate descent", "smo", "k-means", "tree", "neighbours",
        "bayes".
    X : array-like of shape (n, d)
        For "bayes" outcomes 0 and 1.
    y : array-like of shape (n,), default=None
    say : callable, default=print
        Where the words go; None for nowhere.
    **options :
        Parameters of the estimator behind it.

    Returns
    -------
    Trace
        ``.table()``, ``.frame()``, ``.plot()``, ``.animate()``, ``.latex()``.

    Examples
    --------
    >>> steps = show_work("bayes", [1, 1, 0])
    Outcomes 0 and 1 one by one: Beta(a, b) becomes Beta(a + 1, b) or Beta(a, b + 1).
    iteration  outcome  a  b      mean
            0           1  1       0.5
            1        1  2  1  0.666667
            2        1  3  1      0.75
            3        0  3  2       0.6
    """
    if algorithm not in WORKS:
        raise ValueError(f"Unknown algorithm {algorithm!r}; choose one of {', '.join(WORKS)}.")
    words, run = WORKS[algorithm]
    rows = np.asarray(X, dtype=float)
    trace = run(rows, None if y is None else np.asarray(y), **options)
    if say is not None:
        say(words)
        say(trace.table())
    return trace
