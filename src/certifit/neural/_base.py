"""What trained networks share: parameters, solvers, the fitted attributes, scores."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from certifit._certified import Certified
from certifit._sklearn import ConvergenceWarning, Interval, Options, StrOptions, usual
from certifit._types import Array, MatrixLike, RandomState, Record
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates.network import layers_of
from certifit.solvers import Solution
from certifit.solvers._status import limit_of
from certifit.solvers.network import (
    ACTIVATIONS,
    NetworkTask,
    Steps,
    Walk,
    forward,
    solve_lbfgs,
    solve_steps,
    start_layers,
)

_TASKS = {"log": "classes", "labels": "labels", "squared": "regression", "poisson": "counts"}  # of a loss
_SMALL = 2000  # rows up to which "auto" takes all rows at once


@dataclass(eq=False, repr=False)
class Network(Certified, BaseEstimator):
    """What both share: the layers, the solvers, the scores."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": ["array-like", Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "solver": [StrOptions({"auto", "lbfgs", "sgd", "adam"})],
        "batch_size": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "learning_rate": [StrOptions({"constant", "invscaling", "adaptive"})],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), Options(Real, {np.inf})],
    } | usual(
        "alpha≥0 learning_rate_init>0 power_t≥0 tol≥0 momentum∈[0,1] nesterovs_momentum early_stopping "
        "validation_fraction∈[0,1) beta_1∈[0,1) beta_2∈[0,1) epsilon>0 max_fun≥1 max_iter shuffle random_state "
        "verbose warm_start trace time_budget"
    )

    hidden_layer_sizes: Any = (100,)
    activation: str = "relu"
    _: KW_ONLY
    solver: str = "auto"
    alpha: float = 0.0001
    batch_size: Any = "auto"
    learning_rate: str = "constant"
    learning_rate_init: float = 0.001
    power_t: float = 0.5
    max_iter: int = 200
    shuffle: bool = True
    random_state: RandomState = None
    tol: float = 1e-4
    verbose: bool = False
    warm_start: bool = False
    momentum: float = 0.9
    nesterovs_momentum: bool = True
    early_stopping: bool = False
    validation_fraction: float = 0.1
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    n_iter_no_change: int = 10
    max_fun: int = 15000
    trace: bool = False
    time_budget: float | None = None

    def _sizes(self, inputs: int, outputs: int) -> list[int]:
        given = self.hidden_layer_sizes
        hidden = [int(v) for v in (given if np.iterable(given) else [given])]
        if any(v < 1 for v in hidden):
            raise ValueError(f"hidden_layer_sizes must be > 0, got {hidden}.")
        return [inputs, *hidden, outputs]

    def _goes_on(self, in_pieces: bool) -> bool:
        """Whether training goes on with the network that is there."""
        return (in_pieces or self.warm_start) and hasattr(self, "coefs_")

    def _start(self, task: NetworkTask, random: Any, in_pieces: bool) -> list[Array]:
        """The layers that training starts from."""
        sizes = self._sizes(task.X.shape[1], task.Y.shape[1])
        if not self._goes_on(in_pieces):
            return start_layers(sizes, self.activation, random)
        if [len(W) for W in self.coefs_] + [self.n_outputs_] != sizes:
            raise ValueError("The layers of the network do not match its parameters or the data: fit it again.")
        return [*self.coefs_, *self.intercepts_]

    def _steps(self, method: str, n: int) -> Steps:
        """How a descent in batches steps and stops."""
        batch = min(200, n) if self.batch_size == "auto" else min(self.batch_size, n)
        if self.batch_size != "auto" and self.batch_size > n:
            warnings.warn(
                "Got `batch_size` less than 1 or larger than sample size. It is going to be clipped",
                UserWarning,
                stacklevel=6,
            )
        return Steps(
            method=method, batch=batch, rate=self.learning_rate_init, schedule=self.learning_rate, power_t=self.power_t,
            shuffle=self.shuffle, momentum=self.momentum, nesterov=self.nesterovs_momentum, beta_1=self.beta_1,
            beta_2=self.beta_2, epsilon=self.epsilon, tol=self.tol, patience=self.n_iter_no_change,
        )  # fmt: skip

    def _learn(self, task: NetworkTask, in_pieces: bool = False) -> Solution:
        """Choose the solver, start at random weights (or go on), and go; a piece is one pass."""
        random, method = check_random_state(self.random_state), self.solver
        if method == "auto":
            small = len(task.Y) <= _SMALL and not self.early_stopping and not in_pieces
            method = "lbfgs" if small else "adam"
        layers = self._start(task, random, in_pieces)
        timing: dict[str, Any] = {"time_budget": self.time_budget, "trace": self.trace}
        say = print if self.verbose else None
        if method == "lbfgs":
            return solve_lbfgs(task, layers, tol=self.tol, max_iter=self.max_iter, max_fun=self.max_fun, **timing)
        score = None
        if self.early_stopping:
            task, score = self._held_out(task, random)
        steps = self._steps(method, len(task.Y))
        walk = self.__dict__.get("_walk") if self._goes_on(in_pieces) else None
        if walk is None:
            walk = Walk.start(layers, steps.rate)
        elif not in_pieces:
            walk = walk.again(layers, steps.rate)
        most = 1 if in_pieces else self.max_iter
        found = solve_steps(task, layers, steps, random, walk, max_iter=most, score=score, say=say, **timing)
        self._walk = walk
        return found

    def _refuse_pieces(self) -> None:
        """What cannot be trained in pieces."""
        if self.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True")

    def _held_out(self, task: NetworkTask, random: np.random.RandomState) -> tuple[NetworkTask, Any]:
        """The task without the rows that early stopping looks at, and their score."""
        stratify = task.Y if isinstance(self, ClassifierMixin) and task.Y.shape[1] == 1 else None
        rows = np.arange(len(task.Y))
        train, held = train_test_split(rows, random_state=random, test_size=self.validation_fraction, stratify=stratify)
        if len(held) < 2:
            raise ValueError(
                "The validation set is too small. Increase 'validation_fraction' or the size of your dataset."
            )
        val = task.part(held)

        def score(layers: list[Array]) -> float:
            found = forward(layers, self.activation, val.X)[-1]
            if task.loss in ("squared", "poisson"):
                values = np.exp(found) if task.loss == "poisson" else found
                return float(r2_score(val.Y, values, sample_weight=val.weights))
            if task.loss == "labels":
                return float(accuracy_score(val.Y > 0.5, found > 0, sample_weight=val.weights))
            truth, guess = (codes_of(a) for a in (val.Y - 0.5 if val.Y.shape[1] == 1 else val.Y, found))
            return float(accuracy_score(truth, guess, sample_weight=val.weights))

        return task.part(train), score

    def _name(self, solution: Solution) -> None:
        """The fitted attributes."""
        layers, depth = solution.value, len(solution.value) // 2
        if not all(np.all(np.isfinite(p)) for p in (*layers, solution.stats["value"])):
            self.__dict__.pop("_walk", None)
            raise ValueError(
                "Solver produced non-finite parameter weights. The input data may contain large values and need to be "
                "preprocessed: scale the columns of X, or lower learning_rate_init."
            )
        self.coefs_, self.intercepts_ = layers[:depth], layers[depth:]
        self.n_layers_, self.n_outputs_ = depth + 1, layers[-1].shape[0]
        self.n_iter_, self.status_ = int(solution.stats["n_iter"]), solution.status
        self.solver_, self.trace_ = solution.stats["method"], solution.trace
        self.loss_ = float(solution.stats["value"])
        self.loss_curve_ = list(solution.stats["curve"])
        early = self.early_stopping and self.solver_ != "lbfgs"
        self.t_ = self._walk.seen if self.solver_ != "lbfgs" else 0
        self.best_loss_ = None if early else min(self.loss_curve_)
        self.validation_scores_ = list(solution.stats["scores"]) if early else None
        self.best_validation_score_ = max(self.validation_scores_) if self.validation_scores_ else None

    def _warn_if_limited(self) -> None:
        if (limit := limit_of(self.status_)) is not None:
            warnings.warn(
                f"{type(self).__name__} stopped at {limit} after {self.n_iter_} iterations, before the stopping rule "
                "was met: the optimization hasn't converged yet. Raise max_iter, or scale the columns of X.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _train_on(self, data: tuple[Any, ...], Y: Array, loss: str, in_pieces: bool) -> None:
        """Train on (X, y, weights) as they were read, with targets Y (n, outputs), and promise the certificate."""
        X, _, weights = data
        s = np.ones(len(Y)) if weights is None else weights
        self._name(self._learn(NetworkTask(X, Y, s, self.activation, loss, float(self.alpha)), in_pieces))
        if in_pieces:
            self._withhold_certificates(
                "This network was trained in pieces by partial_fit and kept none of the data: there is nothing to "
                "prove it by."
            )
        else:
            self._warn_if_limited()
            evidence = {**layers_of(self.coefs_, self.intercepts_), "activation": self.activation}
            evidence |= {"task": _TASKS[loss], "alpha": float(self.alpha)}
            self._promise_certificate("network-gradient", evidence, *data)

    def _scores(self, X: MatrixLike) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", accept_sparse="csr", reset=False)
        return np.asarray(forward([*self.coefs_, *self.intercepts_], self.activation, X)[-1])

    _tags: ClassVar[Record] = {"input_tags.sparse": True}


def codes_of(scores: Array) -> Array:
    """The class of each row of scores, by number."""
    return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)


def walks(model: Network) -> bool:
    """Whether the network is trained in batches, so that it can be trained in pieces."""
    if model.solver == "lbfgs":
        raise AttributeError("partial_fit is only available for stochastic optimizers. lbfgs is not stochastic.")
    return True
