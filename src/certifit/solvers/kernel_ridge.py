"""Kernel ridge by a Cholesky factor, and the kernel LMS of the notes: gradient descent on the coefficients.

Minimise Σ sᵢ(yᵢ − (Kc)ᵢ)² + α cᵀKc over c. In the scaled variables √s the stationary point solves
(√sK√s + αI) u = √s y with c = √s u.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.linalg

from certifit._errors import DivergenceError
from certifit._types import Array


def closed_form(K: Array, Y: Array, alpha: Array, weights: Array) -> Array:
    """Coefficients, one column a target; one step of refinement brings them to working accuracy."""
    root = np.sqrt(weights)
    A = K * np.outer(root, root)
    out = np.empty_like(Y)
    for value in np.unique(alpha):
        columns = np.flatnonzero(alpha == value)
        M = A + value * np.eye(len(A))
        right = root[:, None] * Y[:, columns]
        try:
            factor = scipy.linalg.cho_factor(M)
            u = scipy.linalg.cho_solve(factor, right)
            u += scipy.linalg.cho_solve(factor, right - M @ u)
        except np.linalg.LinAlgError:  # a kernel that is not Mercer, or α lost in rounding
            u = np.linalg.lstsq(M, right, rcond=None)[0]
        out[:, columns] = root[:, None] * u
    return out


def lms(
    K: Array,
    Y: Array,
    alpha: Array,
    weights: Array,
    *,
    step: float | None,
    tol: float,
    max_iter: int,
    time_budget: float | None,
) -> tuple[Array, int, list[dict[str, float]], str]:
    """Kernel LMS: c ← c + η(s(y − Kc) − αc), all rows at once; stops when the proved gap is at most tol of the null's.

    The step must stay below 2/L, L the largest eigenvalue of √sK√s + αI; by default it is 1/L.
    """
    start = time.perf_counter()
    root = np.sqrt(weights)
    A = K * np.outer(root, root)
    largest = float(np.linalg.eigvalsh(A)[-1]) + float(alpha.max())
    eta = 1.0 / largest if step is None else step
    if eta >= 2.0 / largest:
        raise DivergenceError(f"The step {eta:.3g} exceeds 2/L = {2.0 / largest:.3g}: take step={1.0 / largest:.3g}.")
    right = root[:, None] * Y
    null = float(np.sum(right**2)) or 1.0
    u: Array = np.zeros_like(Y)
    records: list[dict[str, float]] = []
    for k in range(max_iter + 1):
        rest = right - A @ u - alpha * u
        gap = float(np.sum(rest**2))
        objective = float(np.sum((right - A @ u) ** 2) + np.sum(alpha * u * (A @ u)))
        seconds = time.perf_counter() - start
        records.append({"objective": objective, "gap": gap, "step": k, "seconds": seconds})
        if gap <= tol * null:
            return root[:, None] * u, k, records, "solved"
        if k == max_iter or (time_budget is not None and seconds > time_budget):
            return root[:, None] * u, k, records, "steps" if k == max_iter else "time"
        u = u + eta * rest
    raise AssertionError("not reached")


def resolve(solver: str) -> Any:
    """The solver that "auto" stands for."""
    return "cholesky" if solver == "auto" else solver
