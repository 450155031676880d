"""The work of growing, shown: every split that the nodes of a tree compared, with its gain."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from certifit._trace import Trace, TraceRow
from certifit._types import Array
from certifit.certificates.tree_questions import ENUMERATE, groupings
from certifit.tree._columns import Columns
from certifit.tree._export import among, word_of
from certifit.tree._growing import Settings
from certifit.tree._structure import Tree
from certifit.tree._target import TreeTarget

_AT_ONCE = 256  # splits whose sides are added up in one product


class Work:
    """The rows from which a tree was grown, and how its splits are measured."""

    def __init__(self, X: Array, columns: Columns, target: TreeTarget, settings: Settings) -> None:
        self.X, self.columns, self.target, self.settings = X, columns, target, settings
        self.weight = np.ones(target.n) if target.weight is None else target.weight

    def trace(self, tree: Tree, drawn: Array | None) -> Trace:
        """One row for each split: node, split, gain (bits or impurity, of the node), and whether it was chosen."""
        at = tree.decision_path(self.X)
        rows: list[TraceRow] = []
        for node in np.flatnonzero(~tree.is_leaf):
            here = np.flatnonzero(np.asarray(at[:, [node]].todense()).ravel())
            went = np.asarray(at[here][:, [tree.children_left[node]]].todense()).ravel().astype(bool)
            looked = range(self.X.shape[1]) if drawn is None else np.flatnonzero(drawn[node])
            for j in looked:
                names, sides = self._questions(here, int(j))
                gains = self._gains(here, sides)
                for k in np.flatnonzero(np.isfinite(gains)):
                    asked = bool(j == tree.feature[node] and np.array_equal(sides[k], went))
                    own: dict[str, Any] = {"node": int(node), "depth": int(tree.depths[node]), "rows": len(here)}
                    own |= {"split": names[k], "gain": float(gains[k]), "chosen": asked}
                    rows.append(TraceRow(len(rows), **own))
        return Trace(rows)

    def _questions(self, here: Array, j: int) -> tuple[list[str], Array]:
        """The splits on a column at a node: their words, and which rows go left."""
        found = list(self._by_groups(here, j) if self.columns.categories[j] is not None else self._by_value(here, j))
        return [name for name, _ in found], np.array([side for _, side in found]).reshape(len(found), len(here))

    def _by_value(self, here: Array, j: int) -> Iterator[tuple[str, Array]]:
        x, name = self.X[here, j], self.columns.name(j)
        lost = np.isnan(x)
        values = np.unique(x[~lost])
        boolean = self.columns.kinds[j] == "boolean"
        for low, high in pairwise(values):
            t = low + (high - low) / 2  # as the loops do; the sum of large values would overflow
            said = f"not {name}" if boolean else f"{name} <= {t:.6g}"
            with np.errstate(invalid="ignore"):
                below = x <= t
            if lost.any():
                yield f"{said} or missing", below | lost
                yield f"{said}, known", below
            else:
                yield said, below
        if lost.any() and not lost.all():
            yield f"{name} is known", ~lost

    def _by_groups(self, here: Array, j: int) -> Iterator[tuple[str, Array]]:
        code = np.where(np.isnan(self.X[here, j]), -1, self.X[here, j]).astype(int)
        known = self.columns.categories[j] or ()
        present, which = np.unique(code, return_inverse=True)
        words = ["missing" if c < 0 else word_of(known[c]) for c in present]
        k = self.target.n_classes
        if len(present) < 2 or (self.target.codes is not None and k > 2 and len(present) > ENUMERATE):
            return
        sums = np.zeros((len(present), k if self.target.codes is not None else 2))
        np.add.at(sums, which, self._columns(here))
        for mask in groupings(sums, k, self.target.codes is not None):
            sides = [[w for w, m in zip(words, mask) if m == side] for side in (True, False)]
            yield among(self.columns.name(j), *sides), np.asarray(mask)[which]

    def _columns(self, here: Array) -> Array:
        """Weight by class, or weight and weight × value."""
        w = self.weight[here]
        if self.target.codes is not None:
            return w[:, None] * np.eye(self.target.n_classes)[self.target.codes[here]]
        y = np.asarray(self.target.y)[here]
        return np.stack([w, w * y], axis=1)

    def _gains(self, here: Array, sides: Array) -> Array:
        """Impurity of the node minus that of its two sides, weighted; −inf where the rules forbid the split."""
        w, out = self.weight[here], np.full(len(sides), -np.inf)
        whole, before = float(w.sum()), self._impurity(here[None, :], np.ones((1, len(here)), dtype=bool))[0]
        for start in range(0, len(sides), _AT_ONCE):
            part = sides[start : start + _AT_ONCE]
            left, count = part @ w, part.sum(axis=1)
            after = left * self._impurity(here, part) + (whole - left) * self._impurity(here, ~part)
            s = self.settings
            fits = (np.minimum(count, len(here) - count) >= s.min_samples_leaf) & (count > 0) & (count < len(here))
            fits &= np.minimum(left, whole - left) >= s.min_weight_leaf
            out[start : start + _AT_ONCE] = np.where(fits, before - after / whole, -np.inf)
        return out

    def _impurity(self, here: Array, sides: Array) -> Array:
        """Of the rows on one side, for each split."""
        here = np.ravel(here)
        w = self.weight[here]
        if self.settings.criterion == "absolute_error":
            return np.array([_spread(np.asarray(self.target.y)[here[m]], w[m]) for m in sides])
        total = np.maximum(sides @ w, 1e-300)
        if self.target.codes is None:
            y = np.asarray(self.target.y)[here]
            y = y - y.mean()
            return np.asarray(np.maximum(sides @ (w * y * y) / total - (sides @ (w * y) / total) ** 2, 0.0))
        shares = (sides @ self._columns(here)) / total[:, None]
        if self.settings.criterion == "gini":
            return np.asarray(1.0 - (shares**2).sum(axis=1))
        return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1))


def _spread(y: Array, w: Array) -> float:
    """Mean distance from the median."""
    if not len(y):
        return 0.0
    order = np.argsort(y)
    reached = np.cumsum(w[order])
    middle = y[order][np.searchsorted(reached, reached[-1] / 2)]
    return float(w @ np.abs(y - middle) / w.sum())
