r"""Does a maximum-likelihood estimate exist? If not, along which direction does the likelihood keep increasing?

For Poisson (log link) and binomial (logit) models the likelihood keeps increasing along δ exactly when

- scores do not move on rows with an interior y (0 < y, and y < 1 for shares),
- fall (or stay) on rows with y = 0, rise (or stay) on rows with y = 1 (shares only),

and move somewhere. That is a linear programme. Most fits need not ask it: near an optimum the Newton decrement q and
the largest standard error of a score, r, have qr < 1, and where there is no optimum they never do (the theorem behind
the certificate "local"; `near_optimum` computes it in floats).
"""

from __future__ import annotations

import numpy as np
import scipy  # optimize loads on first use

from certifit._types import Array
from certifit.design import pseudo_inverse
from certifit.solvers._smooth_sum import SmoothSum

_LARGE = 2000  # coordinates beyond which an eigenvalue decomposition takes longer than the fit


def near_optimum(f: SmoothSum, theta: Array) -> bool | None:
    """Whether q r < 1 at θ (with room for rounding), so that an optimum exists; None where that is too much work.

    For losses with |φ‴| ≤ φ″, and for softmax, where r is about differences of two scores of a row. Where columns
    depend on each other, all is about the space they span.
    """
    p, K = f.columns.width, f.outputs
    if p * K > _LARGE:
        return None
    _, Z, G = f.evaluate(theta)
    H = f.hessian(Z)
    root = np.sqrt(np.maximum(np.diag(H), 1e-300))
    part = pseudo_inverse(H / np.outer(root, root))
    T = part.vectors / np.sqrt(part.values) / root[:, None]
    q = float(np.linalg.norm(G.T.ravel() @ T))
    blocks = T.reshape(K, p, -1)
    pairs = [blocks[0]] if K == 1 else [blocks[j] - blocks[k] for j in range(K) for k in range(j)]
    used = np.flatnonzero(f.weights > 0)
    r = flat = 0.0
    for start in range(0, len(used), 2048):
        A = f.columns.rows(used[start : start + 2048])
        for M in pairs:
            r = max(r, float(np.sqrt(np.square(A @ M).sum(axis=1).max(initial=0.0))))
    # Directions that count as flat must be flat on the rows too, not only where the curvature has died.
    if part.vectors.shape[1] < p * K:
        flat = _slope_of_flat(f, part.vectors, root, used)
    return bool(q * r < 0.9 and flat < 1e-6)


def _slope_of_flat(f: SmoothSum, kept: Array, root: Array, used: Array) -> float:
    """The most that a score (for softmax: a difference of two) moves along unit steps outside the kept directions."""
    p, K = f.columns.width, f.outputs
    size = np.sqrt(np.maximum(f.weights[used].sum(), 1e-300))
    steps = ((np.eye(p * K) - kept @ kept.T) / root[:, None] * size).reshape(K, p, -1)
    steps = steps - steps.mean(axis=0) if K > 1 else steps
    worst = 0.0
    for start in range(0, len(used), 2048):
        A = f.columns.rows(used[start : start + 2048])
        worst = max([worst, *(float(np.abs(A @ steps[k]).max(initial=0.0)) for k in range(K))])
    return worst


def rising_direction(X: Array, y: Array, weights: Array, fit_intercept: bool, share: bool) -> Array | None:
    """δ of shape (d [+ 1],) along which the likelihood keeps increasing, or None when there is none.

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
    answer = scipy.optimize.linprog(
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
    return np.asarray(answer.x / scale)
