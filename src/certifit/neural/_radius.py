"""The largest provable distance within which a label does not change: bisection over boxes."""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.certificates.network import Layers, labels_hold

_FARTHEST = 2.0**40
_HALVINGS = 40


def certified_radii(layers: Layers, activation: str, X: Array, codes: Array) -> Array:
    """For each row a radius that `labels_hold` has proved, within about 1e-6 of the largest; 0 where none was."""
    proved = np.zeros(len(X))
    refused = np.full(len(X), np.inf)
    trial = np.full(len(X), 2.0**-10)
    for _ in range(_HALVINGS):
        good = labels_hold(layers, activation, X, codes, trial)
        proved = np.where(good, np.maximum(proved, trial), proved)
        refused = np.where(good, refused, np.minimum(refused, trial))
        inside = np.where(proved > 0, np.sqrt(proved * np.minimum(refused, 16 * _FARTHEST)), trial / 16)
        trial = np.where(np.isinf(refused), trial * 16, inside)
        close = (refused <= proved * (1 + 1e-6)) | (proved >= _FARTHEST) | (trial < 2.0**-60)
        if np.all(close):
            break
        trial = np.where(close, np.maximum(proved, 2.0**-60), np.minimum(trial, _FARTHEST))
    return proved
