"""Densities by maximum likelihood: fit a family to data, with the proof that no other member does better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.optimize
import scipy.stats
from scipy.special import digamma, polygamma

from certifit import certificates
from certifit._types import Array, Named, Record, Weights
from certifit.bayes._means import weighted_mean
from certifit.certificates import Certificate, Data


@dataclass(frozen=True)
class Density:
    """A fitted family.

    Attributes
    ----------
    family : str
    parameters : dict
    distribution : frozen SciPy distribution
    log_likelihood : float
    free : int
        Number of free parameters.
    aic : float
        −2 log likelihood + 2 · number of free parameters.
    certificate_ : Certificate
        Expected and observed statistics agree.

    Examples
    --------
    >>> from certifit.bayes import fit_density
    >>> fit = fit_density([1.0, 2.0, 3.0], "normal")
    >>> {k: round(float(v), 4) for k, v in fit.parameters.items()}, fit.certificate_.holds
    ({'mean': 2.0, 'sd': 0.8165}, True)
    """

    family: str
    parameters: dict[str, Any]
    distribution: Any
    log_likelihood: float
    free: int
    certificate_: Certificate

    @property
    def aic(self) -> float:
        """Akaike's criterion: −2 log likelihood + 2 · number of free parameters."""
        return 2.0 * self.free - 2.0 * self.log_likelihood


def _normal(X: Array, w: Array, known: Named) -> Record:
    mean = float(weighted_mean(X[:, 0], w))
    t = X[:, 0] - mean
    return {"mean": mean, "sd": float(np.sqrt(np.average(t * t, weights=w) - np.average(t, weights=w) ** 2))}


def _lognormal(X: Array, w: Array, known: Named) -> Record:
    return _normal(np.log(X), w, known)


def _gamma(X: Array, w: Array, known: Named) -> Record:
    """Newton on ψ(k) − log k = mean log x − log mean x."""
    mean = float(weighted_mean(X[:, 0], w))
    spread = np.log(mean) - float(weighted_mean(np.log(X[:, 0]), w))
    if not spread > 0:
        raise ValueError("All values are equal: a gamma density would be infinitely sharp.")
    k = (3 - spread + np.sqrt((spread - 3) ** 2 + 24 * spread)) / (12 * spread)
    for _ in range(60):
        step = (np.log(k) - digamma(k) - spread) / (1 / k - polygamma(1, k))
        k = k - step if k > step else k / 2
        if abs(step) <= 1e-16 * k:
            break
    return {"shape": float(k), "scale": float(mean / k)}


def _multivariate(X: Array, w: Array, known: Named) -> Record:
    mean = weighted_mean(X, w)
    T = X - mean
    return {"mean": mean.tolist(), "cov": ((T * w[:, None]).T @ T / w.sum()).tolist()}


def _categorical(X: Array, w: Array, known: Named) -> Record:
    counts = np.bincount(X[:, 0].astype(int), weights=w)
    return {"probabilities": (counts / w.sum()).tolist()}


@dataclass(frozen=True)
class _Family:
    fit: Callable[[Array, Array, Mapping[str, Any]], dict[str, Any]]
    make: Callable[[Mapping[str, Any]], Any]
    domain: Callable[[Array, Mapping[str, Any]], Any]
    needs: str
    discrete: bool = False


def _whole(X: Array) -> Any:
    return np.round(X) == X


_FAMILIES: dict[str, _Family] = {
    "normal": _Family(_normal, lambda p: scipy.stats.norm(p["mean"], p["sd"]), lambda X, k: True, "numbers"),
    "lognormal": _Family(
        _lognormal,
        lambda p: scipy.stats.lognorm(p["sd"], scale=np.exp(p["mean"])),
        lambda X, k: X > 0,
        "positive numbers",
    ),
    "exponential": _Family(
        lambda X, w, k: {"scale": float(weighted_mean(X[:, 0], w))},
        lambda p: scipy.stats.expon(scale=p["scale"]),
        lambda X, k: X >= 0,
        "numbers ≥ 0",
    ),
    "gamma": _Family(
        _gamma, lambda p: scipy.stats.gamma(p["shape"], scale=p["scale"]), lambda X, k: X > 0, "positive numbers"
    ),
    "poisson": _Family(
        lambda X, w, k: {"rate": float(weighted_mean(X[:, 0], w))},
        lambda p: scipy.stats.poisson(p["rate"]),
        lambda X, k: (X >= 0) & _whole(X),
        "integers ≥ 0",
        True,
    ),
    "bernoulli": _Family(
        lambda X, w, k: {"probability": float(weighted_mean(X[:, 0], w))},
        lambda p: scipy.stats.bernoulli(p["probability"]),
        lambda X, k: (X == 0) | (X == 1),
        "zeros and ones",
        True,
    ),
    "binomial": _Family(
        lambda X, w, k: {"trials": int(k["trials"]), "probability": float(weighted_mean(X[:, 0], w)) / k["trials"]},
        lambda p: scipy.stats.binom(p["trials"], p["probability"]),
        lambda X, k: (X >= 0) & (k["trials"] >= X) & _whole(X),
        "integers from 0 to trials",
        True,
    ),
    "geometric": _Family(
        lambda X, w, k: {"probability": 1.0 / float(weighted_mean(X[:, 0], w))},
        lambda p: scipy.stats.geom(p["probability"]),
        lambda X, k: (X >= 1) & _whole(X),
        "integers ≥ 1",
        True,
    ),
    "categorical": _Family(
        _categorical,
        lambda p: scipy.stats.rv_discrete(
            name="categorical", values=(np.arange(len(p["probabilities"])), p["probabilities"])
        ),
        lambda X, k: (X >= 0) & _whole(X),
        "category numbers 0, 1, …",
        True,
    ),
    "multivariate_normal": _Family(
        _multivariate,
        lambda p: scipy.stats.multivariate_normal(p["mean"], p["cov"]),
        lambda X, k: True,
        "rows of numbers",
    ),
}


def fit_density(
    x: npt.ArrayLike, family: str = "normal", *, trials: int | None = None, sample_weight: Weights = None
) -> Density:
    """Fit a parametric family by maximum likelihood.

    θ̂ = argmax Σ log p(xᵢ; θ).

    Parameters
    ----------
    x : array-like of shape (n,), or (n, d) for "multivariate_normal"
    family : str, default="normal"
        "normal", "lognormal", "exponential", "gamma", "poisson", "bernoulli", "binomial" (with ``trials``),
        "geometric", "categorical" or "multivariate_normal".
    trials : int, default=None
        Trials of the binomial.
    sample_weight : array-like of shape (n,), default=None
        Weight k counts as k copies.

    Returns
    -------
    Density

    Examples
    --------
    >>> from certifit.bayes import fit_density
    >>> fit = fit_density([1.0, 2.0, 6.0], "exponential")
    >>> fit.parameters, round(fit.log_likelihood, 4), fit.certificate_.holds
    ({'scale': 3.0}, -6.2958, True)
    """
    if family not in _FAMILIES:
        raise ValueError(f"Unknown family {family!r}; known are {', '.join(_FAMILIES)}.")
    kind = _FAMILIES[family]
    X = np.asarray(x, dtype=float)
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or len(X) == 0 or (X.shape[1] != 1 and family != "multivariate_normal"):
        raise ValueError(f"{family} needs at least one value, in one column; got shape {X.shape}.")
    if not np.isfinite(X).all():
        raise ValueError("The data contain NaN or infinity: remove them.")
    if family == "binomial" and (trials is None or trials < 1):
        raise ValueError("binomial needs trials=, the number of trials behind each count.")
    known = {"trials": trials}
    if not np.all(kind.domain(X, known)):
        raise ValueError(f"{family} needs {kind.needs}.")
    w = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if w.shape != (len(X),) or np.any(w < 0) or not w.sum() > 0:
        raise ValueError("sample_weight needs one number ≥ 0 per row, not all zero.")
    parameters = kind.fit(X, w, known)
    if parameters.get("sd") == 0.0:
        raise ValueError(f"All values are equal: a {family} density would be infinitely sharp.")
    made = kind.make(parameters)
    rows = X if family == "multivariate_normal" else X[:, 0]
    logs = np.asarray(made.logpmf(rows) if kind.discrete else made.logpdf(rows), dtype=float)
    evidence = {"family": family, "parameters": parameters}
    certificate = certificates.issue("maximum-likelihood", Data.of(X, None, sample_weight), evidence)
    likelihood = float(np.sum((w * logs)[w > 0]))
    return Density(family, parameters, made, likelihood, _freedom(family, parameters), certificate)


def _freedom(family: str, p: Named) -> int:
    if family == "categorical":
        return len(p["probabilities"]) - 1
    if family == "multivariate_normal":
        d = len(p["mean"])
        return d + d * (d + 1) // 2
    return 2 if family in ("normal", "lognormal", "gamma") else 1
