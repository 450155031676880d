"""Judging perceptrons: their objective is separation, so that is the claim; or a run by hand, with its mistakes."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from certifit._types import BaseEstimator, MatrixLike, VectorLike
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.judge._registry import reads
from certifit.linear_model._perceptron import ClassAgainstRest, certificates
from certifit.solvers.perceptron import Learned, PassPlan


@reads("Perceptron", "AveragedPerceptron", "RandomLinearClassifier")
def _perceptron(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """That its hyperplane separates the classes; where it does not, how many rows are on the wrong side."""
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=float))
    intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=float), (len(coef),)).copy()
    if len(model.classes_) == 2:
        weights = np.append(coef[0], intercept[0]) if model.fit_intercept else coef[0]
        evidence = {"verdict": "separable", "fit_intercept": bool(model.fit_intercept), "weights": weights}
        certificate = issue("separability", data, evidence, rigor)
        if certificate.holds:
            return certificate
    return issue("training-errors", data, {"coef": coef, "intercept": intercept}, rigor)


def certify_perceptron(
    w: VectorLike,
    b: float | None,
    X: MatrixLike,
    y: VectorLike,
    mistakes: VectorLike,
    *,
    eta0: float = 1.0,
    start: VectorLike | None = None,
) -> Certificate:
    """Do these mistakes of a perceptron lead from its start to these weights?

    At each mistake w becomes w + ηyx and b becomes b + ηy, with y = −1 for the first of two classes in sorted order
    and +1 for the second. ``diagnose(X, y)`` then says whether the run has ended (no row is misclassified), and which
    common mistake explains wrong weights.

    Parameters
    ----------
    w : array-like of shape (d,)
        The last weights.
    b : float in (−∞, ∞) or None
        The last offset; None: the perceptron has none.
    X : {array-like, sparse matrix} of shape (n, d)
    y : array-like of shape (n,)
        Two classes.
    mistakes : array-like of int
        Indices of the misclassified rows, each as often as it was misclassified, in any order.
    eta0 : float > 0, default=1.0
        The step η.
    start : array-like of shape (d,), or (d + 1,) with an offset at the end, default=None
        First weights; None: zero.

    Returns
    -------
    Certificate
        Kind "perceptron": ``value`` is the number of mistakes, ``bound`` an upper bound for any order of the rows.

    Examples
    --------
    >>> X, y = np.array([[1.0, 2.0], [-1.0, 1.0], [2.0, -1.0]]), [1, -1, 1]
    >>> c = certify_perceptron([2.0, 1.0], 0.0, X, y, mistakes=[0, 1])
    >>> c.holds, c.diagnose(X, y).right
    (True, True)
    >>> print(certify_perceptron([-2.0, -1.0], 0.0, X, y, mistakes=[0, 1]).diagnose(X, y)[0].name)
    wrong sign
    """
    data = Data.of(X, y)
    labels, n, offset = np.asarray(data.y), data.X.shape[0], b is not None
    classes, rows = np.unique(labels), np.asarray(mistakes, dtype=float).ravel()
    weights = np.append(np.asarray(w, dtype=float).ravel(), [] if b is None else float(b))
    first = np.zeros(len(weights)) if start is None else np.asarray(start, dtype=float).ravel()
    if offset and len(first) == data.X.shape[1]:
        first = np.append(first, 0.0)
    if len(classes) != 2 or labels.shape != (n,):
        raise ValueError("certify_perceptron needs two classes and one label for each row.")
    if len(weights) != data.X.shape[1] + offset or first.shape != weights.shape:
        raise ValueError(f"w and start must contain one number for each of the {data.X.shape[1]} columns of X.")
    if not (np.all(np.isfinite(weights)) and np.all(np.isfinite(first)) and 0.0 < eta0 < np.inf):
        raise ValueError("Weights must be finite, and eta0 a finite number > 0.")
    if np.any(rows != np.rint(rows)) or np.any((rows < 0) | (rows >= n)):
        raise ValueError(f"mistakes must contain row numbers from 0 to {n - 1}: rows are counted from 0.")
    w0, b0 = (first[:-1], float(first[-1])) if offset else (first, 0.0)
    signs = np.where(labels == classes[1], 1.0, -1.0)
    problem = ClassAgainstRest(signs, PassPlan(fit_intercept=offset, eta0=float(eta0)), w0, b0, np.ones(2))
    times = np.bincount(rows.astype(int), minlength=n)
    ended = Learned(weights[:-1] if offset else weights, float(weights[-1]) if offset else 0.0, times, 0)
    table = data.X if scipy.sparse.issparse(data.X) else np.asarray(data.X, dtype=float)
    return certificates(table, labels, classes, [problem], [ended])[0]
