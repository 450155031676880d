"""Folds as integer arrays, from whatever scikit-learn takes as ``cv``."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import CV, Array, MatrixLike, RandomState, VectorLike
from certifit.design import Fold


def folds(
    X: MatrixLike,
    y: VectorLike | None,
    cv: CV = 5,
    *,
    classifier: bool = False,
    groups: VectorLike | None = None,
    random_state: RandomState = None,
) -> list[Fold]:
    """Training and test rows of each fold, as integer arrays.

    Parameters
    ----------
    X, y : array-like
        The data; only the number of rows (and the labels, for stratified folds) matter.
    cv : int ≥ 2, scikit-learn splitter, or iterable of (train, test), default=5
        An integer means folds in the order of the rows, stratified for a classifier, as in scikit-learn.
    classifier : bool, default=False
        Whether labels are classes.
    groups : array-like, default=None
        Passed to the splitter.
    random_state : int or None, default=None
        When given and ``cv`` is an integer, the rows are shuffled first.

    Returns
    -------
    list of (train, test)

    Examples
    --------
    >>> [test.tolist() for _, test in folds(np.zeros((6, 1)), np.zeros(6), cv=3)]
    [[0, 1], [2, 3], [4, 5]]
    """
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv

    labels = np.asarray(y) if classifier and y is not None else np.empty(0)
    if labels.dtype.kind == "f" and not np.all(np.isfinite(labels)):
        raise ValueError("Input y contains NaN or infinity: every row needs a label.")
    splitter = check_cv(5 if cv is None else cv, y, classifier=classifier)
    if random_state is not None and isinstance(cv, (int, np.integer)):
        kind = StratifiedKFold if isinstance(splitter, StratifiedKFold) else KFold
        splitter = kind(int(cv), shuffle=True, random_state=random_state)
    split = [(_rows(a), _rows(b)) for a, b in splitter.split(X, y, groups)]
    if not split:
        raise ValueError(
            "No fits were performed. Was the CV iterator empty? Were there no candidates? "
            "The splitter gave no folds: ask for at least two."
        )
    stated = splitter.get_n_splits(X, y, groups) if hasattr(splitter, "get_n_splits") else len(split)
    if stated != len(split):
        raise ValueError(
            "cv.split and cv.get_n_splits return inconsistent results. "
            f"Expected {stated} splits, got {len(split)}: a splitter states how many folds it gives."
        )
    return split


def _rows(index: Any) -> Array:
    index = np.asarray(index)
    return np.flatnonzero(index) if index.dtype == bool else index
