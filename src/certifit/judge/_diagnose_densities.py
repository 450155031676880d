"""Why is this density, or this posterior, not the right one? Constants, bandwidths, divisors and priors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.certificates import Certificate, Data
from certifit.certificates.counts import category_columns
from certifit.certificates.density import KERNELS, cell_counts, kernel_integral, split_edges
from certifit.judge._findings import Diagnosis, Record, Slip, undone


def diagnose_density(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Values of a kernel estimate, heights of a histogram, and parameters of largest likelihood."""
    if c.kind == "kernel-density":
        return undone(c, data, tol, [*_KERNEL, *_other_kernels(c)], _FACTORS)
    if c.kind == "histogram":
        return undone(c, data, tol, _HEIGHTS)
    return undone(c, data, tol, _parameters(c))


# kernel estimates


def _bandwidth(change: Callable[[float], float], data: Data, e: Record) -> tuple[Data, Record] | None:
    h = float(e["bandwidth"])
    return (data, {**e, "bandwidth": change(h)}) if not np.isclose(change(h), h) else None


def _values(change: Callable[[Array], Array], e: Record) -> Record:
    return {**e, **{name: change(np.asarray(e[name], dtype=float)) for name in ("lower", "upper")}}


def _factor(factor: Callable[[Data, Record], float], data: Data, e: Record) -> tuple[Data, Record] | None:
    f = factor(data, e)
    return (data, _values(lambda v: v * f, e)) if np.isfinite(f) and f > 0 and not np.isclose(f, 1.0) else None


def _integral(data: Data, e: Record) -> float:
    return float(kernel_integral(str(e["kernel"]), data.X.shape[1]).mid)


def _no_half(data: Data, e: Record) -> tuple[Data, Record] | None:
    """exp(−u²) with the constants of exp(−u²/2)."""
    if e["kernel"] != "gaussian":
        return None
    shrunk = 2.0 ** (-0.5 * data.X.shape[1])
    return data, {**_values(lambda v: v / shrunk, e), "bandwidth": float(e["bandwidth"]) / np.sqrt(2.0)}


def _logs(data: Data, e: Record) -> tuple[Data, Record]:
    """Lower and upper ends of a logarithm are its value, less and more a share of that."""
    low, high = np.asarray(e["lower"], dtype=float), np.asarray(e["upper"], dtype=float)
    value, share = np.exp((low + high) / 2), float(np.max(np.abs(high - low) / np.maximum(np.abs(high + low), 1e-300)))
    return data, {**e, "lower": value * (1 - max(share, 1e-9)), "upper": value * (1 + max(share, 1e-9))}


def _standardised(data: Data, e: Record) -> tuple[Data, Record] | None:
    X = np.asarray(data.X, dtype=float)
    if not np.all(X.std(axis=0) > 0):
        return None
    points = (np.asarray(e["points"], dtype=float) - X.mean(axis=0)) / X.std(axis=0)
    return Data.of((X - X.mean(axis=0)) / X.std(axis=0), None, data.sample_weight), {**e, "points": points}


def _own_out(data: Data, e: Record) -> tuple[Data, Record] | None:
    """Values at the rows, each without its own share: f(xᵢ) = (n fᵢ(xᵢ) … less K(0))/(n − 1), undone."""
    X, points, n, d = np.asarray(data.X, dtype=float), np.asarray(e["points"]), data.X.shape[0], data.X.shape[1]
    if data.sample_weight is not None or not np.array_equal(X, points) or n < 2:
        return None
    peak = 1.0 / (_integral(data, e) * float(e["bandwidth"]) ** d)
    return data, _values(lambda v: (v * (n - 1) + peak) / n, e)


_KERNEL: tuple[Slip, ...] = (
    ("h² for h", "It is the estimate with h² for h: is the bandwidth a variance?", partial(_bandwidth, lambda h: h**2)),
    ("√h for h", "It is the estimate with √h for h: is the bandwidth a standard deviation?",
     partial(_bandwidth, lambda h: h**0.5)),
    ("twice the bandwidth", "It is the estimate with 2h: is h a radius or a width?",
     partial(_bandwidth, lambda h: 2 * h)),
    ("half the bandwidth", "It is the estimate with h/2: is h a radius or a width?",
     partial(_bandwidth, lambda h: h / 2)),
    ("½ missing in the exponent", "It is exp(−u²) with the constant of exp(−u²/2): is a factor ½ missing?", _no_half),
    ("logarithm", "These are logarithms of the density.", _logs),
    ("own row left out", "Every row was left out at its own place: the estimate adds up all rows.", _own_out),
    ("scaled columns", "It is the density of standardised columns: were they meant to be scaled?", _standardised),
)  # fmt: skip

_FACTORS: tuple[Slip, ...] = (
    ("1/n missing", "It is n times the density: the kernels were added up and not averaged.",
     partial(_factor, lambda data, e: 1.0 / float(np.sum(data.weights)))),
    ("constant of the kernel missing", "The kernel does not integrate to one: its normalising constant is missing.",
     partial(_factor, lambda data, e: 1.0 / _integral(data, e))),
    ("bandwidth missing in the constant", "The values are not divided by the bandwidth, to the power of the dimension.",
     partial(_factor, lambda data, e: float(e["bandwidth"]) ** -data.X.shape[1])),
    ("constant and bandwidth missing", "The values are an average of kernels without any constant: it must "
     "integrate to one.",
     partial(_factor, lambda data, e: float(e["bandwidth"]) ** -data.X.shape[1] / _integral(data, e))),
    ("bare sum of kernels", "The values are a sum of kernels without any constant: divide by n and the integral.",
     partial(_factor, lambda data, e: float(e["bandwidth"]) ** -data.X.shape[1] / _integral(data, e)
             / float(np.sum(data.weights)))),
    ("h for h to the power d", "The values are divided by h once: divide by h to the power of the dimension.",
     partial(_factor, lambda data, e: float(e["bandwidth"]) ** (1 - data.X.shape[1]))),
    ("constant of one dimension", "The constant is that of one dimension.",
     partial(_factor, lambda data, e: float(kernel_integral(str(e["kernel"]), 1).mid) / _integral(data, e))),
    ("n − 1 for n", "The sum is divided by n − 1: divide by n.",
     partial(_factor, lambda data, e: (float(np.sum(data.weights)) - 1) / float(np.sum(data.weights)))),
)  # fmt: skip


def _other_kernels(c: Certificate) -> list[Slip]:
    def undo(name: str, data: Data, e: Record) -> tuple[Data, Record]:
        return data, {**e, "kernel": name}

    return [
        ("other kernel", f"It is the estimate with the {name} kernel: which one was asked for?", partial(undo, name))
        for name in KERNELS if name != c.evidence["kernel"]
    ]  # fmt: skip


# histograms


def _heights(wrong: Callable[[Array, Array, Data], Any], data: Data, e: Record) -> tuple[Data, Record]:
    """Heights by another formula of counts and volumes, brought back to the right one."""
    edges, _ = split_edges(e)
    s = np.asarray(data.weights)
    counts, volume, _ = cell_counts(np.asarray(data.X, dtype=float), s, edges)
    right, other = counts / (s.sum() * volume), wrong(counts, volume, data)
    heights = np.asarray(e["heights"], dtype=float)
    return data, {**e, "heights": np.where(other > 0, heights * right / np.where(other > 0, other, 1.0), heights)}


def _right_edges(data: Data, e: Record) -> tuple[Data, Record] | None:
    """Rows on an edge counted below it."""
    edges, _ = split_edges(e)
    mirrored = np.concatenate([-edge[::-1] for edge in edges])
    shape = [int(b) for b in np.asarray(e["bins"]).ravel()]
    heights = np.asarray(e["heights"], dtype=float).reshape(shape)
    flipped = heights[tuple(slice(None, None, -1) for _ in shape)].ravel()
    turned = Data.of(-np.asarray(data.X, dtype=float), None, data.sample_weight)
    return turned, {**e, "edges": mirrored, "heights": flipped}


_HEIGHTS: tuple[Slip, ...] = (
    ("counts for density", "These are counts: divide by the number of rows and the width of each cell.",
     partial(_heights, lambda n, v, data: n)),
    ("shares for density", "These are shares of the rows: divide by the width of each cell.",
     partial(_heights, lambda n, v, data: n / float(np.sum(data.weights)))),
    ("counts per width", "These are counts per width: divide by the number of rows.",
     partial(_heights, lambda n, v, data: n / v)),
    ("shares of the rows inside", "Rows outside all cells were left out of the total: they count as well.",
     partial(_heights, lambda n, v, data: n / (n.sum() * v))),
    ("share times width", "The shares are multiplied by the width of each cell: divide by it.",
     partial(_heights, lambda n, v, data: n * v / float(np.sum(data.weights)))),
    ("n − 1 for n", "The counts are divided by n − 1: divide by n.",
     partial(_heights, lambda n, v, data: n / (v * (float(np.sum(data.weights)) - 1)))),
    ("edges on the other side", "Rows on an edge are counted below it: they belong to the cell above.", _right_edges),
)  # fmt: skip


# parameters of largest likelihood


def _changed(name: str, change: Callable[[Any, float], Any], data: Data, e: Record) -> tuple[Data, Record]:
    p = dict(e["parameters"])
    value = change(np.asarray(p[name], dtype=float), float(np.sum(data.weights)))
    p[name] = np.asarray(value).tolist()
    return data, {**e, "parameters": p}


def _other_base(data: Data, e: Record) -> tuple[Data, Record]:
    return data, {**e, "parameters": {k: float(v) * np.log(10.0) for k, v in dict(e["parameters"]).items()}}


def _moments_of_gamma(data: Data, e: Record) -> tuple[Data, Record] | None:
    """shape = mean²/variance, scale = variance/mean: nothing undoes the method of moments; None unless it is that."""
    x, w, p = np.asarray(data.X, dtype=float)[:, 0], np.asarray(data.weights), dict(e["parameters"])
    mean = float(np.average(x, weights=w))
    var = float(np.average((x - mean) ** 2, weights=w))
    if not np.allclose([p["shape"], p["scale"]], [mean**2 / var, var / mean], rtol=1e-6):
        return None
    from certifit.bayes import fit_density

    right = fit_density(data.X, "gamma", sample_weight=data.sample_weight).parameters
    return data, {**e, "parameters": {name: float(right[name]) for name in ("shape", "scale")}}


def _parameters(c: Certificate) -> list[Slip]:
    family = str(c.evidence["family"])
    squares = {"normal": "sd", "lognormal": "sd", "multivariate_normal": "cov"}
    slips: list[Slip] = []
    if family in squares:
        name = squares[family]
        power = 1.0 if name == "cov" else 0.5
        what = "covariance" if name == "cov" else "standard deviation"
        slips.append(("n − 1 for n", f"It is the {what} with n − 1: maximum likelihood divides by n.",
                      partial(_changed, name, lambda v, n: v * ((n - 1) / n) ** power)))  # fmt: skip
        slips.append(("sum for mean", "The squared deviations are added up: divide by n.",
                      partial(_changed, name, lambda v, n: v / n**power)))  # fmt: skip
    if family in ("normal", "lognormal"):
        slips += [
            ("variance for standard deviation", "It is the variance: take its root.",
             partial(_changed, "sd", lambda v, n: np.sqrt(v))),
            ("variance with n − 1", "It is the variance with n − 1: divide by n, and take its root.",
             partial(_changed, "sd", lambda v, n: np.sqrt(v * (n - 1) / n))),
            ("precision for standard deviation", "It is one over the variance.",
             partial(_changed, "sd", lambda v, n: v**-0.5)),
        ]  # fmt: skip
    if family == "lognormal":
        slips += [("values for logarithms", "These are mean and deviation of the values: take those of their "
                   "logarithms.", lambda data, e: (data, {**e, "family": "normal"})),
                  ("logarithm to base 10", "The logarithms are to base 10: natural ones are meant.",
                   _other_base)]  # fmt: skip
    if family == "gamma":
        slips.append(("method of moments", "These are the parameters with the mean and variance of the rows: the "
                      "likelihood is larger elsewhere.", _moments_of_gamma))  # fmt: skip
    inverse = {"exponential": "scale", "gamma": "scale", "geometric": "probability", "poisson": "rate"}
    if family in inverse:
        slips.append(("one over it", f"One over it is the {inverse[family]}: is it a rate or a mean?",
                      partial(_changed, inverse[family], lambda v, n: 1 / v)))  # fmt: skip
    counted = {"poisson": "rate", "bernoulli": "probability", "exponential": "scale"}
    if family in counted:
        slips.append(("sum for mean", "It is the sum over the rows: divide by their number.",
                      partial(_changed, counted[family], lambda v, n: v / n)))  # fmt: skip
    if family in ("bernoulli", "binomial"):
        slips.append(("failures for successes", "It is the probability of the other outcome.",
                      partial(_changed, "probability", lambda v, n: 1 - v)))  # fmt: skip
    if family in ("bernoulli", "binomial", "categorical"):
        slips.append(("one added to each outcome", "One was added to each outcome: that is the mean of a posterior, "
                      "not the largest likelihood.", _laplace))  # fmt: skip
    return slips


def _laplace(data: Data, e: Record) -> tuple[Data, Record] | None:
    p, n = dict(e["parameters"]), float(np.sum(data.weights))
    if "probabilities" in p:
        shares = np.asarray(p["probabilities"], dtype=float)
        p["probabilities"] = ((shares * (n + len(shares)) - 1) / n).tolist()
    else:
        trials = n * float(p.get("trials", 1))
        p["probability"] = (float(p["probability"]) * (trials + 2) - 1) / trials
    return data, {**e, "parameters": p}


# posteriors over finitely many hypotheses


def diagnose_posterior(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Priors, likelihoods and the outcomes that were used, one slip at a time."""
    return undone(c, data, tol, _POSTERIOR)


def _table(data: Data, e: Record) -> tuple[Array, Array, Array]:
    """Priors, likelihoods and the number of each outcome that was seen."""
    names = list(e["outcomes"])
    codes = category_columns(data.X, [0], [names])[:, 0] if len(data.X) else np.zeros(0, dtype=int)
    return np.asarray(e["priors"], float), np.asarray(e["likelihoods"], float), codes


def _posterior(wrong: Callable[[Array, Array, Array], Array], data: Data, e: Record) -> tuple[Data, Record]:
    """A posterior by another formula of priors, likelihoods and outcomes, brought back to the right one."""
    prior, table, codes = _table(data, e)
    joint = prior * np.prod(table[:, codes], axis=1)
    right, other = joint / joint.sum(), np.asarray(wrong(prior, table, codes), dtype=float)
    stated = np.asarray(e["posterior"], dtype=float)
    back = np.where(other > 0, stated * right / np.where(other > 0, other, 1.0), np.where(stated == 0, right, 2.0))
    return data, {**e, "posterior": back}


def _normal(p: Array) -> Array:
    return np.asarray(p / p.sum())


def _likely(table: Array, codes: Array) -> Array:
    return np.asarray(np.prod(table[:, codes], axis=1))


_POSTERIOR: tuple[Slip, ...] = (
    ("not normalised", "These are prior times likelihood: divide by their sum.",
     partial(_posterior, lambda p, t, o: p * _likely(t, o))),
    ("prior left out", "It is the likelihood, normalised: multiply by the prior first.",
     partial(_posterior, lambda p, t, o: _normal(_likely(t, o)))),
    ("likelihood alone", "It is the likelihood: multiply by the prior and divide by the sum.",
     partial(_posterior, lambda p, t, o: _likely(t, o))),
    ("prior alone", "It is the prior: the outcomes were not used.", partial(_posterior, lambda p, t, o: p)),
    ("last outcome only", "Only the last outcome was used: multiply the likelihoods of all.",
     partial(_posterior, lambda p, t, o: _normal(p * t[:, o[-1]]))),
    ("first outcome only", "Only the first outcome was used: multiply the likelihoods of all.",
     partial(_posterior, lambda p, t, o: _normal(p * t[:, o[0]]))),
    ("last outcome forgotten", "The last outcome was not used.",
     partial(_posterior, lambda p, t, o: _normal(p * _likely(t, o[:-1])))),
    ("prior at every step", "The prior was multiplied in at every outcome: once is enough.",
     partial(_posterior, lambda p, t, o: _normal(p ** len(o) * _likely(t, o)))),
    ("likelihoods added", "The likelihoods of the outcomes were added: multiply them.",
     partial(_posterior, lambda p, t, o: _normal(p * t[:, o].sum(axis=1)))),
    ("order of the hypotheses", "The hypotheses are in the opposite order.",
     partial(_posterior, lambda p, t, o: _normal(p * _likely(t, o))[::-1])),
)  # fmt: skip
