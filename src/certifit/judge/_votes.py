"""Judging votes of nearest rows: the lists are proved, the votes counted, and the usual slips tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from certifit._types import Array, MatrixLike, VectorLike
from certifit.certificates import Certificate
from certifit.certificates.neighbors import Space
from certifit.judge._findings import Diagnosis, Finding
from certifit.judge._neighbors import certify_neighbors

_METRICS = ("euclidean", "manhattan", "chebyshev", "cosine")
_CHOICES = 1000  # ways to choose among rows at equal distances that are gone through
Weighting = Literal["uniform", "distance"]


@dataclass(frozen=True)
class _Election:
    """Rows with classes, and how they vote; ``own`` says that the queries are the rows, each of which is left out."""

    X: Array
    y: Array
    Q: Array
    k: int
    metric: str = "euclidean"
    weights: str = "uniform"
    own: bool = False

    @property
    def space(self) -> Space:
        return Space(self.X, self.metric)

    def near(self, space: Space, at: int) -> list[int]:
        """The nearest rows in exact order, and those after them that are as near as the last of the k."""
        rows = np.flatnonzero(np.arange(len(self.X)) != at) if self.own else np.arange(len(self.X))
        low, high = space.bounds(self.Q[at])
        cut = np.partition(high[rows], self.k - 1)[self.k - 1]
        key = {int(i): space.key(self.Q[at], int(i)) for i in rows[low[rows] <= cut]}
        order = sorted(key, key=lambda i: (key[i], i))
        return [i for i in order if key[i] <= key[order[self.k - 1]]]

    def proof(self) -> Certificate:
        """That these are the nearest rows."""
        space = self.space
        lists = [self.near(space, at)[: self.k] for at in range(len(self.Q))]
        return certify_neighbors(lists, self.X, None if self.own else self.Q, metric=self.metric)

    def elected(self, space: Space, at: int) -> set[Any]:
        """Classes that win, among rows at equal distances whichever are taken, and with equal votes each of them."""
        near, q = self.near(space, at), self.Q[at]
        last = space.key(q, near[self.k - 1])
        sure = [i for i in near if space.key(q, i) != last]
        tied = [i for i in near if space.key(q, i) == last]
        ways = itertools.islice(itertools.combinations(tied, self.k - len(sure)), _CHOICES)
        return set().union(*(self._winners(space, q, [*sure, *way]) for way in ways))

    def _winners(self, space: Space, q: Array, rows: list[int]) -> set[Any]:
        power = np.ones(len(rows))
        if self.weights == "distance":
            away = np.mean(space.distance(*space.bounds(q, np.array(rows))), axis=0)
            same = np.array([np.array_equal(self.X[i], q) for i in rows])
            power = same.astype(float) if np.any(same) else 1.0 / np.maximum(away, 1e-300)
        votes = {c: math.fsum(power[self.y[rows] == c]) for c in set(self.y[rows].tolist())}
        most = max(votes.values())
        return {c for c, v in votes.items() if v >= most * (1.0 - 1e-12)}

    def agrees(self, labels: list[Any]) -> bool:
        """Whether every label is one that wins."""
        space = self.space
        return all(label in self.elected(space, at) for at, label in enumerate(labels))

    def explains(self, labels: list[Any]) -> bool:
        """Whether every label wins, equal votes being decided by one rule throughout: else a tie explains anything."""
        if not 1 <= self.k <= len(self.X) - self.own:
            return False
        space, first, last, nearest = self.space, True, True, True
        for at, label in enumerate(labels):
            rows = self.near(space, at)[: self.k]
            winners = sorted(self._winners(space, self.Q[at], rows))
            first, last = first and label == winners[0], last and label == winners[-1]
            nearest = nearest and label == next(c for c in self.y[rows].tolist() if c in winners)
            if not (first or last or nearest):
                return False
        return True


def diagnose_votes(
    labels: VectorLike,
    X: MatrixLike,
    y: VectorLike,
    queries: MatrixLike | None = None,
    *,
    k: int = 5,
    metric: str = "euclidean",
    weights: Weighting = "uniform",
) -> Diagnosis:
    """Are these the classes that the k nearest rows vote for? If not, which mistake explains them?

    Parameters
    ----------
    labels : array-like of shape (m,)
        The class of each query.
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Classes of the rows.
    queries : array-like of shape (m, d), default=None
        None: the rows of X, each without itself.
    k : int ≥ 1, default=5
    metric : {"euclidean", "manhattan", "chebyshev", "cosine"}, default="euclidean"
    weights : {"uniform", "distance"}, default="uniform"
        One vote for each row, or one over its distance.

    Returns
    -------
    Diagnosis
        ``right``, or the mistakes that explain the labels, each with a certificate, and the first query whose label
        is wrong. Rows at equal distances may come in any order, and any of several classes with equal votes is
        accepted.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [5.0], [6.0]]), ["a", "b", "b", "a", "a"]
    >>> diagnose_votes(["b", "a"], X, y, [[0.2], [5.4]], k=3).right
    True
    >>> print(diagnose_votes(["b", "b"], X, y, [[0.2], [5.4]], k=3)[-1])
    wrong vote: Query 1: the nearest rows [3, 4, 2] have the classes ['a', 'a', 'b'] and elect a, not b.
    """
    rows, classes = np.asarray(X, dtype=float), np.asarray(y)
    Q = rows if queries is None else np.atleast_2d(np.asarray(queries, dtype=float))
    said = np.asarray(labels).ravel().tolist()
    if rows.ndim != 2 or Q.ndim != 2 or Q.shape[1] != rows.shape[1] or classes.shape != (len(rows),):
        raise ValueError("X and queries must have the same columns, and y one class for each row of X.")
    if not (np.all(np.isfinite(rows)) and np.all(np.isfinite(Q))) or len(said) != len(Q) or not len(Q):
        raise ValueError(f"Rows must be finite, and labels contain one class for each of the {len(Q)} queries.")
    if metric not in _METRICS or weights not in ("uniform", "distance"):
        raise ValueError(f"metric must be one of {', '.join(_METRICS)}, and weights 'uniform' or 'distance'.")
    if not 1 <= k <= len(rows) - (queries is None):
        raise ValueError(f"k must be a number from 1 to {len(rows) - (queries is None)}.")
    asked = _Election(rows, classes, Q, int(k), metric, weights, queries is None)
    proof = asked.proof()
    if asked.agrees(said):
        return Diagnosis(proof, True)
    found = [Finding(name, words, other.proof()) for name, words, other in _slips(asked) if other.explains(said)]
    return Diagnosis(proof, False, [*found, _first_wrong(asked, said, proof)])


def _slips(a: _Election) -> Iterator[tuple[str, str, _Election]]:
    """Elections that are held otherwise."""
    for other in (a.k - 1, a.k + 1):
        yield f"k = {other}", f"The {other} nearest rows elect them: {a.k} were asked for.", replace(a, k=other)
    if a.own:
        asks = "They are elected if each row counts among its own neighbours: leave it out."
        yield "own row counted", asks, replace(a, own=False)
    if a.weights == "uniform":
        asks = "They are elected if a vote counts one over its distance: every row has one vote."
        yield "votes by distance", asks, replace(a, weights="distance")
    else:
        asks = "They are elected if every row has one vote: a vote counts one over its distance."
        yield "one vote each", asks, replace(a, weights="uniform")
    values = np.unique(a.y)
    if len(values) == 2:
        asks = "The other class is elected at every query: are the labels swapped?"
        yield "labels swapped", asks, replace(a, y=np.where(a.y == values[0], values[1], values[0]))
    for name in _METRICS:
        if name != a.metric:
            asks = f"The nearest rows by {name} distance elect them: which distance was asked for?"
            yield "other distance", asks, replace(a, metric=name)
    mean, spread = a.X.mean(axis=0), a.X.std(axis=0)
    if np.all(spread > 0):
        X = (a.X - mean) / spread
        asks = "The nearest rows by standardised columns elect them: were they meant to be scaled?"
        yield "scaled columns", asks, replace(a, X=X, Q=X if a.own else (a.Q - mean) / spread)
    if a.k > 2:
        yield "nearest row alone", f"They are the classes of the nearest row: let {a.k} rows vote.", replace(a, k=1)
    everyone = len(a.X) - a.own
    if a.k < everyone - 1:
        asks = f"They are the most frequent class of all rows: let the {a.k} nearest vote."
        yield "all rows vote", asks, replace(a, k=everyone)


def _first_wrong(a: _Election, said: list[Any], proof: Certificate) -> Finding:
    space = a.space
    at = next(i for i, label in enumerate(said) if label not in a.elected(space, i))
    rows = a.near(space, at)[: a.k]
    wins = " or ".join(sorted(str(c) for c in a.elected(space, at)))
    words = (
        f"Query {at}: the nearest rows {rows} have the classes {a.y[rows].tolist()} and elect {wins}, not {said[at]}."
    )
    return Finding("wrong vote", words, proof)
