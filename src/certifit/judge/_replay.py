"""Gradient descent as somebody says that it was done, done again: where does it come to the answer?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._trace import Trace
from certifit._types import Array
from certifit.certificates import Certificate
from certifit.judge._findings import Finding
from certifit.judge._written_down import WrittenObjective


@dataclass(frozen=True)
class Run:
    """The step, the number of passes, and the start (zero where it is None)."""

    eta: float
    passes: int
    start: Array | None = None

    @classmethod
    def of(cls, eta: float | None, passes: int | None, trace: Trace | None) -> Run | None:
        """From the step and the number of passes, or from a trace, which holds both and the start."""
        if trace is not None:
            steps = [row.step for row in trace if row.iteration > 0]
            if not steps or not np.all(np.isfinite(steps)) or np.ptp(steps) > 0:
                raise ValueError("A run can be replayed from a trace of gradient descent with a fixed step.")
            start = np.asarray(trace[0].theta, dtype=float) if "theta" in trace.columns else None
            return cls(float(steps[0]), int(trace[-1].iteration), start)
        if eta is None or passes is None:
            return None
        if not (0 < eta < np.inf and passes >= 1):
            raise ValueError(f"eta must be a positive number and passes at least 1, not {eta} and {passes}.")
        return cls(float(eta), int(passes))


@dataclass(frozen=True)
class _Path:
    """Gradient descent with one step: the passes after which it is at the answer, and the first that raised J."""

    at: tuple[int, ...]
    rose: int | None
    diverges: bool


def _follow(J: WrittenObjective, goal: Array, start: Array, eta: float, passes: int) -> _Path:
    theta, at, rose = start, list[int](), None
    scale = max(float(np.abs(goal).max()), 1e-300)
    with np.errstate(all="ignore"):
        value = J(theta)
        for step in range(1, passes + 2):
            theta = theta - eta * J.gradient(theta)
            size = float(np.abs(theta).max())
            if not np.isfinite(size) or size > 1e12 * (1 + scale):
                return _Path(tuple(at), rose or step, True)
            before, value = value, J(theta)
            if rose is None and step <= passes and not value <= before + 1e-12 * abs(before):
                rose = step
            if np.allclose(theta, goal, rtol=1e-6, atol=1e-8 * scale):
                at.append(step)
    return _Path(tuple(at), rose, False)


def replay(c: Certificate, J: WrittenObjective, goal: Array, run: Run) -> list[Finding]:
    """Too few passes, another number of them, a step too large, or a wrong factor or sign of the gradient."""
    start, eta, passes = np.zeros(len(goal)) if run.start is None else run.start, run.eta, run.passes
    if start.shape != goal.shape:
        return []
    path = _follow(J, goal, start, eta, passes)
    if path.diverges or (path.rose is not None and path.at):
        how = "diverges" if path.diverges else f"raises J in pass {path.rose}"
        return [Finding("step too large", f"Gradient descent with η = {eta:g} {how}: take a smaller step.", c)]
    if passes in path.at:
        early = f"Gradient descent with η = {eta:g} is there after {passes} passes: it needs more, or a larger step."
        return [Finding("stopped too early", early, c)]
    if path.at:
        return [Finding("off by a pass", f"This is gradient descent after {path.at[-1]} passes, not {passes}.", c)]
    n = len(J.y)
    slips = (
        ("gradient ascent", -1.0, "These are steps up the gradient, θ + η∇J: is the sign of the step wrong?"),
        ("summed gradient", float(n), "The gradient is that of the sum of the losses: did you forget to divide by n?"),
        ("gradient divided by n twice", 1.0 / n, "The gradient is divided by n once more than the mean does."),
        ("half the gradient", 0.5, "Each step takes half the gradient: is a factor 2 of its derivative missing?"),
        ("twice the gradient", 2.0, "Each step takes twice the gradient: is a factor 2 too many in it?"),
    )
    return [
        Finding(name, f"{asks} That gives this answer after {passes} passes with η = {eta:g}.", c)
        for name, factor, asks in slips
        if passes in _follow(J, goal, start, factor * eta, passes).at
    ]
