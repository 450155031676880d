"""Is this the gradient of that function? Central differences answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from certifit._types import Array


class GradientCheck(NamedTuple):
    """The outcome of `check_gradient`; true where they agree.

    Attributes
    ----------
    agrees : bool
    error : float
        The largest difference, relative to the larger of 1 and the largest entry.
    worst : int
        The entry where it occurs.
    numerical : array
        The gradient by differences.

    Examples
    --------
    >>> check_gradient(lambda t: float(t @ t), lambda t: 2 * t, [1.0, 2.0]).agrees
    True
    """

    agrees: bool
    error: float
    worst: int
    numerical: Array

    def __bool__(self) -> bool:
        return self.agrees


def check_gradient(
    f: Callable[[Array], float],
    grad: Callable[[Array], Array],
    theta: object,
    *,
    step: float = 1e-6,
    tol: float = 1e-6,
) -> GradientCheck:
    r"""Compare a gradient with central differences of its function.

    .. math:: \frac{\partial f}{\partial\theta_j} \approx \frac{f(\theta + h e_j) - f(\theta - h e_j)}{2h},
        \qquad h = \text{step}\cdot\max(1, |\theta_j|)

    Parameters
    ----------
    f : callable
        Function of an array of shape (p,), returns a number.
    grad : callable
        Its gradient, of shape (p,).
    theta : array-like of shape (p,)
        Where to look.
    step : float > 0, default=1e-6
        Relative width of the differences.
    tol : float > 0, default=1e-6
        The largest relative difference that still counts as agreement.

    Returns
    -------
    GradientCheck

    Examples
    --------
    >>> wrong = check_gradient(lambda t: float(t[0] ** 2 + t[1]), lambda t: np.array([t[0], 1.0]), [3.0, 1.0])
    >>> wrong.agrees, wrong.worst, wrong.numerical.round(4).tolist()
    (False, 0, [6.0, 1.0])
    """
    theta = np.array(theta, dtype=float)
    given = np.asarray(grad(theta.copy()), dtype=float)
    if theta.ndim != 1 or given.shape != theta.shape:
        raise ValueError(f"theta and its gradient are vectors of one length, not {theta.shape} and {given.shape}.")
    numerical = np.empty_like(theta)
    for j in range(len(theta)):
        h = step * max(1.0, abs(theta[j]))
        above, below = theta.copy(), theta.copy()
        above[j] += h
        below[j] -= h
        numerical[j] = (f(above) - f(below)) / (above[j] - below[j])
    scale = max(1.0, float(np.abs(numerical).max(initial=0.0)))
    errors = np.abs(given - numerical) / scale
    worst = int(errors.argmax()) if len(errors) else 0
    error = float(errors.max(initial=0.0))
    return GradientCheck(bool(error <= tol), error, worst, numerical)
