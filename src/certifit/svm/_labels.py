"""Labels, weights and costs in the form that the solvers take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from certifit._sklearn import any_sample_weight, read_weights
from certifit._types import Array, ClassWeight, Matrix, Weights
from certifit._validation import check_classification_targets


@dataclass(frozen=True)
class Labelled:
    """Classes, the code of every row, weights (None when none were given), class weights and costs."""

    classes: Array
    codes: Array
    weights: Array | None
    class_weight: Array
    class_cost: Array
    cost: Array


def labelled(X: Matrix, y: Any, sample_weight: Weights, class_weight: ClassWeight, C: float, name: str) -> Labelled:
    """Check labels and weights and turn them into costs C · class weight · sample weight."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs at least two classes, and y holds 1 class only ({classes.tolist()[0]!r}): "
            "add rows of another class."
        )
    weights = read_weights(sample_weight, X)
    if weights is not None:
        mass = np.bincount(codes, weights=weights, minlength=len(classes))
        if np.any(mass <= 0):
            alone = "Invalid input - all samples with positive weights belong to the same class: "
            if name == "NuSVC":
                alone = f"specified nu is infeasible. {alone}"
            empty = classes.tolist()[int(np.argmin(mass))]
            raise ValueError(
                f"{alone if np.count_nonzero(mass > 0) < 2 else ''}sample_weight leaves class "
                f"{empty!r} without any weight. Give one of its rows a positive weight."
            )
    share = np.ones(len(classes))
    if class_weight is not None:
        share = np.asarray(compute_class_weight(class_weight, classes=classes, y=y, sample_weight=weights), dtype=float)
    class_cost = float(C) * share
    cost = class_cost[codes] * (1.0 if weights is None else weights)
    return Labelled(classes, codes, weights, share, class_cost, np.asarray(cost, dtype=float))


def masked(sample_weight: Weights, X: Matrix) -> Any:
    """Weights with negative ones as zeros: in scikit-learn's kernel machines they leave a row out."""
    if sample_weight is None:
        return None
    weights = any_sample_weight(sample_weight, X, dtype=np.float64)
    if not np.any(weights > 0.0):
        raise ValueError(
            "Invalid input - all samples have zero or negative weights. "
            "Sample weights must contain at least one non-zero number."
        )
    return np.maximum(weights, 0.0)


def pairs_of(classes: int) -> list[tuple[int, int]]:
    """Pairs (voted for when positive, voted for when negative), in scikit-learn's order."""
    if classes == 2:
        return [(1, 0)]
    return [(i, j) for i in range(classes) for j in range(i + 1, classes)]


def machine_labels(codes: Array, classes: int) -> list[Array]:
    """±1 labels of each machine: one for two classes, one a class for more."""
    positive = [1] if classes == 2 else list(range(classes))
    return [np.where(codes == k, 1.0, -1.0) for k in positive]


def pair_coefficients(dual_coef: Array, codes: Array, classes: int) -> Array:
    """One column of coefficients a pair, from scikit-learn's layout (``codes``: class of each support vector)."""
    if classes == 2:
        return np.asarray(np.asarray(dual_coef)[0][:, None])
    columns = []
    for i, j in pairs_of(classes):
        columns.append(np.where(codes == i, dual_coef[j - 1], np.where(codes == j, dual_coef[i], 0.0)))
    return np.column_stack(columns)
