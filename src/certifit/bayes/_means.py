"""The weighted mean, for values far from zero too."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array


def weighted_mean(v: Array, weight: Array | None) -> Any:
    """Mean over rows, taken about the first row so that 10⁸ ± 1 keeps its digits."""
    shift = v[0]
    return shift + np.average(v - shift, axis=0, weights=weight)
