"""Why are these not the parameters of the posterior? Priors left out or counted twice, sums and counts mixed up."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from certifit._types import Array
from certifit.bayes.conjugate import (
    BetaBernoulli,
    Conjugate,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseGamma,
    NormalKnownVariance,
)
from certifit.certificates import Certificate, Data
from certifit.judge._findings import Diagnosis, Record, Slip, dense_rows, undone

_BELIEFS: dict[str, Callable[[Array], Conjugate]] = {
    "beta": lambda p: BetaBernoulli(*p.tolist()),
    "dirichlet": lambda p: DirichletCategorical(tuple(p.tolist())),
    "gamma": lambda p: GammaPoisson(*p.tolist()),
    "normal": lambda p: NormalKnownVariance(*p.tolist()),
    "normal-inverse-gamma": lambda p: NormalInverseGamma(*p.tolist()),
}
Formula = Callable[[Array, Array, Array], Array]
"""Parameters with a slip, from those of the prior, the observations and the right parameters."""


def diagnose_conjugate(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """The formulas of the family, one slip at a time."""
    family = str(c.evidence["family"])
    slips: list[Slip] = [
        (name, asks, partial(_moved, formula)) for name, asks, formula in (*_ANY, *SLIPS.get(family, ()))
    ]
    return undone(c, data, tol, slips)


def _after(family: str, prior: Array, x: Array) -> Array:
    return np.asarray(_BELIEFS[family](prior).certify(x).evidence["posterior"])


def _moved(formula: Formula | None, data: Data, e: Record) -> tuple[Data, Record]:
    """Parameters by another formula (None: without the last observation), brought back to the right ones."""
    prior, x, family = np.asarray(e["prior"], dtype=float), dense_rows(data)[:, 0], str(e["family"])
    right = _after(family, prior, x)
    wrong = _after(family, prior, x[:-1]) if formula is None else np.asarray(formula(prior, x, right), dtype=float)
    stated = np.asarray(e["posterior"], dtype=float)
    return data, {**e, "posterior": np.where(stated == wrong, right, stated - wrong + right)}


def _normal(m: float, v: float, s: float, x: Array) -> tuple[float, float]:
    after = 1.0 / (1.0 / v + len(x) / s)
    return after * (m / v + float(x.sum()) / s), after


def _squares(x: Array) -> float:
    return float(np.square(x - x.mean()).sum())


_ANY: tuple[tuple[str, str, Formula | None], ...] = (
    ("prior alone", "These are the parameters of the prior: the data were not used.", lambda p, x, r: p),
    ("last observation forgotten", "The last observation was not used.", None),
)
_COUNTS: tuple[tuple[str, str, Formula], ...] = (
    ("prior left out", "These are the sums of the data: add the parameters of the prior.", lambda p, x, r: r - p),
    ("prior counted twice", "The parameters of the prior were added twice: once is enough.", lambda p, x, r: r + p),
)
SLIPS: dict[str, tuple[tuple[str, str, Formula], ...]] = {
    "beta": (
        *_COUNTS,
        ("successes and failures swapped", "Successes are added to β and failures to α: it is the other way round.",
         lambda p, x, r: p + (r - p)[::-1]),
        ("all observations for failures", "β grew by the number of all observations: add the failures alone.",
         lambda p, x, r: np.array([r[0], p[1] + len(x)])),
        ("one added to each", "One was added to α and to β besides the counts: is it already in the prior?",
         lambda p, x, r: r + 1),
        ("one taken from each", "One is missing from α and from β: only the mode has α − 1 and β − 1.",
         lambda p, x, r: r - 1),
        ("shares for counts", "The shares of the outcomes were added: add how often each was seen.",
         lambda p, x, r: p + (r - p) / len(x)),
    ),
    "dirichlet": (
        *_COUNTS,
        ("one added to each", "One was added to each parameter besides the counts: is it already in the prior?",
         lambda p, x, r: r + 1),
        ("counts in the opposite order", "The counts are added in the opposite order.",
         lambda p, x, r: p + (r - p)[::-1]),
        ("shares for counts", "The shares of the categories were added: add how often each was seen.",
         lambda p, x, r: p + (r - p) / len(x)),
        ("posterior mean", "These are the expected shares: the parameters are prior plus counts.",
         lambda p, x, r: r / r.sum()),
    ),
    "gamma": (
        *_COUNTS,
        ("events and periods swapped", "The sum of the counts went to the rate and their number to the shape: it is "
         "the other way round.", lambda p, x, r: p + (r - p)[::-1]),
        ("mean for sum", "The mean of the counts was added: add their sum.",
         lambda p, x, r: np.array([p[0] + x.mean(), r[1]])),
        ("scale for rate", "The second parameter is a scale, one over the rate.",
         lambda p, x, r: np.array([r[0], 1 / r[1]])),
        ("rate not changed", "The rate stayed that of the prior: add the number of periods.",
         lambda p, x, r: np.array([r[0], p[1]])),
    ),
    "normal": (
        ("prior left out", "These are the mean of the data and its variance s/n: the prior was not used.",
         lambda p, x, r: np.array([x.mean(), p[2] / len(x), p[2]])),
        ("prior counted twice", "The precision of the prior counts twice: once is enough.",
         lambda p, x, r: np.array([*_normal(p[0], p[1] / 2, p[2], x), p[2]])),
        ("precision for variance", "The second parameter is one over the variance.",
         lambda p, x, r: np.array([r[0], 1 / r[1], r[2]])),
        ("standard deviation for variance", "The second parameter is the root of the variance.",
         lambda p, x, r: np.array([r[0], np.sqrt(r[1]), r[2]])),
        ("one observation for n", "The mean of the data counts like one observation: its precision is n/s.",
         lambda p, x, r: np.array([*_normal(p[0], p[1], p[2], np.array([x.mean()])), p[2]])),
        ("mean of the data", "The location is the mean of the data: weigh it with that of the prior.",
         lambda p, x, r: np.array([x.mean(), r[1], r[2]])),
        ("variances added", "Variances were added: add precisions, 1/v + n/s.",
         lambda p, x, r: np.array([r[0], p[1] + p[2] / len(x), r[2]])),
        ("root of the noise", "The noise is taken for a standard deviation: it is a variance.",
         lambda p, x, r: np.array([*_normal(p[0], p[1], p[2] ** 2, x), p[2]])),
    ),
    "normal-inverse-gamma": (
        ("n for n/2", "The shape grew by n: it grows by n/2.",
         lambda p, x, r: np.array([r[0], r[1], p[2] + len(x), r[3]])),
        ("n − 1 for n", "The shape grew by (n − 1)/2: it grows by n/2.",
         lambda p, x, r: np.array([r[0], r[1], p[2] + (len(x) - 1) / 2, r[3]])),
        ("½ left out", "The squared deviations were added without the factor ½.",
         lambda p, x, r: np.array([r[0], r[1], r[2], p[3] + 2 * (r[3] - p[3])])),
        ("shift of the mean left out", "Only the spread of the data was added to the scale: the distance of their mean "
         "from that of the prior belongs to it.", lambda p, x, r: np.array([r[0], r[1], r[2], p[3] + _squares(x) / 2])),
        ("mean of the data", "The location is the mean of the data: weigh it with that of the prior.",
         lambda p, x, r: np.array([x.mean(), r[1], r[2], r[3]])),
    ),
}  # fmt: skip
