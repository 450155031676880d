"""What planning returns: values, a policy, bounds, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from certifit import certificates
from certifit._trace import Trace
from certifit._types import Array
from certifit.certificates import Certificate
from certifit.certificates._data import Evidence
from certifit.certificates.decisions import Model, bellman_bounds
from certifit.reinforcement._mdp import MDP


class _Proved:
    """The certificates of a plan, where model files look for them."""

    @property
    def certificates_(self) -> tuple[Certificate, ...]:
        """The certificates, issued when first read, or loaded from a model file."""
        held = self.__dict__
        if "_certificates" not in held:
            held["_certificates"] = (self.certify(),)
        return tuple(held["_certificates"])

    @property
    def certificate(self) -> Certificate:
        """An upper bound on the loss of the policy compared with the best one."""
        return self.certificates_[0]

    def certify(self) -> Certificate:
        """The certificate, from evidence and the process."""
        raise NotImplementedError


@dataclass(frozen=True)
class Plan(_Proved):
    """A policy with its values, what is proved about them, and how they were found.

    Attributes
    ----------
    mdp : MDP
    values : ndarray of shape (n_states,)
        Near the best values.
    rows : ndarray of shape (n_states,)
        Rows of ``mdp.table()`` that the policy takes.
    status : str
        Why it stopped (`certifit.solvers.STATUS`).
    n_iter : int
    trace : Trace
    policy_values : ndarray of shape (n_states,)
        Near the values of the policy itself.

    Examples
    --------
    >>> from certifit.reinforcement import grid_world, value_iteration
    >>> plan = value_iteration(grid_world(["..+"], discount=0.9))
    >>> plan.policy[:2], plan.certificate.holds
    (['right', 'right'], True)
    """

    mdp: MDP
    values: Array
    rows: Array
    status: str
    n_iter: int
    trace: Trace = field(repr=False)
    policy_values: Array = field(repr=False)

    @property
    def policy(self) -> list[Any]:
        """The action in each state."""
        return self.mdp.names(self.rows)

    @cached_property
    def _bounds(self) -> tuple[Array, Array]:
        return bellman_bounds(Model(self.mdp.data(), self.mdp.discount), self.values)

    @property
    def lower(self) -> Array:
        """Proved: the best value of each state is at least this."""
        return self._bounds[0]

    @property
    def upper(self) -> Array:
        """Proved: the best value of each state is at most this."""
        return self._bounds[1]

    @property
    def _stated(self) -> Evidence:
        """What the certificate is proved from, besides the process."""
        return {
            "policy": self.rows,
            "values": self.values,
            "policy_values": self.policy_values,
            "discount": self.mdp.discount,
        }

    def certify(self, rigor: Any = "float") -> Certificate:
        """The certificate with error-bounded floats, or ``rigor="exact"`` in rationals (up to 200 states)."""
        return certificates.issue("policy", self.mdp.data(), self._stated, rigor)


@dataclass(frozen=True)
class FinitePlan(_Proved):
    """A policy for a finite number of steps.

    Attributes
    ----------
    mdp : MDP
    values : ndarray of shape (horizon + 1, n_states)
        Best values before each step; the last row holds the terminal values.
    rows : ndarray of shape (horizon, n_states)
    lower, upper : ndarray of shape (horizon + 1, n_states)
        Proved bounds of the best values.

    Examples
    --------
    >>> from certifit.reinforcement import finite_horizon, grid_world
    >>> plan = finite_horizon(grid_world(["..+"], discount=0.9), horizon=5)
    >>> plan.policy[0][:2], plan.certificate.holds
    (['right', 'right'], True)
    """

    mdp: MDP
    values: Array
    rows: Array
    lower: Array = field(repr=False)
    upper: Array = field(repr=False)

    @property
    def policy(self) -> list[list[Any]]:
        """The action at each step in each state."""
        return [self.mdp.names(rows) for rows in self.rows]

    @property
    def _stated(self) -> Evidence:
        """What the certificate is proved from, besides the process."""
        return {
            "policy": self.rows,
            "terminal": np.asarray(self.values[-1]),
            "discount": self.mdp.discount,
            "horizon": len(self.rows),
        }

    def certify(self) -> Certificate:
        """The certificate by backward induction, rounding included."""
        return certificates.issue("finite-horizon", self.mdp.data(), self._stated)
