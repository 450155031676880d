r"""Training of networks: value and gradient by back-propagation, L-BFGS, Adam, stochastic gradient descent.

.. math:: J = \frac{1}{\sum_i s_i}\Big(\sum_i s_i L(f(x_i), y_i) + \frac{\alpha}{2}\sum_l \lVert W_l\rVert_F^2\Big)

with L the negative log-likelihood (one logistic output, softmax, or a logistic output for each label of a row),
:math:`\tfrac12\lVert f - y\rVert^2`, or the Poisson deviance :math:`y\log(y/e^f) - y + e^f`. Random numbers are drawn
in scikit-learn's order: the same seed gives the same network.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.special  # optimize loads on first use
from sklearn.utils import gen_batches, shuffle

from certifit._progress import task as shown
from certifit._trace import Trace, TraceRow
from certifit._types import Array, Matrix
from certifit.parallel import one_thread, ranges, side_by_side
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution

_FLAT = 2.220446049250313e-09  # SciPy's own: a step that lowers J by less than this part of it is the last
_TIGHT = 1e-5
_PARTS = 8  # ranges of rows whose gradients are summed on their own, at most
_PART = 1 << 21  # multiplications of one layer after the other that are worth a part of their own,
_ROWS = 64  # and rows: a part adds as many numbers to the sum as the network has parameters

Layers = list[Array]
"""All weight matrices, then all offsets."""

ACTIVATIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "identity": (lambda z: z, lambda a: np.ones_like(a)),
    "logistic": (lambda z: scipy.special.expit(z, out=z), lambda a: a * (1.0 - a)),
    "tanh": (lambda z: np.tanh(z, out=z), lambda a: 1.0 - a * a),
    "relu": (lambda z: np.maximum(z, 0.0, out=z), lambda a: (a > 0).astype(float)),
}
"""Each activation (in place), and its slope as a function of its own value."""


@dataclass(frozen=True)
class NetworkTask:
    """Rows, targets (one column an output), weights, activation, loss and weight decay.

    The loss is "log" (one label a row), "labels" (several), "squared" or "poisson".
    """

    X: Any
    Y: Array
    weights: Array
    activation: str
    loss: str
    alpha: float

    def part(self, rows: Matrix | slice) -> NetworkTask:
        """The task on some rows."""
        return NetworkTask(self.X[rows], self.Y[rows], self.weights[rows], self.activation, self.loss, self.alpha)


def start_layers(sizes: list[int], activation: str, random: np.random.RandomState) -> Layers:
    """Uniform weights and offsets (Glorot and Bengio 2010)."""
    coefs, intercepts = [], []
    for fan_in, fan_out in pairwise(sizes):
        bound = np.sqrt((2.0 if activation == "logistic" else 6.0) / (fan_in + fan_out))
        coefs.append(random.uniform(-bound, bound, (fan_in, fan_out)))
        intercepts.append(random.uniform(-bound, bound, fan_out))
    return coefs + intercepts


class Room:
    """Memory that one product after the other is written to: fresh arrays of this size cost as much as the product."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int, int, int], Array] = {}

    def product(self, place: int, A: Any, B: Array) -> Array:
        """A @ B; overwritten by the thread's next product of the same place and shape."""
        if not isinstance(A, np.ndarray):
            return np.asarray(A @ B)
        key = (threading.get_ident(), place, A.shape[0], B.shape[1])
        if key not in self._kept:
            self._kept[key] = np.empty(key[2:], dtype=np.result_type(A, B))
        return np.matmul(A, B, out=self._kept[key])


def forward(layers: Layers, activation: str, X: Matrix, room: Room | None = None) -> list[Any]:
    """X, the values of all hidden layers, and the scores (valid until ``room`` is used again)."""
    depth, room = len(layers) // 2, room or Room()
    values = [X]
    for i in range(depth):
        z = room.product(i, values[-1], layers[i])
        z += layers[depth + i]
        values.append(ACTIVATIONS[activation][0](z) if i + 1 < depth else z)
    return values


def _loss(task: NetworkTask, scores: Array) -> tuple[float, Array]:
    """The weighted sum of losses and its slope in the scores."""
    Y, w = task.Y, task.weights
    if task.loss == "squared":
        away = scores - Y
        return float(0.5 * w @ (away * away).sum(axis=1)), away
    if task.loss == "poisson":
        mean = np.exp(scores)
        return float(w @ (scipy.special.xlogy(Y, Y) - Y * scores - Y + mean).sum(axis=1)), mean - Y
    if scores.shape[1] == 1 or task.loss == "labels":
        return float(w @ (np.logaddexp(0.0, scores) - Y * scores).sum(axis=1)), scipy.special.expit(scores) - Y
    scores = scores - scores.max(axis=1, keepdims=True)
    shares = np.exp(scores)
    total = shares.sum(axis=1)
    loss = float(w @ (np.log(total) - np.einsum("ij,ij->i", Y, scores)))
    shares /= total[:, None]
    shares -= Y
    return loss, shares


def value_and_gradient(task: NetworkTask, layers: Layers, room: Room | None = None) -> tuple[float, Layers]:
    """J and its gradient, by back-propagation; ``room`` is memory to work in.

    Examples
    --------
    >>> task = NetworkTask(np.array([[1.0], [2.0]]), np.array([[1.0], [3.0]]), np.ones(2), "tanh", "squared", 0.0)
    >>> value, gradient = value_and_gradient(task, [np.array([[1.0]]), np.array([0.0])])     # f(x) = x
    >>> value, gradient[0].tolist()
    (0.25, [[-1.0]])
    """
    depth, memory, n = len(layers) // 2, room or Room(), len(task.Y)
    total = float(task.weights.sum())
    work = n * sum(W.size for W in layers[:depth])
    cut = ranges(n, min(_PARTS, work // _PART, n // _ROWS))  # by the data alone: rounding is always the same
    tasks = [task.part(slice(*rows)) for rows in cut] if len(cut) > 1 else [task]
    (loss, out), *others = side_by_side(lambda part: _sums(part, layers, total, memory), tasks)
    for more, gradient in others:
        loss += more
        for mine, theirs in zip(out, gradient):
            mine += theirs
    for W, mine in zip(layers[:depth], out):
        mine += (task.alpha / total) * W
    decay = sum(float(np.vdot(W, W)) for W in layers[:depth])
    return (loss + 0.5 * task.alpha * decay) / total, out


def _sums(task: NetworkTask, layers: Layers, total: float, room: Room) -> tuple[float, Layers]:
    """The weighted sum of losses, and the gradient of this sum divided by ``total``."""
    depth = len(layers) // 2
    values = forward(layers, task.activation, task.X, room)
    loss, delta = _loss(task, values[-1])
    delta *= (task.weights / total)[:, None]
    out: Layers = [np.empty(0)] * len(layers)
    for i in range(depth - 1, -1, -1):
        out[i] = np.asarray(values[i].T @ delta)
        out[depth + i] = delta.sum(axis=0)
        if i:
            delta = room.product(-i, delta, layers[i].T)
            if task.activation == "relu":
                np.multiply(delta, values[i] > 0.0, out=delta)
            else:
                delta *= ACTIVATIONS[task.activation][1](values[i])
    return loss, out


def pack(layers: Layers) -> Array:
    """All parameters as one vector."""
    return np.concatenate([part.ravel() for part in layers])


def unpack(theta: Array, like: Layers) -> Layers:
    """The layers of a vector."""
    ends = np.cumsum([part.size for part in like])[:-1]
    return [part.reshape(old.shape) for part, old in zip(np.split(theta, ends), like)]


def solve_lbfgs(
    task: NetworkTask,
    layers: Layers,
    *,
    tol: float,
    max_iter: int,
    max_fun: int,
    time_budget: float | None = None,
    trace: bool = False,
) -> Solution:
    """L-BFGS on all rows at once; stops when no partial derivative exceeds ``tol``."""
    begin, rows, values, room = time.perf_counter(), Trace(), [0.0], Room()
    curve: list[float] = []

    def both(theta: Array) -> tuple[float, Array]:
        value, gradient = value_and_gradient(task, unpack(theta, layers), room)
        return value, pack(gradient)

    def note(intermediate_result: Any) -> None:
        values[0] += 1
        curve.append(float(intermediate_result.fun))
        now = time.perf_counter() - begin
        if trace:
            rows.append(TraceRow(int(values[0]), float(intermediate_result.fun), seconds=now))
        tell(int(values[0]))
        if time_budget is not None and now >= time_budget:
            raise StopIteration

    if trace:
        rows.append(TraceRow(0, both(pack(layers))[0], seconds=0.0))
    flat = _FLAT if tol >= _TIGHT else 0.0  # a small tol asks for the gradient itself
    limits = {"maxiter": max_iter, "maxfun": max_fun, "gtol": tol, "ftol": flat}
    with shown("network") as tell, one_thread():
        found = scipy.optimize.minimize(both, pack(layers), method="L-BFGS-B", jac=True, options=limits, callback=note)
    late = time_budget is not None and time.perf_counter() - begin >= time_budget
    status = (
        "converged" if found.success else "time_budget" if late else "max_iter" if found.status == 1 else "precision"
    )
    stats = {"n_iter": max(1, int(found.nit)), "seconds": time.perf_counter() - begin, "trace": rows}
    more = {"method": "lbfgs", "value": float(found.fun), "curve": curve or [float(found.fun)]}
    return Solution(unpack(found.x, layers), status, {**stats, **more})


@dataclass(frozen=True)
class Steps:
    """How Adam and stochastic gradient descent step and stop: scikit-learn's parameters."""

    method: str
    batch: int
    rate: float
    schedule: str
    power_t: float
    shuffle: bool
    momentum: float
    nesterov: bool
    beta_1: float
    beta_2: float
    epsilon: float
    tol: float
    patience: int


@dataclass
class Walk:
    """Where a descent in batches stands: what a later call needs to go on as if it had not stopped.

    Examples
    --------
    >>> Walk.start([np.zeros((2, 1)), np.zeros(1)], 0.1).seen
    0
    """

    first: Layers  # moments of the gradient (Adam), or the velocity
    second: Layers
    rate: float
    best: Layers  # the network that did best on rows held out
    count: int = 0  # steps taken
    seen: int = 0  # rows seen
    figure: float = np.inf  # the best objective (or score, with its sign turned) so far
    idle: int = 0  # passes without an improvement
    curve: list[float] = field(default_factory=list)  # objective of every pass
    scores: list[float] = field(default_factory=list)  # score on rows held out of every pass

    @classmethod
    def start(cls, layers: Layers, rate: float) -> Walk:
        """A walk that has not begun."""
        return cls([np.zeros_like(p) for p in layers], [np.zeros_like(p) for p in layers], rate, _copied(layers))

    def again(self, layers: Layers, rate: float) -> Walk:
        """A new descent from where this one ended: its history stays, its velocity does not."""
        fresh = Walk.start(layers, rate)
        return replace(self, first=fresh.first, second=fresh.second, rate=rate, count=0)

    def move(self, s: Steps, layers: Layers, gradient: Layers) -> None:
        """One step of all parameters."""
        self.count += 1
        if s.method == "adam":
            rate = s.rate * np.sqrt(1 - s.beta_2**self.count) / (1 - s.beta_1**self.count)
            for p, g, m, v in zip(layers, gradient, self.first, self.second):
                m *= s.beta_1
                m += (1 - s.beta_1) * g
                v *= s.beta_2
                v += (1 - s.beta_2) * (g * g)
                p -= rate * m / (np.sqrt(v) + s.epsilon)
            return
        for p, g, m in zip(layers, gradient, self.first):
            m *= s.momentum
            m -= self.rate * g
            p += s.momentum * m - self.rate * g if s.nesterov else m

    def pass_over(self, s: Steps, n: int) -> None:
        """After a pass over n rows."""
        self.seen += n
        if s.method == "sgd" and s.schedule == "invscaling":
            self.rate = s.rate / (self.seen + 1) ** s.power_t

    def slower(self, s: Steps) -> bool:
        """After passes without improvement: whether a smaller step is tried rather than stopping."""
        if s.method != "sgd" or s.schedule != "adaptive" or self.rate <= 1e-6:
            return False
        self.rate /= 5.0
        return True

    def note(self, s: Steps, layers: Layers, objective: float, score: float | None) -> str:
        """Record a pass; the reason to stop, if there is one."""
        self.curve.append(objective)
        figure = objective if score is None else -score
        if score is not None:
            self.scores.append(score)
        self.idle = self.idle + 1 if figure > self.figure - s.tol else 0
        if figure < self.figure:
            self.figure = figure
            if score is not None:
                self.best = _copied(layers)
        if self.idle <= s.patience:
            return ""
        if self.slower(s):
            self.idle = 0
            return ""
        return "no improvement"


def _copied(layers: Layers) -> Layers:
    return [p.copy() for p in layers]


class _Pass(NamedTuple):
    objective: float
    gap: float
    step: float
    score: float


def solve_steps(
    task: NetworkTask,
    layers: Layers,
    steps: Steps,
    random: np.random.RandomState,
    walk: Walk,
    *,
    max_iter: int,
    score: Callable[[Layers], float] | None = None,
    time_budget: float | None = None,
    trace: bool = False,
    say: Callable[[str], None] | None = None,
) -> Solution:
    """Adam or stochastic gradient descent in small batches; with ``score``, stops by it and keeps the best network.

    The objective of a pass is the mean over its batches, each before its step. ``walk`` is changed: it holds where the
    descent stands afterwards.
    """
    n = len(task.Y)
    layers = _copied(layers)
    order, room = [np.arange(n)], Room()

    def advance(_: _Pass) -> _Pass:
        if steps.shuffle:
            order[0] = shuffle(order[0], random_state=random)
        total = 0.0
        for batch in gen_batches(n, steps.batch):
            rows = order[0][batch]
            value, gradient = value_and_gradient(task.part(rows), layers, room)
            total += value * len(rows)
            walk.move(steps, layers, gradient)
        return _Pass(total / n, np.nan, walk.rate, np.nan if score is None else score(layers))

    def noted(_: _Pass, after: _Pass) -> str:
        reason = walk.note(steps, layers, after.objective, None if score is None else after.score)
        walk.pass_over(steps, n)
        if say is not None:
            say(f"Iteration {len(walk.curve)}, loss = {after.objective:.8f}")
            if score is not None:
                say(f"Validation score: {after.score:f}")
            if reason:
                say(f"No improvement by more than tol={steps.tol:f} for {steps.patience} consecutive epochs. Stopping.")
        return reason

    def events(s: _Pass) -> Any:
        return ({"validation": s.score},) if score is not None else ({},)

    start = _Pass(value_and_gradient(task, layers)[0] if trace else np.nan, np.nan, steps.rate, np.nan)
    with one_thread():
        run = drive(start, advance, noted, max_iter, time_budget, trace, events=events, what="network")
    value = walk.best if score is not None else layers
    more = {"method": steps.method, "curve": walk.curve, "scores": walk.scores, "value": walk.curve[-1]}
    return Solution(value, run.status, {**run.stats, **more})
