"""Aliases and small records that every layer may use."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
"""A dense NumPy array of any dtype."""

Floats: TypeAlias = npt.NDArray[np.floating[Any]]
"""A dense NumPy array of floating-point numbers."""

Matrix: TypeAlias = Any
"""A two-dimensional array: dense NumPy, or SciPy sparse."""
