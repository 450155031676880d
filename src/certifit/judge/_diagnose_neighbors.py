"""Why are these not the nearest rows? Other distances, other columns, the row itself, counting from 1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from certifit._types import Array
from certifit.certificates import Certificate, Data, issue
from certifit.certificates.neighbors import Space
from certifit.judge._findings import Diagnosis, Finding, Record, Slip, undone

_METRICS = ("euclidean", "manhattan", "chebyshev", "cosine")


def diagnose_neighbors(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Right where every list is in order, rows at equal distances in whatever order they stand."""
    if not c.holds and _ties_aside(c, data):
        asks = "Rows at equal distances stand in another order than that of their numbers, which is right as well."
        return Diagnosis(c, True, [Finding("equal distances", asks, c)])
    metrics: list[Slip] = [
        ("other distance", f"These are the nearest rows by {name} distance: which distance was asked for?",
         partial(_metric, name)) for name in _METRICS if name != c.evidence["metric"]
    ]  # fmt: skip
    found = undone(c, data, tol, [*metrics, *_SLIPS])
    if found or found.right:
        return found
    return Diagnosis(c, False, [*_lists(c, data)])


def _rows(c: Certificate) -> Array:
    return np.asarray(c.evidence["indices"])


def _nearest(c: Certificate, data: Data) -> list[tuple[Array, Space, Array]] | None:
    """Each query with the distances of all rows and which of them may be listed; None for unusable lists."""
    rows = _rows(c)
    if rows.ndim != 2 or not np.all((rows >= 0) & (rows < data.X.shape[0]) & (rows == np.rint(rows))):
        return None
    space, Q = Space.of(data, c.evidence), np.asarray(c.evidence["queries"], dtype=float)
    own = c.evidence.get("own")
    out = []
    for i, q in enumerate(Q):
        free = np.ones(len(space.X), dtype=bool)
        if own is not None:
            free[int(np.asarray(own)[i])] = False
        out.append((q, space, free))
    return out


def _ties_aside(c: Certificate, data: Data) -> bool:
    """Whether each list has as its distances the smallest ones, in order: exact comparisons decide."""
    queries = _nearest(c, data)
    if queries is None:
        return False
    for (q, space, free), listed in zip(queries, _rows(c).astype(int)):
        if len(set(listed.tolist())) < len(listed) or not np.all(free[listed]):
            return False
        last = int(listed[-1])
        if any(space.order(q, int(a), int(b)) not in (-1, 0) for a, b in pairwise(listed)):
            return False
        rest = free.copy()
        rest[listed] = False
        low, high = space.bounds(q)
        doubt = np.flatnonzero(rest & ~(low > high[last]))
        if any(space.order(q, last, int(j)) not in (-1, 0) for j in doubt):
            return False
    return True


def _metric(name: str, data: Data, e: Record) -> tuple[Data, Record]:
    return data, {k: v for k, v in e.items() if k != "p"} | {"metric": name}


def _scaled(zero: Callable[..., Array], one: Callable[..., Array], data: Data, e: Record) -> tuple[Data, Record] | None:
    """Columns in other units, of which these functions give the zero and the size."""
    X = np.asarray(data.X, dtype=float)
    low, size = zero(X, axis=0), one(X, axis=0)
    if not np.all(size > 0):
        return None
    X, own = (X - low) / size, e.get("own")
    Q = (np.asarray(e["queries"]) - low) / size if own is None else X[np.asarray(own, dtype=int)]
    return Data.of(X, data.y), {**e, "queries": Q}


def _without(name: str, data: Data, e: Record) -> tuple[Data, Record] | None:
    return (data, {k: v for k, v in e.items() if k != name}) if e.get(name) is not None else None


def _left_out(data: Data, e: Record) -> tuple[Data, Record] | None:
    """Queries that are training rows, each left out of its own list."""
    X, Q = np.asarray(data.X, dtype=float), np.asarray(e["queries"], dtype=float)
    if e.get("own") is not None:
        return None
    own = [next((i for i in range(len(X)) if np.array_equal(X[i], q)), -1) for q in Q]
    return (data, {**e, "own": np.array(own)}) if min(own) >= 0 and len(set(own)) == len(own) else None


def _one_column(j: int, data: Data, e: Record) -> tuple[Data, Record]:
    weights = np.zeros(data.X.shape[1])
    weights[j] = 1.0
    return data, {**e, "weights": weights}


_SLIPS: tuple[Slip, ...] = (
    ("own row counted", "Each row counts as its own nearest neighbour: leave it out.", partial(_without, "own")),
    ("own row left out", "Each query is a training row and was left out: it is the nearest row to itself.", _left_out),
    ("counted from 1", "The numbers are right when rows are counted from 1: count them from 0.",
     lambda data, e: (data, {**e, "indices": np.asarray(e["indices"]) - 1})),
    ("farthest first", "These are the nearest rows, but the farthest of them comes first.",
     lambda data, e: (data, {**e, "indices": np.asarray(e["indices"])[:, ::-1]})),
    ("scaled columns", "These are the nearest rows by standardised columns: were they meant to be scaled?",
     partial(_scaled, np.mean, np.std)),
    ("columns scaled to [0, 1]", "These are the nearest rows by columns scaled to [0, 1]: were they meant to be "
     "scaled?", partial(_scaled, np.min, np.ptp)),
    ("weights of columns left out", "These are the nearest rows without weights of columns.",
     partial(_without, "weights")),
)  # fmt: skip


def _lists(c: Certificate, data: Data) -> list[Finding]:
    """The right rows in no order; the farthest rows; the nearest ones but the first; one column only."""
    queries = _nearest(c, data)
    if queries is None:
        return []
    rows, found = _rows(c).astype(int), []
    ordered, far, late = [], [], []
    for (q, space, free), listed in zip(queries, rows):
        low, _ = space.bounds(q)
        usable = np.flatnonzero(free)
        by = usable[np.argsort(low[usable], kind="stable")]
        ordered.append(listed[np.argsort(low[listed], kind="stable")])
        far.append(np.array_equal(np.sort(low[by[::-1][: len(listed)]]), np.sort(low[listed])))
        late.append(len(by) > len(listed) and np.array_equal(low[by[1 : len(listed) + 1]], low[listed]))
    sorted_ = issue(c.kind, data, {**c.evidence, "indices": np.array(ordered)})
    if sorted_.holds:
        found.append(Finding("not in order", "These are the nearest rows, but not in order of distance.", sorted_))
    elif all(far):
        asks = "These are the farthest rows: did you take the largest distances, or similarities for distances?"
        found.append(Finding("farthest for nearest", asks, c))
    elif all(late):
        asks = "The nearest row is missing, and one more is taken at the end: did you leave out the query itself?"
        found.append(Finding("nearest row left out", asks, c))
    for j in range(data.X.shape[1] if not found and data.X.shape[1] > 1 else 0):
        one = issue(c.kind, data, _one_column(j, data, c.evidence)[1])
        if one.holds:
            found.append(Finding("one column", f"These are the nearest rows by column {j} alone.", one))
    return found
