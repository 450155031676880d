r"""Bias, variance and noise of a learner, for squared and 0-1 loss, in parts that add up.

At a point x, over training sets D (and outcomes y when their distribution is known), with main prediction m(x) (the
mean for squared loss, the most frequent label for 0-1) and optimal prediction y*(x) (Domingos 2000):

squared
    E (y − f)² = noise + (y* − m)² + E (f − m)², the noise being var(y | x).

0-1
    E [y ≠ f] = c₁N + B + net variance, with N = P(y ≠ y*), B = [m ≠ y*] and variance V = P(f ≠ m). Where m = y* the
    variance hurts: net = V. Where m ≠ y* it helps: net = −P(f = y*), which is −V for two classes. The noise enters
    with c₁N = E P(y ≠ f) − P(f ≠ y*); for two classes c₁ = 2 P(f = y*) − 1.

On real data y* is not known: y itself takes its place, so the noise is counted in the bias. Training sets are
bootstrap draws, and a row is predicted by the models that did not see it.
The total is computed on its own from all losses, and the parts are checked to add up to it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.parallel import delayed

from certifit._types import Array, Estimator, MatrixLike, VectorLike
from certifit.model_selection._bootstrap import draw_rounds, fit_rounds, pick_loss
from certifit.model_selection._progress import Progress
from certifit.model_selection._run import Workers

Draw = Callable[..., tuple[MatrixLike, VectorLike]]
Truth = tuple[Any, Any] | npt.ArrayLike | Callable[[Any], Any]
Known = tuple[Array, Array] | Array

_ROUNDING = 1e-9


@dataclass(frozen=True)
class BiasVariance:
    """Result of `bias_variance`; every part is a mean over the points.

    Attributes
    ----------
    bias2 : float
        Squared bias, or the fraction of points whose main prediction is not the optimal one (0-1 loss).
    variance : float
        Variance; for 0-1 loss Domingos' net variance (where the main prediction is wrong, variance helps).
    noise : float
        The irreducible part; 0 where it is counted in the bias (real data).
    total : float
        Expected loss, computed on its own; equals bias2 + variance + noise.
    loss : {"squared", "zero_one"}
    rounds : int
    points : dict of arrays
        Each part at each point.

    Examples
    --------
    >>> from certifit.linear_model import LinearRegression
    >>> from certifit.model_selection import bias_variance
    >>> X = np.linspace(0, 1, 30)[:, None]
    >>> parts = bias_variance(LinearRegression(), X, np.sin(6 * X[:, 0]), rounds=20, random_state=0)
    >>> bool(np.isclose(parts.total, parts.bias2 + parts.variance + parts.noise))
    True
    """

    bias2: float
    variance: float
    noise: float
    total: float
    loss: str
    rounds: int
    points: dict[str, Array]

    @property
    def bias(self) -> float:
        """For 0-1 loss another name of ``bias2``; for squared loss the root of it."""
        return self.bias2 if self.loss == "zero_one" else float(np.sqrt(self.bias2))

    def __str__(self) -> str:
        squared = self.loss == "squared"
        loss, bias, variance = ("squared", "bias²", "variance") if squared else ("0-1", "bias", "net variance")
        return (
            f"expected {loss} loss {self.total:.4g} = {bias} {self.bias2:.4g} + {variance} {self.variance:.4g}"
            f" + noise {self.noise:.4g}"
        )


def bias_variance(
    estimator: Estimator,
    X: MatrixLike,
    y: VectorLike | None = None,
    loss: str | None = None,
    rounds: int = 200,
    *,
    draw: Draw | None = None,
    truth: Truth | None = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> BiasVariance:
    """Decompose the expected loss of a learner into bias, variance and noise.

    Parameters
    ----------
    estimator : estimator
    X : array-like of shape (n, d)
        Real data: the rows. With ``draw``: the points at which to evaluate.
    y : array-like of shape (n,), default=None
        Outcomes; not needed with ``truth``.
    loss : {"squared", "zero_one"}, default=None
        None means "zero_one" for a classifier and "squared" otherwise.
    rounds : int ≥ 2, default=200
        Number of training sets.
    draw : callable, default=None
        Draws a training set: ``draw(rng)`` (or ``draw()``) returns (X, y). None: bootstrap draws of the data, each
        row predicted by the models that did not see it.
    truth : pair or callable, default=None
        What is known about the distribution at the points, as (E[y|x], noise), each an array, a number or a function
        of X, or one function of X returning both. Squared: mean and variance of y. 0-1 with two classes: the optimal
        label and the probability of the other one. 0-1 with more classes: one array (or function) of class
        probabilities, columns in sorted order of the labels that the models predict from.
    random_state : int, default=0
    n_jobs, progress :
        As in `cross_validate`.

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> def draw(rng):
    ...     x = rng.uniform(-1, 1, size=(30, 1))
    ...     return x, x[:, 0] ** 2 + 0.1 * rng.normal(size=30)
    >>> points = np.linspace(-1, 1, 50)[:, None]
    >>> parts = bias_variance(LinearRegression(), points, draw=draw, truth=(points[:, 0] ** 2, 0.01))
    >>> print(parts)
    expected squared loss 0.1155 = bias² 0.09646 + variance 0.009085 + noise 0.01
    """
    name, _ = pick_loss(estimator, loss)
    if name not in ("squared", "zero_one"):
        raise ValueError(f"loss must be 'squared' or 'zero_one'; got {loss!r}.")
    if rounds < 2:
        raise ValueError(f"rounds must be at least 2; got {rounds}.")
    if y is None and truth is None:
        raise ValueError("Give outcomes y, or truth=(E[y|x], noise) at the points.")
    workers = Workers(n_jobs, progress, "drawing")
    if draw is None:
        if y is None:
            raise ValueError("Without draw= the training sets are drawn from the data: give y.")
        X, y = indexable(X, y)
        counts = draw_rounds(estimator, np.asarray(y), rounds, random_state)
        answers = fit_rounds(estimator, X, y, counts, workers)
        judged = counts == 0
    else:
        answers = _drawn_answers(estimator, X, draw, np.random.SeedSequence(random_state).spawn(rounds), workers)
        judged = np.ones(answers.shape, dtype=bool)
    kept = np.asarray(judged.any(axis=0))
    answers, judged = answers[:, kept], judged[:, kept]
    known = None if truth is None else _known(truth, X, kept, name)
    labels = None if y is None else np.asarray(y)[kept]
    parts = _squared(answers, judged, labels, known) if name == "squared" else _zero_one(answers, judged, labels, known)
    return _checked(parts, name, rounds)


def _drawn_answers(
    estimator: Estimator, X: MatrixLike, draw: Draw, seeds: Sequence[np.random.SeedSequence], workers: Workers
) -> Array:
    # One stream of random numbers per round, fixed before the work is handed out.
    takes = [p for p in inspect.signature(draw).parameters.values() if p.default is p.empty]
    sets = (draw(np.random.default_rng(s)) if takes else draw() for s in seeds)
    return np.array(workers.collect((delayed(_answer)(estimator, *one, X) for one in sets), len(seeds)))


def _answer(estimator: Estimator, X: MatrixLike, y: VectorLike, points: MatrixLike) -> Array:
    return np.asarray(clone(estimator).fit(X, y).predict(points))


def _known(truth: Truth, X: MatrixLike, kept: Array, name: str) -> Known:
    """The truth at the kept points: (best, noise), or class probabilities."""
    found = truth(X) if callable(truth) else truth
    if isinstance(found, tuple) and len(found) == 2:
        best, noise = (part(X) if callable(part) else part for part in found)
        best = np.broadcast_to(np.asarray(best), (len(kept),))[kept]
        noise = np.broadcast_to(np.asarray(noise, dtype=float), (len(kept),))[kept]
        limit = 1.0 if name == "zero_one" else np.inf
        if np.any(noise < 0) or np.any(noise > limit):
            raise ValueError("truth: the noise is a variance ≥ 0 (squared loss) or a probability (0-1 loss).")
        return best, noise
    shares = np.asarray(found, dtype=float)
    if name != "zero_one" or shares.ndim != 2 or len(shares) != len(kept) or not np.allclose(shares.sum(axis=1), 1.0):
        raise ValueError("truth must be (E[y|x], noise), or for 0-1 loss rows of class probabilities that sum to one.")
    return shares[kept]


def _mean(values: Array, judged: Array) -> Array:
    return np.asarray(np.where(judged, values, 0.0).sum(axis=0) / judged.sum(axis=0))


def _squared(answers: Array, judged: Array, y: Array | None, known: Known | None) -> dict[str, Array]:
    best, noise = known if known is not None else (np.asarray(y, dtype=float), np.zeros(answers.shape[1]))
    main = _mean(answers, judged)
    return {
        "bias2": np.square(best - main),
        "variance": _mean(np.square(answers - main), judged),
        "noise": np.asarray(noise, dtype=float),
        "total": _mean(np.square(answers - best), judged) + noise,
        "main": main,
    }


def _classes(predicted: Array, y: Array | None, known: Known | None) -> Array:
    """The labels that can occur, sorted."""
    classes = np.unique(predicted)
    if known is None:
        return classes if y is None else np.union1d(classes, y)
    if isinstance(known, tuple):
        classes = np.union1d(classes, known[0])
        if len(classes) > 2:
            raise ValueError("More than two classes: give truth as rows of class probabilities.")
        return classes
    columns = known.shape[1]
    classes = np.unique(y) if columns != len(classes) and y is not None else classes
    if columns != len(classes):
        raise ValueError(f"truth has {columns} columns but {len(classes)} classes are predicted: give y too.")
    return classes


def _zero_one(answers: Array, judged: Array, y: Array | None, known: Known | None) -> dict[str, Array]:
    classes = _classes(answers[judged], y, known)
    votes = np.array([_mean(answers == c, judged) for c in classes])  # P(f = c) at each point
    points = np.arange(votes.shape[1])
    main = np.argmax(votes, axis=0)
    if known is None:
        best = np.searchsorted(classes, np.asarray(y))
        total, noise = _mean(answers != y, judged), np.zeros(len(points))
    else:
        best, shares = _optimum(known, classes)
        total = 1.0 - np.einsum("cp,pc->p", votes, shares)
        noise = _weighted_noise(votes, shares, best)
    right = votes[best, points]  # P(f = y*)
    biased = main != best
    return {
        "bias2": biased.astype(float),
        "variance": np.where(biased, -right, 1.0 - votes[main, points]),
        "noise": noise,
        "total": total,
        "main": classes[main],
    }


def _optimum(known: Known, classes: Array) -> tuple[Array, Array]:
    """The optimal class at each point, and P(y = c) with one column per class."""
    if not isinstance(known, tuple):
        return np.argmax(known, axis=1), known
    best, noise = np.searchsorted(classes, known[0]), known[1]
    points, shares = np.arange(len(best)), np.zeros((len(best), len(classes)))
    shares[points, best] = 1.0 - noise
    if len(classes) == 2:
        shares[points, 1 - best] = noise
    return best, shares


def _weighted_noise(votes: Array, shares: Array, best: Array) -> Array:
    """c₁N = N·P(f = y*) − Σ_{c ≠ y*} P(f = c) P(y = c): noise hurts right answers and forgives some wrong ones."""
    points = np.arange(len(best))
    right, optimal = votes[best, points], shares[points, best]
    forgiven = np.einsum("cp,pc->p", votes, shares) - right * optimal
    return np.asarray((1.0 - optimal) * right - forgiven)


def _checked(parts: dict[str, Array], name: str, rounds: int) -> BiasVariance:
    """Means over the points, after checking that the parts add up to the total at each of them."""
    gap = np.abs(parts["bias2"] + parts["variance"] + parts["noise"] - parts["total"])
    if not np.all(gap <= _ROUNDING * (1.0 + np.abs(parts["total"]))):
        raise ArithmeticError(f"The parts do not add up to the total: off by {gap.max():.3g}.")
    means = {k: float(np.mean(parts[k])) for k in ("bias2", "variance", "noise", "total")}
    return BiasVariance(**means, loss=name, rounds=rounds, points=parts)
