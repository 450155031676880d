"""Perceptrons that remember: the average of all weights, and the vote of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix, MatrixLike, RandomState, VectorLike
from certifit._validation import check_is_fitted, validate_data
from certifit.linear_model._perceptron import ClassAgainstRest, PerceptronBase, start_of
from certifit.solvers.perceptron import OnPass, Pass

_BLOCK = 1 << 22  # numbers in a block of votes


@dataclass(kw_only=True, eq=False, repr=False)
class _Remembering(PerceptronBase):
    """The parameters that both share, and `fit`."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {**PerceptronBase._parameter_constraints}

    fit_intercept: bool = True
    max_iter: int = 10
    tol: float | None = None
    shuffle: bool = True
    eta0: float = 1.0
    random_state: RandomState = 0
    n_iter_no_change: int = 5
    trace: bool = False
    time_budget: float | None = None

    def _prepare(self, X: MatrixLike, y: VectorLike) -> tuple[Any, Array, list[ClassAgainstRest]]:
        self._validate_params()
        X, y = self._read(X, y)
        classes, index = self._encode(y)
        self.classes_ = classes
        start = start_of(len(classes), X.shape[1], None, None)
        return X, y, self._problems(index, start, np.ones(len(classes)))


class AveragedPerceptron(_Remembering):
    """Perceptron that predicts with the average of its weights over all rows it has visited.

    w̄ = (1/N) Σₜ wₜ over the N visits (b̄ likewise), where wₜ are the weights after visit t; weights that last longer
    count more. After a pass without mistakes the remaining passes would not change w and are skipped.

    Parameters
    ----------
    fit_intercept : bool, default=True
    max_iter : int ≥ 1, default=10
        Passes over the rows.
    tol : float ≥ 0 or None, default=None
        As for `Perceptron`; None makes all passes.
    shuffle : bool, default=True
    eta0 : float > 0, default=1.0
    random_state : int, RandomState or None, default=0
    n_iter_no_change : int ≥ 1, default=5
    trace : bool, default=False
        Keep every mistake in ``trace_``, as `Perceptron` does.
    time_budget : float > 0 or None, default=None

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_
        As in scikit-learn; the averages.
    mistakes_ : int
    certificate_ : Certificate
        The mistake bound of the underlying perceptron (see `Perceptron`).

    References
    ----------
    Freund and Schapire (1999), Large margin classification using the perceptron algorithm.

    Examples
    --------
    >>> from certifit.linear_model import AveragedPerceptron
    >>> X, y = [[1.0, 2.0], [2.0, -1.0], [-1.0, -1.0]], [1, 0, 0]
    >>> AveragedPerceptron(shuffle=False, max_iter=2).fit(X, y).coef_
    array([[-0.66666667,  2.83333333]])
    """

    def fit(self, X: MatrixLike, y: VectorLike) -> AveragedPerceptron:
        """Make the passes and average."""
        X, y, problems = self._prepare(X, y)
        lags = [np.zeros(X.shape[1] + 1) for _ in problems]
        runs = self._learn(X, y, problems, [_lag(lag, X, p) for lag, p in zip(lags, problems)])
        n = X.shape[0]
        # Σₜ wₜ = N·w_last − Σ (visits before the step)·step: only mistakes cost anything.
        last = [np.append(r.w, r.b) - lag / (r.passes * n) for r, lag in zip(runs, lags)]
        self.coef_ = np.array([v[:-1] for v in last])
        self.intercept_ = np.array([v[-1] for v in last])
        return self


def _lag(total: Array, X: Matrix, problem: ClassAgainstRest) -> OnPass:
    """Sum of the steps, each times the visits before it."""

    def on_pass(at: Pass) -> None:
        rows = at.mistaken
        steps = np.where(problem.signs[rows] > 0, problem.plan.up, -problem.plan.down) * _visits(at)
        total[:-1] += X[rows].T @ steps
        total[-1] += steps.sum() * problem.plan.fit_intercept

    return on_pass


def _visits(at: Pass) -> Array:
    """The visits before each mistake of a pass, from the first pass on."""
    return (at.number - 1) * len(at.order) + at.positions


class Ballot(NamedTuple):
    """The sequence of weights of one problem: distinct mistaken rows, which comes when, and survival times."""

    rows: Array  # the rows, each once
    which: Array  # k-th mistake: number of its row
    steps: Array  # k-th mistake: signed step
    survived: Array  # visits that the k-th weights (k = 0 is the start at zero) lasted

    def votes(self, X: Array, fit_intercept: bool) -> Array:
        """Σₖ survivedₖ · sign(wₖ·x + bₖ) for every row of X."""
        products = X @ self.rows.T + float(fit_intercept)
        out = np.empty(len(X))
        step = max(1, _BLOCK // max(1, len(self.which)))
        for i in range(0, len(X), step):
            scores = np.cumsum(products[i : i + step][:, self.which] * self.steps, axis=1)
            out[i : i + step] = np.where(scores > 0, 1.0, -1.0) @ self.survived[1:]
        return np.asarray(out - self.survived[0])


class VotedPerceptron(_Remembering):
    """Perceptron whose successive weights all vote, each weighted by the number of rows it survived.

    sign(Σₖ cₖ sign(wₖ·x + bₖ)), where cₖ counts the visits that the k-th weights lasted and sign(0) = −1. The weights
    themselves are not stored: they are running sums of the misclassified rows, each of which is stored once.

    Parameters
    ----------
    fit_intercept, max_iter, tol, shuffle, eta0, random_state, n_iter_no_change, trace, time_budget :
        As in `AveragedPerceptron`.

    Attributes
    ----------
    ballots_ : list of Ballot
        One for two classes, else one per class.
    coef_, intercept_ : ndarray
        The last weights (what a plain perceptron would predict with).
    classes_, n_iter_, n_features_in_, mistakes_
    certificate_ : Certificate
        The mistake bound of the underlying perceptron (see `Perceptron`).

    References
    ----------
    Freund and Schapire (1999), Large margin classification using the perceptron algorithm.

    Examples
    --------
    >>> from certifit.linear_model import VotedPerceptron
    >>> X, y = [[1.0, 2.0], [2.0, -1.0], [-1.0, -1.0]], [1, 0, 0]
    >>> VotedPerceptron(shuffle=False, max_iter=2).fit(X, y).decision_function(X)
    array([ 6., -4., -6.])
    """

    def fit(self, X: MatrixLike, y: VectorLike) -> VotedPerceptron:
        """Make the passes and keep the ballots."""
        X, y, problems = self._prepare(X, y)
        logs: list[list[tuple[Array, Array]]] = [[] for _ in problems]

        def keep(log: list[tuple[Array, Array]]) -> OnPass:
            return lambda at: log.append((at.mistaken, _visits(at)))

        runs = self._learn(X, y, problems, [keep(log) for log in logs])
        self.ballots_ = [_ballot(X, p, log) for p, log in zip(problems, logs)]
        self.coef_ = np.array([r.w for r in runs])
        self.intercept_ = np.array([r.b for r in runs])
        return self

    def decision_function(self, X: MatrixLike) -> Array:
        """Votes for minus votes against: one column per class, or one number per row for two classes."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        X = X.toarray() if scipy.sparse.issparse(X) else X
        votes = np.column_stack([b.votes(np.asarray(X, dtype=float), self.fit_intercept) for b in self.ballots_])
        return votes[:, 0] if votes.shape[1] == 1 else votes


def _ballot(X: Matrix, problem: ClassAgainstRest, log: list[tuple[Array, Array]]) -> Ballot:
    rows = np.concatenate([r for r, _ in log])
    when = np.concatenate([t for _, t in log])
    kept, which = np.unique(rows, return_inverse=True)
    steps = np.where(problem.signs[rows] > 0, problem.plan.up, -problem.plan.down)
    ends = np.concatenate([[0], when, [len(log) * X.shape[0]]])
    chosen = X[kept].toarray() if scipy.sparse.issparse(X) else X[kept]
    return Ballot(np.asarray(chosen, dtype=float), which.ravel(), steps, np.diff(ends).astype(float))
