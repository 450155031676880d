"""Markov decision processes from arrays, sparse matrices, dictionaries or tables, in one form."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array, RandomState
from certifit.certificates import Data


class MDP:
    r"""A Markov decision process: states, actions, transition probabilities and rewards.

    .. math:: V^*(s) = \max_a\ r(s, a) + \gamma \sum_{s'} p(s' \mid s, a)\, V^*(s')

    Parameters
    ----------
    transitions : array of shape (A, S, S), sequence of A sparse matrices (S, S), dict, or table
        ``transitions[a][s, s2]`` is the probability of going from s to s2 by action a. A dict maps a state to a dict
        that maps an action to a list of ``(probability, next state, reward)``, or to a dict from next states to
        probabilities. A table is a data frame with, or a list of, rows
        ``(state, action, next, probability, reward)``. A state without actions is terminal and earns nothing. Names
        may be any hashable objects.
    rewards : array of shape (S, A), (A, S, S) or (S,), default=None
        Of arrays and sparse matrices: expected rewards, or rewards of each transition. Where dicts hold probabilities,
        a dict: state → reward, state → action → reward, or state → action → next state → reward.
    discount : float in [0, 1], default=0.9
        γ; 1 for finite horizons only.
    normalise : bool, default=False
        Divide every row by its sum. Otherwise a row that does not sum to one is rejected.

    Attributes
    ----------
    states, actions : list
        Names in order; numbers for arrays.
    n_states, n_actions : int

    Examples
    --------
    >>> stay, go = np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> mdp = MDP([stay, go], rewards=np.array([[0.0, 0.0], [1.0, 0.0]]), discount=0.5)
    >>> mdp.n_states, mdp.n_actions
    (2, 2)
    >>> MDP({"a": {"go": [(1.0, "b", 1.0)]}, "b": {}}, discount=0.5).states
    ['a', 'b']
    >>> MDP([np.array([[0.5, 0.4], [0.0, 1.0]])], rewards=[[0.0], [0.0]])
    Traceback (most recent call last):
    ...
    ValueError: The probabilities of state 0, action 0 sum to 0.9, not 1: correct them or pass normalise=True.
    """

    def __init__(self, transitions: Any, rewards: Any = None, discount: float = 0.9, normalise: bool = False) -> None:
        if not 0.0 <= float(discount) <= 1.0:
            raise ValueError(f"discount must lie between 0 and 1, not {discount!r}.")
        self.discount = float(discount)
        self.states: list[Any]
        self.actions: list[Any]
        if isinstance(transitions, Mapping):
            self._from_table(_rows_of_dict(transitions, rewards), list(transitions))
        elif _is_table(transitions):
            self._from_table(_rows_of_table(transitions), [])
        else:
            self._from_matrices(transitions, rewards)
        self._check(normalise)

    def _from_matrices(self, transitions: Any, rewards: Any) -> None:
        given = [t.tocsr() if scipy.sparse.issparse(t) else np.asarray(t, dtype=float) for t in transitions]
        A, S = len(given), given[0].shape[0] if len(given) else 0
        if not A or not S or any(t.shape != (S, S) for t in given):
            raise ValueError("transitions must be one square matrix (S, S) for each action, all of one size.")
        stacked = scipy.sparse.vstack([scipy.sparse.csr_matrix(t) for t in given], format="csr")
        order = np.arange(A * S).reshape(A, S).T.ravel()  # by state, then by action
        self.P = scipy.sparse.csr_matrix(stacked[order])
        self.states, self.actions = list(range(S)), list(range(A))
        self.state, self.action = np.repeat(np.arange(S), A), np.tile(np.arange(A), S)
        r = np.asarray(rewards, dtype=float) if rewards is not None else None
        if r is not None and r.shape == (A, S, S):
            each = [np.asarray(scipy.sparse.csr_matrix(t).multiply(w).sum(axis=1)).ravel() for t, w in zip(given, r)]
            r = np.stack(each, axis=1)
        elif r is not None and r.shape == (S,):
            r = np.repeat(r[:, None], A, axis=1)
        if r is None or r.shape != (S, A):
            raise ValueError(
                f"rewards must have shape ({S}, {A}), ({A}, {S}, {S}) or ({S},): states, actions, next states."
            )
        self.rewards = r.ravel()

    def _from_table(self, rows: list[tuple[Hashable, Hashable, Hashable, float, float]], known: list[Hashable]) -> None:
        names = dict.fromkeys([*known, *(s for s, *_ in rows), *(t for _, _, t, *_ in rows)])
        number = {s: i for i, s in enumerate(names)}
        self.states = list(names)
        self.actions = list(dict.fromkeys(a for _, a, *_ in rows)) or ["stay"]
        which = {a: i for i, a in enumerate(self.actions)}
        found: dict[tuple[int, int], list[tuple[int, float, float]]] = {}
        for s, a, t, p, r in rows:
            found.setdefault((number[s], which[a]), []).append((number[t], float(p), float(r)))
        for s in set(range(len(names))) - {s for s, _ in found}:
            found[s, 0] = [(s, 1.0, 0.0)]
        pairs = sorted(found)
        self.state, self.action = (np.array(v) for v in zip(*pairs))
        entries = [(i, t, p) for i, pair in enumerate(pairs) for t, p, _ in found[pair]]
        at, to, p = (np.array(v) for v in zip(*entries))
        self.P = scipy.sparse.csr_matrix((p, (at, to)), shape=(len(pairs), len(names)))
        self.rewards = np.array([sum(p * r for _, p, r in found[pair]) for pair in pairs])

    def _check(self, normalise: bool) -> None:
        self.P.sum_duplicates()
        self.P.eliminate_zeros()
        sums = np.asarray(self.P.sum(axis=1)).ravel()

        def told(row: int) -> str:
            return f"state {self.states[self.state[row]]!r}, action {self.actions[self.action[row]]!r}"

        if not np.all(np.isfinite(self.rewards)):
            raise ValueError(f"The reward of {told(int(np.argmin(np.isfinite(self.rewards))))} is not a finite number.")
        if not np.all(np.isfinite(self.P.data)) or np.any(self.P.data < 0):
            bad = np.flatnonzero(~(np.isfinite(self.P.data) & (self.P.data >= 0)))[0]
            row = int(np.searchsorted(self.P.indptr, bad, side="right")) - 1
            raise ValueError(f"The probabilities of {told(row)} are not all finite and at least 0.")
        off = np.abs(sums - 1.0) > self.n_states * 2.0**-52
        if normalise and np.all(sums > 0):
            self.P = scipy.sparse.csr_matrix(scipy.sparse.diags(1.0 / sums) @ self.P)
        elif np.any(off):
            row = int(np.argmax(off))
            raise ValueError(
                f"The probabilities of {told(row)} sum to {sums[row]:.6g}, not 1: correct them or pass normalise=True."
            )
        self.first = np.flatnonzero(np.diff(self.state, prepend=-1, append=self.n_states))

    @cached_property
    def shares(self) -> Any:
        """The probabilities with every row divided by its sum: what a row stands for, to rounding."""
        sums = np.asarray(self.P.sum(axis=1)).ravel()
        if np.abs(sums - 1.0).max(initial=0.0) <= 4.0 * 2.0**-52:
            return self.P
        shares = self.P.copy()
        shares.data /= np.repeat(sums, np.diff(shares.indptr))
        return shares

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.states)

    @property
    def n_actions(self) -> int:
        """Number of different actions."""
        return len(self.actions)

    def table(self) -> tuple[Any, Array]:
        """The data of the certificates: one row per state and action (state, probabilities), and the rewards.

        Returns
        -------
        X : sparse matrix of shape (rows, 1 + n_states)
        y : ndarray of shape (rows,)
            ``certificate.verify(*mdp.table())`` checks a certificate again.
        """
        return scipy.sparse.hstack(
            [scipy.sparse.csr_matrix(self.state[:, None].astype(float)), self.P], "csr"
        ), self.rewards

    def data(self) -> Data:
        """`table` in the form that certificates take."""
        return Data.of(*self.table())

    def rows(self, policy: Any) -> Array:
        """The rows of `table` that a policy takes: a name (or number) of an action for each state, or a mapping.

        Parameters
        ----------
        policy : sequence of n_states actions, or dict state → action
        """
        if isinstance(policy, Mapping):
            policy = [policy.get(s) for s in self.states]
        policy = list(policy)
        if len(policy) != self.n_states:
            raise ValueError(f"A policy names an action for each of the {self.n_states} states, not {len(policy)}.")
        which = {(int(s), int(a)): i for i, (s, a) in enumerate(zip(self.state, self.action))}
        number = {a: i for i, a in enumerate(self.actions)}
        rows = np.empty(self.n_states, dtype=np.int64)
        for s, a in enumerate(policy):
            only = self.first[s + 1] - self.first[s] == 1
            row = which.get((s, number.get(a, -1)), int(self.first[s]) if a is None and only else None)
            if row is None:
                allowed = [self.actions[self.action[i]] for i in range(self.first[s], self.first[s + 1])]
                raise ValueError(f"State {self.states[s]!r} has no action {a!r}; it has {allowed}.")
            rows[s] = row
        return rows

    def names(self, rows: Array) -> list[Any]:
        """The actions of the given ``rows`` of `table`."""
        return [self.actions[a] for a in self.action[rows]]

    def simulator(self, start: Any = None, random_state: RandomState = None, max_steps: int = 1000) -> Simulator:
        """An environment with ``reset()`` and ``step(action)``, for learners that do not know the model.

        Parameters
        ----------
        start : state, default=None
            Where episodes begin; any state at random when None.
        random_state : int or Generator, default=None
        max_steps : int ≥ 1, default=1000
            An episode ends after this number of steps, or in a terminal state.
        """
        return Simulator(self, start, random_state, max_steps)

    def __repr__(self) -> str:
        return f"MDP({self.n_states} states, {self.n_actions} actions, discount {self.discount:g})"


def _is_table(given: Any) -> bool:
    if hasattr(given, "columns"):
        return True
    return (
        isinstance(given, (list, tuple)) and bool(given) and isinstance(given[0], (list, tuple)) and len(given[0]) == 5
    )


def _rows_of_table(given: Any) -> list[tuple[Any, Any, Any, float, float]]:
    if hasattr(given, "columns"):
        columns = [list(given[c]) for c in given.columns]
        if len(columns) != 5:
            raise ValueError("A table has five columns: state, action, next, probability, reward.")
        return list(zip(*columns))
    if any(len(row) != 5 for row in given):
        raise ValueError("A table has five columns: state, action, next, probability, reward.")
    return [tuple(row) for row in given]


def _rows_of_dict(given: Mapping[Any, Any], rewards: Any) -> list[tuple[Any, Any, Any, float, float]]:
    rows = []
    for s, actions in given.items():
        if not isinstance(actions, Mapping):
            raise ValueError(f"The dictionary of state {s!r} must map its actions to outcomes, not be {actions!r}.")
        for a, outcomes in actions.items():
            if isinstance(outcomes, Mapping):
                rows += [(s, a, t, p, _earned(rewards, s, a, t)) for t, p in outcomes.items()]
                continue
            for outcome in outcomes:
                if not isinstance(outcome, Sequence) or len(outcome) not in (3, 4):
                    raise ValueError(
                        f"Outcomes of state {s!r}, action {a!r} are (probability, next state, reward), not {outcome!r}."
                    )
                p, t, r = outcome[:3]  # gymnasium's tables add whether the episode ends
                rows.append((s, a, t, p, r))
    return rows


def _earned(rewards: Any, s: Any, a: Any, t: Any) -> float:
    """The reward of a step: of the state, of state and action, or of all three."""
    found = rewards.get(s) if isinstance(rewards, Mapping) else None
    if isinstance(found, Mapping):
        found = found.get(a)
    if isinstance(found, Mapping):
        found = found.get(t)
    if found is None:
        raise ValueError(
            f"There is no reward of state {s!r}, action {a!r}: give rewards as a dictionary, state → reward or "
            "state → action → reward, or outcomes as (probability, next state, reward)."
        )
    return float(found)


class Simulator:
    """Draws next states of an `MDP`; the learner sees numbers of states and actions only."""

    def __init__(self, mdp: MDP, start: Any, random_state: RandomState, max_steps: int) -> None:
        self.mdp, self.rng = mdp, np.random.default_rng(random_state)
        self.n_states, self.n_actions, self.discount = mdp.n_states, mdp.n_actions, mdp.discount
        self.start = None if start is None else mdp.states.index(start)
        self.max_steps = max_steps
        self._row = {(int(s), int(a)): i for i, (s, a) in enumerate(zip(mdp.state, mdp.action))}
        self._end = [self._stays(s) for s in range(mdp.n_states)]

    def _stays(self, s: int) -> bool:
        rows = range(self.mdp.first[s], self.mdp.first[s + 1])
        return all(self.mdp.P[i, s] == 1.0 and self.mdp.rewards[i] == 0.0 for i in rows)

    def actions(self, state: int) -> Array:
        """Numbers of the actions of a state."""
        return np.asarray(self.mdp.action[self.mdp.first[state] : self.mdp.first[state + 1]])

    def reset(self) -> int:
        """A first state."""
        self.state = int(self.rng.integers(self.n_states)) if self.start is None else self.start
        self.steps = 0
        return self.state

    def step(self, action: int) -> tuple[int, float, bool]:
        """Next state, reward, and whether nothing more can be earned from there (or the episode is over)."""
        row = self._row[self.state, int(action)]
        P = self.mdp.P
        at, p = P.indices[P.indptr[row] : P.indptr[row + 1]], P.data[P.indptr[row] : P.indptr[row + 1]]
        self.state = int(at[min(int(np.searchsorted(np.cumsum(p), self.rng.random() * p.sum(), "right")), len(at) - 1)])
        self.steps += 1
        return self.state, float(self.mdp.rewards[row]), self._end[self.state]

    @property
    def over(self) -> bool:
        """Whether the episode has used up its steps."""
        return self.steps >= self.max_steps
