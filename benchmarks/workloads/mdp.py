"""A sparse random decision process to a proved gap."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.harness import Entry, installed

STATES, ACTIONS, BRANCHES, DISCOUNT, GAP = 20_000, 8, 10, 0.99, 1e-6
WHAT = f"{STATES} states, {ACTIONS} actions, {BRANCHES} successors each, discount {DISCOUNT}, gap {GAP:g}"
GOAL = "2 times the best peer, at an equal proved gap"


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Successors and probabilities (states, actions, branches) and rewards (states, actions)."""
    rng = np.random.default_rng(0)
    at = rng.integers(STATES, size=(STATES, ACTIONS, BRANCHES))
    at[..., 0] = (np.arange(STATES)[:, None] + rng.integers(-5, 6, size=(STATES, ACTIONS))) % STATES
    p = rng.dirichlet(np.ones(BRANCHES), size=(STATES, ACTIONS))
    p[..., 0] += 4.0  # most of the time not far: otherwise every state is alike after two steps
    return at, p / p.sum(axis=2, keepdims=True), rng.normal(size=(STATES, ACTIONS))


def entries() -> list[Entry]:
    """certifit, mdpsolver, quantecon; each is handed its own form of the process beforehand."""
    from certifit.certificates.decisions import Model, bellman_bounds
    from certifit.reinforcement import MDP, value_iteration

    at, p, rewards = data()
    rows = np.arange(STATES * ACTIONS).repeat(BRANCHES)
    P = scipy.sparse.csr_matrix((p.ravel(), (rows, at.ravel())), shape=(STATES * ACTIONS, STATES))
    mdp = MDP([P[a::ACTIONS] for a in range(ACTIONS)], rewards, DISCOUNT, normalise=True)
    model = Model(mdp.data(), DISCOUNT)

    def gap(values: Any) -> float:
        """How far apart the bounds are that these values prove."""
        low, high = bellman_bounds(model, np.asarray(values, dtype=float))
        return float(np.max(high - low))

    found = [Entry("certifit", lambda: value_iteration(mdp, tol=GAP).values, gap, "ours")]
    if installed("mdpsolver"):
        found.append(Entry("mdpsolver", _mdpsolver(at, p, rewards), gap, repeats=3))
    if installed("quantecon"):
        from quantecon.markov import DiscreteDP

        s, a = np.arange(STATES).repeat(ACTIONS), np.tile(np.arange(ACTIONS), STATES)
        process = DiscreteDP(rewards.ravel(), P, DISCOUNT, s, a)

        def modified() -> Any:
            return process.solve(method="mpi", epsilon=GAP).v

        found.append(Entry("quantecon", modified, gap, note="modified policy iteration", repeats=3))
    return found


def _mdpsolver(at: np.ndarray, p: np.ndarray, rewards: np.ndarray) -> Any:
    import mdpsolver

    model = mdpsolver.model()
    model.mdp(discount=DISCOUNT, rewards=rewards.tolist(), tranMatProbs=p.tolist(), tranMatColumns=at.tolist())

    start = [0.0] * STATES  # without it a second call goes on from the answer of the first

    def run() -> Any:
        model.solve(tolerance=GAP, initValueVector=start, postProcessing=False, makeFinalCheck=False)
        return model.getValueVector()

    return run
