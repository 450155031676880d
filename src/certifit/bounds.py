"""Statistical bounds: how many rows a guarantee needs, and what a given number of rows guarantees.

These are theorems about rows drawn independently from one distribution; each result states its assumptions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

INDEPENDENT = "rows are independent draws from one distribution"

__all__ = ["Bound", "hard_svm_error", "hard_svm_rows", "ridge_stability", "test_size"]


@dataclass(frozen=True)
class Bound:
    """A bound, in words and as a number, with what it assumes.

    Attributes
    ----------
    value : float
        The bound.
    claim : str
        What it says.
    assumes : tuple of str
    details : dict
        Other numbers of the theorem (a penalty to use, …).

    Examples
    --------
    >>> from certifit.bounds import hard_svm_error
    >>> bound = hard_svm_error(radius=1.0, margin=0.5, rows=10_000)
    >>> round(bound.value, 4), len(bound.assumes)
    (0.0672, 2)
    """

    value: float
    claim: str
    assumes: tuple[str, ...]
    details: dict[str, float]

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return f"{self.claim} (if {'; '.join(self.assumes)})"


def _positive(**numbers: float) -> None:
    for name, x in numbers.items():
        if not (x > 0 and math.isfinite(x)):
            raise ValueError(f"{name} must be a positive number, not {x}.")


def _share(**numbers: float) -> None:
    for name, x in numbers.items():
        if not 0 < x < 1:
            raise ValueError(f"{name} must lie between 0 and 1, not {x}.")


def _separable(radius: float, margin: float) -> tuple[str, ...]:
    return (
        INDEPENDENT,
        f"with probability one a row has length at most {radius:g} and some unit vector separates with margin "
        f"{margin:g} through the origin",
    )


def hard_svm_error(radius: float, margin: float, rows: int, delta: float = 0.05) -> Bound:
    r"""Error of the hard-margin SVM on new rows: :math:`\sqrt{4(\rho/\gamma)^2/m} + \sqrt{2\log(2/\delta)/m}`.

    Parameters
    ----------
    radius : float > 0
        ρ, the largest length of a row.
    margin : float > 0
        γ, the margin with which the distribution is separable.
    rows : int ≥ 1
        m, rows trained on.
    delta : float in (0, 1), default=0.05
        Probability with which the bound may fail.

    Returns
    -------
    Bound

    Examples
    --------
    >>> round(float(hard_svm_error(radius=1.0, margin=0.5, rows=10_000)), 6)
    0.067162
    """
    _positive(radius=radius, margin=margin, rows=rows)
    _share(delta=delta)
    value = math.sqrt(4.0 * (radius / margin) ** 2 / rows) + math.sqrt(2.0 * math.log(2.0 / delta) / rows)
    claim = (
        f"With probability at least {1 - delta:g} over {rows} rows, the hard-margin SVM misclassifies at most "
        f"{value:.3g} of new rows"
    )
    return Bound(value, claim, _separable(radius, margin), {"informative": float(value < 1.0)})


def hard_svm_rows(radius: float, margin: float, epsilon: float, delta: float = 0.05) -> Bound:
    r"""Rows after which the error of the hard-margin SVM on new rows is at most ε: `hard_svm_error` solved for m.

    The least m with √(4(ρ/γ)²/m) + √(2 log(2/δ)/m) ≤ ε.

    Parameters
    ----------
    radius, margin : float > 0
        ρ and γ.
    epsilon : float in (0, 1)
        Error to reach.
    delta : float in (0, 1), default=0.05

    Returns
    -------
    Bound

    Examples
    --------
    >>> int(hard_svm_rows(radius=1.0, margin=0.5, epsilon=0.1).value)
    4511
    """
    _positive(radius=radius, margin=margin)
    _share(epsilon=epsilon, delta=delta)
    root = 2.0 * radius / margin + math.sqrt(2.0 * math.log(2.0 / delta))
    rows = math.ceil((root / epsilon) ** 2)
    while hard_svm_error(radius, margin, rows, delta).value > epsilon:  # rounding of the square
        rows += 1
    claim = f"{rows} rows suffice for an error of at most {epsilon:g} with probability at least {1 - delta:g}"
    return Bound(float(rows), claim, _separable(radius, margin), {})


def ridge_stability(epsilon: float, norm: float, loss: str = "squared") -> Bound:
    r"""Rows after which ridge regression is, in expectation, within ε of the best predictor of norm B.

    With the penalty λ‖w‖², λ = ε/(3B²): m ≥ 600B²/ε² rows for the loss (h − y)², 150B²/ε² for ½(h − y)².

    Parameters
    ----------
    epsilon : float in (0, 1)
        How far from the best, in expected loss.
    norm : float > 0
        B, the norm of the predictors compared with.
    loss : {"squared", "half_squared"}, default="squared"
        (h − y)² or ½(h − y)².

    Returns
    -------
    Bound
        ``details["penalty"]`` is λ.

    Examples
    --------
    >>> bound = ridge_stability(epsilon=0.1, norm=2.0)
    >>> int(bound.value), round(bound.details["penalty"], 6)
    (240000, 0.008333)
    """
    _share(epsilon=epsilon)
    _positive(norm=norm)
    factors = {"squared": 600.0, "half_squared": 150.0}
    if loss not in factors:
        raise ValueError(f"loss must be 'squared' or 'half_squared', not {loss!r}.")
    rows = math.ceil(factors[loss] * norm**2 / epsilon**2 - 1e-9)
    penalty = epsilon / (3.0 * norm**2)
    claim = (
        f"With penalty λ = {penalty:.3g} and {rows} rows, ridge is in expectation within {epsilon:g} of the best "
        f"predictor of norm at most {norm:g}"
    )
    assumes = (INDEPENDENT, "‖x‖ ≤ 1 and |y| ≤ 1", "no offset")
    return Bound(float(rows), claim, assumes, {"penalty": penalty})


def test_size(
    epsilon: float,
    delta: float = 0.05,
    method: str = "hoeffding",
    mistakes: int = 0,
) -> Bound:
    r"""How many test rows does a statement about the error need?

    "hoeffding": the error on n test rows is within ε of the true one with probability 1 − δ, whatever it is, once
    :math:`n \ge \log(2/\delta) / (2\varepsilon^2)`. "exact": with k mistakes on n test rows the true error is below ε
    with confidence 1 − δ, by the binomial distribution, once :math:`P(\mathrm{Bin}(n, \varepsilon) \le k) \le \delta`.

    Parameters
    ----------
    epsilon : float in (0, 1)
    delta : float in (0, 1), default=0.05
    method : {"hoeffding", "exact"}, default="hoeffding"
    mistakes : int ≥ 0, default=0
        k, for "exact".

    Returns
    -------
    Bound

    Examples
    --------
    >>> int(test_size(0.05).value), int(test_size(0.05, method="exact").value)
    (738, 59)
    """
    _share(epsilon=epsilon, delta=delta)
    if method == "hoeffding":
        rows = math.ceil(math.log(2.0 / delta) / (2.0 * epsilon**2))
        claim = f"On {rows} test rows the error is within {epsilon:g} of the true one, with probability {1 - delta:g}"
    elif method == "exact":
        if mistakes < 0 or mistakes != int(mistakes):
            raise ValueError(f"mistakes must be an integer ≥ 0, not {mistakes}.")
        low, rows = int(mistakes), max(2 * int(mistakes), 1)
        while _binomial_tail(rows, epsilon, mistakes) > delta:
            low, rows = rows, 2 * rows
        while rows - low > 1:  # the tail falls with n
            middle = (low + rows) // 2
            low, rows = (middle, rows) if _binomial_tail(middle, epsilon, mistakes) > delta else (low, middle)
        few = f"{mistakes} mistake{'' if mistakes == 1 else 's'}"
        claim = f"{few} on {rows} test rows show an error below {epsilon:g} with confidence {1 - delta:g}"
    else:
        raise ValueError(f"method must be 'hoeffding' or 'exact', not {method!r}.")
    return Bound(float(rows), claim, (INDEPENDENT, "the test rows were not used before"), {})


def _binomial_tail(n: int, p: float, k: int) -> float:
    """P(Bin(n, p) ≤ k)."""
    from scipy.stats import binom

    return float(binom.cdf(k, n, p))
