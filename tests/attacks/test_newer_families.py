"""Forgeries made by hand against clusters, densities, plans, networks and labels on graphs: refused, or true.

Each entry names a case and what a forger writes into its evidence. Where the proof still holds, an independent judge must
find the new claim true, and the checker must prove it where it knows the kind.
"""

import numpy as np
import pytest

from certifit.certificates import Data, issue
from tests.attacks.cases import X, all_cases
from tests.attacks.judges import JUDGES
from tests.attacks.siege import refused_by_checker

ONES = np.ones(10)
SPLIT = np.arange(10) % 2
MEANS = np.array([X[k::2].mean(axis=0) for k in (0, 1)])


def blocks(block, t, y, multipliers, shift=1e-9):
    count = int(np.max(block)) + 1
    return {"labels": SPLIT, "centres": MEANS, "method": "blocks", "block": np.asarray(block), "t": np.full(count, t),
            "y": np.asarray(y, dtype=float), "shift": np.full(count, shift), "multipliers": multipliers}  # fmt: skip


TRIANGLE = np.zeros(55)
FORGERIES = {
    # Clusters: prices above what the rows can pay, multipliers below zero, potentials that jump, more centres than rows.
    "clusters: a price for empty parts": ("clusters", blocks(np.arange(10), 1e6, -1e6 * ONES, np.zeros(10))),
    "clusters: negative multipliers": ("clusters", blocks(np.zeros(10, int), -1.0, 100 * ONES, TRIANGLE - 1e6)),
    "clusters: y without end": ("clusters", blocks(np.zeros(10, int), 0.0, 1e300 * ONES, TRIANGLE, 1e300)),
    "clusters: a huge shift": ("clusters", blocks(np.zeros(10, int), 1e9, ONES, TRIANGLE, 2e9)),
    "clusters: a negative shift": ("clusters", blocks(np.zeros(10, int), -1.0, ONES, TRIANGLE, -1e9)),
    "clusters: an empty block": ("clusters", blocks([0] * 9 + [2], 1.0, -ONES, np.zeros(46))),
    "clusters: more centres than rows": (
        "clusters",
        {**blocks(np.zeros(10, int), 5.0, -5 * ONES, TRIANGLE), "centres": np.vstack([MEANS, np.full((20, 2), 1e3)])},
    ),
    "clusters: centres moved away": ("clusters", {"centres": MEANS + 100.0}),
    "clusters: a closed form above zero": ("clusters", {"t": 1e3, "shift": 0.0}),
    "clusters: a line that is none": ("clusters", {"method": "one dimension", "potentials": np.arange(11.0)}),
    "line: potentials that jump": ("clusters on a line", {"potentials": np.arange(11.0) * 1e6}),
    "line: potentials upside down": ("clusters on a line", {"potentials": -np.arange(11.0)}),
    "line: potentials that cancel": ("clusters on a line", {"potentials": 1e300 * (-1.0) ** np.arange(11)}),
    # Densities: bounds the wrong way round, no bandwidth, points elsewhere, cells without volume, heights of nobody.
    "density: bounds the wrong way round": ("kernel density", {"lower": ONES[:2], "upper": 0 * ONES[:2]}),
    "density: from zero to infinity": ("kernel density", {"lower": 0 * ONES[:2], "upper": 1e308 * ONES[:2]}),
    "density: a bandwidth of next to nothing": ("kernel density", {"bandwidth": 5e-324}),
    "density: a negative bandwidth": ("kernel density", {"bandwidth": -0.7}),
    "density: no points": ("kernel density", {"points": np.zeros((0, 2)), "lower": np.zeros(0), "upper": np.zeros(0)}),
    "density: a point at the end of the floats": ("kernel density", {"points": np.full((2, 2), 1e308)}),
    "histogram: edges that fall": ("histogram", {"edges": np.array([3.0, 2, 1, 0, 3, 2, 1, 0])}),
    "histogram: cells of no volume": ("histogram", {"edges": np.array([0.0, 5e-324, 1e-323, 1.5e-323] * 2)}),
    "histogram: cells far from all rows": ("histogram", {"edges": np.arange(8.0) + 1e6, "heights": np.zeros(9)}),
    "histogram: heights of nobody": ("histogram", {"heights": np.full(9, 1e-300)}),
    # Plans: a discount of one, values of another process, an action of another state, no steps.
    "policy: a discount of one": ("policy", {"discount": 1.0}),
    "policy: a negative discount": ("policy", {"discount": -0.5}),
    "policy: values that overflow": ("policy", {"values": np.array([1e308, -1e308])}),
    "policy: the other action everywhere": ("policy", {"policy": np.array([1, 3])}),
    "policy: an action of another state": ("policy", {"policy": np.array([2, 0])}),
    "horizon: no steps": ("horizon", {"horizon": 0, "policy": np.zeros((0, 2), int)}),
    "horizon: final values that drown the rewards": ("horizon", {"terminal": np.array([1e300, -1e300])}),
    "horizon: a discount above one": ("horizon", {"discount": 2.0}),
    # Networks: labels of classes that are not there, boxes of no end, layers that do not fit, halves of weights.
    "radius: a class that is not there": ("radius", {"codes": np.full(10, 7)}),
    "radius: the other label": ("radius", {"codes": np.zeros(10, int)}),
    "radius: boxes without end": ("radius", {"radii": np.full(10, 1e300)}),
    "radius: negative boxes": ("radius", {"radii": np.full(10, -1.0)}),
    "radius: a layer that is all zero": ("radius", {"coef_1": np.zeros((3, 1)), "intercept_1": np.zeros(1)}),
    "network: an activation with no slope": ("network", {"activation": "step"}),
    "network: a negative penalty": ("network", {"alpha": -1.0}),
    "table: a unit that is never decided": ("xor", {"weights_1": np.zeros((2, 1)), "intercept_1": np.zeros(1)}),
    "table: no layers": ("xor", {"layers": 0}),
    # Labels on graphs: negative weights, a graph of nobody, w of zero, a teleport of one, rows that are hidden.
    "graph: w of zero": ("propagated", {"w": np.zeros(10)}),
    "graph: a kernel without width": ("propagated", {"gamma": 1e300}),
    "graph: all rows alike": ("propagated", {"gamma": 0.0}),
    "graph: negative weights": ("propagated", {"graph": "given", "weights": -np.ones((10, 10))}),
    "graph: no edges": ("propagated", {"graph": "given", "weights": np.zeros((10, 10))}),
    "graph: rows hidden as unreached": ("propagated", {"unreached": np.arange(3)}),
    "graph: scores turned round": ("propagated", {"scores": np.ones((10, 2)) * [0.1, 0.9]}),
    "spread: alpha of one": ("spread", {"alpha": 1.0}),
    "spread: alpha of nothing": ("spread", {"alpha": 0.0}),
    "spread: far rows for neighbours": ("spread", {"neighbors": (np.arange(10)[:, None] + [4, 5]) % 10}),
}


def case_named(name):
    return next(c for cases in all_cases().values() for c in cases if c.name == name)


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused_or_true(name):
    where, changed = FORGERIES[name]
    case = case_named(where)
    rows = case.X
    forged = issue(case.kind, Data.of(rows, case.y), {**case.certificate.evidence, **changed})
    if forged.holds:
        assert forged.verify(rows, case.y).holds
        assert JUDGES[case.kind](forged, np.asarray(rows), None if case.y is None else np.asarray(case.y), None) is None
        assert refused_by_checker(forged, rows, case.y, None) is None


def test_most_of_them_are_refused():
    held = []
    for name, (where, changed) in FORGERIES.items():
        case = case_named(where)
        if issue(case.kind, Data.of(case.X, case.y), {**case.certificate.evidence, **changed}).holds:
            held.append(name)
    assert len(held) <= len(FORGERIES) // 2, held
