"""Neighbours within a radius: exactly the listed rows lie no farther away than r.

Distances are bounded as in `neighbors`; what the bounds leave open is decided in rational numbers. A power that is no
integer may stay open: the proof then fails.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from certifit._types import Array
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, equal, register
from certifit.certificates._schema import FINITE, NUMBER, WHOLE
from certifit.certificates.neighbors import SPACE, SPACE_MAY, Space, distance_words, whole_rows


def inside(space: Space, q: Array, radius: float, every: bool = False) -> tuple[Array, Array]:
    """Which rows lie within the radius, and which of these answers are known; ``every``: exact numbers throughout."""
    low, high = space.distance(*space.bounds(q))
    yes, known = high <= radius, (high <= radius) | (low > radius)
    for row in np.flatnonzero(~known if not every else np.ones(len(yes), dtype=bool)):
        found = space.within(q, int(row), radius)
        known[row], yes[row] = found is not None, bool(found)
    return yes, known


def _lists(evidence: Evidence, m: int, n: int) -> list[Array]:
    """The listed rows of each query, cut out of one line by ``counts``."""
    counts = np.asarray(evidence["counts"]).astype(np.int64)
    rows = np.asarray(evidence["indices"]).astype(np.int64)
    if counts.shape != (m,) or np.any(counts < 0) or rows.ndim != 1 or counts.sum() != len(rows):
        raise ValueError("queries and lists do not match")
    return [whole_rows(part, n) for part in np.split(rows, np.cumsum(counts)[:-1])]


@register
class RadiusNeighbors(Kind):
    """Evidence: queries, radius, indices (one query after the other), counts (how many each has), metric, p, weights;
    ``own`` (the query is that row: left out).
    """

    name = "radius-neighbors"
    theorem = "Comparison of distances with bounded rounding, in rational numbers where that is not conclusive"
    needs: ClassVar = {"queries": FINITE, "radius": NUMBER, "indices": WHOLE, "counts": WHOLE, **SPACE}
    may: ClassVar = {"own": WHOLE, **SPACE_MAY}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        Q, space, radius = np.asarray(evidence["queries"], dtype=float), Space.of(data, evidence), evidence["radius"]
        if Q.ndim != 2 or Q.shape[1] != space.d or len(Q) == 0 or not np.all(np.isfinite(Q)):
            raise ValueError("the queries do not match")
        if not (radius >= 0 and np.isfinite(radius)):
            raise ValueError("a radius is a finite number at least 0")
        lists, own = _lists(evidence, len(Q), len(space.X)), evidence.get("own")
        if own is not None:
            mine = whole_rows(np.asarray(own)[:, None], len(space.X)).ravel()
            if np.shape(own) != (len(Q),) or not np.array_equal(space.X[mine], Q):
                raise ValueError("a query that leaves itself out must be that row")
        wrong = []
        for i, (q, listed) in enumerate(zip(Q, lists)):
            yes, known = inside(space, q, float(radius), rigor == "exact")
            if own is not None:
                yes[mine[i]], known[mine[i]] = False, True
            if not (np.all(known) and np.array_equal(np.flatnonzero(yes), np.sort(listed))):
                wrong.append(i)
            space.forget()
        text = "all queries" if not wrong else f"not proved for query {wrong[0]}"
        checks = (Check("the listed rows lie within the radius, and no other does", not wrong, text),)
        figures = {
            "queries": equal(len(Q)),
            "radius": equal(float(radius)),
            "fewest": equal(min(map(len, lists))),
            "most": equal(max(map(len, lists))),
        }
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        m, few, most = figures["queries"], figures["fewest"], figures["most"]
        which = "the query" if m == 1 else f"each of {m} queries"
        other = "no other" if evidence.get("own") is None else "no other but that row itself"
        many = f"{most}" if few == most else f"{few} to {most}"
        return (
            f"By {distance_words(evidence)}, the listed rows lie within {figures['radius']:.6g} of {which} and {other} "
            f"does ({many} rows for a query)."
        )
