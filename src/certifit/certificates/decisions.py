r"""Markov decision processes: bounds on the best value of every state, and on what a policy loses.

Data: one row per state and allowed action. X holds the number of the state in its first column and then the
probabilities of the next states; y holds the expected rewards. A row whose probabilities sum to one within rounding
stands for p/Σp. With Bellman's operator (TV)(s) = max_a r(s,a) + γ Σ p(s′|s,a)V(s′), γ < 1, and
a ≤ TV − V ≤ b everywhere,

    TV + γa/(1−γ) ≤ V* ≤ TV + γb/(1−γ)      (MacQueen, Porteus),

and for a policy π with its own operator T_π and a vector U with T_πU − U ≥ c: V^π ≥ T_πU + γc/(1−γ). What the policy
loses is at most the difference. Exact: U is the policy's value by a rational linear solve, and V = U. Over a finite
horizon backward induction is repeated with rounding bounds; there γ may be 1.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import Ball, dot, rationals, to_float
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, equal, register, upper
from certifit.certificates._schema import FINITE, NUMBER, WHOLE

_EXACT = 200  # states up to which values are solved for in rationals


class Model:
    """States, probabilities and rewards of the data, checked."""

    def __init__(self, data: Data, discount: float) -> None:
        X = data.X if scipy.sparse.issparse(data.X) else scipy.sparse.csr_matrix(data.X)
        y = data.real_targets()
        self.n = X.shape[1] - 1
        self._table = X
        number = np.asarray(X @ np.eye(1, self.n + 1)[0])  # exact: one number, and zeros
        self.rewards, self.discount = y, float(discount)
        self.state = number.astype(np.int64)
        if self.n < 1 or y.shape != number.shape or not np.all(np.isfinite(y)):
            raise ValueError("one finite reward for every state and action")
        if not np.all((self.state == number) & (self.state >= 0) & (self.state < self.n)):
            raise ValueError("a row names no state")
        steps = np.diff(self.state, prepend=-1)
        self.first = np.flatnonzero(steps)
        if np.any(steps < 0) or len(self.first) != self.n:
            raise ValueError("every state has its rows, in the order of the states")
        finite = np.isfinite(X.data.sum()) or np.all(np.isfinite(X.data))
        if not (finite and X.data.min(initial=0.0) >= 0.0):  # nor are the numbers of states
            raise ValueError("probabilities are not negative")
        self.total = self._expected(Ball(np.ones(self.n)))
        off = np.abs(self.total.mid - 1.0) + self.total.rad
        if not np.all(off <= (2.0 * self.n + 4.0) * 2.0**-52):
            raise ValueError("probabilities sum to one")
        if not 0.0 <= self.discount <= 1.0:
            raise ValueError("the discount lies between 0 and 1")
        self.longest = int((np.diff(X.indptr) - (number != 0.0)).max(initial=0))  # probabilities that are not zero

    @cached_property
    def P(self) -> Any:
        """The probabilities alone: a copy, which products do without (`_expected`)."""
        return self._table[:, 1:].tocsr()

    def _expected(self, V: Ball, rows: Array | None = None) -> Ball:
        """P V, of all rows or some; the column of the numbers of states meets a zero."""
        table = self._table if rows is None else self._table[rows]
        return dot(table, Ball(np.append(0.0, V.mid), np.append(0.0, np.broadcast_to(V.rad, V.shape))))

    def choices(self, V: Ball, rows: Array | None = None) -> Ball:
        """r + γPV for every state and action, or those of some rows."""
        rewards, total = (self.rewards, self.total) if rows is None else (self.rewards[rows], self.total[rows])
        return Ball(rewards) + self._expected(V, rows) / total * self.discount

    def best(self, Q: Ball) -> Ball:
        """The largest in every state."""
        low, high = (np.maximum.reduceat(v, self.first) for v in (Q.lower, Q.upper))
        return Ball.between(low, high)

    def rows(self, policy: npt.ArrayLike) -> Array:
        """The row of the action that a policy takes in each state; a row of another state is rejected."""
        rows = np.asarray(policy)
        if rows.dtype.kind not in "iu" or rows.shape != (self.n,):
            raise ValueError("a policy names one row for each state")
        if not np.all((rows >= 0) & (rows < len(self.state))) or not np.array_equal(
            self.state[rows], np.arange(self.n)
        ):
            raise ValueError("a policy takes an action that the state does not have")
        return rows


def bellman_bounds(model: Model, V: Array) -> tuple[Array, Array]:
    """Proved lower and upper bounds of the best value of every state."""
    ball = Ball(_vector(V, model.n))
    TV = model.best(model.choices(ball))
    change = TV - ball
    return (
        (TV + _rest(model, float(change.lower.min()))).lower,
        (TV + _rest(model, float(change.upper.max()))).upper,
    )


def policy_bound(model: Model, rows: Array, U: Array) -> Array:
    """A proved lower bound of the value of a policy in every state."""
    ball = Ball(_vector(U, model.n))
    TU = model.choices(ball, rows)
    return (TU + _rest(model, float((TU - ball).lower.min()))).lower


def _rest(model: Model, change: float) -> Ball:
    """γc/(1 − γ)."""
    if not model.discount < 1.0:
        raise ValueError("an infinite horizon needs a discount below 1")
    return Ball(change) * model.discount / (Ball(1.0) - model.discount)


def _vector(V: Matrix, n: int) -> Array:
    V = np.asarray(V, dtype=float)
    if V.shape != (n,) or not np.all(np.isfinite(V)):
        raise ValueError("one finite value for each state")
    return V


def _exact_loss(model: Model, rows: Array) -> float:
    """The most that the policy loses: b/(1 − γ) with b = max(TV − V) at its exact value V, in rationals; rounded up."""
    n = model.n
    if n > _EXACT:
        raise ValueError(f"exact values are for at most {_EXACT} states")
    one, gamma = rationals(1.0).item(), rationals(model.discount).item()
    P, r = rationals(model.P.toarray()), rationals(model.rewards)
    P = P / P.sum(axis=1)[:, None]
    A = np.array([[(one if i == j else one * 0) - gamma * P[rows[i], j] for j in range(n)] for i in range(n)])
    V = _eliminate(A, r[rows])
    Q = r + gamma * np.array([(P[i] * V).sum() for i in range(len(P))])
    gain = max(max(Q[i] - V[model.state[i]] for i in range(len(P))), one * 0)
    return float(np.nextafter(to_float(gain / (one - gamma)), np.inf)) if gain > 0 else 0.0


def _eliminate(A: Array, b: Array) -> Array:
    """Gaussian elimination in rationals; the matrix is diagonally dominant, so no pivot is zero."""
    A, b = A.copy(), b.copy()
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            if A[i, k] != 0:
                factor = A[i, k] / A[k, k]
                A[i, k:] = A[i, k:] - factor * A[k, k:]
                b[i] = b[i] - factor * b[k]
    for k in range(n - 1, -1, -1):
        b[k] = (b[k] - (A[k, k + 1 :] * b[k + 1 :]).sum()) / A[k, k] if k + 1 < n else b[k] / A[k, k]
    return b


@register
class Policy(Kind):
    """Claim: what a policy loses at most against the best one, in any state.

    Evidence: ``policy`` (the row of the action taken in each state), ``values`` (near those of the best policy),
    ``policy_values`` (near those of this policy), ``discount``.
    """

    name = "policy"
    theorem = "Bellman's operator is a contraction: bounds of MacQueen and Porteus"
    needs: ClassVar = {"policy": WHOLE, "values": FINITE, "policy_values": FINITE, "discount": NUMBER}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        model = Model(data, float(evidence["discount"]))
        rows = model.rows(evidence["policy"])
        if not model.discount < 1.0:
            raise ValueError("an infinite horizon needs a discount below 1")
        if rigor == "exact":
            lost = _exact_loss(model, rows)
            loss, width = _stated(lost, 0.0), _stated(lost, 0.0)
        else:
            low, high = bellman_bounds(model, evidence["values"])
            mine = policy_bound(model, rows, evidence["policy_values"])
            room = _room(model, max(float(np.abs(v).max()) for v in (low, high, mine)))
            loss, width = _stated(_most(high, mine), room), _stated(_most(high, low), room)
        figures = {
            "states": equal(model.n),
            "discount": equal(model.discount),
            "loss": upper(loss),
            "width": upper(width),
        }
        return Proof(figures, (Check("the bounds are finite", bool(np.isfinite(figures["loss"].proved))),))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if figures["loss"] == 0:
            return (
                f"No policy earns more from any of the {figures['states']} states (discount {figures['discount']:g})."
            )
        return (
            f"From any of the {figures['states']} states this policy earns at most {figures['loss']:.2g} less than the "
            f"best one (discount {figures['discount']:g}); the best values are known to within {figures['width']:.2g}."
        )


def _most(high: Array, low: Array) -> float:
    """The largest difference, rounded up."""
    return max(float(np.max(high - low)) * (1.0 + 1e-15), 0.0)


def _room(model: Model, size: float) -> float:
    """Room for another machine, whose products are rounded otherwise: a few units of the values, times 1/(1 − γ)."""
    return (model.longest + 8.0) * 2.0**-52 * size / (1.0 - model.discount)


def _stated(value: float, room: float) -> Any:
    return Ball(value, 1e-12 * value + room) if value or room else 0.0


def backward(model: Model, horizon: int, policy: Array | None, terminal: Array) -> list[Ball]:
    """Values with 0, 1, …, ``horizon`` steps to go, of the best policy or of a given one (row per step and state)."""
    values = [Ball(terminal)]
    for step in range(horizon):
        Q = model.choices(values[-1])
        values.append(model.best(Q) if policy is None else Q[model.rows(policy[horizon - 1 - step])])
    return values


@register
class FiniteHorizon(Kind):
    """Claim: what a policy over a finite horizon loses at most.

    Evidence: ``policy`` (horizon, n) rows by step, first step first, ``terminal`` (n,), ``discount``, ``horizon``.
    """

    name = "finite-horizon"
    theorem = "Bellman's principle of optimality: backward induction"
    needs: ClassVar = {"policy": WHOLE, "terminal": FINITE, "discount": NUMBER, "horizon": WHOLE}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        model = Model(data, float(evidence["discount"]))
        policy, horizon = np.asarray(evidence["policy"]), int(evidence["horizon"])
        terminal = _vector(evidence["terminal"], model.n)
        if horizon < 1 or policy.shape != (horizon, model.n):
            raise ValueError("a policy has one row for each step and state")
        best = backward(model, horizon, None, terminal)[-1]
        mine = backward(model, horizon, policy, terminal)[-1]
        loss = Ball(_most(best.upper, mine.lower))
        size = float(best.magnitude.max())
        figures = {
            "states": equal(model.n),
            "horizon": equal(horizon),
            "discount": equal(model.discount),
            "loss": upper(_stated(float(loss.mid), horizon * (model.n + 8.0) * 2.0**-52 * size)),
        }
        return Proof(figures, (Check("the bounds are finite", bool(np.isfinite(float(loss.upper)))),))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return (
            f"Over {figures['horizon']} steps (discount {figures['discount']:g}, {_end(evidence['terminal'])}) this "
            f"policy earns at most {figures['loss']:.2g} less than the best one from any of the "
            f"{figures['states']} states."
        )


def _end(terminal: Any) -> str:
    values = np.asarray(terminal, dtype=float)
    return f"with final values of up to {np.abs(values).max():.3g}" if np.any(values) else "nothing earned afterwards"
