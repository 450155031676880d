"""Judging densities that were worked out by hand: values of a kernel estimate, heights of a histogram, parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from certifit._types import MatrixLike, Weights
from certifit.certificates import Certificate, Data, issue


def certify_density(
    answer: Any,
    X: MatrixLike,
    *,
    points: MatrixLike | None = None,
    bandwidth: float | None = None,
    kernel: str = "gaussian",
    metric: str = "euclidean",
    edges: Any = None,
    family: str | None = None,
    sample_weight: Weights = None,
    tol: float = 1e-6,
) -> Certificate:
    """Is this the density that a kernel, a histogram or maximum likelihood gives for these rows?

    Parameters
    ----------
    answer : array-like or mapping
        With ``bandwidth`` the values of the kernel estimate at ``points``; with ``edges`` the heights of a histogram;
        with ``family`` the parameters of largest likelihood, as `bayes.fit_density` names them.
    X : array-like of shape (n, d), or (n,) for one column
    points : array-like of shape (m, d) or (m,), default=None
        Where the values are; None: at the rows of X.
    bandwidth : float > 0, default=None
    kernel : str, default="gaussian"
        One of `density.KernelDensity`.
    metric : {"euclidean", "manhattan", "chebyshev"}, default="euclidean"
    edges : array-like, or a list of one for each column, default=None
    family : str, default=None
        One of `bayes.fit_density`: "normal", "poisson", …
    sample_weight : array-like of shape (n,), default=None
    tol : float > 0, default=1e-6
        Relative error allowed in a value of a kernel estimate.

    Returns
    -------
    Certificate
        ``holds`` is False, with the reason, for a wrong answer; ``diagnose(X)`` then tries common mistakes.

    Examples
    --------
    >>> X = np.array([0.0, 1.0, 3.0])
    >>> values = np.exp(-0.5 * (np.array([[1.0], [2.0]]) - X) ** 2).mean(axis=1) / np.sqrt(2 * np.pi)
    >>> certify_density(values, X, points=[1.0, 2.0], bandwidth=1.0).holds
    True
    >>> wrong = certify_density({"mean": 4 / 3, "sd": X.std(ddof=1)}, X, family="normal")
    >>> print(wrong.diagnose(X)[0].sentence)
    It is the standard deviation with n − 1: maximum likelihood divides by n.
    """
    if sum(given is not None for given in (bandwidth, edges, family)) != 1:
        raise ValueError("Give exactly one of bandwidth, edges and family: it says what is certified.")
    data = Data.of(_column(X), None, sample_weight)
    if family is not None:
        if not isinstance(answer, Mapping):
            raise ValueError('The parameters of a family are a mapping, such as {"mean": 0.0, "sd": 1.0}.')
        return issue("maximum-likelihood", data, {"family": family, "parameters": dict(answer)})
    values = np.asarray(answer, dtype=float)
    if edges is not None:
        each = [np.asarray(edges, dtype=float)] if np.ndim(edges[0]) == 0 else [np.asarray(e, float) for e in edges]
        bins = [len(e) - 1 for e in each]
        return issue(
            "histogram", data, {"edges": np.concatenate(each), "bins": np.array(bins), "heights": values.ravel()}
        )
    at = data.X if points is None else _column(points)
    if values.shape != (len(at),):
        raise ValueError(f"answer must contain one value for each of the {len(at)} points.")
    room = tol * np.abs(values) + 1e-300  # rounding of a sum of zeros is not quite nothing
    evidence = {"points": at, "lower": values - room, "upper": values + room, "kernel": kernel, "metric": metric}
    return issue("kernel-density", data, evidence | {"bandwidth": float(bandwidth)})  # type: ignore[arg-type]


def _column(X: MatrixLike) -> Any:
    """Rows as they are, or one column."""
    rows: Any = X if hasattr(X, "toarray") else np.asarray(X, dtype=float)
    return rows[:, None] if rows.ndim == 1 else rows
