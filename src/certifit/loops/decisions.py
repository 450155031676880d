"""Sweeps over a Markov decision process: rows of a CSR matrix are states with their actions, in order.

``first[s]`` is the first row of state s, ``first[n]`` the number of rows. Ties go to the earlier action. Give
``indptr`` and ``indices`` as unsigned integers: a signed index may count from the end, and asking each one halves the
speed.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit


@njit(nogil=True)
def _back_up(indptr, indices, data, rewards, first, gamma, V, s):
    """Best value of state s and the row that gives it."""
    best, which = -np.inf, -1
    for row in range(first[s], first[s + 1]):
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += data[k] * V[indices[k]]
        value = rewards[row] + gamma * total
        if value > best:
            best, which = value, row
    return best, which


@njit(nogil=True)
def sweep(indptr, indices, data, rewards, first, gamma, V, start, stop, out, policy):
    """out = TV for states start..stop, and the rows that reach it."""
    for s in range(start, stop):
        out[s], policy[s] = _back_up(indptr, indices, data, rewards, first, gamma, V, s)


@njit(nogil=True)
def sweep_in_place(indptr, indices, data, rewards, first, gamma, V, order, policy):
    """Gauss and Seidel's sweep: states in the given order, each with the newest values of the others."""
    for s in order:
        V[s], policy[s] = _back_up(indptr, indices, data, rewards, first, gamma, V, s)


@njit(nogil=True)
def hold_rows(indptr, indices, data, gamma, rows, start, stop, held, scale, places, ends, where, values):
    """Copies of the chosen rows, times γ, for sweeps that read memory in order; those held already are left alone.

    The row of state s lies in ``places[s]..ends[s]``; ``places`` leaves room for the longest row of each state.
    ``scale[s]`` is 1/(1 − γp) with p the probability to stay in s.
    """
    for s in range(start, stop):
        row = rows[s]
        if row != held[s]:
            held[s], a, at = row, indptr[row], places[s]
            ends[s] = at + indptr[row + 1] - a
            scale[s] = 1.0
            for k in range(indptr[row + 1] - a):
                where[at + k] = indices[a + k]
                values[at + k] = gamma * data[a + k]
                if indices[a + k] == s:
                    scale[s] = 1.0 / (1.0 - gamma * data[a + k])


@njit(nogil=True)
def evaluate(places, ends, where, values, change, d, start, stop, out):
    """out = change + γPd for states start..stop, by the rows that `hold_rows` left."""
    for s in range(start, stop):
        total = change[s]
        for k in range(places[s], ends[s]):
            total += values[k] * d[where[k]]
        out[s] = total


@njit(nogil=True)
def evaluate_often(places, ends, where, values, change, times):
    """(I + γP + … + (γP)^times) change."""
    before, after = change.copy(), np.empty_like(change)
    for _ in range(times):
        evaluate(places, ends, where, values, change, before, 0, change.shape[0], after)
        before, after = after, before
    return before


@njit(nogil=True)
def solve_often(scale, places, ends, where, values, change, gamma, cycles):
    """Nearly the d with (I − γP)d = change: in each cycle a plain sweep, a shift of all states, then five in place.

    Sweeps in place with each state's chance to stay solved for are quick wherever few states visit each other in turn,
    and slow for what is common to all of them; that is taken out by the shift.
    """
    n = change.shape[0]
    d, after = change.copy(), np.empty_like(change)
    for _ in range(cycles):
        evaluate(places, ends, where, values, change, d, 0, n, after)
        total = 0.0
        for s in range(n):
            total += after[s] - d[s]
        shift = gamma / (1.0 - gamma) * total / n
        for s in range(n):
            d[s] = after[s] + shift
        for _ in range(5):
            for s in range(n):
                left = change[s] - d[s]
                for k in range(places[s], ends[s]):
                    left += values[k] * d[where[k]]
                d[s] += scale[s] * left
    evaluate(places, ends, where, values, change, d, 0, n, after)
    return after


def warm() -> None:
    """Compile for float64 and 32-bit indices."""
    indptr, indices = np.array([0, 1, 2], dtype=np.uint32), np.array([0, 1], dtype=np.uint32)
    data, rewards, first = np.ones(2), np.ones(2), np.array([0, 1, 2])
    V, out, policy = np.zeros(2), np.zeros(2), np.zeros(2, dtype=np.int64)
    sweep(indptr, indices, data, rewards, first, 0.5, V, 0, 2, out, policy)
    sweep_in_place(indptr, indices, data, rewards, first, 0.5, V, np.arange(2), policy)
    held, places, ends = np.full(2, -1), np.array([0, 1], dtype=np.uint64), np.zeros(2, dtype=np.uint64)
    own = (places, ends, np.zeros(2, dtype=np.uint32), np.zeros(2, dtype=np.float32))
    change, after, scale = (np.zeros(2, dtype=np.float32) for _ in range(3))
    hold_rows(indptr, indices, data, 0.5, policy, 0, 2, held, scale, *own)
    evaluate(*own, change, change, 0, 2, after)
    evaluate_often(*own, change, 2)
    solve_often(scale, *own, change, 0.5, 1)
