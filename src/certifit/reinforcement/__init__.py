"""Reinforcement learning: planning in Markov decision processes with proved values, Q-learning and SARSA."""

from certifit.reinforcement._grid import GridWorld, grid_world
from certifit.reinforcement._judge import certify_policy
from certifit.reinforcement._learning import Learned, q_learning, sarsa
from certifit.reinforcement._mdp import MDP
from certifit.reinforcement._plan import FinitePlan, Plan
from certifit.reinforcement._planning import finite_horizon, policy_iteration, policy_value, value_iteration

__all__ = [
    "FinitePlan",
    "GridWorld",
    "Learned",
    "MDP",
    "Plan",
    "certify_policy",
    "finite_horizon",
    "grid_world",
    "policy_iteration",
    "policy_value",
    "q_learning",
    "sarsa",
    "value_iteration",
]
