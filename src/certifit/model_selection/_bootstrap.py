r"""Bootstrap estimates of error: out-of-bag, .632 and .632+.

With rows drawn with replacement, a row is left out of a round with probability (1 − 1/n)ⁿ → 1/e ≈ 0.368. Let Eᵢ be
row i's mean loss over the rounds that left it out:

- *out-of-bag* Err⁽¹⁾ = mean of the Eᵢ: pessimistic, because a round sees only about 63.2 % of the distinct rows;
- *.632* = 0.368·(training error) + 0.632·Err⁽¹⁾: pulls back, too far when the model overfits;
- *.632+* (Efron and Tibshirani 1997) raises the weight of Err⁽¹⁾ with the relative overfitting
  R = (Err⁽¹⁾ − train)/(γ − train): w = 0.632/(1 − 0.368R), where γ is the error if x told nothing of y.

The standard error is the infinitesimal jackknife of Err⁽¹⁾: with Nⱼᵇ the number of times row j is in round b, the
influence of row j is (Eⱼ − Err⁽¹⁾) + Σᵢ cov_b(Nⱼᵇ, Qᵢᵇ | i left out). The finite number of rounds adds noise to
it, whose expectation Σ_b a_b² (a_b = Σᵢ (Qᵢᵇ − Eᵢ)/Bᵢ) per row is subtracted; it is never below s(Eᵢ)/√n. The
.632 errors take it in proportion, as in Efron and Tibshirani.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import indexable

from certifit._errors import respelled
from certifit._types import Array, Estimator, MatrixLike, RandomState, VectorLike
from certifit.metrics import Figure, Interval
from certifit.model_selection._progress import Progress
from certifit.model_selection._run import Keep, Trial, Workers, judge_all
from certifit.resampling import bootstrap_counts

Loss = Callable[[Array, Array], Array]

LOSSES: dict[str, Loss] = {
    "zero_one": lambda y, p: (np.asarray(y) != np.asarray(p)).astype(float),
    "squared": lambda y, p: np.square(np.asarray(y, dtype=float) - p),
    "absolute": lambda y, p: np.abs(np.asarray(y, dtype=float) - p),
}
"""Per-row losses of labels or values against predictions."""


def pick_loss(estimator: Estimator, loss: str | Loss | None) -> tuple[str, Loss]:
    """A per-row loss by name or as a function; "zero_one" for classifiers and "squared" otherwise when None."""
    if loss is None:
        loss = "zero_one" if is_classifier(estimator) else "squared"
    if callable(loss):
        return getattr(loss, "__name__", "loss"), loss
    name = respelled("loss", loss)
    if name not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)} or a function of (y, prediction); got {loss!r}.")
    return name, LOSSES[name]


def fit_rounds(estimator: Estimator, X: MatrixLike, y: VectorLike, counts: Array, workers: Workers) -> Array:
    """Predictions (rounds, n) of every row by the model of each bootstrap round."""
    every = np.arange(counts.shape[1])
    rounds = [(np.repeat(every, row), every) for row in counts]
    trial = Trial(estimator, X, y, keep=Keep(answers=("predict",), error_score="raise"))
    return np.array([o.answers["predict"] for o in judge_all(trial, rounds, [{}], workers)])


@dataclass(frozen=True)
class Bootstrap:
    """Result of `bootstrap`.

    Attributes
    ----------
    training : float
        Error on the training rows of the model fitted on all of them (optimistic).
    no_information : float
        γ: error when predictions and outcomes are paired at random.
    row_errors : array of shape (n,)
        Out-of-bag error of each row (nan for rows that were never out of bag).
    left_out : float
        Average fraction of rows that are out of bag.
    loss : str
    variance : float
        Of the out-of-bag error, by the infinitesimal jackknife.
    counts : array of shape (rounds, n)
        How often each round drew each row.

    Examples
    --------
    >>> from certifit.linear_model import LinearRegression
    >>> from certifit.model_selection import bootstrap
    >>> X = np.linspace(0, 1, 30)[:, None]
    >>> result = bootstrap(LinearRegression(), X, np.sin(6 * X[:, 0]), rounds=40, random_state=0)
    >>> 0.3 < result.left_out < 0.45, result.training > 0
    (True, True)
    """

    training: float
    no_information: float
    row_errors: Array
    left_out: float
    loss: str
    variance: float
    counts: Array = field(repr=False)

    @property
    def oob(self) -> Figure:
        """Err⁽¹⁾, the out-of-bag error."""
        return self._figure(self._oob, "out-of-bag")

    @property
    def _oob(self) -> float:
        return float(np.nanmean(self.row_errors))

    @property
    def overfitting(self) -> float:
        """R, the relative overfitting: 0 for none, 1 if x contains no information about y."""
        first = min(self._oob, self.no_information)
        if first > self.training and self.no_information > self.training:
            return (first - self.training) / (self.no_information - self.training)
        return 0.0

    @property
    def err632(self) -> Figure:
        """The .632 error."""
        return self._figure(0.368 * self.training + 0.632 * self._oob, ".632")

    @property
    def err632plus(self) -> Figure:
        """The .632+ error."""
        weight = 0.632 / (1.0 - 0.368 * self.overfitting)
        first = min(self._oob, self.no_information)
        return self._figure((1.0 - weight) * self.training + weight * first, ".632+")

    def __repr__(self) -> str:
        return (
            f"{self.loss.replace('_', '-')} loss: out-of-bag {self._oob:.4g}, .632 {float(self.err632):.4g}, "
            f".632+ {self.err632plus.interval()} around {float(self.err632plus):.4g}; {len(self.counts)} rounds"
        )

    def _figure(self, value: float, name: str) -> Figure:
        return Figure(value, lambda level: self._limits(value, level, name))

    def _limits(self, value: float, level: float, name: str) -> Interval:
        from certifit.metrics._interval import normal_quantile

        scale = value / self._oob if self._oob > 0 else 1.0
        reach = normal_quantile(level) * math.sqrt(self.variance) * scale
        top = 1.0 if self.loss == "zero_one" else math.inf
        return Interval(max(value - reach, 0.0), min(value + reach, top), level, f"{name}, infinitesimal jackknife")

    def interval(self, level: float = 0.95) -> Interval:
        """Interval of the .632+ error.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        """
        return self.err632plus.interval(level)


def bootstrap(
    estimator: Estimator,
    X: MatrixLike,
    y: VectorLike,
    *,
    rounds: int = 200,
    loss: str | Loss | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Bootstrap:
    """Bootstrap error of an estimator: out-of-bag, .632 and .632+.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    rounds : int ≥ 2, default=200
    loss : {"zero_one", "squared", "absolute"} or callable, default=None
        Per-row loss of (y, prediction); by kind of estimator when None.
    random_state : int, default=0
    n_jobs : int, default=None
        Same results for any number.
    progress : bool or callable, default=None

    Returns
    -------
    Bootstrap

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2)); y = rng.integers(2, size=80)   # nothing to learn
    >>> result = bootstrap(KNeighborsClassifier(1), X, y, rounds=50)
    >>> result.training, round(result.oob, 2), round(result.err632, 2), round(result.err632plus, 2)
    (0.0, 0.48, 0.3, 0.45)
    """
    X, y = indexable(X, y)
    name, per_row = pick_loss(estimator, loss)
    if rounds < 2:
        raise ValueError(f"rounds must be at least 2; got {rounds}.")
    y_array = np.asarray(y)
    n = len(y_array)
    counts = draw_rounds(estimator, y_array, rounds, random_state)
    answers = fit_rounds(estimator, X, y, counts, Workers(n_jobs, progress, "bootstrap"))
    Q = np.array([per_row(y_array, a) for a in answers])
    out = counts == 0
    times = out.sum(axis=0)
    E = np.divide((Q * out).sum(axis=0), times, out=np.full(n, np.nan), where=times > 0)
    everything = clone(estimator).fit(X, y).predict(X)
    training = float(per_row(y_array, everything).mean())
    gamma = _no_information(per_row, y_array, np.asarray(everything))
    variance = _jackknife(Q, out, times, E, counts)
    return Bootstrap(training, gamma, E, float(out.mean()), name, variance, counts)


def draw_rounds(estimator: Estimator, y: Array, rounds: int, random_state: RandomState) -> Array:
    """Draws in which a classifier meets at least two classes."""
    counts = bootstrap_counts(len(y), rounds, random_state)
    if not is_classifier(estimator):
        return counts
    rng = np.random.default_rng(random_state)
    for b in range(rounds):
        while len(np.unique(y[counts[b] > 0])) < min(2, len(np.unique(y))):
            counts[b] = np.bincount(rng.integers(len(y), size=len(y)), minlength=len(y))
    return counts


def _no_information(per_row: Loss, y: Array, predictions: Array) -> float:
    """Mean loss over all pairs of an outcome and a prediction."""
    if len(y) <= 2000:
        return float(np.mean([per_row(y, np.full_like(predictions, p)).mean() for p in predictions]))
    values, shares = np.unique(predictions, return_counts=True)
    if len(values) > 2000:  # numbers: a fixed thinning of the pairs is plenty for a baseline
        values, shares = values[:: len(values) // 2000], shares[:: len(values) // 2000]
    means = [per_row(y, np.full(len(y), p, dtype=predictions.dtype)).mean() for p in values]
    return float(np.average(means, weights=shares))


def _jackknife(Q: Array, out: Array, times: Array, E: Array, counts: Array) -> float:
    """Squared standard error of the mean of E (see the module docstring)."""
    seen = times > 0
    n = int(seen.sum())
    mean = float(E[seen].mean())
    A = np.where(out[:, seen], Q[:, seen] - E[seen], 0.0) / times[seen]
    each = A.sum(axis=1)
    influence = (E[seen] - mean) + counts[:, seen].T @ each
    plain = float(np.sum(np.square(E[seen] - mean))) / n / max(n - 1, 1)
    found = float(influence @ influence) / n**2 - float(each @ each) / n
    return max(found, plain)
