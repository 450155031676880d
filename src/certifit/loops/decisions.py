"""Sweeps over a Markov decision process: rows of a CSR matrix are states with their actions, in order.

``first[s]`` is the first row of state s, ``first[n]`` the number of rows. Ties go to the earlier action.
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
def evaluate(indptr, indices, data, rewards, policy, gamma, V, start, stop, out):
    """out = T_π V for states start..stop."""
    for s in range(start, stop):
        row, total = policy[s], 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += data[k] * V[indices[k]]
        out[s] = rewards[row] + gamma * total


def warm() -> None:
    """Compile for float64 and 32-bit indices."""
    indptr, indices = np.array([0, 1, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32)
    data, rewards, first = np.ones(2), np.ones(2), np.array([0, 1, 2])
    V, out, policy = np.zeros(2), np.zeros(2), np.zeros(2, dtype=np.int64)
    sweep(indptr, indices, data, rewards, first, 0.5, V, 0, 2, out, policy)
    sweep_in_place(indptr, indices, data, rewards, first, 0.5, V, np.arange(2), policy)
    evaluate(indptr, indices, data, rewards, policy, 0.5, V, 0, 2, out)
