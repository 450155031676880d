"""Planning with a known model: value iteration, policy iteration, backward induction.

Value iteration stops by what is proved (section of MacQueen and Porteus in `certifit.certificates.decisions`): with
a ≤ TV − V ≤ b, the values are known to within γ(b − a)/(1 − γ), which falls much faster than the change itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse
import scipy.sparse.linalg

from certifit._errors import respelled
from certifit._types import Array
from certifit.certificates.decisions import Model, backward
from certifit.parallel import by_ranges, ranges, side_by_side
from certifit.reinforcement._mdp import MDP
from certifit.reinforcement._plan import FinitePlan, Plan
from certifit.solvers import drive

_LEAST = 2048  # states that are worth a thread
_MANY = 32_768  # and where each has one action only
_FEW = 2  # sweeps of a policy before it is first improved, twice that the next time, and so on: later ones are better
_MORE = 4  # the same for a policy that hardly changes any more
_SETTLED = 0.005  # of the states may change their action in a policy that is settled
_CYCLES = 4  # of `solve_often` for a settled policy


class _PlanState(NamedTuple):
    values: Array
    rows: Array
    objective: float
    gap: float
    step: float
    left: Array  # what the last sweep changed, without its middle
    looks: int = 1
    pace: Literal["short", "settled", "long"] = "short"


_SHOWN = 100  # states up to which a trace holds the value of each


class Sweeps:
    """Bellman's operator of one process, as compiled sweeps."""

    def __init__(self, mdp: MDP) -> None:
        if not mdp.discount < 1.0:
            raise ValueError("An infinite horizon needs a discount below 1: use finite_horizon, or a smaller discount.")
        self.mdp, self.n = mdp, mdp.n_states
        self.P = mdp.shares
        indptr, indices = (a.view(f"u{a.itemsize}") for a in (self.P.indptr, self.P.indices))
        self.matrix: tuple[Any, Any, Any] = (indptr, indices, self.P.data)
        self._held: tuple[Any, ...] | None = None
        self._few = self.n < 2 * _MANY

    def best(self, V: Array) -> tuple[Array, Array]:
        """TV and the rows that reach it."""
        from certifit.loops.decisions import sweep

        out, rows, m = np.empty(self.n), np.empty(self.n, dtype=np.int64), self.mdp
        indptr, indices, data = self.matrix
        if not V.any():  # the rewards alone
            indptr = np.zeros_like(indptr)
        args = (indptr, indices, data, m.rewards, m.first, m.discount, V)
        # More ranges than threads: one that wakes late finds less to do.
        parts = ranges(self.n, self.n // _LEAST)
        side_by_side(lambda part: sweep(*args, part[0], part[1], out, rows), parts)
        return out, rows

    def in_place(self, V: Array, order: Array) -> Array:
        """Gauss and Seidel's sweep over the states in this order."""
        from certifit.loops.decisions import sweep_in_place

        rows, V = np.zeros(self.n, dtype=np.int64), V.copy()
        sweep_in_place(*self.matrix, self.mdp.rewards, self.mdp.first, self.mdp.discount, V, order, rows)
        return V

    def follow(self, state: _PlanState, times: int) -> Array:
        """The values after so many sweeps of the state's policy alone.

        With d = TV − V without its middle, these add γPd + (γP)²d + … to the values.
        """
        from certifit.loops.decisions import evaluate_often

        often: Any = evaluate_often if self._few else self._often
        return self._added(state, lambda held, d: often(*held[1:], d, times))

    def settle(self, state: _PlanState) -> Array:
        """Nearly the values of the state's policy: one that hardly changes any more is worth it."""
        from certifit.loops.decisions import solve_often

        solve: Any = solve_often
        return self._added(state, lambda held, d: solve(*held, d, self.mdp.discount, _CYCLES))

    def _added(self, state: _PlanState, total: Callable[[tuple[Any, ...], Array], Array]) -> Array:
        """In single precision, which halves what a sweep reads: the next sweep over all actions is in double
        precision and measures what was left."""
        size = float(np.abs(state.left).max())
        if size == 0.0:
            return state.values
        found = total(self._own(state.rows), (state.left / size).astype(np.float32))
        return np.asarray((state.values - state.left) + size * found.astype(float))

    def _often(self, places: Array, ends: Array, where: Array, values: Array, d: Array, times: int) -> Array:
        """`evaluate_often` by several threads."""
        from certifit.loops.decisions import evaluate

        before, after = d.copy(), np.empty_like(d)

        def work(first: int, last: int) -> None:
            evaluate(places, ends, where, values, d, before, first, last, after)

        for _ in range(times):
            by_ranges(work, self.n, _MANY)
            before, after = after, before
        return before

    def _own(self, rows: Array) -> tuple[Any, ...]:
        """The rows of a policy, times γ, as `hold_rows` keeps them; only what differs from the last is fetched."""
        from certifit.loops.decisions import hold_rows

        if self._held is None:
            longest = np.maximum.reduceat(np.diff(self.P.indptr), self.mdp.first[:-1])
            ends = np.cumsum(longest).astype(np.uint64)
            room = int(ends[-1])
            matrix = (ends - longest.astype(np.uint64), ends, np.empty(room, self.matrix[1].dtype))
            scale, values = np.empty(self.n, dtype=np.float32), np.empty(room, dtype=np.float32)
            self._held = (np.full(self.n, -1), scale, *matrix, values)
        hold_rows(*self.matrix, self.mdp.discount, rows, 0, self.n, *self._held)
        return self._held[1:]

    def improved(self, state: _PlanState) -> _PlanState:
        """Modified policy iteration: nearer to the values of the policy, and the policy that is greedy for them."""
        looks = state.looks + 1
        pace: Literal["short", "settled", "long"] = state.pace
        if pace == "settled":
            after = self.state(self.settle(state))
            if after.gap < 0.25 * state.gap:
                return after._replace(looks=looks, pace=pace)
            pace = "long"  # the states have too little in common for its shift
        after = self.state(self.follow(state, (_FEW if pace == "short" else _MORE) * state.looks))
        if pace == "short" and np.count_nonzero(after.rows != state.rows) <= _SETTLED * self.n:
            pace = "settled" if self._few else "long"
        return after._replace(looks=looks, pace=pace)

    def state(self, V: Array) -> _PlanState:
        """The values after one more sweep, moved to the middle of their bounds, and how wide these are."""
        TV, rows = self.best(V)
        change = TV - V
        low, high = float(change.min()), float(change.max())
        middle, factor = 0.5 * (low + high), self.mdp.discount / (1.0 - self.mdp.discount)
        values = TV + factor * middle
        gap, step = factor * (high - low), max(abs(low), abs(high))
        return _PlanState(values, rows, float(values.mean()), gap, step, change - middle)


def value_iteration(
    mdp: MDP,
    tol: float = 1e-6,
    method: Literal["auto", "jacobi", "gauss_seidel", "prioritised"] = "auto",
    max_iter: int = 100_000,
    time_budget: float | None = None,
    trace: bool = False,
) -> Plan:
    r"""The best values and policy by repeated sweeps, until their proved error is at most ``tol``.

    Parameters
    ----------
    mdp : MDP
    tol : float > 0, default=1e-6
        Upper minus lower bound of the best values, in every state.
    method : {"auto", "jacobi", "gauss_seidel", "prioritised"}, default="auto"
        What happens between two evaluations of the bounds: sweeps of the greedy policy alone (modified policy
        iteration); one plain sweep; a sweep that uses new values immediately; the states whose values change most.
    max_iter : int ≥ 1, default=100_000
    time_budget : float > 0, default=None
        Seconds.
    trace : bool, default=False
        Keep every iteration: ``gap`` is the width of the bounds, ``step`` the largest change.

    Returns
    -------
    Plan

    Examples
    --------
    >>> mdp = MDP([np.eye(2), np.eye(2)[::-1]], rewards=[[0.0, 0.0], [1.0, 0.0]], discount=0.5)
    >>> plan = value_iteration(mdp)
    >>> plan.policy, plan.values.round(4).tolist()
    ([1, 0], [1.0, 2.0])
    >>> plan.certificate.loss < 1e-6, bool(np.all(plan.lower <= plan.upper))
    (True, True)
    """
    if not tol > 0:
        raise ValueError(f"tol must be a positive number, not {tol!r}.")
    method = respelled("method", method)
    if method not in ("auto", "jacobi", "gauss_seidel", "prioritised"):
        raise ValueError(f"method must be 'auto', 'jacobi', 'gauss_seidel' or 'prioritised', not {method!r}.")
    sweeps = Sweeps(mdp)

    def advance(state: _PlanState) -> _PlanState:
        V = state.values
        if method == "gauss_seidel":
            V = sweeps.in_place(V, np.arange(sweeps.n))
        elif method == "prioritised":
            error = np.abs(sweeps.best(V)[0] - V)
            order = np.argsort(-error, kind="stable")
            V = sweeps.in_place(V, order[error[order] >= 0.1 * error.max()])
        elif method == "auto":
            return sweeps.improved(state)
        return sweeps.state(V)._replace(looks=state.looks + 1)

    start = sweeps.state(np.zeros(sweeps.n))

    def finished(before: _PlanState, after: _PlanState) -> str:
        if after.gap <= 0.5 * tol:
            return "converged"
        # Rounding leaves bounds of some units of the values: less cannot be asked for.
        floor = 16.0 * 2.0**-53 * float(np.abs(after.values).max()) / (1.0 - mdp.discount)
        return "precision" if after.gap <= floor else ""

    named: Any = {"events": _shown(mdp), "check_start": True, "what": "value iteration"}
    run = drive(start, advance, finished, max_iter, time_budget, trace, **named)
    state = run.state
    # The policy was greedy for the values before the last sweep, which was therefore a sweep of its own values, too.
    return Plan(mdp, state.values, state.rows, run.status, run.n_iter, run.trace, state.values)


def _shown(mdp: MDP) -> Callable[[_PlanState], Iterable[Mapping[str, Any]]]:
    """What a trace shows besides: values and best actions of every state, where these are few."""
    if mdp.n_states > _SHOWN:
        return lambda s: ({},)
    return lambda s: ({"values": s.values.copy(), "actions": mdp.names(s.rows)},)


def policy_value(mdp: MDP, policy: npt.ArrayLike) -> Array:
    """The value of a policy in every state: the solution of (I − γP_π)V = r_π.

    Parameters
    ----------
    mdp : MDP
    policy : sequence of n_states actions, or dict state → action

    Returns
    -------
    ndarray of shape (n_states,)

    Examples
    --------
    >>> mdp = MDP([np.eye(2), np.eye(2)[::-1]], rewards=[[0.0, 0.0], [1.0, 0.0]], discount=0.5)
    >>> policy_value(mdp, [0, 0]).tolist()
    [0.0, 2.0]
    """
    return values_of(Sweeps(mdp), mdp.rows(policy))


def values_of(sweeps: Sweeps, rows: Array) -> Array:
    A = scipy.sparse.identity(sweeps.n, format="csc") - sweeps.mdp.discount * sweeps.P[rows].tocsc()
    return np.atleast_1d(scipy.sparse.linalg.spsolve(A, sweeps.mdp.rewards[rows]))


def policy_iteration(mdp: MDP, max_iter: int = 1000, time_budget: float | None = None, trace: bool = False) -> Plan:
    """The best policy: solve for the values of a policy and improve it until no action is better.

    Parameters
    ----------
    mdp : MDP
    max_iter : int ≥ 1, default=1000
    time_budget : float > 0, default=None
        Seconds.
    trace : bool, default=False

    Returns
    -------
    Plan

    Examples
    --------
    >>> mdp = MDP([np.eye(2), np.eye(2)[::-1]], rewards=[[0.0, 0.0], [1.0, 0.0]], discount=0.5)
    >>> plan = policy_iteration(mdp)
    >>> plan.values.tolist(), plan.certify(rigor="exact").loss
    ([1.0, 2.0], 0.0)
    """
    sweeps = Sweeps(mdp)

    def state(rows: Array) -> _PlanState:
        V = values_of(sweeps, rows)
        TV, greedy = sweeps.best(V)
        # Another action only where it is better beyond rounding: policies then cannot come back.
        least = V + 1e-12 * (1.0 + np.abs(V))
        better = np.greater(TV, least)
        gain = float(max((TV - V).max(), 0.0))
        bound = gain / (1.0 - mdp.discount)
        return _PlanState(V, np.where(better, greedy, rows), float(V.mean()), bound, float(better.sum()), TV - V)

    first = state(sweeps.best(np.zeros(sweeps.n))[1])
    run = drive(
        first,
        lambda s: state(s.rows),
        lambda before, after: after.step == 0.0,
        max_iter,
        time_budget,
        trace,
        events=_shown(mdp),
        check_start=True,
        what="policy iteration",
    )
    V, rows = run.state.values, run.state.rows
    return Plan(mdp, V, rows, run.status, run.n_iter, run.trace, V)


def finite_horizon(mdp: MDP, horizon: int, terminal: Any = None) -> FinitePlan:
    """The best policy for a number of steps, by backward induction; the discount may be 1.

    Parameters
    ----------
    mdp : MDP
    horizon : int ≥ 1
    terminal : array-like of shape (n_states,), default=None
        Values after the last step; zero when None.

    Returns
    -------
    FinitePlan

    Examples
    --------
    >>> mdp = MDP([np.eye(2), np.eye(2)[::-1]], rewards=[[0.0, 0.0], [1.0, 0.0]], discount=1.0)
    >>> finite_horizon(mdp, 3).values[0].tolist()
    [2.0, 3.0]
    """
    if int(horizon) != horizon or horizon < 1:
        raise ValueError(f"horizon must be an integer ≥ 1, not {horizon!r}.")
    last = np.zeros(mdp.n_states) if terminal is None else np.asarray(terminal, dtype=float)
    if last.shape != (mdp.n_states,) or not np.all(np.isfinite(last)):
        raise ValueError(f"terminal must contain a finite value for each of the {mdp.n_states} states.")
    model = Model(mdp.data(), mdp.discount)
    values = backward(model, int(horizon), None, last)[::-1]
    rows = np.empty((int(horizon), mdp.n_states), dtype=np.int64)
    for step, after in enumerate(values[1:]):
        Q = model.choices(after).mid
        for s in range(mdp.n_states):
            a, b = mdp.first[s], mdp.first[s + 1]
            rows[step, s] = a + int(np.argmax(Q[a:b]))
    mid, low, high = (np.stack([getattr(v, name) for v in values]) for name in ("mid", "lower", "upper"))
    return FinitePlan(mdp, mid, rows, low, high)
