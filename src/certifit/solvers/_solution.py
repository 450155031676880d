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
    """

    value: Any
    status: str
    stats: dict[str, Any] = field(default_factory=dict)
    certificate: Certificate | None = None

    @property
    def converged(self) -> bool:
        return self.status in ("converged", "closed form")

    @property
    def trace(self) -> list[TraceRow]:
        return self.stats.get("trace", [])
