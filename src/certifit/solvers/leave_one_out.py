r"""Leave-one-out errors of ridge regression for every α, from one decomposition.

With A = √S(X − 1mᵀ), r = √S(y − ȳ) and A = U diag(σ) Vᵀ, a fit to all rows leaves the residual e and has leverages h:

.. math:: e = r - \sum_k \frac{\sigma_k^2}{\sigma_k^2 + \alpha} u_k u_k^\top r, \qquad
          h_i = \sum_k \frac{\sigma_k^2}{\sigma_k^2 + \alpha} u_{ik}^2 + \frac{s_i}{\sum_l s_l},

the last term with an offset only. The error at row i of the model fitted without it is :math:`e_i / (1 - h_i)` (times
:math:`\sqrt{s_i}`). Where U is square, 1 − h is a sum of terms :math:`\alpha/(\sigma_k^2+\alpha)\,u_{ik}^2`, none of
them negative, and loses no digits however small α is.

Reference: Rifkin and Lippert (2007), Notes on regularized least squares, MIT-CSAIL-TR-2007-025.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from certifit._types import Array
from certifit.design import CentredColumns, Design


@dataclass(frozen=True)
class LeaveOneOut:
    """Rows of ridge regression in the coordinates where every α is diagonal.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 2.0, 5.0])
    >>> left = LeaveOneOut.of(as_design(X), None, True).errors(1.0, y[:, None])[:, 0]
    >>> left.round(6)  # the first two rows alone predict 7/3 at x = 3
    array([-0.5     , -0.454545,  2.666667])
    """

    U: Array  # orthonormal columns, orthogonal to √s where there is an offset
    squares: Array  # σ²
    whole: bool  # whether U (with √s, where there is an offset) spans all of ℝⁿ
    root: Array  # √s
    share: Array  # sᵢ/Σs with an offset, else 0

    @classmethod
    def of(cls, design: Design, weights: Array | None, fit_intercept: bool, gram: bool = False) -> LeaveOneOut:
        """Decompose once; by the smaller Gram matrix for sparse rows (never made dense), or where ``gram`` says so."""
        n = design.shape[0]
        columns = CentredColumns.of(design, weights, fit_intercept)
        root = np.ones(n) if columns.root is None else columns.root
        share = root**2 / columns.total if fit_intercept else np.zeros(n)
        if gram or design.is_sparse:
            U, squares = _by_gram(columns, root)
        else:
            A = np.asarray(design.X, dtype=float)
            A = A if columns.mean is None else A - columns.mean
            U, sigma, _ = scipy.linalg.svd(A * root[:, None], full_matrices=False, check_finite=False)
            squares = sigma**2
        if fit_intercept:
            U, squares = _orthogonal_to(U, squares, root / np.sqrt(columns.total))
        return cls(U, squares, U.shape[1] == n - bool(fit_intercept), root, share)

    def errors(self, alpha: float, Y: Array) -> Array:
        """√s times the error (n, t) at each row of the model that was fitted without it."""
        s = self.root**2
        mean = s @ Y / s.sum() if np.any(self.share) else 0.0
        R = self.root[:, None] * (Y - mean)
        kept = alpha / (self.squares + alpha)
        inner = self.U.T @ R
        if self.whole:
            return (self.U @ (kept[:, None] * inner)) / (self.U**2 @ kept)[:, None]
        left = R - self.U @ ((1.0 - kept)[:, None] * inner)
        return np.asarray(left / (1.0 - self.share - self.U**2 @ (1.0 - kept))[:, None])


def _by_gram(columns: CentredColumns, root: Array) -> tuple[Array, Array]:
    """U and σ² from AᵀA or AAᵀ, whichever is smaller; columns of U without a direction of A are left out (tall A)."""
    n, d = columns.shape
    if n <= d:
        A = columns.product(np.eye(d)) if not columns.design.is_sparse else None
        K = A @ A.T if A is not None else _outer(columns, root)
        squares, U = np.linalg.eigh(K)
        return U, np.maximum(squares, 0.0)
    C = columns.correlate(columns.product(np.eye(d)))
    squares, V = np.linalg.eigh((C + C.T) / 2)
    used = squares > n * np.finfo(float).eps * max(float(squares[-1]), 0.0)
    return columns.product(V[:, used]) / np.sqrt(squares[used]), squares[used]


def _outer(columns: CentredColumns, root: Array) -> Array:
    """AAᵀ of sparse rows."""
    X = columns.design.X
    K = np.asarray((X @ X.T).toarray(), dtype=float)
    if columns.mean is not None:
        shift = np.asarray(X @ columns.mean)
        K = K - shift - shift[:, None] + float(columns.mean @ columns.mean)
    return K * root * root[:, None]


def _orthogonal_to(U: Array, squares: Array, unit: Array) -> tuple[Array, Array]:
    """Directions without the unit vector √s/‖√s‖, which centred columns do not have: only directions of size 0 may."""
    tiny = squares <= len(U) * np.finfo(float).eps * float(np.max(squares, initial=0.0))
    if not np.any(tiny):
        return U, squares
    rest = U[:, tiny] - np.outer(unit, unit @ U[:, tiny])
    base, size, _ = scipy.linalg.svd(rest, full_matrices=False, check_finite=False)
    keep = size > 0.5  # lengths are one, or zero for the unit vector itself
    return np.column_stack([U[:, ~tiny], base[:, keep]]), np.append(squares[~tiny], np.zeros(int(keep.sum())))
