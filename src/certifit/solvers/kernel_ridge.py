"""Kernel ridge by a Cholesky factor, and kernel LMS: gradient descent on the coefficients.

Minimise Σ sᵢ(yᵢ − (Kc)ᵢ)² + α cᵀKc over c. In the scaled variables √s the stationary point solves
(√sK√s + αI) u = √s y with c = √s u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dpotrf, dpotrs

from certifit._types import Array
from certifit.exceptions import DivergenceError
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers._task import DEFAULT, Options


def closed_form(K: Array, Y: Array, alpha: Array, weights: Array) -> Array:
    """Coefficients, one column a target; one step of refinement brings them to working accuracy."""
    root = np.sqrt(weights)
    A = np.asarray_chkfinite(K if np.all(root == 1.0) else K * np.outer(root, root))
    out, diagonal = np.empty_like(Y), np.arange(len(A))
    M = np.empty_like(A, order="F")  # in LAPACK's order, which then works in place
    for value in np.unique(alpha):
        columns = np.flatnonzero(alpha == value)
        right = root[:, None] * Y[:, columns]
        M[...] = A.T  # symmetric
        M[diagonal, diagonal] += value
        # OpenBLAS factorises into a lower triangle in two thirds of the time that an upper one takes.
        factor, failed = dpotrf(M, lower=1, clean=0, overwrite_a=1)
        if failed:  # a kernel that is not Mercer, or α lost in rounding
            u = np.linalg.lstsq(A + value * np.eye(len(A)), right, rcond=None)[0]
        else:
            u = _solved(factor, right)
            u += _solved(factor, right - A @ u - value * u)
        out[:, columns] = root[:, None] * u
    return out


def _solved(factor: Array, right: Array) -> Array:
    """(L Lᵀ)⁻¹ times some columns; a single one is solved for as a vector, in less than half the time."""
    if right.shape[1] > 1:
        return np.asarray(dpotrs(factor, right, lower=1)[0])
    return np.asarray(dtrsv(factor, dtrsv(factor, right[:, 0], lower=1), lower=1, trans=1))[:, None]


@dataclass(frozen=True)
class _Step:
    u: Array
    rest: Array  # of the equation for u
    objective: float
    gap: float
    step: float


def lms(
    K: Array,
    Y: Array,
    alpha: Array,
    weights: Array,
    options: Options = DEFAULT,
) -> Solution:
    """Kernel LMS: c ← c + η(s(y − Kc) − αc), all rows at once; stops when the proved gap is at most tol of the null's.

    The step must stay below 2/L, L the largest eigenvalue of √sK√s + αI; by default it is 1/L.

    Examples
    --------
    >>> found = lms(np.eye(2), np.array([[1.0], [2.0]]), np.array([1.0]), np.ones(2))
    >>> found.value.ravel().round(6).tolist(), found.status
    ([0.5, 1.0], 'converged')
    """
    root = np.sqrt(weights)
    A = K * np.outer(root, root)
    largest = float(np.linalg.eigvalsh(A)[-1]) + float(alpha.max())
    eta, tol = 1.0 / largest if options.step is None else options.step, options.tol
    if eta >= 2.0 / largest:
        raise DivergenceError(f"The step {eta:.3g} exceeds 2/L = {2.0 / largest:.3g}: take step={1.0 / largest:.3g}.")
    right = root[:, None] * Y
    null = float(np.sum(right**2)) or 1.0
    free = not np.any(alpha)  # without a penalty the error need not reach zero: the slope says when to stop
    steepest = float(np.sum((A @ right) ** 2)) or 1.0

    def finished(before: _Step, after: _Step) -> bool:
        return after.gap <= tol * null or (free and float(np.sum((A @ after.rest) ** 2)) <= tol**2 * steepest)

    def look(u: Array) -> _Step:
        fitted = A @ u
        rest = right - fitted - alpha * u
        objective = float(np.sum((right - fitted) ** 2) + np.sum(alpha * u * fitted))
        return _Step(u, rest, objective, float(np.sum(rest**2)), eta)

    limits = options.limit(10_000), options.time_budget, options.trace
    run = drive(look(np.zeros_like(Y)), lambda at: look(at.u + eta * at.rest), finished, *limits, check_start=True)
    return Solution(root[:, None] * run.state.u, run.status, run.stats | {"gap": run.state.gap, "method": "lms"})


def resolve(solver: str) -> str:
    """The solver that "auto" stands for."""
    return "cholesky" if solver == "auto" else solver
