"""Learning without a model: Q-learning and SARSA on a simulator."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from certifit._progress import task
from certifit._trace import Trace, TraceRow
from certifit._types import Array, RandomState
from certifit.certificates import Certificate
from certifit.reinforcement._mdp import MDP


@dataclass(frozen=True)
class Learned:
    """The result of learning: action values, the greedy policy, and the trace.

    Attributes
    ----------
    q : ndarray of shape (n_states, n_actions)
        Action values; −inf for actions that a state does not have.
    policy : list
        The best action of each state by ``q``.
    values : ndarray of shape (n_states,)
    trace : Trace
        One row per episode: ``objective`` is the reward earned, ``step`` its length.
    certificate : Certificate or None
        When the process behind the simulator is known: a bound on the loss of the policy.

    Examples
    --------
    >>> from certifit.reinforcement import grid_world, q_learning
    >>> found = q_learning(grid_world(["..+"], discount=0.9), episodes=200, random_state=0)
    >>> found.policy[:2], found.certificate.loss < 1e-6
    (['right', 'right'], True)
    """

    q: Array
    policy: list[Any]
    values: Array
    trace: Trace = field(repr=False)
    certificate: Certificate | None = field(repr=False)

    @property
    def certificates_(self) -> tuple[Certificate, ...]:
        """The certificate, if there is one: where model files look for it."""
        return () if self.certificate is None else (self.certificate,)


def q_learning(
    simulator: Any,
    episodes: int = 1000,
    *,
    learning_rate: float = 0.5,
    decay: float = 0.6,
    epsilon: float = 0.2,
    discount: float | None = None,
    random_state: RandomState = None,
) -> Learned:
    r"""Q-learning: learn the optimal action values while following an exploring policy.

    .. math:: Q(s, a) \leftarrow Q(s, a) + \eta\,[r + \gamma \max_{a'} Q(s', a') - Q(s, a)]

    Parameters
    ----------
    simulator : MDP or object with ``reset()``, ``step(action)``, ``n_states`` and ``n_actions``
        ``step`` gives next state, reward and whether the episode has ended; ``actions(state)`` may say which actions a
        state has. An MDP is simulated, and the result has a certificate.
    episodes : int ≥ 1, default=1000
    learning_rate : float in (0, 1], default=0.5
        η at the first visit of a state and action.
    decay : float in [0, 1], default=0.6
        η falls as (visits)^(−decay); from above ½ to 1 the values converge.
    epsilon : float in [0, 1], default=0.2
        Fraction of actions that are chosen at random.
    discount : float in [0, 1], default=None
        That of the simulator when None.
    random_state : int or Generator, default=None

    Returns
    -------
    Learned

    References
    ----------
    C. J. C. H. Watkins, P. Dayan, Machine Learning 8 (1992).

    Examples
    --------
    >>> from certifit.reinforcement import grid_world
    >>> world = grid_world(["...+"], discount=0.9)
    >>> q_learning(world, episodes=300, random_state=0).policy[:3]
    ['right', 'right', 'right']
    """
    return _learn(simulator, episodes, _Rates(learning_rate, decay, epsilon), discount, random_state, on_policy=False)


def sarsa(
    simulator: Any,
    episodes: int = 1000,
    *,
    learning_rate: float = 0.5,
    decay: float = 0.6,
    epsilon: float = 0.2,
    discount: float | None = None,
    random_state: RandomState = None,
) -> Learned:
    r"""SARSA: learn the action values of the policy that is followed, greedy except for a fraction ε of actions.

    .. math:: Q(s, a) \leftarrow Q(s, a) + \eta\,[r + \gamma Q(s', a') - Q(s, a)]

    Parameters
    ----------
    simulator, episodes, learning_rate, decay, discount, random_state :
        As in `q_learning`.
    epsilon : float in [0, 1], default=0.2
        The fraction of random actions; it decreases to zero over the episodes.

    Returns
    -------
    Learned

    Examples
    --------
    >>> from certifit.reinforcement import grid_world
    >>> sarsa(grid_world(["...+"], discount=0.9), episodes=300, random_state=0).policy[:3]
    ['right', 'right', 'right']
    """
    return _learn(simulator, episodes, _Rates(learning_rate, decay, epsilon), discount, random_state, on_policy=True)


@dataclass(frozen=True)
class _Rates:
    learning: float
    decay: float
    epsilon: float

    def __post_init__(self) -> None:
        if not (0.0 < self.learning <= 1.0 and 0.0 <= self.decay <= 1.0 and 0.0 <= self.epsilon <= 1.0):
            raise ValueError("learning_rate must lie in (0, 1], decay and epsilon in [0, 1].")


def _learn(
    simulator: Any, episodes: int, rates: _Rates, discount: Any, random_state: RandomState, on_policy: bool
) -> Learned:
    rng = np.random.default_rng(random_state)
    mdp = simulator if isinstance(simulator, MDP) else getattr(simulator, "mdp", None)
    world: Any = simulator.simulator(random_state=rng) if isinstance(simulator, MDP) else simulator
    gamma = float(getattr(world, "discount", 0.9) if discount is None else discount)
    allowed = [_allowed(world, s) for s in range(world.n_states)]
    q = np.full((world.n_states, world.n_actions), -np.inf)
    for s, actions in enumerate(allowed):
        q[s, actions] = 0.0
    visits, trace, start = np.zeros(q.shape), Trace(), time.perf_counter()

    def choose(s: int, epsilon: float) -> int:
        if rng.random() < epsilon:
            return int(rng.choice(allowed[s]))
        best = np.flatnonzero(q[s] == q[s].max())
        return int(rng.choice(best))

    with task("learning", int(episodes)) as tell:
        for episode in range(int(episodes)):
            epsilon = rates.epsilon * (1.0 - episode / episodes) if on_policy else rates.epsilon
            s, earned, steps, done = world.reset(), 0.0, 0, False
            a = choose(s, epsilon)
            while not done and not (getattr(world, "over", False) or steps >= 10_000):
                after, reward, done = world.step(a)
                following = choose(after, epsilon)
                visits[s, a] += 1.0
                ahead = 0.0 if done else q[after, following] if on_policy else q[after].max()
                q[s, a] += rates.learning * visits[s, a] ** -rates.decay * (reward + gamma * ahead - q[s, a])
                s, a, earned, steps = after, following, earned + reward, steps + 1
            tell(episode + 1)
            trace.append(TraceRow(episode + 1, earned, step=float(steps), seconds=time.perf_counter() - start))
    return _result(q, trace, mdp)


def _allowed(world: Any, s: int) -> Array:
    return np.asarray(world.actions(s)) if hasattr(world, "actions") else np.arange(world.n_actions)


def _result(q: Array, trace: Trace, mdp: MDP | None) -> Learned:
    best = q.argmax(axis=1)
    if mdp is None:
        return Learned(q, best.tolist(), q.max(axis=1), trace, None)
    from certifit.reinforcement._judge import certify_policy

    policy = [mdp.actions[a] for a in best]
    certificate = certify_policy(policy, mdp) if mdp.discount < 1.0 else None
    return Learned(q, policy, q.max(axis=1), trace, certificate)
