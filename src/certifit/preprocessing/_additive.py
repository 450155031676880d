"""Features of additive models: how far a value has climbed between the quantiles of its column."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from itertools import combinations, pairwise
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import type_of_target

from certifit._sklearn import Interval, usual
from certifit._types import Array, Matrix, VectorLike
from certifit._validation import check_is_fitted
from certifit.preprocessing._base import names_in, numbers

_FEWEST = 3  # steps of a column, however many columns there are
_COARSE = 5  # steps of a column in a pair
_ROWS = 20_000  # enough to rank pairs
_COLUMNS = 40  # columns among which pairs are sought
_ROUNDS = 4  # in which pairs are chosen: those of one round are told by what all earlier ones leave
_NUMBERS = 100_000_000  # of products that a table may become
_NOISE = 2.0  # times the gain that chance alone would give a pair


@dataclass(eq=False, repr=False)
class AdditiveBasis(TransformerMixin, BaseEstimator):
    r"""Piecewise linear features, so that a linear model becomes a sum of one function per column.

    A column with knots :math:`t_0 < \dots < t_K` at its quantiles gives the K features

    .. math:: r_k(x) = \min(\max((x - t_{k-1}) / (t_k - t_{k-1}),\ 0),\ 1).

    A linear model with coefficients c adds :math:`f(x) = \sum_k c_k r_k(x)`, which is piecewise linear and level beyond
    the outer knots. A squared penalty on c asks for small steps from knot to knot.

    Parameters
    ----------
    n_steps : int ≥ 1, default=16
        Largest number of features per column (fewer if it has few distinct values).
    most : int ≥ 1, default=240
        Largest number of features of all columns together, as long as each column keeps three.
    pairs : int ≥ 0, default=0
        How many pairs of columns, at most, also get the products of their (coarser) features. They are the pairs that
        explain most of what the individual columns, and pairs chosen before, leave unexplained; `fit` then needs the
        target.
    products : int ≥ 1, default=300
        Largest number of features of all pairs together (fewer for more than 10⁸ / ``products`` rows).

    Attributes
    ----------
    knots_ : list of arrays
        Of each column; one entry for a constant column, which gives no feature.
    pairs_ : list of (i, j, knots of i, knots of j)
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> basis = AdditiveBasis(n_steps=2).fit([[0.0], [1.0], [4.0]])
    >>> basis.transform([[0.5], [2.5], [9.0]])
    array([[0.5, 0. ],
           [1. , 0.5],
           [1. , 1. ]])
    >>> basis.shapes(np.array([2.0, -1.0]))
    [(array([0., 1., 4.]), array([0., 2., 1.]))]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = usual("n_steps≥1 most≥1 products≥1") | {
        "pairs": [Interval(Integral, 0, None, closed="left")]
    }

    n_steps: int = 16
    _: KW_ONLY
    most: int = 240
    pairs: int = 0
    products: int = 300

    def fit(self, X: Matrix, y: VectorLike | None = None) -> AdditiveBasis:
        """Place the knots at quantiles of the columns, and choose pairs by the target if requested."""
        self._validate_params()
        X = numbers(self, X, reset=True)
        wide = sum(len(np.unique(X[:10_000, j])) > 2 for j in range(X.shape[1]))
        room = max(_FEWEST, (self.most - (X.shape[1] - wide)) // max(wide, 1))
        self.knots_ = [_knots(X[:, j], min(self.n_steps, room)) for j in range(X.shape[1])]
        if not any(len(t) > 1 for t in self.knots_):
            self.knots_[0] = np.array([self.knots_[0][0], self.knots_[0][0] + 1.0])  # all columns are constant
        self.pairs_: list[tuple[int, int, Array, Array]] = []
        if self.pairs:
            if y is None:
                raise ValueError("Pairs are chosen by the target, and y is None: give it, or set pairs=0.")
            coarse = [_thinned(t, _COARSE) for t in self.knots_]
            self.pairs_ = [(i, j, coarse[i], coarse[j]) for i, j in self._best_pairs(X, _as_numbers(y), coarse)]
        return self

    def _best_pairs(self, X: Array, Y: Array, coarse: list[Array]) -> list[tuple[int, int]]:
        """Pairs by how much the means of their cells explain of what is left by the columns and the pairs before."""
        most = min(self.products, max(_NUMBERS // len(X), 1))
        rows = np.arange(len(X))[:: max(1, len(X) // _ROWS)]
        X, Y = X[rows], Y[rows]
        codes = [np.searchsorted(_cuts(t), X[:, j], side="right") for j, t in enumerate(coarse)]
        able = [j for j, t in enumerate(coarse) if len(t) > 1]
        if len(able) > _COLUMNS:
            alone = {j: _gain(codes[j], len(coarse[j]), Y - Y.mean(axis=0))[0] for j in able}
            able = sorted(sorted(able, key=lambda j: -alone[j])[:_COLUMNS])
        chosen: list[tuple[int, int]] = []
        size, Z = 0, self._single(X)
        for k in range(1, _ROUNDS + 1):
            pairs, products = -(-self.pairs * k // _ROUNDS), -(-most * k // _ROUNDS)
            if len(chosen) >= pairs:
                continue
            new: list[tuple[int, int]] = []
            for i, j in _ranked(codes, coarse, [p for p in combinations(able, 2) if p not in chosen], _residual(Z, Y)):
                wide = (len(coarse[i]) - 1) * (len(coarse[j]) - 1)
                if len(chosen) + len(new) >= pairs or (size + wide > products and size > 0):
                    break
                new.append((i, j))
                size += wide
            chosen += new
            Z = np.hstack([Z, *(_products(X, i, j, coarse[i], coarse[j]) for i, j in new)])
        return sorted(chosen)

    def _single(self, X: Array) -> Array:
        return np.hstack([_ramps(X[:, j], t) for j, t in enumerate(self.knots_)])

    def transform(self, X: Matrix) -> Array:
        """The features of each row, (n, m)."""
        check_is_fitted(self)
        X = numbers(self, X, reset=False)
        parts = [self._single(X)]
        for i, j, s, t in self.pairs_:
            parts.append(_products(X, i, j, s, t))
        return np.hstack(parts).astype(X.dtype, copy=False)

    def shapes(self, coef: Array) -> list[tuple[Array, Array]]:
        """For each column the knots and the contribution of a linear model with these coefficients (0 at the first).

        Parameters
        ----------
        coef : (m,) array
            Of all features; those of pairs are not part of any column's shape.
        """
        check_is_fitted(self)
        shapes, at = [], 0
        for t in self.knots_:
            k = len(t) - 1
            shapes.append((t, np.concatenate([[0.0], np.cumsum(np.asarray(coef)[at : at + k])])))
            at += k
        return shapes

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> Array:
        """Names such as ``"age 20 to 30"``; products of a pair are joined by ×."""
        names = names_in(self, input_features)
        words = [w for j, t in enumerate(self.knots_) for w in _words(names[j], t)]
        for i, j, s, t in self.pairs_:
            words += [f"{a} × {b}" for a in _words(names[i], s) for b in _words(names[j], t)]
        return np.array(words, dtype=object)


def _knots(x: Array, steps: int) -> Array:
    """Quantiles, or all different values where they are few."""
    values = np.unique(x)
    if len(values) <= steps + 1:
        return values.astype(float)
    return np.unique(np.quantile(x, np.linspace(0.0, 1.0, steps + 1)).astype(float))


def _thinned(t: Array, steps: int) -> Array:
    """At most ``steps`` + 1 of the knots, spread evenly."""
    return t if len(t) <= steps + 1 else t[np.linspace(0, len(t) - 1, steps + 1).round().astype(int)]


def _ramps(x: Array, t: Array) -> Array:
    if len(t) < 2:
        return np.empty((len(x), 0))
    return np.clip((x[:, None] - t[:-1]) / np.diff(t), 0.0, 1.0)


def _products(X: Array, i: int, j: int, s: Array, t: Array) -> Array:
    return (_ramps(X[:, i], s)[:, :, None] * _ramps(X[:, j], t)[:, None, :]).reshape(len(X), -1)


def _cuts(t: Array) -> Array:
    """Where a column is cut into cells: at inner knots, or between them where they are few (two: yes and no)."""
    return np.asarray(t[1:-1] if len(t) > _COARSE else 0.5 * (t[1:] + t[:-1]))


def _words(name: Any, t: Array) -> list[str]:
    if len(t) == 2 and t[0] == 0.0 and t[1] == 1.0:
        return [str(name)]
    return [f"{name} {a:.6g} to {b:.6g}" for a, b in pairwise(t)]


def _as_numbers(y: VectorLike) -> Array:
    """Targets as columns of numbers; classes one-hot."""
    y = np.asarray(y)
    if type_of_target(y) in ("binary", "multiclass") and (y.dtype.kind not in "f" or len(np.unique(y)) < 20):
        return np.asarray(np.equal.outer(y, np.unique(y)).astype(float))
    return y.reshape(len(y), -1).astype(float)


def _residual(Z: Array, Y: Array) -> Array:
    """What a lightly penalised least-squares fit leaves."""
    Z, Y = Z - Z.mean(axis=0), Y - Y.mean(axis=0)
    H = Z.T @ Z
    H[np.diag_indices_from(H)] += 1.0
    return np.asarray(Y - Z @ np.linalg.solve(H, Z.T @ Y))


def _ranked(codes: list[Array], coarse: list[Array], pairs: list[tuple[int, int]], R: Array) -> list[tuple[int, int]]:
    """Those of the pairs that explain more of R than chance would, best first."""
    noise = _NOISE * float(np.mean(np.sum(R * R, axis=1)))
    found = []
    for i, j in pairs:
        gain, cells = _gain(codes[i] * len(coarse[j]) + codes[j], len(coarse[i]) * len(coarse[j]), R)
        if gain > noise * cells:
            found.append((noise * cells - gain, i, j))
    return [(i, j) for _, i, j in sorted(found)]


def _gain(code: Array, size: int, R: Array) -> tuple[float, int]:
    """Sum of squares that the means of the cells explain, and the number of cells that are not empty."""
    count = np.bincount(code, minlength=size)
    sums = np.stack([np.bincount(code, r, minlength=size) for r in R.T], axis=1)
    used = count > 0
    return float(np.sum(sums[used] ** 2 / count[used, None])), int(used.sum())
