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

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.special

from certifit._types import Array
from certifit.certificates._ball import Ball, dot
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, about, equal, register, upper
from certifit.certificates.counts import category_columns
from certifit.certificates.spectrum import centred_scatter, frobenius

_LEVEL = 1e-6  # how far from level, as a share of the data's weight, still counts as a maximum
_FIT = 1e-9  # how far an expected statistic may be from the observed one, in standard deviations


@register
class FiniteBayes(Kind):
    """A posterior over finitely many hypotheses.

    Data: one column of outcomes. Evidence: ``outcomes`` (names), ``priors`` (H,), ``likelihoods`` (H, O),
    ``posterior`` (H,), ``log_evidence``.
    """

    name = "finite-bayes"
    theorem = "Bayes' rule"

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        prior, table, stated = (np.asarray(evidence[k], dtype=float) for k in ("priors", "likelihoods", "posterior"))
        names = list(evidence["outcomes"])
        codes = category_columns(data.X, [0], [names])[:, 0] if len(data.X) else np.zeros(0, dtype=int)
        counts = np.bincount(codes[codes >= 0], minlength=len(names)).astype(float)
        with np.errstate(divide="ignore"):
            dead = (prior == 0) | np.any((table == 0) & (counts > 0), axis=1)
        used = counts > 0
        logs = np.log(Ball(np.where(table > 0, table, 1.0)[:, used]))
        score = (logs * counts[used]).sum(axis=1) + np.log(Ball(np.where(prior > 0, prior, 1.0)))
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


def _stochastic(p: Array) -> bool:
    return bool(np.all(p >= 0) and abs(p.sum() - 1.0) <= 1e-9)


@register
class EvidenceMaximum(Kind):
    """The posterior covariance is right, and the evidence is level in both precisions.

    Evidence: ``coef`` (d,), ``intercept``, ``fit_intercept``, ``sigma`` (d, d), ``alpha``, ``lambda``, ``hyper``
    (α₁, α₂, λ₁, λ₂), ``free`` (which of α, λ were chosen by the evidence), ``centre``.
    """

    name = "evidence-maximum"
    theorem = "MacKay's fixed points are where the derivative of the log evidence vanishes"

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        w, sigma = (np.asarray(evidence[k], dtype=float) for k in ("coef", "sigma"))
        alpha, lam = float(evidence["alpha"]), float(evidence["lambda"])
        a1, a2, l1, l2 = (float(v) for v in evidence["hyper"])
        offset = bool(evidence["fit_intercept"])
        d = len(w)
        S, _, total = centred_scatter(data, np.asarray(evidence["centre"], dtype=float), about_mean=offset)
        H = S * alpha + np.eye(d) * lam
        off = frobenius(dot(sigma, H) - np.eye(d))
        residual = Ball(np.asarray(data.y, dtype=float)) - dot(data.X, w) - float(evidence["intercept"])
        sse = (residual.square() * data.weights).sum()
        # |tr(Σ − H⁻¹)| = |tr((ΣH − I)H⁻¹)| ≤ ‖ΣH − I‖ ‖H⁻¹‖, both in the Frobenius norm
        spread = off / max(1.0 - off, 1e-300) * float(np.linalg.norm(sigma)) * 1.0001
        gamma = Ball(float(d)) - Ball(float(np.trace(sigma)), spread + 1e-15 * float(np.abs(sigma).sum())) * lam
        size = Ball(w).square().sum()
        slope_l = gamma + 2 * l1 - (size + 2 * l2) * lam
        slope_a = total - gamma + 2 * a1 - (sse + 2 * a2) * alpha
        free = list(evidence["free"])
        slopes = [float(s.magnitude) for s, name in ((slope_a, "alpha"), (slope_l, "lambda")) if name in free]
        slope = max(slopes, default=0.0) / float(total.mid)
        checks = (
            Check("the precisions are positive", alpha > 0 and lam > 0),
            Check("the posterior covariance inverts λI + αXᵀX", off <= 1e-5, f"off by {off:.1e}"),
            Check("the evidence is level in the free precisions", slope <= _LEVEL, f"slope {slope:.1e} per row"),
        )
        figures = {
            "sigma_error": upper(off),
            "slope": upper(slope),
            "effective_parameters": about(float(gamma.mid)),
        }
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        free = {"alpha": "the noise precision", "lambda": "the weight precision"}
        chosen = " and ".join(free[name] for name in evidence["free"])
        text = f"The posterior covariance is right to {figures['sigma_error']:.1e}"
        return f"{text}; the evidence is level in {chosen} (slope {figures['slope']:.1e})." if chosen else f"{text}."


# -- densities ------------------------------------------------------------------------------------------
def _statistics(family: str, X: Array, p: Mapping[str, Any]) -> list[tuple[str, Ball, Any, float]]:
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
        t = v - float(p["mean"])
        return [("mean", t, 0.0, p["sd"]), ("variance", t.square(), p["sd"] ** 2, p["sd"] ** 2)]
    if family == "gamma":
        k, scale = float(p["shape"]), float(p["scale"])
        logs = float(scipy.special.digamma(k) + np.log(scale))
        return [("mean", Ball(x), k * scale, k**0.5 * scale), ("mean logarithm", np.log(Ball(x)), logs, 1.0)]
    expected = {
        "exponential": lambda: p["scale"],
        "poisson": lambda: p["rate"],
        "bernoulli": lambda: p["probability"],
        "binomial": lambda: p["trials"] * p["probability"],
        "geometric": lambda: 1.0 / p["probability"],
    }[family]()
    return [("mean", Ball(x), float(expected), max(abs(float(expected)), 1e-300))]


@register
class MaximumLikelihood(Kind):
    """A density whose expected statistics are the observed ones.

    Evidence: ``family`` and ``parameters``.
    """

    name = "maximum-likelihood"
    theorem = "in an exponential family the likelihood is largest where expected and observed statistics agree"

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        X = np.asarray(data.X, dtype=float)
        w = data.weights
        total = Ball(w).sum()
        checks, worst = [], 0.0
        for name, values, expected, sd in _statistics(evidence["family"], X, evidence["parameters"]):
            mean = (values * w).sum() / total
            error = float((mean - float(expected)).magnitude) / (sd if sd > 0 else 1.0)
            worst = max(worst, error)
            checks.append(Check(f"the {name} agrees", error <= _FIT, f"off by {error:.1e}"))
        return Proof({"error": upper(worst), "rows": equal(len(X))}, tuple(checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        family = str(evidence["family"]).replace("_", " ")
        return (
            f"No other {family} distribution makes the {figures['rows']} rows likelier: expected and observed "
            f"statistics agree (to {figures['error']:.1e})."
        )
