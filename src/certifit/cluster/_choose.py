"""How many clusters? Silhouette, gap statistic and stability for a range of k, with intervals, in one call."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from sklearn.utils import check_array, check_random_state

from certifit._progress import task
from certifit._types import Array, Axes, Matrix, RandomState
from certifit.cluster._kmeans import KMeans

T = TypeVar("T")
_ROWS = 2000  # silhouettes compare all pairs: of more rows, so many are drawn


@dataclass(frozen=True)
class NumberOfClusters:
    """Three measures for each k, each with an interval, and the k that each prefers.

    Attributes
    ----------
    k : list of int
    inertia : list of float
        Cost of the best clustering found.
    silhouette, gap, stability : dict of lists "value", "low", "high"
        Mean silhouette; gap statistic; mean agreement (adjusted Rand index) of clusterings of two resamples. Stability
        of one cluster is 1 by definition and left out (nan), as is its silhouette.
    best : dict
        The k that "silhouette", "gap" and "stability" prefer.
    level : float
        Of the intervals.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(m, 0.5, size=(30, 2)) for m in [(0, 0), (4, 0), (2, 4)]])
    >>> choose_k(X, range(1, 5), references=10, resamples=5, random_state=0).best
    {'silhouette': 3, 'gap': 3, 'stability': 3}
    """

    k: list[int]
    inertia: list[float]
    silhouette: dict[str, list[float]]
    gap: dict[str, list[float]]
    stability: dict[str, list[float]]
    best: dict[str, int]
    level: float

    def plot(self, ax: Axes | None = None) -> Axes:
        """The three measures over k with their intervals; see `certifit.plot.number_of_clusters`.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        """
        # A higher floor, only when somebody asks.
        drawn: Axes = importlib.import_module("certifit.plot").number_of_clusters(self, ax)
        return drawn

    def __str__(self) -> str:
        lines = ["  k      cost            silhouette                   gap             stability"]
        for i, k in enumerate(self.k):
            cells = []
            for measure in (self.silhouette, self.gap, self.stability):
                v, a, b = measure["value"][i], measure["low"][i], measure["high"][i]
                cells.append("" if np.isnan(v) else f"{v:.2f} ({a:.2f} to {b:.2f})")
            lines.append(f"{k:3d} {self.inertia[i]:9.4g} " + " ".join(c.rjust(21) for c in cells))
        told = ", ".join(f"{name} {k}" for name, k in self.best.items())
        return "\n".join([*lines, f"preferred: {told}"])


def choose_k(
    X: Matrix,
    k: Iterable[int] = range(1, 11),
    *,
    n_init: int = 3,
    references: int = 20,
    resamples: int = 20,
    level: float = 0.95,
    random_state: RandomState = None,
) -> NumberOfClusters:
    r"""Measures of how many clusters the rows have, for every k of a range.

    Silhouette of a row: (b − a)/max(a, b) with a its mean distance to its own cluster and b to the nearest other.
    Gap: :math:`E\log\Phi_k(\text{uniform}) - \log\Phi_k`, the expectation over uniform samples in the box along the
    principal axes; it prefers the smallest k with gap(k) ≥ gap(k+1) − s(k+1). Stability: agreement of the clusterings
    of two halves, drawn at random, on all rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    k : iterable of int ≥ 1, default=range(1, 11)
    n_init : int ≥ 1, default=3
        Starts of every fit.
    references : int ≥ 2, default=20
        Uniform samples behind the gap.
    resamples : int ≥ 2, default=20
        Pairs of halves behind the stability.
    level : float in (0, 1), default=0.95
        Of the intervals: normal for the mean silhouette (over rows) and the gap (over reference samples), quantiles of
        the resamples for the stability.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    NumberOfClusters

    References
    ----------
    P. Rousseeuw (1987). R. Tibshirani, G. Walther, T. Hastie, JRSS B 63 (2001). U. von Luxburg (2010).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(m, 0.5, size=(25, 2)) for m in (0, 5)])
    >>> choose_k(X, [1, 2, 3], references=10, resamples=5, random_state=0).best["gap"]
    2
    """
    X = check_array(X, dtype=np.float64, ensure_min_samples=4)
    counts = sorted({int(c) for c in k})
    if not counts or counts[0] < 1 or counts[-1] > len(X) // 2:
        raise ValueError(f"k must lie between 1 and half the number of rows ({len(X) // 2}).")
    if not 0.0 < level < 1.0 or references < 2 or resamples < 2:
        raise ValueError("level must lie between 0 and 1, references and resamples be at least 2.")
    rng = check_random_state(random_state)
    from scipy.stats import norm

    z = float(norm.ppf(0.5 + level / 2))
    with task("choose k", 3 * len(counts)) as tell:
        done = iter(range(1, 3 * len(counts) + 1))

        def counted(found: T) -> T:
            tell(next(done))
            return found

        fits = [counted(_fit(X, c, n_init, rng)) for c in counts]
        silhouette = _intervals([_silhouette(X, m.labels_, z, rng) for m in fits])
        gaps = [counted(_gap(X, m, n_init, references, rng)) for m in fits]
        gap = _intervals([(g, g - z * s, g + z * s) for g, s in gaps])
        stability = _intervals([counted(_stability(X, c, n_init, resamples, level, rng)) for c in counts])
    best = {
        "silhouette": counts[_argmax(silhouette["value"])],
        "gap": counts[_first_gap(gaps)],
        "stability": counts[_argmax(stability["value"])],
    }
    return NumberOfClusters(counts, [float(m.inertia_) for m in fits], silhouette, gap, stability, best, level)


def _fit(X: Array, k: int, n_init: int, rng: np.random.RandomState) -> KMeans:
    return KMeans(k, n_init=n_init, random_state=rng).fit(X)


def _intervals(found: list[tuple[float, float, float]]) -> dict[str, list[float]]:
    return {name: [float(f[i]) for f in found] for i, name in enumerate(("value", "low", "high"))}


def _argmax(values: list[float]) -> int:
    """The largest; among equals the last, since two clusters are as stable as three where two of these stay apart."""
    known = np.array([-np.inf if np.isnan(v) else v for v in values])
    return int(np.flatnonzero(known >= known.max() - 1e-9)[-1])


def _silhouette(X: Array, labels: Array, z: float, rng: np.random.RandomState) -> tuple[float, float, float]:
    from sklearn.metrics import silhouette_samples  # loads on first use

    rows = rng.permutation(len(X))[:_ROWS]
    if not 1 < len(np.unique(labels[rows])) < len(rows):
        return np.nan, np.nan, np.nan
    each = silhouette_samples(X[rows], labels[rows])
    mean, spread = float(each.mean()), z * float(each.std(ddof=1)) / np.sqrt(len(each))
    return mean, mean - spread, mean + spread


def _gap(X: Array, model: KMeans, n_init: int, references: int, rng: np.random.RandomState) -> tuple[float, float]:
    centred = X - X.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    box = centred @ axes.T
    low, high = box.min(axis=0), box.max(axis=0)
    logs = []
    for _ in range(references):
        sample = rng.uniform(low, high, size=(len(X), len(low))) @ axes
        logs.append(np.log(max(_fit(sample, model.n_clusters, n_init, rng).inertia_, 1e-300)))
    gap = float(np.mean(logs) - np.log(max(model.inertia_, 1e-300)))
    return gap, float(np.std(logs) * np.sqrt(1.0 + 1.0 / references))


def _first_gap(gaps: list[tuple[float, float]]) -> int:
    """The smallest k whose gap is within one standard error of the next one's."""
    for i in range(len(gaps) - 1):
        if gaps[i][0] >= gaps[i + 1][0] - gaps[i + 1][1]:
            return i
    return len(gaps) - 1


def _stability(
    X: Array, k: int, n_init: int, resamples: int, level: float, rng: np.random.RandomState
) -> tuple[float, float, float]:
    if k == 1:
        return np.nan, np.nan, np.nan
    from sklearn.metrics import adjusted_rand_score

    scores = []
    for _ in range(resamples):
        order = rng.permutation(len(X))
        halves = order[: len(X) // 2], order[len(X) // 2 :]
        one, two = (_fit(X[h], k, n_init, rng).predict(X) for h in halves)
        scores.append(adjusted_rand_score(one, two))
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return float(np.mean(scores)), float(low), float(high)
