"""The best that can be done when the distribution is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.integrate
import scipy.optimize

from certifit._types import Array, Matrix, RandomState


class BayesOptimal:
    r"""The Bayes classifier, or the regression function, of a known distribution.

    .. math:: h^*(x) = \arg\max_c P(c)\,p(x \mid c), \qquad
              h^*(x) = E[y \mid x] = \frac{\int y\,p(x, y)\,dy}{\int p(x, y)\,dy}

    No classifier has a smaller error rate, and no function of x a smaller expected squared error.

    Parameters
    ----------
    priors : dict, default=None
        Class → P(c), for classes.
    densities : dict, default=None
        Class → p(x | c): a (frozen SciPy) distribution or a function of rows.
    joint : callable, default=None
        p(x, y) for regression: takes one row x and an array of y.
    support : tuple of float, default=None
        Range of y, for regression; may be infinite.

    References
    ----------
    L. Devroye, L. Györfi, G. Lugosi, *A Probabilistic Theory of Pattern Recognition*, ch. 2 (1996).

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from certifit.bayes import BayesOptimal
    >>> best = BayesOptimal({"a": 0.5, "b": 0.5}, {"a": norm(-1), "b": norm(1)})
    >>> best.predict([[-0.2], [0.3]]).tolist(), round(best.error(support=(-9, 9)), 6)
    (['a', 'b'], 0.158655)
    """

    def __init__(
        self,
        priors: Mapping[Any, float] | None = None,
        densities: Mapping[Any, Any] | None = None,
        *,
        joint: Callable[[Array, Array], Array] | None = None,
        support: tuple[float, float] | None = None,
    ) -> None:
        if (joint is None) == (priors is None or densities is None):
            raise ValueError("Give either priors and densities (classes) or joint and support (regression).")
        if joint is not None and support is None:
            raise ValueError("support=(low, high) is needed: the range of y.")
        self.joint, self.support = joint, support
        if priors is not None and densities is not None:
            if set(priors) != set(densities):
                raise ValueError("priors and densities must name the same classes.")
            self.classes_: Array = np.array(list(priors))
            self._prior = np.array([float(p) for p in priors.values()])
            self._densities = [densities[c] for c in priors]
            if np.any(self._prior < 0) or abs(self._prior.sum() - 1.0) > 1e-9:
                raise ValueError(f"The priors must be ≥ 0 and sum to one; they sum to {self._prior.sum():.6g}.")

    # -- classes ------------------------------------------------------------------------------------
    def _log_joint(self, X: Matrix) -> Array:
        if self.joint is not None:
            raise ValueError("This is a regression problem: it has no classes.")
        X = np.asarray(X, dtype=float)
        X = X[:, None] if X.ndim == 1 else X
        with np.errstate(divide="ignore"):
            parts = [np.log(p) + _log_density(f, X) for p, f in zip(self._prior, self._densities)]
        return np.stack(parts, axis=1)

    def predict_proba(self, X: Matrix) -> Array:
        """P(c | x) in the order of ``classes_``; X has the shape (n, d) or (n,)."""
        joint = self._log_joint(X)
        top = joint.max(axis=1, keepdims=True)
        if np.isneginf(top).any():
            raise ValueError("A row has density zero under every class.")
        p = np.exp(joint - top)
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def predict(self, X: Matrix) -> Array:
        """The most probable class of each row (ties: the first), or E[y | x]; X has the shape (n, d) or (n,)."""
        if self.joint is not None:
            return self._moments(X)[:, 0]
        return np.asarray(self.classes_[np.argmax(self._log_joint(X), axis=1)])

    def error(
        self, support: tuple[float, float] | None = None, draws: int = 100_000, random_state: RandomState = None
    ) -> float:
        """The smallest error rate possible: 1 − ∫ max_c P(c) p(x | c) dx.

        Parameters
        ----------
        support : tuple of float, default=None
            One column: integrate over this interval. None: average over draws from the densities (``rvs``).
        draws : int, default=100_000
        random_state : int or Generator, default=None

        Returns
        -------
        float
        """
        if support is not None:
            return 1.0 - _integrate_best(lambda x: np.exp(self._log_joint(x)), *support)
        rng = np.random.default_rng(random_state)
        counts = rng.multinomial(draws, self._prior)
        rows = [np.asarray(f.rvs(size=k, random_state=rng)) for f, k in zip(self._densities, counts) if k]
        X = np.concatenate([r.reshape(k, -1) for r, k in zip(rows, counts[counts > 0])])
        return float(1.0 - self.predict_proba(X).max(axis=1).mean())

    # -- regression ---------------------------------------------------------------------------------
    def _moments(self, X: Matrix) -> Array:
        """E[y | x] and Var[y | x] per row."""
        if self.joint is None or self.support is None:
            raise ValueError("This is a classification problem: it has no E[y | x].")
        X = np.asarray(X, dtype=float)
        joint = self.joint
        out = np.empty((len(X), 2))
        for i, x in enumerate(X):

            def integrand(y: float, x: Array = x) -> Array:
                p = float(np.squeeze(joint(x, np.asarray(y))))
                return np.array([p, y * p, y * y * p])

            total = np.asarray(scipy.integrate.quad_vec(integrand, *self.support, epsabs=0, epsrel=1e-10)[0])
            if not total[0] > 0:
                raise ValueError(f"Row {i} has density zero: E[y | x] is not defined there.")
            mean = total[1] / total[0]
            out[i] = mean, total[2] / total[0] - mean**2
        return out

    def noise(self, X: Matrix) -> Array:
        """Var[y | x]: the squared error that nothing can remove.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n,)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._moments(X)[:, 1]


def _log_density(f: Any, X: Array) -> Array:
    one = X.shape[1] == 1
    for name in ("logpdf", "logpmf"):
        method = getattr(f, name, None)
        if method is not None:
            try:
                return np.asarray(method(X[:, 0] if one else X), dtype=float).reshape(len(X))
            except AttributeError:  # a frozen discrete distribution has logpdf in name only
                continue
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.asarray(f(X), dtype=float).reshape(len(X))))


def _integrate_best(values: Callable[[Array], Array], low: float, high: float) -> float:
    """∫ max over classes: one smooth piece per stretch on which a class is best."""
    grid = np.linspace(low, high, 2001)
    best = np.argmax(values(grid), axis=1)
    cuts, owner = [low], [int(best[0])]
    for k in np.flatnonzero(best[:-1] != best[1:]):
        i, j = int(best[k]), int(best[k + 1])

        def lead(x: float, i: int = i, j: int = j) -> float:
            both = values(np.array([x]))[0]
            return float(both[i] - both[j])

        here = lead(grid[k]) * lead(grid[k + 1]) < 0
        cuts.append(float(scipy.optimize.brentq(lead, grid[k], grid[k + 1])) if here else float(grid[k]))
        owner.append(j)
    cuts.append(high)
    parts = [
        scipy.integrate.quad(lambda x, c=c: float(values(np.array([x]))[0, c]), a, b, limit=200)[0]
        for a, b, c in zip(cuts[:-1], cuts[1:], owner)
    ]
    return float(sum(parts))
