r"""Posteriors of conjugate priors: the parameters are those of the prior and sums over the data, in exact rationals.

Data: one column of observations x₁ … xₙ. Prior and posterior, by family:

- beta: (α, β) becomes (α + Σx, β + n − Σx) for zeros and ones;
- dirichlet: (α₁ … αₖ) becomes αⱼ + the number of observations j − 1;
- gamma: (a, b) becomes (a + Σx, b + n) for counts;
- normal, with known variance s of an observation: (m, v, s) becomes (v′(m/v + Σx/s), v′, s), 1/v′ = 1/v + n/s;
- normal-inverse-gamma: (m, k, a, b) becomes m′ = (km + Σx)/k′, k′ = k + n, a′ = a + n/2 and
  b′ = b + ½(Σx² + km² − k′m′²).

A parameter is off by its distance from the exact value, relative to that value; a location relative to the largest of
|m| and |xᵢ|.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np

from certifit._types import Array
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, equal, register, upper
from certifit.certificates._schema import FINITE, word

_FIT = 1e-9  # how far a parameter may be off
_LENGTHS = {"beta": 2, "gamma": 2, "normal": 3, "normal-inverse-gamma": 4}
_NAMES = {"beta": "Beta", "dirichlet": "Dirichlet", "gamma": "Gamma", "normal": "normal",
          "normal-inverse-gamma": "normal-inverse-Gamma"}  # fmt: skip
_Numbers = list[Fraction]


def updated(family: str, prior: _Numbers, x: _Numbers) -> _Numbers:
    """The exact parameters after the observations.

    Examples
    --------
    >>> [float(v) for v in updated("beta", [Fraction(1), Fraction(2)], [Fraction(1), Fraction(0), Fraction(1)])]
    [3.0, 3.0]
    """
    n, total = len(x), sum(x, Fraction(0))
    if family == "beta":
        return [prior[0] + total, prior[1] + n - total]
    if family == "dirichlet":
        return [a + sum(1 for v in x if v == j) for j, a in enumerate(prior)]
    if family == "gamma":
        return [prior[0] + total, prior[1] + n]
    if family == "normal":
        m, v, s = prior
        after = 1 / (1 / v + n / s)
        return [after * (m / v + total / s), after, s]
    m, k, a, b = prior
    more = k + n
    where = (k * m + total) / more
    squares = sum((v * v for v in x), Fraction(0))
    return [where, more, a + Fraction(n, 2), b + (squares + k * m * m - more * where * where) / 2]


@register
class ConjugatePosterior(Kind):
    """The posterior of a conjugate prior. Evidence: ``family``, ``prior`` and ``posterior`` parameters."""

    name = "conjugate-posterior"
    theorem = "Bayes' rule for conjugate priors"
    needs: ClassVar = {"family": word(*_NAMES), "prior": FINITE, "posterior": FINITE}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        family = str(evidence["family"])
        prior, stated = (np.asarray(evidence[k], dtype=float) for k in ("prior", "posterior"))
        x = np.asarray(data.X.toarray() if hasattr(data.X, "toarray") else data.X, dtype=float)
        if data.y is not None or data.sample_weight is not None or x.ndim != 2 or x.shape[1] != 1:
            raise ValueError("the data are one column of observations, without targets and weights")
        length = _LENGTHS.get(family, len(prior) if prior.ndim == 1 else 0)
        if prior.shape != (length,) or stated.shape != (length,) or length < 2:
            raise ValueError("prior and posterior do not have the parameters of the family")
        places = slice(1, None) if family.startswith("normal") else slice(None)
        if not np.all(prior[places] > 0):
            raise ValueError("parameters of the prior are positive")
        if not np.all(np.isfinite(x)) or not _possible(family, x, length):
            raise ValueError("the family does not allow these observations")
        values = [Fraction(float(v)) for v in x[:, 0]]
        right = updated(family, [Fraction(float(v)) for v in prior], values)
        sizes = [abs(v) for v in right]
        if family.startswith("normal"):
            sizes[0] = max([abs(Fraction(float(prior[0]))), *map(abs, values)])
        off = [abs(Fraction(float(s)) - r) for s, r in zip(stated, right)]
        error = max((_above(d / z) if z else (math.inf if d else 0.0)) for d, z in zip(off, sizes))
        figures = {"error": upper(error) if math.isfinite(error) else equal(error), "observations": equal(len(x))}
        said = f"off by {error:.1e}"
        return Proof(figures, (Check("the posterior is prior plus data, in exact arithmetic", error <= _FIT, said),))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        numbers = ", ".join(f"{v:.6g}" for v in np.asarray(evidence["posterior"], dtype=float).tolist())
        family = _NAMES[str(evidence["family"])]
        return (
            f"The {family} posterior after {figures.get('observations')} observations has the parameters ({numbers}), "
            f"to {figures.get('error', math.nan):.1e}."
        )


def _possible(family: str, x: Array, length: int) -> bool:
    whole = bool(np.all((x == np.rint(x)) & (x >= 0)))
    if family == "beta":
        return bool(np.all((x == 0) | (x == 1)))
    if family == "dirichlet":
        return whole and bool(np.all(x < length))
    return whole if family == "gamma" else True


def _above(v: Fraction) -> float:
    """A float that is not below v."""
    try:
        return math.nextafter(float(v), math.inf) if v else 0.0
    except OverflowError:
        return math.inf
