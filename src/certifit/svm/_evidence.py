"""What a soft-margin machine, ours or anybody's, shows to the trusted part."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.class_weight import compute_class_weight

from certifit._types import Array, Matrix
from certifit.certificates.gram import codes_of
from certifit.certificates.svm import pairs_of
from certifit.kernels import Kernel, Precomputed, choose, rows
from certifit.solvers.balance import balance


def machine_evidence(
    kernel: Kernel,
    X: Matrix,
    classes: Array,
    support: Array,
    dual_coef: Array,
    intercept: Array,
    class_cost: Array,
    alpha: Array | None = None,
) -> tuple[str, dict[str, Any]]:
    """Kind of certificate and evidence for it, from scikit-learn's layout of coefficients.

    Parameters
    ----------
    kernel : Kernel
    X : matrix
        Training rows (the Gram matrix when the kernel is precomputed).
    classes, support, dual_coef, intercept : arrays
        As scikit-learn's SVC has them.
    class_cost : array
        C times the class weight, one for each class.
    alpha : array, default=None
        Dual solution in the layout of ``dual_coef``, balanced; ``dual_coef`` itself when None.

    Returns
    -------
    kind : str
    evidence : dict

    Examples
    --------
    >>> from certifit.kernels import Linear
    >>> from certifit.svm import SVC
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> m = SVC(kernel="linear").fit(X, y)
    >>> kind, evidence = machine_evidence(
    ...     Linear(), X, m.classes_, m.support_, m.dual_coef_, m.intercept_, np.ones(2))
    >>> isinstance(kind, str), len(evidence) > 0
    (True, True)
    """
    record = kernel.record()
    evidence: dict[str, Any] = {
        "kernel": record if record is not None else ["given"],
        "classes": [c.item() if isinstance(c, np.generic) else c for c in classes],
        "support": np.asarray(support, dtype=int),
        "dual_coef": np.asarray(dual_coef, dtype=float),
        "intercept": np.asarray(intercept, dtype=float),
        "class_cost": np.asarray(class_cost, dtype=float),
        "alpha": None if alpha is None else np.asarray(alpha, dtype=float),
    }
    if record is None:
        evidence["gram"] = kernel(X)
    evidence = {k: v for k, v in evidence.items() if v is not None}
    given = record is None or isinstance(kernel, Precomputed)
    return ("svm-gram" if given else "svm"), evidence


def balanced_layout(dual_coef: Array, own: Array, cost: Array, classes: int) -> Array:
    """scikit-learn's layout with every pair's multipliers balanced exactly (``own``: class of each vector)."""
    out = np.zeros_like(dual_coef, dtype=float)
    if classes == 2:
        out[0] = balance(np.asarray(dual_coef[0], dtype=float), cost)
        return out
    for i, j in pairs_of(classes):
        first, second = np.flatnonzero(own == i), np.flatnonzero(own == j)
        both = np.concatenate([first, second])
        values = balance(np.concatenate([dual_coef[j - 1, first], dual_coef[i, second]]), cost[both])
        out[j - 1, first], out[i, second] = values[: len(first)], values[len(first) :]
    return out


def evidence_of(model: Any, X: Any, y: Any, sample_weight: Any = None) -> tuple[str, dict[str, Any]]:
    """Kind and evidence for a fitted SVC of scikit-learn, sklearnex or certifit (or one that quacks like it).

    The primal solution is the model's own expansion and offset; the dual one is the same expansion, its rounding
    repaired. ``certificates.issue(kind, Data.of(X, y, sample_weight), evidence)`` then proves the model's gap.

    Parameters
    ----------
    model : fitted SVC
        Needs ``kernel``, ``C``, ``classes_``, ``support_``, ``dual_coef_`` and ``intercept_``; for its numbers
        ``_gamma`` (or ``gamma``), ``degree`` and ``coef0``.
    X, y, sample_weight : training data

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from certifit.certificates import Data, issue
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> kind, evidence = evidence_of(SVC(kernel="linear", tol=1e-9).fit(X, y), X, y)
    >>> issue(kind, Data.of(X, y), evidence).relative_gap < 1e-6
    True
    """
    rows_of_x = np.asarray(X, dtype=float) if model.kernel == "precomputed" else rows(X)
    gamma = getattr(model, "_gamma", model.gamma)
    kernel, _ = choose(model.kernel, gamma, model.degree, model.coef0, rows_of_x)
    classes = np.asarray(model.classes_)
    labels = np.asarray(y)
    weight = getattr(model, "class_weight", None)
    share = compute_class_weight(weight, classes=classes, y=labels) if weight is not None else np.ones(len(classes))
    class_cost = float(model.C) * np.asarray(share, dtype=float)
    support = _support(model, rows_of_x, sample_weight)
    dual = model.dual_coef_
    dual = np.atleast_2d(dual.toarray() if scipy.sparse.issparse(dual) else np.asarray(dual, dtype=float))
    own = codes_of(labels, classes)[support]
    weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    alpha = balanced_layout(dual, own, class_cost[own] * weights[support], len(classes))
    return machine_evidence(kernel, rows_of_x, classes, support, dual, np.ravel(model.intercept_), class_cost, alpha)


def _support(model: Any, X: Matrix, sample_weight: Any) -> Array:
    """Indices of the support vectors; libsvm leaves out rows of weight zero before it counts."""
    support, vectors = np.asarray(model.support_, dtype=int), model.support_vectors_
    if sample_weight is None or np.all(np.asarray(sample_weight) != 0) or vectors.shape[0] == 0:
        return support
    moved = np.flatnonzero(np.asarray(sample_weight) != 0)
    if len(support) == 0 or support.max() >= len(moved):
        return support
    away = abs(X[moved[support]] - vectors).max() < abs(X[support] - vectors).max()
    return moved[support] if away else support
