"""Kernel density estimation with proved bounds at every point."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.neighbors import KernelDensity as TheirDensity
from sklearn.utils import check_random_state

from certifit import certificates
from certifit._certified import Certified
from certifit._progress import task
from certifit._sklearn import Interval, StrOptions, check_sample_weight, usual
from certifit._types import Array, Matrix, RandomState, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates import Ball, Certificate, Data
from certifit.certificates.density import KERNELS, NORMS, direct_density, kernel_integral
from certifit.parallel import by_ranges, ranges

_METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "minkowski": "euclidean",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "l1": "manhattan",
    "chebyshev": "chebyshev",
    "infinity": "chebyshev",
}
_OTHERS = {
    "braycurtis", "canberra", "dice", "hamming", "haversine", "jaccard", "mahalanobis", "rogerstanimoto", "russellrao",
    "seuclidean", "sokalmichener", "sokalsneath",
}  # fmt: skip
"""Distances that scikit-learn's trees know: its own class computes the density, and nothing is proved."""
_LEAST = 64  # points that are worth a thread
_SOME = 512  # rows of a search for the bandwidth between two words about its progress


@dataclass(kw_only=True, eq=False, repr=False)
class KernelDensity(Certified, BaseEstimator):
    r"""Kernel density estimate, with bounds that are proved for every point.

    .. math:: f(x) = \frac{1}{\sum_i s_i} \sum_i \frac{s_i}{c_d h^d} K\!\left(\frac{\lVert x - x_i\rVert}{h}\right)

    A k-d tree adds up whole groups of rows between bounds and opens the widest until the tolerance is reached.
    At tolerance zero every row within reach is summed and only rounding errors remain.

    Parameters
    ----------
    bandwidth : float > 0, "scott" or "silverman", default=1.0
        h; the rules take the number of rows and columns only, so standardise columns first.
    algorithm : {"auto", "kd_tree", "ball_tree"}, default="auto"
        Accepted for compatibility with scikit-learn; a k-d tree is always used.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, default="gaussian"
    metric : {"euclidean", "manhattan", "chebyshev"}, default="euclidean"
        By the other distances of scikit-learn's trees ("haversine", ...) the density is scikit-learn's, without bounds.
        Also under their other names. As in scikit-learn the constant is that of the euclidean distance.
    atol, rtol : float ≥ 0, default=0
        Upper minus lower bound is at most ``rtol`` × lower + ``atol``.
    breadth_first : bool, default=True
        Accepted for compatibility with scikit-learn; the widest group is always opened first.
    leaf_size : int ≥ 1, default=40
        Rows of the smallest groups.
    metric_params : dict, default=None
        ``{"p": 1, 2 or inf}`` for "minkowski".

    Attributes
    ----------
    bandwidth_ : float
    n_features_in_ : int

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [1.5], [4.0]])
    >>> model = KernelDensity(bandwidth=0.5).fit(X)
    >>> low, high = model.bounds([[1.0]])
    >>> bool(low[0] <= np.exp(model.score_samples([[1.0]]))[0] <= high[0]), bool(high[0] - low[0] < 1e-12)
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"scott", "silverman"})],
        "algorithm": [StrOptions({"auto", "kd_tree", "ball_tree"})],
        "kernel": [StrOptions(set(KERNELS))],
        "metric": [StrOptions({*_METRICS, *_OTHERS})],
        "metric_params": [None, dict],
    } | usual("atol≥0 rtol≥0 breadth_first leaf_size≥1")

    bandwidth: Any = 1.0
    algorithm: str = "auto"
    kernel: str = "gaussian"
    metric: str = "euclidean"
    atol: float = 0
    rtol: float = 0
    breadth_first: bool = True
    leaf_size: int = 40
    metric_params: Any = None

    def fit(self, X: Matrix, y: VectorLike | None = None, sample_weight: Weights = None) -> KernelDensity:
        """Build the tree of rows X; a ``sample_weight`` of k is k copies of the row, and y is ignored."""
        from certifit.loops.density import build

        self._validate_params()
        other = self.metric in _OTHERS
        self._norm = "euclidean" if other else norm_of(self.metric, self.metric_params)
        X = validate_data(self, X, dtype=np.float64, order="C")
        weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self._X, self._weights = np.array(X[weights > 0]), weights[weights > 0]
        n, d = self._X.shape
        # Weights are copies, so their sum counts the rows.
        count = float(weights.sum()) if sample_weight is not None else float(n)
        self.bandwidth_ = bandwidth_of(self.bandwidth, count, d)
        options = {**self.get_params(deep=False), "bandwidth": self.bandwidth_}
        self._theirs = TheirDensity(**options).fit(X, sample_weight=sample_weight) if other else None
        levels = max(1, int(np.ceil(np.log2(max(1.0, n / self.leaf_size)))) + 1)
        order = np.arange(n)
        self._tree = build(self._X, self._weights, order, levels)
        self._sorted = np.ascontiguousarray(self._X[order]), self._weights[order]
        if other or len(self._X) < len(X):
            self._withhold_certificates(
                "What is proved are densities at points: certificate_for(X). That the rows are kept as they were given "
                "is stated where every row has a weight and the distance is one of certifit's."
            )
        else:
            kept = Data.of(self._X).digest()
            given = None if sample_weight is None else weights
            self._promise_certificate("stored-rows", {"rows": kept, "task": "none"}, X, None, given)
        return self

    def _sums(self, X: Matrix) -> tuple[Array, Array]:
        """Validated points, and (shift, lower, upper) of their sums."""
        from certifit.loops.density import query

        check_is_fitted(self)
        if self._theirs is not None:
            raise ValueError(f"Bounds are proved for {sorted(set(_METRICS.values()))}, not for {self.metric!r}.")
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        atol = float(self.atol) * float(self._scale().upper)
        out = np.empty((len(X), 3))
        codes = (KERNELS.index(self.kernel), NORMS.index(self._norm))
        given = (*self._sorted, self._tree, X)
        tolerances = (self.bandwidth_, 0.5 * atol, float(self.rtol))
        by_ranges(lambda a, b: query(*given, a, b, *codes, *tolerances, out), len(X), _LEAST)
        return X, out

    def _scale(self) -> Ball:
        """Σs · c_d h^d."""
        scale = kernel_integral(self.kernel, self._X.shape[1]) * Ball(self._weights).sum()
        for _ in range(self._X.shape[1]):
            scale = scale * self.bandwidth_
        return scale

    def bounds(self, X: Matrix) -> tuple[Array, Array]:
        """Proved bounds of the density at each point.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,)
        """
        _, out = self._sums(X)
        # The shift is a number like any other; e to the shift is rounded.
        factor = np.exp(Ball(out[:, 0])) / self._scale()
        lower, upper = (Ball(out[:, 1]) * factor).lower, (Ball(out[:, 2]) * factor).upper
        return np.maximum(lower, 0.0), np.asarray(upper)

    def score_samples(self, X: Matrix) -> Array:
        """Log of the density at each point."""
        check_is_fitted(self)
        if self._theirs is not None:
            return np.asarray(self._theirs.score_samples(X))
        _, out = self._sums(X)
        scale = kernel_integral(self.kernel, self._X.shape[1]).mid * self._weights.sum()
        with np.errstate(divide="ignore"):
            logs = np.log(0.5 * (out[:, 1] + out[:, 2]))
        return np.asarray(out[:, 0] + logs - np.log(scale) - self._X.shape[1] * np.log(self.bandwidth_))

    def score(self, X: Matrix, y: VectorLike | None = None) -> float:
        """Sum of the log densities of rows X."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw rows from the estimate (gaussian and tophat kernels).

        Parameters
        ----------
        n_samples : int ≥ 1, default=1
        random_state : int, RandomState or None, default=None

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if self.kernel not in ("gaussian", "tophat"):
            raise NotImplementedError(f"sample supports the gaussian and tophat kernels, not {self.kernel!r}.")
        rng = check_random_state(random_state)
        total = np.cumsum(self._weights)
        rows = self._X[np.searchsorted(total, rng.uniform(0, total[-1], size=n_samples), side="right")]
        d = self._X.shape[1]
        noise = rng.normal(size=(n_samples, d))
        if self.kernel == "tophat":  # uniform in a ball
            noise *= (rng.uniform(size=n_samples) ** (1.0 / d) / np.sqrt((noise**2).sum(axis=1)))[:, None]
        return np.asarray(rows + self.bandwidth_ * noise)

    def certificate_for(self, X: Matrix) -> Certificate:
        """Prove the bounds at points X by the direct sum over all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        Certificate
            About the rows of the fit that have weight, and their weights: ``verify(rows, None, weights)``.
        """
        points, _ = self._sums(X)
        lower, upper = self.bounds(points)
        weights = None if np.all(self._weights == 1.0) else self._weights
        data = Data.of(self._X, None, weights)
        # The direct sum in balls is a little wider than the compiled one: what is stated is what it can confirm.
        sums = [direct_density(data, x, self.kernel, self.bandwidth_, self._norm) for x in points]
        room = 1e-12 * upper
        lower = np.maximum(np.minimum(lower, [float(f.lower) for f in sums]) - room, 0.0)
        upper = np.maximum(upper, [float(f.upper) for f in sums]) + room
        evidence = {
            "points": points,
            "lower": lower,
            "upper": upper,
            "kernel": self.kernel,
            "bandwidth": self.bandwidth_,
            "metric": self._norm,
        }
        return certificates.issue("kernel-density", data, evidence)


def norm_of(metric: str, params: Any) -> str:
    """Which of the three distances a name means."""
    p = (params or {}).get("p", 2)
    if params and (metric != "minkowski" or set(params) - {"p"} or p not in (1, 2, np.inf)):
        raise ValueError("metric_params can hold p = 1, 2 or inf for the metric 'minkowski', nothing else.")
    return {1: "manhattan", 2: "euclidean"}.get(p, "chebyshev") if metric == "minkowski" else _METRICS[metric]


def bandwidth_of(bandwidth: Any, n: float, d: int) -> float:
    """The number, or that of a rule: n^(−1/(d+4)) (Scott), (n(d+2)/4)^(−1/(d+4)) (Silverman)."""
    if bandwidth == "scott":
        return float(n ** (-1.0 / (d + 4)))
    if bandwidth == "silverman":
        return float((n * (d + 2) / 4) ** (-1.0 / (d + 4)))
    return float(bandwidth)


@dataclass(frozen=True)
class BandwidthChoice:
    """Leave-one-out log likelihood for each bandwidth of a grid.

    Attributes
    ----------
    bandwidths, log_likelihood : ndarray
        The mean over rows of the log density of each row by the others.
    best : float

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(200, 1))
    >>> choice = choose_bandwidth(x, [0.01, 0.3, 2.0])
    >>> float(choice.best)
    0.3
    """

    bandwidths: Array
    log_likelihood: Array
    best: float


def choose_bandwidth(
    X: Matrix,
    bandwidths: npt.ArrayLike | None = None,
    *,
    kernel: str = "gaussian",
    metric: str = "euclidean",
    sample_weight: Weights = None,
) -> BandwidthChoice:
    r"""The bandwidth with the largest leave-one-out likelihood: one search of the tree for the whole grid.

    .. math:: \sum_i s_i \log \sum_{j \ne i} \frac{s_j\,K(\lVert x_i - x_j\rVert / h)}{c_d h^d \sum_{j \ne i} s_j}

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    bandwidths : array-like of floats > 0, default=None
        The grid; 30 values around Scott's rule for columns of the spread of X when None.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, default="gaussian"
    metric : {"euclidean", "manhattan", "chebyshev"}, default="euclidean"
    sample_weight : array-like of shape (n_samples,), default=None
        A weight of k is k copies of the row; one copy is held out at a time.

    Returns
    -------
    BandwidthChoice

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(150, 2))
    >>> 0.2 < choose_bandwidth(x).best < 1.0
    True
    """
    from certifit.loops.density import leave_one_out

    model = KernelDensity(kernel=kernel, metric=metric).fit(X, sample_weight=sample_weight)
    (rows, w), tree = model._sorted, model._tree
    n, d = rows.shape
    if w.sum() <= 1.0 or n < 2:
        raise ValueError("Leaving one row out needs at least two rows.")
    if bandwidths is None:
        spread = float(np.sqrt(np.mean(np.average((rows - np.average(rows, 0, w)) ** 2, axis=0, weights=w)))) or 1.0
        bandwidths = spread * bandwidth_of("scott", float(w.sum()), d) * np.geomspace(0.1, 5.0, 30)
    h = np.ascontiguousarray(bandwidths, dtype=float).ravel()
    if not len(h) or not np.all((h > 0) & np.isfinite(h)):
        raise ValueError("bandwidths must be positive numbers.")
    order = np.argsort(h)
    rising, out = h[order], np.zeros((n, len(h)))
    codes = (KERNELS.index(kernel), NORMS.index(model._norm))

    def some(first: int, last: int) -> None:
        by_ranges(
            lambda a, b: leave_one_out(rows, w, tree, first + a, first + b, *codes, rising, out), last - first, _LEAST
        )

    with task("bandwidth", n) as tell:
        for first, last in ranges(n, -(-n // _SOME)):
            some(first, last)
            tell(last)
    out = out[:, np.argsort(order)]
    out += (w - 1.0).clip(min=0.0)[:, None]  # the other copies of the row itself, at K(0) = 1
    scale = float(kernel_integral(kernel, d).mid) * h**d
    with np.errstate(divide="ignore"):
        logs = np.log(out / (np.maximum(w.sum() - 1.0, 0.0) * scale))
    mean = w @ logs / w.sum()
    return BandwidthChoice(h, mean, float(h[int(np.argmax(np.nan_to_num(mean, nan=-np.inf)))]))
