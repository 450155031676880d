"""Labels as numbers 0 … K−1, without sorting when they are small integers already."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array
from certifit._validation import check_classification_targets


def encode(y: Array) -> tuple[Array, Array]:
    """Sorted classes, and the index of each label among them."""
    if y.dtype.kind in "iu" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low <= 2 * len(y) + 1000:
            return _encode_small(y, low, high)
    if y.dtype.kind not in "iub":
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.reshape(-1).astype(np.int64)


def _encode_small(y: Array, low: int, high: int) -> tuple[Array, Array]:
    shifted: Any = y if low == 0 and y.dtype == np.int64 else (y - low).astype(np.int64)
    present = np.flatnonzero(np.bincount(shifted, minlength=high - low + 1))
    classes = (present + low).astype(y.dtype)
    if len(present) == high - low + 1:
        return classes, shifted
    place = np.zeros(high - low + 1, dtype=np.int64)
    place[present] = np.arange(len(present))
    return classes, place[shifted]


def encode_known(y: Array, classes: Array) -> Array:
    """Index of each label among known classes; a ValueError names the labels that are not."""
    codes: Array = np.searchsorted(classes, y).astype(np.int64)
    codes = np.minimum(codes, len(classes) - 1)
    strange = classes[codes] != y
    if np.any(strange):
        raise ValueError(
            f"The target label(s) {np.unique(y[strange])} in y do not exist in the initial classes {classes}."
        )
    return codes
