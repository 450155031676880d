r"""Exponential families with several parameters: the likelihood equations.

With :math:`p(y;\eta) = b(y)\exp(\eta^\top T(y) - a(\eta))` and :math:`\eta = \Theta x + b` the mean log likelihood is
concave in (Θ, b) because a is convex. It is largest where, over the rows, every statistic and every statistic times a
column has the same mean as expected, :math:`E[T] = \nabla a(\eta)`. T and ∇a are the user's own formulas: their values
at the rows are evidence, and that they are values of those formulas is assumed. What can be told from the values is
checked: rows with the same η expect the same, and ∇a of a convex a is monotone.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse

from certifit._types import Array
from certifit.certificates._ball import Ball
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, equal, register, upper
from certifit.certificates._schema import FINITE, TEXT

_LEVEL = 1e-6  # of the sum of the sizes of the terms
_PAIRS = 300  # rows of which all pairs are compared


@register
class LikelihoodEquations(Kind):
    """Claim: expected and observed statistics have the same means over the rows, also times every column.

    Evidence: ``family``, ``statistics`` T(y) and ``expected`` ∇a(η), both (n, k), ``coef`` (k, d), ``intercept`` (k,).
    The data are X and y, or y as the only column where there are no coefficients.
    """

    name = "likelihood-equations"
    theorem = "a concave likelihood is largest where expected and observed statistics agree"
    assumes: ClassVar = ("T(y) and the gradient of a convex a(η) at the rows are those of the family",)
    needs: ClassVar = {"family": TEXT, "statistics": FINITE, "expected": FINITE, "coef": FINITE, "intercept": FINITE}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        T, M = (np.asarray(evidence[name], dtype=float) for name in ("statistics", "expected"))
        coef, intercept = (np.asarray(evidence[name], dtype=float) for name in ("coef", "intercept"))
        n = data.X.shape[0]
        if T.ndim != 2 or T.shape != M.shape or len(T) != n or coef.ndim != 2 or intercept.shape != T.shape[1:]:
            raise ValueError("statistics and expected ones for each row, coefficients for each statistic")
        X = _columns(data, coef)
        s = data.weights
        if coef.shape[0] != T.shape[1] or not np.any(s > 0):
            raise ValueError("coefficients for each statistic, and some weight above zero")
        off, worst = Ball(M) - T, 0.0
        for column in (*X.T, np.ones(n)):
            terms = off * (s * column)[:, None]  # one rounding of the product, within the room below
            size = terms.magnitude.sum(axis=0)
            found = terms.sum(axis=0).magnitude + 4e-16 * size
            share = np.where(size > 0, found / np.where(size > 0, size, 1.0), 0.0)
            worst = max(worst, float(np.max(share, initial=0.0))) if np.all(np.isfinite(share)) else np.inf
        eta = X @ coef.T + intercept
        checks = (
            Check("the equations hold", worst <= _LEVEL, f"residual {worst:.1e}"),
            Check("rows with the same η expect the same", _same(X, M)),
            Check("what is expected grows with η", _monotone(eta, M)),
        )
        figures = {"rows": equal(n), "statistics": equal(T.shape[1]), "residual": upper(worst)}
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return (
            f"Over the {figures['rows']} rows the {figures['statistics']} statistics of the family "
            f"{evidence['family']!r} have the means that the fit expects, to {figures['residual']:.0e} of their terms: "
            "where they agree exactly, no other η gives the rows a higher likelihood."
        )


def _columns(data: Data, coef: Array) -> Array:
    if not coef.shape[1]:
        return np.zeros((data.X.shape[0], 0))
    X = data.X.toarray() if scipy.sparse.issparse(data.X) else np.asarray(data.X, dtype=float)
    if X.shape[1] != coef.shape[1] or not np.all(np.isfinite(X)):
        raise ValueError("coefficients for each column of finite numbers")
    return X


def _same(X: Array, M: Array) -> bool:
    """Whether equal rows expect equal statistics."""
    if not X.shape[1]:
        return not np.any(np.ptp(M, axis=0))
    _, first, again = np.unique(X, axis=0, return_index=True, return_inverse=True)
    return bool(np.all(np.abs(M - M[first[again.ravel()]]) <= 1e-12 * (1.0 + np.abs(M))))


def _monotone(eta: Array, M: Array) -> bool:
    """(η − η′)·(∇a(η) − ∇a(η′)) ≥ 0 for all pairs of the first rows, up to rounding."""
    e, m = eta[:_PAIRS], M[:_PAIRS]
    de, dm = e[:, None] - e[None], m[:, None] - m[None]
    size = (np.abs(e[:, None]) + np.abs(e[None])) * (np.abs(m[:, None]) + np.abs(m[None]))
    return bool(np.all((de * dm).sum(axis=-1) >= -1e-9 * size.sum(axis=-1)))
