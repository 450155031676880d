r"""Bayesian claims: finite hypothesis spaces, evidence maxima of linear regression, densities by maximum likelihood.

Finite Bayes. Given counts c_o of the outcomes, log P(e | h) = Σ c_o log P(o | h); the posterior is prior times
likelihood over their sum, P(e).

Evidence. With H = λI + αXᵀWX (columns centred when there is an offset) and Σ = H⁻¹, the log evidence, with Gamma
priors on both precisions, is level in log λ and log α exactly where

.. math:: \gamma + 2\lambda_1 = \lambda(\lVert w\rVert^2 + 2\lambda_2), \quad
          n - \gamma + 2\alpha_1 = \alpha(\mathrm{sse} + 2\alpha_2), \qquad \gamma = d - \lambda\,\mathrm{tr}\,\Sigma.

Densities. In an exponential family the log likelihood is concave in the natural parameter, and largest where the
expected sufficient statistics equal the observed means.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._types import Array, Named
from certifit.certificates._ball import Ball, ball, dot, rationals
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._frame import rounded
from certifit.certificates._record import Check, Kind, Proof, about, equal, register, upper
from certifit.certificates._row_sums import dot_t
from certifit.certificates._schema import FINITE, FLAG, LABELS, NUMBER, RECORD, WHOLE, word
from certifit.certificates.counts import category_columns
from certifit.certificates.spectrum import centred_scatter, frobenius

_LEVEL = 1e-6  # how far from level, as a fraction of the data's weight, still counts as a maximum
_SMALL = 20_000  # entries of X up to which the equations are formed in rationals
_FIT = 1e-9  # how far an expected statistic may be from the observed one, in standard deviations


@register
class FiniteBayes(Kind):
    """A posterior over finitely many hypotheses.

    Data: one column of outcomes. Evidence: ``outcomes`` (names), ``priors`` (H,), ``likelihoods`` (H, O),
    ``posterior`` (H,), ``log_evidence``.
    """

    name = "finite-bayes"
    theorem = "Bayes' rule"
    needs: ClassVar = {
        "outcomes": LABELS,
        "priors": FINITE,
        "likelihoods": FINITE,
        "posterior": FINITE,
        "log_evidence": NUMBER,
    }

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        prior, table, stated = (np.asarray(evidence[k], dtype=float) for k in ("priors", "likelihoods", "posterior"))
        names = list(evidence["outcomes"])
        if prior.ndim != 1 or table.shape != (len(prior), len(names)) or stated.shape != prior.shape:
            raise ValueError("one prior, one posterior and one row of likelihoods per hypothesis are needed")
        codes = category_columns(data.X, [0], [names])[:, 0] if len(data.X) else np.zeros(0, dtype=int)
        counts = np.bincount(codes[codes >= 0], minlength=len(names)).astype(float)
        with np.errstate(divide="ignore"):
            dead = (prior == 0) | np.any((table == 0) & (counts > 0), axis=1)
        used = counts > 0
        logs = _logarithms(np.where(table > 0, table, 1.0)[:, used])
        score = (logs * counts[used]).sum(axis=1) + _logarithms(np.where(prior > 0, prior, 1.0))
        checks = [
            Check("every outcome has a likelihood", bool(np.all(codes >= 0))),
            Check("priors and likelihoods are probabilities", _stochastic(prior) and all(map(_stochastic, table))),
            Check("some hypothesis allows the outcomes", not bool(dead.all())),
        ]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        top = float(np.max(score.mid[~dead]))
        share = np.exp(score - top)
        share = Ball(np.where(dead, 0.0, share.mid), np.where(dead, 0.0, share.rad))
        total = share.sum()
        error = float(np.max((share / total - stated).magnitude))
        log_evidence = np.log(total) + top
        off = abs(float(log_evidence.mid) - float(evidence["log_evidence"]))
        sum_error = float((Ball(stated).sum() - 1.0).magnitude)
        checks += [
            Check("the posterior sums to one", sum_error <= _FIT, f"off by {sum_error:.1e}"),
            Check("the posterior is prior times likelihood over evidence", error <= _FIT, f"off by {error:.1e}"),
            Check("the evidence is the sum of prior times likelihood", off <= _FIT * (1 + abs(top)), f"{off:.1e}"),
        ]
        figures = {
            "log_evidence": about(float(log_evidence.mid)),
            "error": upper(error),
            "sum_error": upper(sum_error),
            "observations": equal(len(data.X)),
        }
        return Proof(figures, tuple(checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if "error" not in figures:
            return "The posterior is not proved."
        return (
            f"The posterior after {figures['observations']} observations sums to one and equals prior times "
            f"likelihood over the evidence (to {figures['error']:.1e})."
        )


def _logarithms(p: Array) -> Ball:
    """log p of numbers p > 0; beside underflow, where bounds of p would reach zero, as log(2²⁰⁰p) − 200 log 2."""
    logs, lifted = np.log(Ball(p)), np.log(Ball(p * 2.0**200)) - np.log(Ball(2.0)) * 200.0
    tiny = p < 2.0**-900
    return Ball(np.where(tiny, lifted.mid, logs.mid), np.where(tiny, lifted.rad, logs.rad))


def _stochastic(p: Array) -> bool:
    return bool(np.all(p >= 0) and abs(p.sum() - 1.0) <= 1e-9)


@register
class EvidenceMaximum(Kind):
    """The posterior covariance is right, and the evidence is level in both precisions.

    Evidence: ``coef`` (d,), ``intercept``, ``fit_intercept``, ``sigma`` (d, d), ``alpha``, ``lambda``, ``hyper``
    (α₁, α₂, λ₁, λ₂), ``free`` (which of α, λ were chosen by the evidence), ``centre`` (any point near the rows, which
    only keeps rounding small; zero where there is no offset).
    """

    name = "evidence-maximum"
    theorem = "MacKay's fixed points are where the derivative of the log evidence vanishes"
    needs: ClassVar = {"coef": FINITE, "intercept": NUMBER, "fit_intercept": FLAG, "sigma": FINITE, "alpha": NUMBER,
             "lambda": NUMBER, "hyper": FINITE, "free": LABELS, "centre": FINITE}  # fmt: skip

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        w, sigma = (np.asarray(evidence[k], dtype=float) for k in ("coef", "sigma"))
        alpha, lam = float(evidence["alpha"]), float(evidence["lambda"])
        a1, a2, l1, l2 = (float(v) for v in evidence["hyper"])
        d, free = data.X.shape[1], [str(name) for name in evidence["free"]]
        if w.shape != (d,) or sigma.shape != (d, d) or len(set(free)) != len(free) or not set(free) <= set(_FREE):
            raise ValueError("the evidence does not match the data")
        if not (alpha > 0 and lam > 0 and min(a1, a2, l1, l2) >= 0):
            raise ValueError("precisions are positive, and the parameters of their priors not negative")
        S, sse, slope, total = _moments(data, evidence, w)
        off = frobenius(dot(sigma, S * alpha + np.eye(d) * lam) - np.eye(d))
        # ‖H⁻¹‖ ≤ ‖Σ‖/(1 − off) in the Frobenius norm, so |tr Σ − tr H⁻¹| = |tr((ΣH − I)H⁻¹)| ≤ off ‖Σ‖/(1 − off).
        norm = Ball(frobenius(Ball(sigma)))
        miss = float((norm * off / (1.0 - Ball(off))).upper) if off < 1.0 else np.inf
        trace = Ball(np.diag(sigma).copy()).sum()
        gamma = float(d) - (trace + Ball(0.0, miss)) * lam
        # The posterior mean is m = w − H⁻¹ρ with ρ = λw − αXᵀe. Since H ⪰ λI and H ⪰ αXᵀX, ‖m − w‖ ≤ ‖ρ‖/λ and
        # ‖X(m − w)‖² ≤ ρᵀH⁻¹ρ/α ≤ ‖ρ‖²/(λα).
        rho = Ball(frobenius(Ball(w) * lam - slope * alpha))
        moved, shifted = rho / lam, rho / np.sqrt(Ball(lam) * alpha)
        size = np.sqrt(Ball(w).square().sum()) + Ball(0.0, float(moved.upper))
        errors = np.sqrt(sse) + Ball(0.0, float(shifted.upper))
        slopes = {
            "lambda": gamma + 2 * l1 - (size.square() + 2 * l2) * lam,
            "alpha": total - gamma + 2 * a1 - (errors.square() + 2 * a2) * alpha,
        }
        slope_of = [float((slopes[name] / total).magnitude) for name in free]
        steepest = float(np.max(slope_of, initial=0.0))  # a NaN stays one
        checks = (
            Check("the posterior covariance inverts λI + αXᵀX", off <= 1e-5, f"off by {off:.1e}"),
            Check(
                "the evidence is stationary in the free precisions", steepest <= _LEVEL, f"slope {steepest:.1e} per row"
            ),
        )
        figures = {
            "sigma_error": upper(off),
            "slope": upper(steepest),
            "effective_parameters": about(float(gamma.mid)),
        }
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        chosen = " and ".join(_FREE[name] for name in evidence["free"])
        text = f"The posterior covariance is right to {figures['sigma_error']:.1e}"
        if not chosen:
            return f"{text}."
        priors = ", ".join(f"{float(v):g}" for v in evidence["hyper"])
        return f"{text}; the evidence, with priors {priors}, is stationary in {chosen} (slope {figures['slope']:.1e})."


_FREE = {"alpha": "the noise precision", "lambda": "the weight precision"}


def _moments(data: Data, evidence: Evidence, w: Array) -> tuple[Ball, Ball, Ball, Ball]:
    """Scatter of the rows, squared errors of w at its best offset, Xᵀ of those errors, and the weight of the rows."""
    offset, centre = bool(evidence["fit_intercept"]), np.asarray(evidence["centre"], dtype=float)
    if centre.shape != w.shape or not (offset or (not np.any(centre) and float(evidence["intercept"]) == 0.0)):
        raise ValueError("rows are centred where there is an offset, and only there")
    S, _, total = centred_scatter(data, centre, about_mean=offset)
    X = data.X.toarray() if scipy.sparse.issparse(data.X) else np.asarray(data.X)
    known = [X, data.real_targets(), data.weights, w]
    if X.size <= _SMALL:  # a large α magnifies the rounding of the errors: exact where that is cheap
        known = [rationals(v) for v in known]
    rows, y, s, w = known
    e = Ball(y) - dot(rows, w) - float(evidence["intercept"])
    es = e * s
    slope, squares = dot_t(rows, es), (e * es).sum()
    if offset:
        left, weight = es.sum(), Ball(s).sum()
        slope = slope - dot_t(rows, Ball(s)) * (left / weight)
        squares = squares - left.square() / weight
    floats = [rounded(v) if v.exact else v for v in (squares, slope)]
    return S, floats[0].maximum(0.0), floats[1], total


# -- densities ------------------------------------------------------------------------------------------
_PARAMETERS = {
    "normal": ("mean", "sd"), "lognormal": ("mean", "sd"), "gamma": ("shape", "scale"), "exponential": ("scale",),
    "poisson": ("rate",), "bernoulli": ("probability",), "binomial": ("trials", "probability"),
    "geometric": ("probability",), "categorical": ("probabilities",), "multivariate_normal": ("mean", "cov"),
}  # fmt: skip
_BERNOULLI = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)  # B₂ₖ/2k


def digamma(k: float) -> Ball:
    """ψ(k) for k > 0: ψ(k) = ψ(k + n) − Σ 1/(k + i), and ψ(x) = log x − 1/(2x) − Σ B₂ₖ/(2k x²ᵏ).

    The series envelops ψ: what is left out is smaller than the first term left out.

    Examples
    --------
    >>> bool(digamma(1.0).contains(-0.5772156649015329)), float(digamma(1.0).rad) < 1e-13
    (True, True)
    """
    x, below = Ball(k), Ball(0.0)
    while float(x.mid) < 16.0:
        below, x = below + 1.0 / x, x + 1.0
    square, power, tail = x.square(), Ball(1.0), Ball(0.0)
    for factor in _BERNOULLI[:-1]:
        power = power * square
        tail = tail + Ball(factor, 1e-16) / power
    left_out = float((Ball(_BERNOULLI[-1]) / (power * square)).upper)
    return ball(np.log(x)) - 0.5 / x - tail - below + Ball(0.0, left_out)


def _sane(family: str, X: Array, p: Named) -> bool:
    """Whether the parameters are those of the family, and the rows possible under it."""
    one = {k: v for k, v in p.items() if k not in ("cov", "probabilities") and family != "multivariate_normal"}
    if set(p) != set(_PARAMETERS[family]) or not all(NUMBER.fits(v) for v in one.values()):
        return False
    if family == "multivariate_normal":
        cov = np.asarray(p["cov"], dtype=float)
        fits = np.shape(p["mean"]) == (X.shape[1],) and cov.shape == (X.shape[1],) * 2
        return FINITE.fits(p["mean"]) and FINITE.fits(p["cov"]) and fits and bool(np.array_equal(cov, cov.T))
    whole, x = bool(np.all(np.rint(X) == X)), X[:, 0]
    share = 0.0 <= float(one.get("probability", 0.0)) <= 1.0
    positive = all(float(one.get(k, 1.0)) > 0.0 for k in ("sd", "shape", "scale")) or family == "exponential"
    possible = {
        "normal": True, "lognormal": np.all(x > 0), "gamma": np.all(x > 0),
        "exponential": np.all(x >= 0) and float(one.get("scale", 0.0)) >= 0.0,
        "poisson": whole and np.all(x >= 0) and float(one.get("rate", 0.0)) >= 0.0,
        "bernoulli": np.all((x == 0) | (x == 1)), "geometric": whole and np.all(x >= 1),
        "binomial": whole and np.all((x >= 0) & (x <= one.get("trials", 0))) and WHOLE.fits(one.get("trials")),
        "categorical": whole and _categories(x, p.get("probabilities")),
    }[family]  # fmt: skip
    return X.shape[1] == 1 and share and positive and bool(possible)


def _categories(x: Array, shares: Any) -> bool:
    """Whether these are probabilities, one for each category that occurs and those below it."""
    return FINITE.fits(shares) and _stochastic(np.asarray(shares)) and bool(np.all((x >= 0) & (x < len(shares))))


def _statistics(family: str, X: Array, p: Named) -> list[tuple[str, Ball, Any, float]]:
    """(name, sufficient statistic per row, its expectation under the fit, its standard deviation) of a family."""
    x = X[:, 0]
    if family == "categorical":
        shares = np.asarray(p["probabilities"], dtype=float)
        rows = [(x == k).astype(float) for k in range(len(shares))]
        return [(f"share of category {k}", Ball(r), shares[k], 1.0) for k, r in enumerate(rows)]
    if family == "multivariate_normal":
        mean, cov = np.asarray(p["mean"], dtype=float), np.asarray(p["cov"], dtype=float)
        T = Ball(X) - mean
        sd = np.sqrt(np.diag(cov))
        found = [(f"mean of column {j}", T[:, j], 0.0, sd[j]) for j in range(len(mean))]
        return found + [
            (f"covariance {i}, {j}", T[:, i] * T[:, j], cov[i, j], sd[i] * sd[j])
            for i in range(len(mean))
            for j in range(i + 1)
        ]
    if family in ("normal", "lognormal"):
        v = np.log(Ball(x)) if family == "lognormal" else Ball(x)
        t, sd = v - float(p["mean"]), float(p["sd"])
        return [("mean", t, 0.0, sd), ("variance", t.square(), Ball(sd).square(), sd**2)]
    if family == "gamma":
        k, scale = float(p["shape"]), float(p["scale"])
        logs = digamma(k) + np.log(Ball(scale))
        return [("mean", Ball(x), Ball(k) * scale, k**0.5 * scale), ("mean logarithm", np.log(Ball(x)), logs, 1.0)]
    expected = {
        "exponential": lambda: Ball(float(p["scale"])),
        "poisson": lambda: Ball(float(p["rate"])),
        "bernoulli": lambda: Ball(float(p["probability"])),
        "binomial": lambda: Ball(float(p["trials"])) * float(p["probability"]),
        "geometric": lambda: 1.0 / Ball(float(p["probability"])),
    }[family]()
    return [("mean", Ball(x), expected, max(abs(float(expected.mid)), 1e-300))]


@register
class MaximumLikelihood(Kind):
    """A density whose expected statistics are the observed ones.

    Evidence: ``family`` and ``parameters``.
    """

    name = "maximum-likelihood"
    theorem = "in an exponential family the likelihood is largest where expected and observed statistics agree"
    needs: ClassVar = {"family": word(*_PARAMETERS), "parameters": RECORD}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        X, family = np.asarray(data.X, dtype=float), str(evidence["family"])
        if not _sane(family, X, evidence["parameters"]):
            raise ValueError(f"these are not the parameters of a {family} distribution of these rows")
        w = data.weights
        total = Ball(w).sum()
        checks, errors = [], []
        for name, values, expected, sd in _statistics(family, X, evidence["parameters"]):
            mean = (values * w).sum() / total
            error = float(((mean - expected) / (sd if sd > 0 else 1.0)).magnitude)
            errors.append(error)
            checks.append(Check(f"the {name} agrees", error <= _FIT, f"off by {error:.1e}"))
        return Proof({"error": upper(float(np.max(errors))), "rows": equal(len(X))}, tuple(checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        family = str(evidence["family"]).replace("_", " ")
        return (
            f"The statistics that this {family} distribution expects are those of the {figures['rows']} rows (to "
            f"{figures['error']:.1e} standard deviations): where they agree exactly, no other gives the rows a higher "
            "likelihood."
        )
