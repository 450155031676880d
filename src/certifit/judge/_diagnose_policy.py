"""Why is a policy not the best one? Policies that are best for other rewards, or for a nearer future."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from certifit._types import Array
from certifit.certificates import Certificate, Data, issue
from certifit.judge._findings import Diagnosis, Finding

_SWEEPS = 100_000
_HORIZON = 50  # steps up to which a plan of finite length is looked for


class _Process:
    """States, probabilities and rewards as a certificate of a policy has them."""

    def __init__(self, data: Data, discount: float) -> None:
        X = scipy.sparse.csr_matrix(data.X)
        self.state = np.asarray(X[:, [0]].todense()).ravel().astype(int)
        self.P = X[:, 1:].tocsr()
        self.rewards, self.discount = np.asarray(data.y, dtype=float), discount
        self.first = np.flatnonzero(np.diff(self.state, prepend=-1))

    def sweeps(self) -> Iterator[tuple[Array, Array]]:
        """Values of every state and action, and of every state, sweep after sweep."""
        V = np.zeros(len(self.first))
        for _ in range(_SWEEPS):
            choices = self.rewards + self.discount * (self.P @ V)
            V = np.maximum.reduceat(choices, self.first)
            yield choices, V

    def best(self) -> Array:
        """The best values, as near as doubles go."""
        V = np.zeros(len(self.first))
        for _, W in self.sweeps():
            change, V = float(np.abs(W - V).max()), W
            if change <= 1e-13 * (1.0 + float(np.abs(W).max())) * (1.0 - self.discount):
                break
        return V

    def judged(self, policy: Array) -> Certificate:
        """What this policy loses here."""
        P = scipy.sparse.eye(len(self.first), format="csc") - self.discount * self.P[policy].tocsc()
        own = scipy.sparse.linalg.spsolve(P, self.rewards[policy])
        evidence = {"policy": policy, "values": self.best(), "policy_values": own, "discount": self.discount}
        data = Data.of(scipy.sparse.hstack([self.state[:, None].astype(float), self.P]).tocsr(), self.rewards)
        return issue("policy", data, evidence)


def diagnose_policy(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Right where the policy is proved to lose at most tol of the largest value."""
    scale = max(float(np.abs(np.asarray(c.evidence["values"])).max()), 1e-300)
    if c.holds and c.figures["loss"] <= tol * scale:
        return Diagnosis(c, True)
    policy, discount = np.asarray(c.evidence["policy"], dtype=int), float(c.evidence["discount"])
    found = []
    turned = _Process(data, discount)
    turned.rewards = -turned.rewards
    other = turned.judged(policy)
    if other.holds and other.figures["loss"] <= tol * scale:
        asks = "It is the best policy for the negative rewards: did you minimise, or are rewards costs?"
        found.append(Finding("wrong sign", asks, other))
    near = _Process(data, 0.0).judged(policy)
    if near.holds and near.figures["loss"] <= tol * scale:
        asks = "It takes the best reward of the next step: did you leave out what comes later, γ Σ p(s′) V(s′)?"
        found.append(Finding("no future", asks, near))
    return Diagnosis(c, False, found or _too_early(c, data, policy, discount))


def _too_early(c: Certificate, data: Data, policy: Array, discount: float) -> list[Finding]:
    """Value iteration that stopped after a few sweeps has this policy."""
    process = _Process(data, discount)
    for sweep, (choices, V) in zip(range(1, _HORIZON + 1), process.sweeps()):
        if np.all(choices[policy] >= V - 1e-12 * (1.0 + np.abs(V))):
            asks = f"It is the best policy when {sweep} steps are left: did value iteration stop too early?"
            return [Finding("stopped too early", asks, c)]
    return []
