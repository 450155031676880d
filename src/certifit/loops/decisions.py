"""Sweeps over a Markov decision process: rows of a CSR matrix are states with their actions, in order.

``first[s]`` is the first row of state s, ``first[n]`` the number of rows. Ties go to the earlier action. Give
``indptr`` and ``indices`` as unsigned integers: a signed index may count from the end, and asking each one halves the
speed.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def sweep(indptr, indices, data, rewards, first, gamma, V, start, stop, out, policy):
    """out = TV for states start..stop, and the rows that reach it."""
    for s in range(start, stop):
        out[s], policy[s] = _back_up(indptr, indices, data, rewards, first, gamma, V, s)


@njit(cache=True, nogil=True)
def sweep_in_place(indptr, indices, data, rewards, first, gamma, V, order, policy):
    """Gauss and Seidel's sweep: states in the given order, each with the newest values of the others."""
    for s in order:
        V[s], policy[s] = _back_up(indptr, indices, data, rewards, first, gamma, V, s)


@njit(cache=True, nogil=True)
def take_rows(indptr, indices, data, rows):
    """The chosen rows as a matrix of their own: sweeps over it read memory in order."""
    n = rows.shape[0]
    ends = np.empty(n + 1, dtype=indptr.dtype)
    ends[0] = 0
    for s in range(n):
        ends[s + 1] = ends[s] + indptr[rows[s] + 1] - indptr[rows[s]]
    where, values = np.empty(ends[n], dtype=indices.dtype), np.empty(ends[n])
    for s in range(n):
        a = indptr[rows[s]]
        for k in range(ends[s + 1] - ends[s]):
            where[ends[s] + k] = indices[a + k]
            values[ends[s] + k] = data[a + k]
    return ends, where, values


@njit(cache=True, nogil=True)
def evaluate(indptr, indices, data, rewards, gamma, V, start, stop, out):
    """out = r + γPV for states start..stop, one row of P a state."""
    for s in range(start, stop):
        total = 0.0
        for k in range(indptr[s], indptr[s + 1]):
            total += data[k] * V[indices[k]]
        out[s] = rewards[s] + gamma * total


@njit(cache=True, nogil=True)
def evaluate_often(indptr, indices, data, rewards, gamma, V, times):
    """V after so many sweeps of `evaluate` over all states."""
    before, after = V.copy(), np.empty_like(V)
    for _ in range(times):
        evaluate(indptr, indices, data, rewards, gamma, before, 0, V.shape[0], after)
        before, after = after, before
    return before


def warm() -> None:
    """Compile for float64 and 32-bit indices."""
    indptr, indices = np.array([0, 1, 2], dtype=np.uint32), np.array([0, 1], dtype=np.uint32)
    data, rewards, first = np.ones(2), np.ones(2), np.array([0, 1, 2])
    V, out, policy = np.zeros(2), np.zeros(2), np.zeros(2, dtype=np.int64)
    sweep(indptr, indices, data, rewards, first, 0.5, V, 0, 2, out, policy)
    sweep_in_place(indptr, indices, data, rewards, first, 0.5, V, np.arange(2), policy)
    ends, where, values = take_rows(indptr, indices, data, policy)
    evaluate(ends, where, values, rewards, 0.5, V, 0, 2, out)
    evaluate_often(ends, where, values, rewards, 0.5, V, 2)
