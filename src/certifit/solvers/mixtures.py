"""Non-negative least squares: the mixture of rows nearest a given point.

Active-set method of Lawson and Hanson (1974), chapter 23. Rows in use are kept as an updated QR factorisation, so a
step costs a product with all rows and a few with those in use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dtrtrs

from certifit._types import Array

TINY = 1e-9  # what counts as zero, relative to the point and to rows of length one


@dataclass(frozen=True)
class Mixture:
    """Outcome of `mixture`: the rows used, their weights, the residual c − Σνz, and whether it vanishes."""

    support: Array
    weights: Array
    residual: Array
    exact: bool


def mixture(Z: Array, c: Array, start: Array | None = None, tol: float = TINY) -> Mixture:
    """min ‖c − Zᵀν‖ over ν ≥ 0 (Lawson and Hanson); rows of Z are expected to have length about one.

    Examples
    --------
    >>> m = mixture(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([-1.0, -2.0]))
    >>> m.exact, m.support.tolist()
    (True, [2, 0])
    """
    size = float(np.linalg.norm(c))
    active = _Support(Z, c)
    for i in () if start is None else start:
        active.insert(int(i))
    active.settle(np.maximum(active.fit(), 0.0))
    blocked = np.zeros(len(Z), dtype=bool)
    for _ in range(20 * (Z.shape[1] + 5)):
        residual = active.residual()
        gain = Z @ residual
        gain[blocked] = -np.inf
        gain[active.rows] = -np.inf
        i = int(np.argmax(gain))
        left = math.sqrt(residual @ residual)
        if left <= tol * size or not gain[i] > tol * left:
            break
        before = active.nu
        if not active.insert(i) or active.fit()[-1] <= 0:  # numerically dependent: no direction of progress
            if len(active.rows) > len(before):
                active.delete([len(before)])
            blocked[i] = True
            continue
        active.settle(np.append(before, 0.0))
        blocked[:] = False
    residual = active.residual()
    exact = float(np.linalg.norm(residual)) <= tol * size
    return Mixture(np.array(active.rows, dtype=np.int64), active.nu, residual, exact)


class _Support:
    """The rows in use, as columns of QR, with the least-squares weights ν of c."""

    def __init__(self, Z: Array, c: Array) -> None:
        self.Z, self.c = Z, c
        self.rows: list[int] = []
        self.nu = np.zeros(0)
        self.solved: Array | None = None  # `fit` for the rows in use, once it is known
        p = len(c)
        self.Q, self.R = np.zeros((p, p), order="F"), np.zeros((p, p), order="F")
        self.qc = np.zeros(p)

    def insert(self, i: int) -> bool:
        """Append a row (Gram-Schmidt, twice); False when it depends on the others."""
        k, z = len(self.rows), self.Z[i]
        if k >= len(self.c):
            return False
        Q = self.Q[:, :k]
        h = z @ Q
        v = z - Q @ h
        again = v @ Q
        v -= Q @ again
        rest = math.sqrt(v @ v)
        if rest <= 1e-11 * math.sqrt(z @ z) or rest == 0.0:
            return False
        v /= rest
        self.Q[:, k], self.R[:k, k], self.R[k, k] = v, h + again, rest
        self.qc[k] = v @ self.c
        self.rows.append(i)
        self.solved = None
        return True

    def delete(self, places: list[int]) -> None:
        for k in sorted(places, reverse=True):
            m = len(self.rows)
            if k < m - 1:
                Q, R = scipy.linalg.qr_delete(self.Q[:, :m], self.R[:m, :m], k, 1, "col", check_finite=False)
                self.Q[:, : m - 1], self.R[: m - 1, : m - 1] = Q[:, : m - 1], R[: m - 1, : m - 1]
                self.qc[: m - 1] = self.c @ self.Q[:, : m - 1]
            self.R[m - 1, :] = 0.0
            self.R[:, m - 1] = 0.0
            del self.rows[k]
        self.solved = None

    def fit(self) -> Array:
        k = len(self.rows)
        if self.solved is None:
            self.solved = np.asarray(dtrtrs(self.R[:k, :k], self.qc[:k])[0]) if k else np.zeros(0)
        return self.solved

    def residual(self) -> Array:
        k = len(self.rows)
        return self.c - self.Q[:, :k] @ self.qc[:k]

    def settle(self, nu: Array) -> None:
        """From the feasible ν to the least-squares weights, leaving rows behind that turn negative."""
        fit = self.fit()
        while np.any(fit <= 0):
            bad = fit <= 0
            step = float(np.min(nu[bad] / np.maximum(nu[bad] - fit[bad], 1e-300)))
            nu = nu + step * (fit - nu)
            drop = bad & (nu <= np.maximum(1e-14 * nu.max(), nu[bad].min()))
            self.delete([int(k) for k in np.flatnonzero(drop)])
            nu = nu[~drop]
            fit = self.fit()
        self.nu = fit
