r"""Labels that spread over a graph: how far the scores are from the exact solution, and which labels are certain.

Weights :math:`W \ge 0` between rows (the diagonal is left out), :math:`B = \operatorname{diag}(\delta) - \alpha W` on
the rows that are solved for, and :math:`B G = R`:

- propagation: :math:`\alpha = 1`, the unlabelled rows that reach a label, :math:`\delta_i` the weights to rows that do,
  :math:`R` the weights to the labelled rows of each class (the harmonic solution);
- spreading: all rows, :math:`\delta` the column sums (1 where they are zero), :math:`R = (1 - \alpha)\sqrt{\delta}\,Y`;
  the scores are :math:`F = \sqrt{\delta}\,G`, which solve :math:`(I - \alpha S) F = (1 - \alpha) Y`.

B has no positive entry off its diagonal. Any :math:`w \ge 0` with :math:`Bw > 0` shows that it is a nonsingular
M-matrix, whose inverse has no negative entry. So for :math:`r = B\tilde G - R` and :math:`t = \max_i |r_i| / (Bw)_i`

.. math:: |\tilde G - G| = |B^{-1} r| \le B^{-1} t B w = t\,w .

Evidence: ``variant``, ``alpha``, ``graph`` ("rbf" with ``gamma``; "knn" with ``neighbors``; "given" with ``weights``,
or ``entries``, ``rows`` and ``columns``), ``scores`` (one line for every row), ``w``, ``unreached`` (row numbers).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._types import Array, Sparse
from certifit.certificates._ball import UNIT, Ball, ball, dot, gamma
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._figures import at_least
from certifit.certificates._record import Check, Kind, Proof, equal, register, upper
from certifit.certificates._schema import FINITE, NUMBER, WHOLE, word
from certifit.certificates.neighbors import Space, whole_rows

CUT = 1e-290
"""Weights below this count as zero: beyond it floats lose digits, and then vanish."""

_PAIRS = 1 << 19  # of rows that are compared at once: their distances stay in a cache
_GIVEN = "the given weights are those of the kernel"


@dataclass(frozen=True)
class Labels:
    """Of every row: whether its label is proved to be that of the exact solution, and how far its scores may be off."""

    certain: Array
    error: Array


def unlabelled(y: Array) -> Array:
    """The rows whose label is the number −1."""
    if y.dtype.kind in "biuf":
        return np.asarray(y == -1)
    return np.array([isinstance(v, (int, float, np.number)) and v == -1 for v in y], dtype=bool)


def reaching(W: Sparse, goal: Array) -> Array:
    """The rows from which edges of positive weight lead to a row of ``goal`` (and those rows themselves)."""
    links = scipy.sparse.csr_matrix(W, copy=True)
    links.eliminate_zeros()
    links = links.T.tocsr()  # row j: who points at j
    seen, front = goal.copy(), np.flatnonzero(goal)
    while len(front):
        found = np.zeros(len(goal), dtype=bool)
        found[links[front].indices] = True
        front = np.flatnonzero(found & ~seen)
        seen[front] = True
    return seen


def _rbf(X: Array, width: float) -> tuple[Ball, list[Check]]:
    """exp(−γ‖x − z‖²) with bounds, by differences: no digits cancel."""
    n, d = X.shape
    mid, rad = np.zeros((n, n)), np.zeros((n, n))
    clear = True
    for i in range(n):
        gap = X - X[i]
        square = (gap * gap).sum(axis=1)
        weight = np.exp(Ball(square, square * gamma(d + 6) + d * 2.0**-1068) * (-width))
        low, high = weight.lower, weight.upper
        zero, kept = high < CUT, low >= CUT
        zero[i] = True
        clear = clear and bool(np.all(zero | kept))
        mid[i], rad[i] = np.where(zero, 0.0, weight.mid), np.where(zero, 0.0, weight.rad)
    return Ball(mid, rad), [Check("every weight is a float that counts, or counts as zero", clear)]


def _nearest(space: Space, i: int, listed: Array) -> bool:
    """Whether no other row is nearer to row i than one that is listed; equal distances may go either way."""
    low, high = space.bounds(space.X[i])
    rest = np.ones(len(space.X), dtype=bool)
    rest[listed], rest[i] = False, False
    worst, nearest = high[listed].max(initial=-np.inf), low[rest].min(initial=np.inf)
    if worst <= nearest:
        return True
    near = listed[high[listed] > nearest]
    far = np.flatnonzero(rest & (low < worst))
    good = all(space.order(space.X[i], int(a), int(b)) in (-1, 0) for a in near for b in far)
    space.forget()
    return good


def _all_nearest(space: Space, lists: Array) -> bool:
    """`_nearest` of all rows; one product of matrices clears those about which there is no doubt."""
    n = len(lists)
    for first in range(0, n, max(1, _PAIRS // n)):
        rows = np.arange(first, min(first + max(1, _PAIRS // n), n))
        listed = lists[rows]
        _, high = space.bounds(space.X[rows][:, None], listed)
        doubt = space.maybe_nearer(rows, high.max(axis=1, initial=0.0))
        doubt[np.arange(len(rows))[:, None], listed] = False
        doubt[np.arange(len(rows)), rows] = False
        if not all(_nearest(space, int(i), lists[i]) for i in rows[doubt.any(axis=1)]):
            return False
    return True


def _knn(X: Array, evidence: Evidence) -> tuple[Any, list[Check]]:
    lists = whole_rows(evidence["neighbors"], len(X))
    n = len(X)
    if lists.ndim != 2 or len(lists) != n or np.any(lists == np.arange(n)[:, None]):
        raise ValueError("neighbours do not match")
    space = Space(X, "euclidean")
    good = _all_nearest(space, lists)
    k = lists.shape[1]
    W = scipy.sparse.csr_matrix((np.ones(n * k), lists.ravel(), np.arange(n + 1) * k), shape=(n, n))
    return W, [Check("each row is linked to its nearest rows", good, f"{k} each")]


def _given(n: int, evidence: Evidence) -> tuple[Any, list[Check]]:
    if "weights" in evidence:
        W: Any = np.array(evidence["weights"], dtype=float)
        if W.shape != (n, n):
            raise ValueError("the weights do not match the rows")
        np.fill_diagonal(W, 0.0)
        values = W
    else:
        values = np.asarray(evidence["entries"], dtype=float)
        ends = [np.asarray(evidence[name]) for name in ("rows", "columns")]
        rows, columns = (end.astype(np.int64) for end in ends)
        if values.ndim != 1 or not np.array_equal([rows, columns], ends):
            raise ValueError("the weights do not match the rows")
        W = scipy.sparse.csr_matrix((values, (rows, columns)), shape=(n, n))
        if W.nnz != len(values) or np.any(rows == columns):
            raise ValueError("an entry is given twice, or links a row to itself")
    fine = bool(np.all(np.isfinite(values)) and np.all((values == 0) | (values >= CUT)))
    return W, [Check("weights are zero or positive numbers that count", fine)]


def _weights(data: Data, evidence: Evidence) -> tuple[Any, list[Check]]:
    X = data.X.toarray() if scipy.sparse.issparse(data.X) else np.asarray(data.X, dtype=float)
    if evidence["graph"] == "rbf":
        width = float(evidence["gamma"])
        if not (0.0 <= width < np.inf):
            raise ValueError("gamma is not negative")
        return _rbf(X, width)
    if evidence["graph"] == "knn":
        return _knn(X, evidence)
    if evidence["graph"] == "given":
        return _given(len(X), evidence)
    raise ValueError("an unknown graph")


def _middle(W: Any) -> Any:
    return W.mid if isinstance(W, Ball) else W


class _System:
    """B, R and what is known of the rows; all vectors run over all rows, zero where nothing is solved for."""

    def __init__(self, data: Data, evidence: Evidence, W: Array) -> None:
        if data.y is None or data.y.ndim != 1:
            raise ValueError("one label per row is needed, −1 where it is not known")
        self.W, self.n = W, data.X.shape[0]
        self.open = unlabelled(data.y)
        known = data.y[~self.open]
        self.classes, codes = np.unique(known, return_inverse=True)
        self.Y = np.zeros((self.n, len(self.classes)))
        self.Y[np.flatnonzero(~self.open), codes] = 1.0
        self.reached = reaching(_middle(W), ~self.open)
        self.spreading = evidence["variant"] == "spreading"
        if self.spreading:
            self.alpha = float(evidence["alpha"])
            if not 0.0 < self.alpha < 1.0:
                raise ValueError("alpha lies between 0 and 1")
            self.solved = np.ones(self.n, dtype=bool)
            across = Ball(W.mid.T, W.rad.T) if isinstance(W, Ball) else W.T
            sums = dot(across, np.ones(self.n))
            bare = np.asarray((_middle(W) != 0).sum(axis=0)).ravel() == 0
            self.delta = Ball(np.where(bare, 1.0, sums.mid), np.where(bare, 0.0, sums.rad))
            self.root: Ball = np.sqrt(self.delta)
        elif evidence["variant"] == "propagation":
            self.alpha = 1.0
            self.solved = self.open & self.reached
            self.delta = dot(W, self.reached.astype(float))
            self.root = Ball(np.ones(self.n))
        else:
            raise ValueError("labels are propagated or spread")

    def product(self, v: Array) -> Ball:
        """B v, on all rows."""
        delta = self.delta.reshape(-1, 1) if v.ndim == 2 else self.delta
        return delta * v - self.alpha * dot(self.W, v)

    def residual(self, G: Array) -> Ball:
        """B G − R: with labels in their places the right-hand side of propagation is part of the product."""
        if not self.spreading:
            return self.product(np.where(self.solved[:, None], G, self.Y))
        rest = ball(1.0) - self.alpha
        return self.product(G) - rest * (self.root.reshape(-1, 1) * self.Y)


def _labels(system: _System, G: Array, error: Array) -> Array:
    """Rows whose largest score stays the largest however the errors fall."""
    low, high = Ball(G, error).lower, Ball(G, error).upper
    best = G.argmax(axis=1)
    rows = np.arange(len(G))
    others = high.copy()
    others[rows, best] = -np.inf
    sure = (low[rows, best] > others.max(axis=1)) & system.solved & system.reached
    return np.asarray(sure if system.spreading else sure | ~system.open)


def _graph_words(evidence: Evidence) -> str:
    """Which graph: the claim is about no other."""
    if evidence["graph"] == "rbf":
        return f"on the graph with weights exp(−γ‖x − z‖²), γ = {float(evidence['gamma']):g}"
    if evidence["graph"] == "knn":
        return f"on the graph of {np.shape(evidence['neighbors'])[1]} nearest rows"
    return "on the given graph"


@register
class Harmonic(Kind):
    """Claim: scores within ``error`` of the exact solution, and ``certain`` labels proved to be those of it."""

    name: ClassVar[str] = "harmonic-labels"
    theorem: ClassVar[str] = "A matrix B without positive entries off the diagonal and Bw > 0, w ≥ 0 has B⁻¹ ≥ 0"
    needs: ClassVar = {"variant": word("propagation", "spreading"), "graph": word("rbf", "knn", "given"),
                       "scores": FINITE, "w": FINITE, "unreached": WHOLE}  # fmt: skip
    may: ClassVar = {"alpha": NUMBER, "gamma": NUMBER, "neighbors": WHOLE, "weights": FINITE, "entries": FINITE,
                     "rows": WHOLE, "columns": WHOLE}  # fmt: skip

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        W, checks = _weights(data, evidence)
        system = _System(data, evidence, W)
        G, w = np.array(evidence["scores"], dtype=float), np.array(evidence["w"], dtype=float)
        if G.shape != system.Y.shape or w.shape != (system.n,):
            raise ValueError("scores or w do not match the rows and classes")
        fine = bool(np.all(np.isfinite(G)) and np.all(np.isfinite(w)) and np.all(w >= 0))
        w = np.where(system.solved, w, 0.0)
        at = system.solved
        slack, r = system.product(w)[at], system.residual(G)[at]
        inverse = bool(np.all(slack.lower > 0))
        named = whole_rows(evidence["unreached"], system.n)
        checks += [
            Check("scores and w are finite, and w is not negative", fine),
            Check("Bw > 0: no entry of the inverse is negative", inverse),
            Check("the rows without a label are named", np.array_equal(named, np.flatnonzero(~system.reached))),
        ]
        worst = (r.magnitude / slack.lower[:, None]).max(axis=0, initial=0.0) * (1.0 + 4 * UNIT) if inverse else np.inf
        error = worst * w[:, None] * np.ones(G.shape) * (1.0 + 8 * UNIT) + 2.0**-1060
        error[~at] = 0.0
        certain = _labels(system, np.where(at[:, None], G, system.Y), error)
        error *= system.root.upper[:, None] * (1.0 + 2 * UNIT)  # of F, not of G
        largest = float(error.max(initial=0.0))
        checks.append(Check("the error is bounded", bool(np.isfinite(largest)), f"{largest:.1e}"))
        count = int(certain.sum())
        figures = {
            "rows": equal(system.n),
            "labelled": equal(int((~system.open).sum())),
            "unreached": equal(int((~system.reached).sum())),
            "error": upper(Ball(largest, 1e-3 * largest)),
            "certain": at_least(count),
        }
        return Proof(figures, tuple(checks), Labels(certain, error.max(axis=1, initial=0.0)))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        what = "harmonic solution"
        if evidence["variant"] == "spreading":
            what = f"solution of (I − αS)F = (1 − α)Y with α = {float(evidence['alpha']):g}"
        rows = [int(i) for i in np.ravel(evidence["unreached"])]
        lost = ""
        if rows:
            names = ", ".join(map(str, rows[:10])) + (", …" if len(rows) > 10 else "")
            lost = f" No path leads from {'row' if len(rows) == 1 else 'rows'} {names} to a label."
        return (
            f"{figures['labelled']} of {figures['rows']} rows have a label. "
            f"All scores are within {figures['error']:.1e} of the exact {what} {_graph_words(evidence)}; "
            f"{figures['certain']} labels are certain to be its labels.{lost}"
        )

    def assumptions(self, evidence: Evidence) -> tuple[str, ...]:
        return super().assumptions(evidence) + ((_GIVEN,) if evidence["graph"] == "given" else ())
