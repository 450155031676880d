"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from certifit._trace import Trace
from certifit.solvers._status import STATUS


@dataclass(frozen=True)
class Solution:
    """The answer of a solver.

    Attributes
    ----------
    value : Any
        The point found (an array, coefficients and offset, or a record of them).
    status : str
        Why it stopped, a word of `certifit.solvers.STATUS`: "converged", "closed form", "max_iter", ...
    stats : dict
        ``n_iter``, ``seconds``, ``method``, ``trace`` and whatever else the solver measured.

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

    def __post_init__(self) -> None:
        assert self.status in STATUS, self.status

    @property
    def converged(self) -> bool:
        """Whether the solver stopped because it was done."""
        return self.status in ("converged", "closed form")

    @property
    def trace(self) -> Trace:
        """One row per iteration, when asked for."""
        rows = self.stats.get("trace", ())
        return rows if isinstance(rows, Trace) else Trace(rows)
