r"""The fewest mistakes that any hyperplane makes: the 0-1 loss, minimised exactly on small data.

Rows whose convex hulls meet cannot all be right: of every such group at least one row is a mistake. Branch and bound
tries them in turn, at most d + 2 a group (Carathéodory), until the rows that are left can be separated; that no
smaller set of mistakes will do is proved by the groups themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy  # optimize loads on first use

from certifit._types import Array, MatrixLike, VectorLike
from certifit.geometry._separability import separability

_LIMIT = 20_000  # groups to look for, at most


@dataclass(frozen=True)
class FewestMistakes:
    """The smallest possible number of mistakes, a hyperplane that attains it, and the groups of rows that prove it.

    Attributes
    ----------
    count : int
        No hyperplane makes fewer mistakes, y(w·x + b) ≤ 0.
    rows : tuple of int
        The mistakes of the hyperplane (w, b).
    w, b :
        It.
    groups : mapping
        For each set of removed rows, a group of other rows that cannot all be classified correctly.

    Examples
    --------
    >>> fewest_mistakes([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).count
    1
    """

    count: int
    rows: tuple[int, ...]
    w: Array
    b: float
    groups: Mapping[frozenset[int], tuple[int, ...]]

    def __str__(self) -> str:
        if self.count == 0:
            return "A hyperplane makes no mistake: the classes are separable."
        mistakes = "1 mistake" if self.count == 1 else f"{self.count} mistakes"
        groups = "1 group" if len(self.groups) == 1 else f"{len(self.groups)} groups"
        return (
            f"No hyperplane makes fewer than {mistakes}, and one makes exactly that many "
            f"({'row' if self.count == 1 else 'rows'} {', '.join(map(str, self.rows))}); proved by {groups} of rows."
        )

    def verify(self, X: MatrixLike, y: VectorLike) -> bool:
        """Check again the mistakes of the hyperplane and every branch of the proof.

        Parameters
        ----------
        X, y :
            The data.
        """
        Z, signs = _table(X, y)
        w, b = np.asarray(self.w, dtype=float), float(self.b)
        if w.shape != Z.shape[1:] or not (np.all(np.isfinite(w)) and np.isfinite(b)) or type(self.count) is not int:
            return False
        if sorted(self.rows) != list(_wrong(Z, signs, w, b)) or len(self.rows) != self.count:
            return False
        everyone, open_sets = set(range(len(Z))), [frozenset[int]()] if self.count else []
        while open_sets:
            out = open_sets.pop()
            group = self.groups.get(out)
            if group is None or out & set(group) or not set(group) <= everyone or _separable(Z, signs, group):
                return False  # a row goes by one number: −1 would be the last one again
            if len(out) < self.count - 1:
                open_sets += [out | {i} for i in group]
        return True


def fewest_mistakes(X: MatrixLike, y: VectorLike, *, max_groups: int = _LIMIT) -> FewestMistakes:
    """The smallest number of training errors of any hyperplane, with proof.

    Minimising the 0-1 loss is hard in general: the work grows like (d + 2) to the power of the answer.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Two classes; the second in sorted order counts as +1.
    max_groups : int ≥ 1, default=20000
        Limit on the size of the proof.

    Returns
    -------
    FewestMistakes

    Examples
    --------
    >>> found = fewest_mistakes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])       # exclusive or
    >>> print(found.count, found.verify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]))
    1 True
    """
    Z, signs = _table(X, y)
    groups: dict[frozenset[int], tuple[int, ...]] = {}
    for count in range(len(signs)):
        seen: set[frozenset[int]] = set()
        pending: list[frozenset[int]] = [frozenset()]
        while pending:
            out = pending.pop()
            if out in seen:
                continue
            seen.add(out)
            if out not in groups:
                kept = np.array([i for i in range(len(signs)) if i not in out])
                group = _group(Z, signs, kept)
                if group is None:
                    return _answer(Z, signs, kept, groups)
                groups[out] = group
                if len(groups) > max_groups:
                    raise ValueError(
                        f"More than {count} mistakes; stopped after {max_groups} groups of rows (max_groups)."
                    )
            if len(out) < count:
                pending += [out | {i} for i in groups[out]]
    raise AssertionError("one row alone can always be separated")  # pragma: no cover


def _table(X: Any, y: VectorLike) -> tuple[Array, Array]:
    Z, labels = np.asarray(X, dtype=float), np.asarray(y)
    classes = np.unique(labels)
    if Z.ndim != 2 or labels.shape != (len(Z),) or len(classes) != 2 or not np.all(np.isfinite(Z)):
        raise ValueError("fewest_mistakes needs a table of finite numbers and one of two labels for each row.")
    return Z, np.where(labels == classes[1], 1.0, -1.0)


def _wrong(Z: Array, signs: Array, w: Array, b: float) -> tuple[int, ...]:
    """Rows with y(w·x + b) ≤ 0, in rationals: no sign is left to rounding."""
    v, c = [Fraction(float(a)) for a in w], Fraction(b)
    scores = [sum((p * Fraction(float(x)) for p, x in zip(v, row)), start=c) for row in Z]
    return tuple(i for i, (score, sign) in enumerate(zip(scores, signs)) if score * int(sign) <= 0)


def _separable(Z: Array, signs: Array, rows: Any) -> bool:
    at = np.asarray(rows, dtype=int)
    if len(np.unique(signs[at])) < 2:
        return True
    found = separability(Z[at], signs[at], rigor="exact")
    return not found.holds or found.verdict == "separable"  # on a doubt it is no witness


def _group(Z: Array, signs: Array, kept: Array) -> tuple[int, ...] | None:
    """Rows among those kept that cannot all be right, few of them; None if all can be."""
    if len(np.unique(signs[kept])) < 2:
        return None
    columns = (signs[kept, None] * np.column_stack([Z[kept], np.ones(len(kept))])).T
    A, b = np.vstack([columns, np.ones(len(kept))]), np.append(np.zeros(len(columns)), 1.0)
    vertex = scipy.optimize.linprog(np.zeros(len(kept)), A_eq=A, b_eq=b, method="highs-ds")
    if vertex.status == 0:
        few = tuple(int(i) for i in kept[vertex.x > 1e-12])
        if not _separable(Z, signs, few):
            return few
    return None if _separable(Z, signs, kept) else tuple(int(i) for i in kept)


def _answer(Z: Array, signs: Array, kept: Array, groups: dict[frozenset[int], tuple[int, ...]]) -> FewestMistakes:
    """The separator of the rows kept; what it gets wrong beyond those taken out would contradict the proof."""
    if len(np.unique(signs[kept])) < 2:
        w, b = np.zeros(Z.shape[1]), float(signs[kept[0]])
    else:
        found = separability(Z[kept], signs[kept], rigor="exact")
        w, b = np.asarray(found.w, dtype=float), float(found.b)
    wrong = _wrong(Z, signs, w, b)
    used = {out: group for out, group in groups.items() if len(out) < len(wrong)}
    return FewestMistakes(len(wrong), wrong, w, b, used)
