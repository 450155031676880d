"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from certifit.certificates import Certificate


class TraceRow(NamedTuple):
    """One iteration: number, objective, bound on the distance to the optimum (nan: unknown), step, seconds.

    Attributes
    ----------
    iteration : int
    objective, gap, step, seconds : float

    Examples
    --------
    >>> from certifit.linear_model import LogisticRegression
    >>> row = LogisticRegression(trace=True).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).trace_[-1]
    >>> row.iteration >= 1, row.gap < 1e-6
    (True, True)
    """

    iteration: int
    objective: float
    gap: float
    step: float
    seconds: float


@dataclass(frozen=True)
class Solution:
    """The answer of a solver.

    Attributes
    ----------
    value : Any
        The point found (an array, or coefficients and offset).
    status : str
        "converged", "closed form", "max_iter", "time_budget" or "diverged".
    stats : dict
        ``n_iter``, ``seconds``, ``method``, ``trace`` and whatever else the solver measured.
    certificate : Certificate or None
        Present when the solver itself proves something.

    Examples
    --------
    >>> from certifit.solvers import gradient_descent
    >>> answer = gradient_descent(lambda t: float(t @ t), lambda t: 2 * t, np.ones(2), step=0.25, tol=1e-12)
    >>> answer.status, answer.converged, float(np.abs(answer.value).max()) < 1e-5
    ('converged', True, True)
    """

    value: Any
    status: str
    stats: dict[str, Any] = field(default_factory=dict)
    certificate: Certificate | None = None

    @property
    def converged(self) -> bool:
        """Whether the solver stopped because it was done."""
        return self.status in ("converged", "closed form")

    @property
    def trace(self) -> list[TraceRow]:
        """One `TraceRow` per iteration, when asked for."""
        return self.stats.get("trace", [])
