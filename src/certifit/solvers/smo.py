"""Sequential minimal optimisation on blocks of violators.

Minimise ½ βᵀKβ − yᵀβ subject to Σβ = 0 and lo ≤ β ≤ hi, the dual of the soft-margin machine with β = y∘α; F is the
gradient Kβ − y, and −b the level at which F changes sides. Three nested sets keep the work small:

- *all* n points, whose F is brought up to date once a round;
- the *active* points: free ones, and those at a bound that are near to wanting to leave it (shrinking);
- the *block*: the worst violators among them, solved to a fraction of the violation by pair steps in compiled code
  on its own small Gram matrix.

Only points whose β changed need a row of the Gram matrix, and that against the active points; rows are computed as
blocks of a matrix product in single precision where the asked gap allows it. A round ends when the violation among
the active points has fallen by a factor; the fit ends when the duality gap, with the best offset, is small.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.design import Blocks
from certifit.loops import smo as loops
from certifit.parallel import one_thread
from certifit.solvers.balance import balance

_BLOCK, _LARGEST_BLOCK = 1024, 4096
_INNER, _ROUND = 0.5, 0.3  # fraction of the violation left by a block, and by a round
_STEPS_PER_POINT = 20
_PROBE = 128  # points whose gradient is recomputed in double precision before a fit in single precision ends


@dataclass
class Machine:
    """A solved soft-margin dual: β, gradient, offset, gap, and how it went."""

    beta: Array
    gradient: Array
    offset: float
    gap: float
    violation: float
    status: str  # "solved", "time", "steps", or "rounding": no further digit to gain
    rounds: int
    steps: int
    trace: list[dict[str, float]] = field(default_factory=list)


@dataclass
class _Clock:
    """When to stop: seconds and pair steps."""

    start: float
    budget: float
    max_steps: float
    steps: int = 0

    def over(self) -> str:
        if time.perf_counter() - self.start > self.budget:
            return "time"
        return "steps" if self.steps >= self.max_steps else ""


def best_offsets(F: Array, lo: Array, hi: Array) -> tuple[float, float]:
    """Ends of the interval of offsets b that minimise Σ costᵢ max(0, −yᵢ(Fᵢ + b)): a weighted median of −F.

    Examples
    --------
    >>> best_offsets(np.array([-1.0, 1.0]), np.array([0.0, -1.0]), np.array([1.0, 0.0]))
    (-1.0, 1.0)
    """
    order = np.argsort(F, kind="stable")
    cost = (hi - lo)[order]
    # Rising t = −b past F_k turns end lo_k into hi_k; the slope changes sign where the sum of ends crosses zero.
    total = np.cumsum(cost) + lo.sum()
    k = int(np.searchsorted(total, -1e-12 * cost.sum()))
    k = min(k, len(F) - 1)
    t = float(F[order[k]])
    after = k + 1
    flat = abs(total[k]) <= 1e-12 * cost.sum() and after < len(F)
    return (-float(F[order[after]]) if flat else -t), -t


def smo(
    make: Callable[[Any], Blocks],
    y: Array,
    cost: Array,
    target: float,
    *,
    single: bool = False,
    time_budget: float | None = None,
    max_steps: float = np.inf,
    shrinking: bool = True,
    trace: bool = False,
) -> Machine:
    """Solve the dual until the duality gap is at most ``target``.

    Parameters
    ----------
    make : callable
        ``make(dtype)`` gives the Gram matrix by blocks in that precision.
    y : array of −1.0 and +1.0
    cost : array
        C of each row (> 0).
    target : float
        Absolute gap to reach, in units of ½‖w‖² + Σ cost·hinge.
    single : bool, default=False
        Begin with blocks in single precision; double precision takes over if they prove too coarse.
    time_budget : float, default=None
        Seconds after which the best so far is returned.
    max_steps : float, default=inf
        Pair steps after which the best so far is returned.
    shrinking : bool, default=True
        Whether points far from leaving their bound are set aside between rounds.
    trace : bool, default=False
        Whether to record objective, gap, steps and seconds after every round.
    """
    clock = _Clock(time.perf_counter(), np.inf if time_budget is None else time_budget, max_steps)
    lo, hi = np.where(y > 0, 0.0, -cost), np.where(y > 0, cost, 0.0)
    gram = make(np.float32 if single else np.float64)
    machine = Machine(np.zeros(len(y)), -y.astype(float), 0.0, np.inf, np.inf, "", 0, 0)
    with one_thread():
        while True:
            _rounds(gram, machine, lo, hi, target, clock, trace, shrinking)
            if not single or machine.status != "solved" or _precise(make, gram, machine, y, cost, target):
                break
            single, gram = False, make(np.float64)
            used = np.flatnonzero(machine.beta)
            machine.gradient = gram.combine(used, machine.beta[used]) - y
    machine.steps = clock.steps
    return machine


def _rounds(
    gram: Blocks, m: Machine, lo: Array, hi: Array, target: float, clock: _Clock, trace: bool, shrinking: bool
) -> None:
    stalled, fresh = 0, False
    sign = np.where(hi > 0, 1.0, -1.0)
    while True:
        before = m.gap
        low, high = loops.violation(m.gradient, m.beta, lo, hi)
        m.violation = max(0.0, float(high - low))
        m.offset = float(np.mean(best_offsets(m.gradient, lo, hi)))
        m.gap = float(loops.gap_at(m.gradient, m.beta, lo, hi, m.offset)[0])
        if trace:
            seconds = time.perf_counter() - clock.start
            dual = 0.5 * float(m.beta @ (sign - m.gradient))
            m.trace.append({"objective": dual + m.gap, "gap": m.gap, "step": clock.steps, "seconds": seconds})
        # Rounding ends the descent when neither gap nor violation improves any more.
        stalled = stalled + 1 if m.gap > 0.99 * before else 0
        if m.gap <= target or stalled >= 20 or m.violation <= 1e-15 * (1.0 + abs(m.offset)):
            if fresh or gram.dtype == np.float32:
                m.status = "solved" if m.gap <= target else "rounding"
                return
            # Many small updates have left their rounding in Σβ and in the gradient: look again with fresh ones.
            m.beta = balance(m.beta, hi - lo)
            used = np.flatnonzero(m.beta)
            m.gradient = gram.combine(used, m.beta[used]) - sign
            fresh, stalled, m.gap = True, 18, np.inf
            continue
        m.status = clock.over()
        if m.status:
            return
        m.rounds += 1
        fresh = False
        _one_round(gram, m, lo, hi, clock, shrinking)


def _one_round(gram: Blocks, m: Machine, lo: Array, hi: Array, clock: _Clock, shrinking: bool) -> None:
    """Choose the active points, descend on them, and bring the gradient of the others up to date."""
    r = m.gradient + m.offset
    slack = np.where(m.beta <= lo, r, np.where(m.beta >= hi, -r, -np.inf))
    active = np.flatnonzero(slack < m.violation)
    if not shrinking or len(active) > 0.8 * len(r):
        _descend(gram, m.gradient, m.beta, lo, hi, _ROUND * m.violation, clock)
        return
    part = gram.take(active)
    F, beta = m.gradient[active], m.beta[active]
    old = beta.copy()
    _descend(part, F, beta, lo[active], hi[active], _ROUND * m.violation, clock)
    m.beta[active] = beta
    changed = np.flatnonzero(beta != old)
    if len(changed):
        rest = np.ones(len(r), dtype=bool)
        rest[active] = False
        outside = np.flatnonzero(rest)
        # The changed points come first, the points outside after them: one product serves.
        both = gram.take(np.concatenate([active[changed], outside]))
        update = both.combine(np.arange(len(changed)), (beta - old)[changed])
        m.gradient[outside] += update[len(changed) :]
    m.gradient[active] = F


def _descend(gram: Blocks, F: Array, beta: Array, lo: Array, hi: Array, eps: float, clock: _Clock) -> None:
    """Blocks of the worst violators until the violation is at most eps; F and β change in place."""
    everything = np.arange(len(F))
    while True:
        low, high = loops.violation(F, beta, lo, hi)
        gap = high - low
        if gap <= eps or not np.isfinite(gap) or clock.over():
            return
        block = everything if len(F) <= _BLOCK else _worst(F, beta, lo, hi)
        f, b = F[block], beta[block]
        old = b.copy()
        K = gram.block(block, block)
        most = int(min(_STEPS_PER_POINT * len(block), max(1, clock.max_steps - clock.steps)))
        steps, _ = loops.solve_block(K, f, b, lo[block], hi[block], max(_INNER * gap, 0.5 * eps), most)
        clock.steps += steps
        changed = np.flatnonzero(b != old)
        if not len(changed):
            return
        beta[block] = b
        if len(block) == len(F):
            F[block] = f  # the block may hold every point in another order
        else:
            F += gram.combine(block[changed], (b - old)[changed])


def _worst(F: Array, beta: Array, lo: Array, hi: Array) -> Array:
    """The worst violators of both kinds; room for all free points where they are few enough."""
    free = int(np.count_nonzero((beta > lo) & (beta < hi)))
    half = int(min(len(F), _LARGEST_BLOCK, max(_BLOCK, 1.3 * free))) // 2
    rising = np.where(beta < hi, F, np.inf)
    falling = np.where(beta > lo, -F, np.inf)
    first = np.argpartition(rising, half - 1)[:half]
    first = first[np.isfinite(rising[first])]
    falling[first] = np.inf
    second = np.argpartition(falling, half - 1)[:half]
    return np.concatenate([first, second[np.isfinite(falling[second])]])


def _precise(make: Any, gram: Blocks, m: Machine, y: Array, cost: Array, target: float) -> bool:
    """Whether single precision was good enough: some gradients recomputed in double precision tell."""
    used = np.flatnonzero(m.beta)
    probe = np.unique(np.linspace(0, len(y) - 1, _PROBE).astype(int))
    some = make(np.float64).take(np.concatenate([probe, used]))
    width, total = len(probe), np.zeros(len(probe))
    for k in range(0, len(used), 4096):
        stop = min(len(used), k + 4096)
        K = some.block(np.arange(width), np.arange(width + k, width + stop))
        total += K @ m.beta[used[k:stop]]
    error = np.abs(total - y[probe] - m.gradient[probe])
    # The gap moves by at most cost·|error| a row, and at most where the row matters; the offset is free.
    return bool(error.mean() * cost.sum() <= target)
