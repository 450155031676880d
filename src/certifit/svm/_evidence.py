"""What a soft-margin machine, ours or anybody's, shows to the trusted part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.class_weight import compute_class_weight

from certifit._objective import Layout, Objective
from certifit._types import Array, BaseEstimator, Matrix, Record, Weights
from certifit.kernels import Kernel, choose, rows
from certifit.losses import get_loss
from certifit.regularizers import Regularizer, SquaredL2
from certifit.solvers import dual as dual_points
from certifit.solvers.balance import balance
from certifit.svm._labels import pair_coefficients, pairs_of


def hinge_objective(
    classes: Array,
    class_cost: Array,
    loss: str = "hinge",
    layout: Layout = "pairs",
    regularizer: Regularizer | None = None,
    **options: Any,
) -> Objective:
    """½‖w‖² (or another penalty) + Σ costᵢ L(zᵢ, yᵢ): what soft-margin machines minimise, stated as a sum.

    Examples
    --------
    >>> hinge_objective(np.array([0, 1]), np.ones(2)).strength
    1.0
    """
    penalty = SquaredL2(0.5) if regularizer is None else regularizer
    return Objective(
        get_loss(loss), penalty, 1.0, classes=tuple(classes), class_weight=tuple(class_cost), layout=layout,
        stated="sum", **options,
    )  # fmt: skip


def machine_evidence(
    kernel: Kernel,
    X: Matrix,
    objective: Objective | Sequence[Objective],
    support: Array,
    columns: Array,
    intercept: Array,
    dual: Array,
) -> Record:
    """Evidence for the certificate of kernel machines.

    Parameters
    ----------
    kernel : Kernel
    X : matrix
        Training rows (the Gram matrix when the kernel is precomputed).
    objective : Objective, or one for each machine
    support : (m,) array
        Row numbers of the support vectors.
    columns, dual : (m, pairs) arrays
        Coefficients of the machines and of a dual solution, balanced; equal for a model that solves the dual itself.
    intercept : (pairs,) array

    Examples
    --------
    >>> from certifit.certificates import Data, issue
    >>> from certifit.kernels import Linear
    >>> from certifit.svm import SVC
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> m = SVC(kernel="linear").fit(X, y)
    >>> objective, c = hinge_objective(m.classes_, np.ones(2)), m.dual_coef_.T
    >>> issue("duality", Data.of(X, y), machine_evidence(Linear(), X, objective, m.support_, c, m.intercept_, c)).holds
    True
    """
    own = {"support": np.asarray(support, dtype=int), "dual": -np.asarray(dual, dtype=float)}
    return dual_points.evidence_of(objective, columns.T, intercept) | own | kernel.evidence(X)


def read_diagonal(diagonal: Any, X: Matrix) -> Array:
    """k(x, x) of the rows of X: one finite number ≥ 0 each."""
    found = np.asarray(diagonal, dtype=float)
    if found.shape != (X.shape[0],) or not np.all(np.isfinite(found)) or np.any(found < 0):
        raise ValueError(f"diagonal must contain k(x, x) ≥ 0 of each of the {X.shape[0]} rows.")
    return found


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


def _true_support(model: BaseEstimator, X: Matrix, weights: Array) -> Array:
    """Row numbers of the support vectors: libsvm drops rows without weight and counts the others only."""
    support = np.asarray(model.support_, dtype=int)
    counted = np.flatnonzero(weights > 0)
    if len(counted) == len(weights) or type(model).__module__.startswith("certifit."):
        return support
    if model.kernel == "precomputed":
        return support
    vectors = model.support_vectors_
    here = X[support]
    same = abs(here - vectors).nnz == 0 if scipy.sparse.issparse(here) else np.array_equal(here, vectors)
    return support if same else counted[support]


def evidence_of(model: BaseEstimator, X: Matrix, y: Any, sample_weight: Weights = None) -> tuple[str, dict[str, Any]]:
    """Kind and evidence for a fitted SVC of scikit-learn, sklearnex or certifit, or any model with the same attributes.

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
    weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    support = _true_support(model, rows_of_x, weights)
    dual = model.dual_coef_
    dual = np.atleast_2d(dual.toarray() if scipy.sparse.issparse(dual) else np.asarray(dual, dtype=float))
    own = np.searchsorted(classes, labels)[support]
    alpha = balanced_layout(dual, own, class_cost[own] * weights[support], len(classes))
    objective, k = hinge_objective(classes, class_cost), len(classes)
    columns, balanced = pair_coefficients(dual, own, k), pair_coefficients(alpha, own, k)
    intercept = np.ravel(model.intercept_)
    return "duality", machine_evidence(kernel, rows_of_x, objective, support, columns, intercept, balanced)
