"""Decisions: exact linear solves, enumeration, published tables as witnesses; every claim attacked."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import certifit
from certifit import plot
from certifit.certificates import issue
from certifit.reinforcement import (
    MDP,
    _planning,
    certify_policy,
    finite_horizon,
    grid_world,
    policy_iteration,
    policy_value,
    q_learning,
    sarsa,
    value_iteration,
)
from tests.certificates.tampering import forged, refuses_everything, reissued


def process(seed, n=6, actions=3, discount=0.8, sparse=False):
    rng = np.random.default_rng(seed)
    P = rng.random((actions, n, n)) * (rng.random((actions, n, n)) < 0.6)
    P[:, np.arange(n), np.arange(n)] += 0.05
    P /= P.sum(axis=2, keepdims=True)
    given = [sp.csr_matrix(p) for p in P] if sparse else P
    return MDP(given, rewards=rng.normal(size=(n, actions)), discount=discount, normalise=True)


def exact_values(mdp):
    """V* in rationals, by trying every policy."""
    n, gamma = mdp.n_states, Fraction(mdp.discount)
    P = [[Fraction(float(v)) for v in row] for row in mdp.P.toarray()]
    P = [[v / sum(row) for v in row] for row in P]
    r = [Fraction(float(v)) for v in mdp.rewards]
    best = None
    for rows in itertools.product(*(range(mdp.first[s], mdp.first[s + 1]) for s in range(n))):
        A = [[Fraction(int(i == j)) - gamma * P[rows[i]][j] for j in range(n)] + [r[rows[i]]] for i in range(n)]
        for k in range(n):
            for i in range(n):
                if i != k:
                    f = A[i][k] / A[k][k]
                    A[i] = [x - f * y for x, y in zip(A[i], A[k])]
        V = [A[i][n] / A[i][i] for i in range(n)]
        best = V if best is None else [max(x, y) for x, y in zip(best, V)]
    return best


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 0.9, 0.999]))
def test_bounds_enclose_the_exact_values(seed, discount):
    mdp = process(seed, n=3, actions=2, discount=discount)
    exact = exact_values(mdp)
    for plan in (value_iteration(mdp), policy_iteration(mdp), value_iteration(mdp, max_iter=1, tol=1e-12)):
        for low, truth, high in zip(plan.lower, exact, plan.upper):
            assert Fraction(float(low)) <= truth <= Fraction(float(high))
    assert np.allclose(policy_iteration(mdp).values, [float(v) for v in exact], atol=1e-9)


@pytest.mark.parametrize("method", ["auto", "jacobi", "gauss_seidel", "prioritised"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_method_reaches_the_asked_width(method, sparse):
    mdp = process(1, n=40, actions=4, discount=0.95, sparse=sparse)
    best = policy_iteration(mdp)
    plan = value_iteration(mdp, tol=1e-7, method=method, trace=True)
    assert plan.status == "converged"
    assert float(np.max(plan.upper - plan.lower)) <= 1e-7
    assert np.allclose(plan.values, best.values, atol=1e-7)
    assert plan.certificate.loss <= 3e-7
    assert plan.trace["gap"][-1] <= plan.trace["gap"][0]
    assert np.allclose(policy_value(mdp, plan.policy), best.values, atol=1e-6)


def test_threads_and_plain_sweeps_give_the_same_values(monkeypatch):
    """Large processes are swept by several threads; a policy of states with little in common by plain sweeps."""
    n = 3000
    ahead = sp.csr_matrix((np.ones(n), (np.arange(n), np.minimum(np.arange(n) + 1, n - 1))))
    chain = MDP([ahead], rewards=np.random.default_rng(0).normal(size=(n, 1)), discount=0.99)
    assert np.allclose(value_iteration(chain, tol=1e-8).values, policy_value(chain, [0] * n), atol=1e-8)
    mdp = process(3, n=600, actions=3, discount=0.97, sparse=True)
    alone = value_iteration(mdp, tol=1e-9)
    monkeypatch.setattr(_planning, "_MANY", 50)
    monkeypatch.setattr(_planning, "_LEAST", 50)
    several = value_iteration(mdp, tol=1e-9)
    assert several.policy == alone.policy
    assert np.allclose(several.values, alone.values, atol=1e-9)
    for plan in (alone, several):
        assert plan.status == "converged"
        assert plan.certificate.loss <= 1e-9


def test_the_published_grid_world():
    """Russell and Norvig's utilities of the world of 4 × 3 squares (third edition, figure 17.3)."""
    world = grid_world(["...+", ".#.-", "...."], noise=0.1, living_reward=-0.04, discount=1 - 1e-7)
    plan = value_iteration(world, tol=1e-5)
    book = [0.812, 0.868, 0.918, 1.0, 0.762, 0.660, -1.0, 0.705, 0.655, 0.611, 0.388]
    assert np.allclose(plan.values[:11], book, atol=6e-4)
    told = dict(zip(world.states, plan.policy))
    assert [told[0, j] for j in range(3)] == ["right"] * 3
    assert told[1, 2] == "up"
    assert told[2, 3] == "left"


def test_the_published_inventory():
    """Puterman (1994), sections 3.2 and 4.6: stock of at most 3, order cost 4 + 2u, holding u, price 8u, three months."""
    demand = [0.25, 0.5, 0.25]
    rows = []
    for s in range(4):
        for a in range(4 - s):
            cost = (4 + 2 * a if a else 0) + (s + a)
            for u, p in enumerate(demand):
                sold = min(u, s + a)
                rows.append((s, a, s + a - sold, p, 8 * sold - cost))
    plan = finite_horizon(MDP(rows, discount=1.0), 3)
    order = np.argsort(plan.mdp.states)
    assert plan.values[0][order].tolist() == [67 / 16, 129 / 16, 194 / 16, 227 / 16]
    assert plan.values[2][order].tolist() == [0.0, 5.0, 6.0, 5.0]
    assert [plan.policy[0][i] for i in order] == [3, 0, 0, 0]
    assert np.all(plan.lower <= plan.values)
    assert np.all(plan.values <= plan.upper)
    c = plan.certificate
    assert c.loss < 1e-10
    assert c.verify(*plan.mdp.table()).holds
    worse = c.evidence["policy"].copy()
    worse[0, plan.mdp.states.index(0)] = plan.mdp.first[plan.mdp.states.index(0)]
    assert not forged(c, policy=worse).verify(*plan.mdp.table()).holds
    assert reissued(c, plan.mdp.data(), policy=worse).loss > 0.1


def test_exact_certificates_and_anybodys_policy():
    mdp = process(3, n=5, actions=2)
    plan = policy_iteration(mdp)
    exact = plan.certify(rigor="exact")
    assert exact.holds
    assert exact.loss == 0.0
    assert exact.verify(*mdp.table()).holds
    best = policy_value(mdp, plan.policy)
    for policy in itertools.product(range(2), repeat=5):
        lost = float(np.max(best - policy_value(mdp, policy)))
        for c in (certify_policy(policy, mdp), certify_policy(policy, mdp, rigor="exact")):
            assert c.holds
            assert c.loss >= lost - 1e-9
        assert certify_policy(policy, mdp).loss <= lost + 1e-6
    assert certifit.certify_policy is certify_policy


def test_an_enemy_is_refused():
    mdp = process(4)
    c = value_iteration(mdp).certificate
    X, y = mdp.table()
    refuses_everything(c, X.toarray(), y, at_most=("loss", "width"))
    data = mdp.data()
    bad = X.toarray()
    bad[0, 1:] *= 0.9
    for change, other in (
        ({"policy": c.evidence["policy"] + 1}, data),
        ({"policy": np.zeros_like(c.evidence["policy"])}, data),
        ({"policy": c.evidence["policy"].astype(float)}, data),
        ({"discount": 1.0}, data),
        ({"discount": 1.5}, data),
        ({"values": c.evidence["values"] * np.nan}, data),
    ):
        assert not issue("policy", other, {**c.evidence, **change}).holds
        assert not forged(c, **change).verify(X, y).holds
    from certifit.certificates import Data

    assert "sum to one" in issue("policy", Data.of(bad, y), c.evidence).failures[0]
    bad = X.toarray()
    bad[0, 1:3] += [-2.0, 2.0]
    assert "not negative" in issue("policy", Data.of(bad, y), c.evidence).failures[0]
    # Other values prove less, never more than is true.
    shifted = reissued(c, data, values=c.evidence["values"] + np.arange(6.0))
    assert shifted.loss > c.loss
    low = reissued(c, data, values=c.evidence["values"] - 5.0, policy_values=c.evidence["policy_values"] + 5.0)
    assert low.loss >= 0.0


def test_forms_of_a_process_agree():
    mdp = process(5, n=4, actions=2)
    P, r = mdp.P.toarray().reshape(4, 2, 4).transpose(1, 0, 2), mdp.rewards.reshape(4, 2)
    rows = [(s, a, t, P[a, s, t], r[s, a]) for s in range(4) for a in range(2) for t in range(4)]
    tree = {s: {a: [(P[a, s, t], t, r[s, a]) for t in range(4)] for a in range(2)} for s in range(4)}
    plain = {s: {a: {t: P[a, s, t] for t in range(4)} for a in range(2)} for s in range(4)}
    earned = {s: {a: r[s, a] for a in range(2)} for s in range(4)}
    gym = {s: {a: [(P[a, s, t], t, r[s, a], False) for t in range(4)] for a in range(2)} for s in range(4)}
    names = ["state", "action", "next", "probability", "reward"]
    each = np.repeat(r.T[:, :, None], 4, axis=2)
    for other in (
        MDP(rows, discount=0.8, normalise=True),
        MDP(tree, discount=0.8, normalise=True),
        MDP(gym, discount=0.8, normalise=True),
        MDP(plain, earned, discount=0.8, normalise=True),
        MDP(
            plain,
            {s: {a: dict.fromkeys(range(4), v) for a, v in row.items()} for s, row in earned.items()},
            0.8,
            normalise=True,
        ),
        MDP(pandas.DataFrame(rows, columns=names), discount=0.8, normalise=True),
        MDP(P, rewards=each, discount=0.8, normalise=True),
        MDP([sp.csr_matrix(p) for p in P], rewards=r, discount=0.8, normalise=True),
    ):
        assert np.allclose(value_iteration(other).values, value_iteration(mdp).values, atol=1e-6)


def test_refusals_name_the_place():
    P = np.array([[[0.5, 0.5], [0.0, 1.0]]])
    for bad, words in (
        (np.array([[[0.5, 0.4], [0.0, 1.0]]]), "state 0, action 0 sum to 0.9"),
        (np.array([[[1.0, 0.0], [1.5, -0.5]]]), "state 1, action 0 are not all finite"),
        (np.array([[[np.nan, 1.0], [0.0, 1.0]]]), "state 0, action 0"),
        (np.ones((1, 2, 3)), "square matrix"),
    ):
        with pytest.raises(ValueError, match=words):
            MDP(bad, rewards=[[0.0], [0.0]])
    with pytest.raises(ValueError, match="rewards must have shape"):
        MDP(P, rewards=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="not a finite number"):
        MDP(P, rewards=[[0.0], [np.inf]])
    with pytest.raises(ValueError, match="discount"):
        MDP(P, rewards=[[0.0], [0.0]], discount=1.5)
    mdp = MDP(P, rewards=[[0.0], [1.0]], discount=1.0)
    with pytest.raises(ValueError, match="discount below 1"):
        value_iteration(mdp)
    with pytest.raises(ValueError, match="has no action 7"):
        policy_value(MDP(P, rewards=[[0.0], [1.0]]), [7, 0])
    with pytest.raises(ValueError, match="each of the 2 states"):
        policy_value(MDP(P, rewards=[[0.0], [1.0]]), [0])
    with pytest.raises(ValueError, match="allowed are"):
        grid_world([".?"])
    with pytest.raises(ValueError, match="no reward of state 'a', action 'go'"):
        MDP({"a": {"go": {"a": 1.0}}})
    with pytest.raises(ValueError, match="Outcomes of state 'a', action 'go' are"):
        MDP({"a": {"go": [0.5]}})
    with pytest.raises(ValueError, match="must map its actions"):
        MDP({"a": [0.5]})


def test_traces_hold_values_of_small_processes():
    mdp = process(5, n=4, actions=2)
    for plan in (value_iteration(mdp, trace=True, method="jacobi"), policy_iteration(mdp, trace=True)):
        last = plan.trace[-1]
        assert np.allclose(last["values"], plan.values)
        assert last.actions == plan.policy
    assert "values" not in value_iteration(process(5, n=120, actions=2), trace=True).trace.columns


@pytest.mark.parametrize("learn", [q_learning, sarsa])
def test_learners_find_the_way_and_repeat_themselves(learn):
    world = grid_world(["...+", ".#.-", "...."], noise=0.0, living_reward=-0.04, discount=0.9)
    found = learn(world, episodes=1500, random_state=1)
    assert found.certificate.holds
    assert found.certificate.loss < 0.05
    assert len(found.trace) == 1500
    assert np.mean(found.trace["objective"][-300:]) > np.mean(found.trace["objective"][:50])
    again = learn(world, episodes=1500, random_state=1)
    assert np.array_equal(found.q, again.q)
    with pytest.raises(ValueError, match="learning_rate"):
        learn(world, learning_rate=0.0)


def test_a_simulator_of_ones_own_needs_no_model():
    class Walk:
        n_states, n_actions, discount = 4, 2, 0.9

        def reset(self):
            self.at = 0
            return 0

        def step(self, action):
            self.at = max(0, self.at - 1) if action == 0 else self.at + 1
            return self.at, float(self.at == 3), self.at == 3

    found = q_learning(Walk(), episodes=200, random_state=0)
    assert found.policy[:3] == [1, 1, 1]
    assert found.certificate is None


def test_the_picture_shows_values_and_arrows():
    plan = value_iteration(grid_world(["..+", "#.-"], discount=0.9))
    ax = plot.grid_values(plan)
    ax.figure.canvas.draw()
    assert ax.texts[0].get_text().endswith("→")
    with pytest.raises(ValueError, match="no map"):
        plot.grid_values(value_iteration(process(0)))
