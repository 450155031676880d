"""An algorithm on your own points, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._trace import Trace, TraceRow
from certifit._types import Array, VectorLike
from certifit.judge import objective
from certifit.solvers import gradient_descent


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


def _descent(
    X: Array,
    y: Array,
    lam: float = 0.1,
    eta: float | None = None,
    start: Any = None,
    passes: int = 1000,
    loss: str = "logistic",
    regularizer: str = "l2",
) -> Trace:
    """Gradient descent in θ = (w, b), from zero; η is one over the largest curvature at the start when it is None."""
    J = objective(loss, regularizer, X, y, lam)
    theta = np.zeros(J.outputs * (X.shape[1] + 1)) if start is None else np.asarray(start, dtype=float)
    step = 1.0 / float(np.linalg.eigvalsh(J.hessian(theta))[-1]) if eta is None else float(eta)
    return gradient_descent(J, J.gradient, theta, step, max_iter=passes, trace=True).trace


def _newton(X: Array, y: Array, lam: float = 0.1, tol: float = 1e-12) -> Trace:
    """Newton's method for logistic regression, from zero."""
    J = objective("logistic", "l2", X, y, lam)
    theta, rows = np.zeros(X.shape[1] + 1), []
    for t in range(50):
        g, H = J.gradient(theta), J.hessian(theta)
        step = np.linalg.solve(H, g)
        own: dict[str, Any] = {"theta": theta, "gradient": g, "newton_step": -step, "foreseen": 0.5 * float(g @ step)}
        rows.append(TraceRow(t, J(theta), step=1.0, **own))
        if 0.5 * float(g @ step) <= tol:
            break
        eta = 1.0
        while J(theta - eta * step) > J(theta) - 0.25 * eta * float(g @ step) and eta > 1e-10:
            eta *= 0.5
        theta = theta - eta * step
    return Trace(rows)


def _coordinates(X: Array, y: Array, lam: float = 0.1, passes: int = 8) -> Trace:
    """Coordinate descent for (1/2n) Σ (w·x + b − y)² + λ‖w‖₁ on centred columns: each step is exact."""
    A, r = X - X.mean(axis=0), np.asarray(y, dtype=float) - np.mean(y)
    n, w, rows = len(r), np.zeros(X.shape[1]), []
    size = (A * A).sum(axis=0) / n
    rows.append(TraceRow(0, 0.5 * float(r @ r) / n))
    for sweep in range(1, passes + 1):
        moved = 0.0
        for j in np.flatnonzero(size > 0):
            rho = float(A[:, j] @ r) / n + size[j] * w[j]
            after = float(np.sign(rho) * max(abs(rho) - lam, 0.0) / size[j]) + 0.0  # no −0
            own: dict[str, Any] = {"sweep": sweep, "j": int(j), "rho": rho, "w_before": float(w[j]), "w_after": after}
            r -= (after - w[j]) * A[:, j]
            moved, w[j] = max(moved, abs(after - own["w_before"])), after
            rows.append(TraceRow(len(rows), 0.5 * float(r @ r) / n + lam * float(np.abs(w).sum()), **own))
        if moved <= 1e-9:
            break
    return Trace(rows)


def _neighbours(X: Array, y: Array, query: Any = None, k: int = 3) -> Trace:
    """Distances from a query (the mean when None), nearest first, and the vote so far."""
    from certifit.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(n_neighbors=k).fit(X, y)
    return model.trace(X.mean(axis=0) if query is None else query)


def _bayes(X: Array, y: Array | None = None, a: float = 1.0, b: float = 1.0) -> Trace:
    """The Beta posterior of a share after each outcome, 0 or 1."""
    from certifit.bayes.conjugate import BetaBernoulli

    return BetaBernoulli(a, b).trace(np.ravel(X))


def _values(mdp: Any, y: VectorLike | None = None, **options: Any) -> Trace:
    """Sweeps of value iteration."""
    from certifit.reinforcement import value_iteration

    return value_iteration(mdp, trace=True, **{"method": "jacobi", "tol": 1e-3, **options}).trace


WORKS: dict[str, tuple[str, Callable[..., Trace]]] = {
    "perceptron": ("Each mistake moves the line: w becomes w + yx, b becomes b + y.",
                   _estimator("linear_model", "Perceptron", shuffle=False)),
    "gradient descent": ("Logistic regression, steps against the gradient: θ becomes θ − η∇J(θ).",
                         _descent),
    "newton": ("Logistic regression by Newton's method: θ becomes θ − H⁻¹∇J(θ).", _newton),
    "coordinate descent": ("The lasso: one coefficient at a time, by soft thresholding.", _coordinates),
    "smo": ("A support vector machine: two multipliers move at a time, so that Σ αy stays zero.",
            _estimator("svm", "SVC", kernel="linear")),
    "k-means": ("Rows go to the nearest centre, centres to the mean of their rows.",
                _estimator("cluster", "KMeans", n_clusters=2, random_state=0)),
    "tree": ("Every split at every node, with its gain in Gini impurity; the best one is chosen.",
             _estimator("tree", "DecisionTreeClassifier", max_depth=2)),
    "neighbours": ("Rows by their distance from the query; the nearest vote.", _neighbours),
    "bayes": ("Outcomes 0 and 1 one by one: Beta(a, b) becomes Beta(a + 1, b) or Beta(a, b + 1).", _bayes),
    "value iteration": ("Every state takes its best action: V(s) becomes max over a of r(s, a) + γ Σ p(s′) V(s′).",
                        _values),
}  # fmt: skip


_ALSO = {"lloyd": "k-means", "kmeans": "k-means", "k-nn": "neighbours", "nearest neighbours": "neighbours",
         "gradient_descent": "gradient descent", "coordinate_descent": "coordinate descent",
         "value_iteration": "value iteration"}  # fmt: skip
"""Other names of the same."""


def show_work(
    algorithm: str, X: Any, y: VectorLike | None = None, *, say: Callable[[str], Any] | None = print, **options: Any
) -> Trace:
    """Run an algorithm on your data and print its steps.

    Parameters
    ----------
    algorithm : str
        "perceptron", "gradient descent", "newton", "coordinate descent", "smo", "k-means", "tree", "neighbours",
        "bayes", "value iteration".
    X : array-like of shape (n, d)
        For "bayes" outcomes 0 and 1; for "value iteration" an `MDP`.
    y : array-like of shape (n,), default=None
    say : callable, default=print
        Where the text goes; None prints nothing.
    **options :
        Parameters of the algorithm: those of the estimator behind it; for "gradient descent" ``lam``, ``eta``,
        ``start``, ``passes`` and ``loss``; for "newton" ``lam``; for "coordinate descent" ``lam`` and ``passes``; for
        "neighbours" ``query`` and ``k``; for "bayes" ``a`` and ``b``.

    Returns
    -------
    Trace
        ``.table()``, ``.frame()``, ``.plot()``, ``.animate()``, ``.latex()``.

    Examples
    --------
    >>> steps = show_work("bayes", [1, 1, 0])
    Outcomes 0 and 1 one by one: Beta(a, b) becomes Beta(a + 1, b) or Beta(a, b + 1).
    iteration  outcome  alpha  beta      mean
            0               1     1       0.5
            1        1      2     1  0.666667
            2        1      3     1      0.75
            3        0      3     2       0.6
    """
    algorithm = _ALSO.get(algorithm, algorithm)
    if algorithm not in WORKS:
        raise ValueError(f"Unknown algorithm {algorithm!r}; choose one of {', '.join(WORKS)}.")
    words, run = WORKS[algorithm]
    rows = X if algorithm == "value iteration" else np.asarray(X, dtype=float)
    trace = run(rows, None if y is None else np.asarray(y), **options)
    if say is not None:
        say(words)
        say(trace.table(hide=["seconds"]))
    return trace
