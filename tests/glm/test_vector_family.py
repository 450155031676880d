"""Families with vectors T(y) and η: the normal, the gamma and the categorical one, against what is known of them."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

import certifit as cf
from certifit.bayes import fit_density
from certifit.exceptions import NoOptimumError
from certifit.glm import VectorFamily, VectorFit
from certifit.linear_model import LogisticRegression


def normal():
    return VectorFamily(
        "normal",
        statistic=lambda y: np.column_stack([y, y**2]),
        a=lambda e: -(e[0] ** 2) / (4 * e[1]) - 0.5 * np.log(-2 * e[1]) if e[1] < 0 else np.inf,
        mean=lambda e: np.array([-e[0] / (2 * e[1]), e[0] ** 2 / (4 * e[1] ** 2) - 1 / (2 * e[1])]),
        covariance=lambda e: np.array(
            [
                [-1 / (2 * e[1]), e[0] / (2 * e[1] ** 2)],
                [e[0] / (2 * e[1] ** 2), 1 / (2 * e[1] ** 2) - e[0] ** 2 / (2 * e[1] ** 3)],
            ]
        ),
        start=[0.0, -0.5],
        log_b=lambda y: np.full(len(y), -0.5 * np.log(2 * np.pi)),
    )


def gamma():
    """T(y) = (log y, y), η = (shape − 1, −rate)."""
    return VectorFamily(
        "gamma",
        statistic=lambda y: np.column_stack([np.log(y), y]),
        a=lambda e: scipy.special.gammaln(e[0] + 1) - (e[0] + 1) * np.log(-e[1]) if e[0] > -1 and e[1] < 0 else np.inf,
        mean=lambda e: np.array([scipy.special.digamma(e[0] + 1) - np.log(-e[1]), -(e[0] + 1) / e[1]]),
        covariance=lambda e: np.array(
            [[scipy.special.polygamma(1, e[0] + 1), -1 / e[1]], [-1 / e[1], (e[0] + 1) / e[1] ** 2]]
        ),
        start=[1.0, -1.0],
    )


def categorical(k):
    """k + 1 classes, the last one as reference: T(y) = one-hot of the first k."""

    def softmax(e):
        z = np.exp(np.append(e, 0.0) - max(e.max(), 0.0))
        return (z / z.sum())[:-1]

    return VectorFamily(
        "categorical",
        statistic=lambda y: np.eye(k + 1)[np.asarray(y, dtype=int)][:, :-1],
        a=lambda e: float(np.logaddexp.reduce(np.append(e, 0.0))),
        mean=softmax,
        covariance=lambda e: np.diag(softmax(e)) - np.outer(softmax(e), softmax(e)),
        start=np.zeros(k),
        support=np.arange(k + 1),
    )


def test_normal_and_gamma_are_the_likeliest():
    rng = np.random.default_rng(0)
    y = rng.normal(3.0, 2.0, size=80)
    fit = normal().fit(y)
    assert -1 / (2 * fit.eta[1]) == pytest.approx(y.var(), rel=1e-9)
    assert -fit.eta[0] / (2 * fit.eta[1]) == pytest.approx(y.mean(), rel=1e-9)
    assert fit.log_likelihood == pytest.approx(scipy.stats.norm(y.mean(), y.std()).logpdf(y).mean())
    assert np.allclose(normal().log_density(y, fit.eta), scipy.stats.norm(y.mean(), y.std()).logpdf(y))
    waits = rng.gamma(2.5, 1.7, size=90)
    fit = gamma().fit(waits)
    known = fit_density(waits, "gamma").parameters
    assert fit.eta[0] + 1 == pytest.approx(known["shape"], rel=1e-6)
    assert fit.residual < 1e-9
    assert fit.log_likelihood * 90 == pytest.approx(fit_density(waits, "gamma").log_likelihood, rel=1e-9)


def test_a_glm_of_the_categorical_family_is_softmax_regression():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    y = np.array([rng.choice(3, p=p) for p in scipy.special.softmax(X @ [[1.0, -1.0, 0.0], [0.0, 1.0, 0.5]], axis=1)])
    fit = categorical(2).regress(X, y)
    model = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y)
    theirs = model.coef_ - model.coef_[-1]
    assert np.allclose(fit.coef, theirs[:2], atol=1e-6)
    assert np.allclose(fit.intercept, (model.intercept_ - model.intercept_[-1])[:2], atol=1e-6)
    p = np.array([categorical(2).mean(e) for e in fit.natural(X)])
    assert np.allclose(p, model.predict_proba(X)[:, :2], atol=1e-6)


def test_a_normal_whose_variance_depends_on_x():
    """Both parameters are linear in x; weights are copies."""
    rng = np.random.default_rng(2)
    x = rng.integers(2, size=400).astype(float)[:, None]
    y = rng.normal(1.0 + 2.0 * x[:, 0], 1.0 + x[:, 0])
    fit = normal().regress(x, y)
    for value in (0.0, 1.0):
        e = fit.natural([[value]])[0]
        own = y[x[:, 0] == value]
        assert -e[0] / (2 * e[1]) == pytest.approx(own.mean(), rel=1e-6)
        assert -1 / (2 * e[1]) == pytest.approx(own.var(), rel=1e-6)
    w = rng.integers(1, 4, size=400)
    weighted = normal().regress(x, y, w)
    copies = normal().regress(np.repeat(x, w, axis=0), np.repeat(y, w))
    assert np.allclose(weighted.coef, copies.coef, atol=1e-8)
    with pytest.raises(AttributeError, match="natural"):
        fit.eta  # noqa: B018


def test_what_is_wrong_is_said():
    right = normal()
    parts = {name: getattr(right, name) for name in ("statistic", "a", "mean", "covariance", "start")}
    with pytest.raises(ValueError, match="mean is not the gradient"):
        VectorFamily("x", **{**parts, "mean": lambda e: e})
    with pytest.raises(ValueError, match="second derivative"):
        VectorFamily("x", **{**parts, "covariance": lambda e: np.eye(2)})
    with pytest.raises(ValueError, match="not finite at start"):
        VectorFamily("x", **{**parts, "start": [0.0, 1.0]})
    with pytest.raises(ValueError, match="2 numbers for each y"):
        VectorFamily("x", **{**parts, "statistic": lambda y: y[:, None]}).fit([1.0, 2.0])
    good = categorical(2)
    own = {name: getattr(good, name) for name in ("statistic", "a", "mean", "covariance", "start")}
    with pytest.raises(ValueError, match="sum to one"):
        VectorFamily("x", **own, support=np.arange(3), log_b=lambda y: np.ones(len(y)))
    with pytest.raises(NoOptimumError, match="boundary"):
        normal().fit([2.0, 2.0, 2.0])  # no variance: the likelihood has no limit
    with pytest.raises(ValueError, match="one finite row"):
        right.regress([[1.0]], [1.0, 2.0])


def test_fits_are_proved_and_certified():
    rng = np.random.default_rng(3)
    y = rng.normal(2.0, 3.0, 60)
    fit = normal().fit(y)
    assert fit.certificate_.holds
    assert fit.certificate_.residual < 1e-9
    assert fit.certificate_.verify(y[:, None]).holds
    assert not fit.certificate_.verify(y[:, None] + 1).holds
    assert "T(y)" in fit.certificate_.assumes[0]
    assert cf.certify(fit, y[:, None]).holds
    with pytest.raises(cf.exceptions.ChangedDataError):
        cf.certify(fit, y[:, None] + 1)
    with pytest.raises(AttributeError, match="has a certificate"):
        _ = VectorFit(np.zeros((1, 0)), np.zeros(1), 0.0, 0.0, 0.0, 1).certificate_


def test_regressions_are_proved():
    rng = np.random.default_rng(4)
    X, codes = rng.normal(size=(80, 2)), rng.integers(0, 3, 80)
    weights = rng.integers(1, 4, 80).astype(float)
    fit = categorical(2).regress(X, codes, weights)
    certificate = cf.certify(fit, X, codes, weights)
    assert certificate.holds
    assert certificate.diagnose(X, codes, weights).right
    off = cf.certificates.issue(
        certificate.kind,
        cf.certificates.Data.of(X, codes, weights),
        {**certificate.evidence, "expected": np.asarray(certificate.evidence["expected"]) * 1.01},
    )
    assert not off.holds
    assert not off.diagnose(X, codes, weights).right
