"""Any policy: what it loses against the best one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy.typing as npt

from certifit.certificates import Certificate
from certifit.reinforcement._mdp import MDP
from certifit.reinforcement._planning import Sweeps, value_iteration, values_of


def certify_policy(policy: npt.ArrayLike, mdp: MDP, *, tol: float = 1e-9, rigor: Any = "float") -> Certificate:
    """How much does this policy lose against the best one, from the worst state? With proof.

    Parameters
    ----------
    policy : sequence of n_states actions, or dict state → action
        Names of the actions, as in the process.
    mdp : MDP
        With a discount below 1.
    tol : float > 0, default=1e-9
        Accuracy of the optimal values.
    rigor : {"float", "exact"}, default="float"
        "exact" solves for the policy's values in rationals (up to 200 states).

    Returns
    -------
    Certificate
        ``loss`` bounds how much less the policy earns than the best one; ``verify(*mdp.table())`` re-checks it.

    Examples
    --------
    >>> from certifit.reinforcement import MDP
    >>> import numpy as np
    >>> mdp = MDP([np.eye(2), np.eye(2)[::-1]], rewards=[[0.0, 0.0], [1.0, 0.0]], discount=0.5)
    >>> round(certify_policy([0, 0], mdp).loss, 6), round(certify_policy([1, 0], mdp).loss, 6)
    (1.0, 0.0)
    """
    rows = mdp.rows(policy)
    best = value_iteration(mdp, tol=tol)
    return replace(best, rows=rows, policy_values=values_of(Sweeps(mdp), rows)).certify(rigor)
