r"""Does a maximum-likelihood estimate exist? If not, along which direction does the likelihood rise for ever?

For Poisson (log link) and binomial (logit) models the likelihood rises for ever along δ exactly when

- scores do not move on rows with an interior y (0 < y, and y < 1 for shares),
- fall (or stay) on rows with y = 0, rise (or stay) on rows with y = 1 (shares only),

and move somewhere. That is a linear programme.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from certifit._types import Array


def rising_direction(X: Array, y: Array, weights: Array, fit_intercept: bool, share: bool) -> Array | None:
    """δ of shape (d [+ 1],) along which the likelihood rises for ever, or None when there is none.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [1.0]]), np.array([0.0, 2.0, 3.0])
    >>> rising_direction(X, y, np.ones(3), True, share=False).round(3) + 0.0
    array([ 1., -1.])
    """
    A = np.column_stack([X, np.ones(len(X))]) if fit_intercept else np.asarray(X, dtype=float)
    A, y = A[weights > 0], y[weights > 0]
    scale = np.maximum(np.abs(A).max(axis=0), 1e-300)
    A = A / scale
    zero, one = y == 0, (y == 1) if share else np.zeros(len(y), dtype=bool)
    inside = ~(zero | one)
    down = np.vstack([A[zero], -A[one]])
    if len(down) == 0:
        return None
    answer = linprog(
        down.sum(axis=0),
        A_ub=down,
        b_ub=np.zeros(len(down)),
        A_eq=A[inside] if inside.any() else None,
        b_eq=np.zeros(int(inside.sum())) if inside.any() else None,
        bounds=(-1.0, 1.0),
        method="highs",
    )
    if answer.x is None or not answer.fun < -1e-7 * len(down):
        return None
    return answer.x / scale
