"""Policies with a known slip are told what it was; best ones are called right."""

import numpy as np
import pytest

import certifit as cf
from certifit.reinforcement import MDP, policy_iteration, value_iteration


def process(seed, n=8, actions=3, discount=0.9):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(0.3 * np.ones(n), size=(actions, n))
    return P, rng.normal(size=(n, actions)), discount


@pytest.mark.parametrize("seed", range(30))
def test_best_policies_are_right_and_slips_are_named(seed):
    P, R, discount = process(seed)
    mdp = MDP(P, R, discount)
    for plan in (value_iteration(mdp), policy_iteration(mdp)):
        found = cf.certify_policy(plan.policy, mdp).diagnose(*mdp.table())
        assert found.right, str(found)
    turned = value_iteration(MDP(P, -R, discount)).policy
    found = cf.certify_policy(turned, mdp).diagnose(*mdp.table())
    assert not found.right
    assert [f.name for f in found] == ["wrong sign"]
    assert found[0].certificate.holds
    greedy = R.argmax(axis=1)
    found = cf.certify_policy(greedy, mdp).diagnose(*mdp.table())
    assert found.right or "no future" in [f.name for f in found]


def test_a_stop_too_early():
    """A chain: the prize at the end is seen only from as many sweeps as there are steps."""
    n = 6
    P = np.stack([np.eye(n), np.eye(n)[[*range(1, n), n - 1]]])
    R = np.zeros((n, 2))
    R[:, 0], R[n - 1, :] = 0.1, 5.0
    mdp = MDP(P, R, 0.9)
    early = [0, 0, 0, 1, 1, 0]
    found = cf.certify_policy(early, mdp).diagnose(*mdp.table())
    assert [f.name for f in found] == ["stopped too early"]
    assert "steps are left" in found[0].sentence
