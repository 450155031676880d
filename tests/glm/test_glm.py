"""GLMs against R's and statsmodels' numbers, with proved gaps where the objective is convex."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as sk

import certifit as cf
from certifit.exceptions import NoOptimumError
from certifit.glm import GLM, ExponentialFamily, NegativeBinomial, Tweedie
from tests.certificates.tampering import refuses_everything
from tests.contract import contract


@contract(
    [
        GLM("gaussian"),
        GLM("poisson"),
        GLM("poisson", alpha=0.1, l1_ratio=1.0),
        GLM("gamma", "log"),
        GLM(NegativeBinomial(0.5), tol=1e-7),
        GLM(Tweedie(1.5), alpha=0.1),
    ]
)
def test_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("case", "family"),
    [("gamma_inverse_clotting_lot1", "gamma"), ("logit_spector", "binomial"), ("poisson_cpunish", "poisson")],
)
def test_published(reference, case, family):
    record, table = reference(f"glm/{case}")
    e = record["expected"]
    s = GLM(family).fit(table[record["data"]["features"]], table[record["data"]["target"]]).summary()
    rtol = 1e-5 if family != "gamma" else 1e-4
    for name, value, error in zip(s.names, s.params, s.standard_errors):
        assert value == pytest.approx(e["params"][name], rel=rtol)
        assert error == pytest.approx(e["std_errors"][name], rel=2e-4)
    for figure, key in (("deviance", "deviance"), ("null_deviance", "null_deviance"), ("log_likelihood", "llf")):
        if key in e:
            assert getattr(s, figure) == pytest.approx(e[key], rel=1e-4 if family == "gamma" else 1e-7)
    if "aic" in e or "aic_R" in e:
        assert s.aic == pytest.approx(e.get("aic", e.get("aic_R")), rel=2e-4)
    if "dispersion" in e:
        assert s.dispersion == pytest.approx(e["dispersion"], rel=1e-4)


def data(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 1.0]
    z = 0.3 * X[:, 0] - 0.05 * X[:, 1] + X[:, 2] * 2 - 1.0
    return X, z, rng


def draw(family, link, seed=0):
    X, z, rng = data(seed)
    mu = {
        "log": np.exp(z),
        "logit": 1 / (1 + np.exp(-z)),
        "probit": 1 / (1 + np.exp(-z)),
        "cloglog": 1 / (1 + np.exp(-z)),
        "identity": z,
        "inverse": 1 / (3 + 0.2 * z),
        "inverse_squared": (9 + 0.2 * z) ** -0.5,
    }[link]
    if family == "gaussian":
        return X, mu + rng.normal(size=len(mu))
    if family == "poisson":
        return X, rng.poisson(np.exp(0.3 * z) + (2 if link == "identity" else 0)).astype(float)
    if family == "binomial":
        return X, (rng.random(len(mu)) < mu).astype(float)
    if family == "gamma":
        return X, rng.gamma(4.0, mu / 4.0)
    return X, rng.wald(mu, 20.0)


CASES = [
    ("gaussian", "identity", "Gaussian", "Identity"),
    ("gaussian", "log", "Gaussian", "Log"),
    ("poisson", "log", "Poisson", "Log"),
    ("poisson", "identity", "Poisson", "Identity"),
    ("binomial", "logit", "Binomial", "Logit"),
    ("binomial", "probit", "Binomial", "Probit"),
    ("binomial", "cloglog", "Binomial", "CLogLog"),
    ("gamma", "log", "Gamma", "Log"),
    ("gamma", "inverse", "Gamma", "InversePower"),
    ("inverse_gaussian", "log", "InverseGaussian", "Log"),
    ("inverse_gaussian", "inverse_squared", "InverseGaussian", "InverseSquared"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("family", "link", "their_family", "their_link"), CASES)
def test_statsmodels(family, link, their_family, their_link):
    sm = pytest.importorskip("statsmodels.api")
    X, y = draw(family, link if family != "poisson" else "log")
    if family == "gaussian" and link == "log":
        y = np.abs(y) + 0.5
    theirs = sm.GLM(
        y,
        sm.add_constant(X),
        family=getattr(sm.families, their_family)(getattr(sm.families.links, their_link)()),
    ).fit(tol=1e-12, maxiter=200)
    model = GLM(family, link).fit(X, y)
    s = model.summary()
    assert s.deviance == pytest.approx(theirs.deviance, rel=1e-6)
    assert np.allclose(s.params, theirs.params, rtol=1e-4, atol=1e-6)
    assert np.allclose(s.standard_errors, theirs.bse, rtol=2e-3)
    assert s.null_deviance == pytest.approx(theirs.null_deviance, rel=1e-6)
    c = model.certificate_
    assert c.holds, str(c)
    assert c.verify(X, y).holds
    if c.kind == "local":
        assert c.relative_gap < 1e-9


@pytest.mark.filterwarnings("ignore")
def test_negative_binomial_and_user_family():
    sm = pytest.importorskip("statsmodels.api")
    X, z, rng = data(3)
    y = rng.negative_binomial(2, 1 / (1 + np.exp(0.5 * z))).astype(float)
    theirs = sm.GLM(y, sm.add_constant(X), family=sm.families.NegativeBinomial(alpha=0.5)).fit(tol=1e-12)
    s = GLM(NegativeBinomial(0.5)).fit(X, y).summary()
    assert np.allclose(s.params, theirs.params, rtol=1e-5)
    assert np.allclose(s.standard_errors, theirs.bse, rtol=1e-3)
    assert s.log_likelihood == pytest.approx(theirs.llf, rel=1e-6)
    own = ExponentialFamily(
        "my_poisson", np.exp, np.exp, np.exp, means=(0, np.inf), values=(0, np.inf), support=np.arange(600)
    )
    mine, built_in = GLM(own).fit(X, y), GLM("poisson").fit(X, y)
    assert np.allclose(mine.coef_, built_in.coef_, rtol=1e-5, atol=1e-8)
    assert mine.certificate_.holds


def test_a_family_that_does_not_add_up_is_refused():
    with pytest.raises(ValueError, match="mean is not the derivative"):
        ExponentialFamily("wrong", np.exp, lambda e: 2 * np.exp(e), np.exp)
    with pytest.raises(ValueError, match="variance is not"):
        ExponentialFamily("wrong", np.exp, np.exp, lambda e: 0 * e)
    with pytest.raises(ValueError, match="does not sum to one"):
        ExponentialFamily("wrong", np.exp, np.exp, np.exp, log_b=lambda y: 0 * y, support=np.arange(5))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (GLM("poisson", alpha=0.3), sk.PoissonRegressor(alpha=0.3, tol=1e-10, max_iter=5000)),
        (GLM("gamma", "log", alpha=0.3), sk.GammaRegressor(alpha=0.3, tol=1e-10, max_iter=5000)),
        (GLM(Tweedie(1.4), alpha=0.3), sk.TweedieRegressor(power=1.4, alpha=0.3, tol=1e-10, max_iter=5000)),
    ],
)
def test_scikit_learn_and_certify(ours, theirs):
    X, _, rng = data(5)
    X = (X - X.mean(0)) / X.std(0)
    y = rng.gamma(2.0, np.exp(0.4 * X[:, 0]) / 2.0)
    if ours.family == "poisson":
        y = np.round(y)
    w = rng.uniform(0.5, 2, len(y))
    ours.fit(X, y, w)
    theirs.fit(X, y, w)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert np.allclose(ours.predict(X), theirs.predict(X), rtol=1e-4)
    assert ours.score(X, y, w) == pytest.approx(theirs.score(X, y, w), rel=1e-5)
    c = cf.certify(theirs, X, y, w)
    assert c.holds
    assert c.relative_gap < 1e-6
    assert c.verify(X, y, w).holds
    assert "Regressor" in c.claim


def test_glum():
    glum = pytest.importorskip("glum", reason="the peer is in the extra bench")
    X, z, rng = data(6)
    y = rng.poisson(np.exp(0.3 * z)).astype(float)
    model = glum.GeneralizedLinearRegressor(family="poisson", alpha=0.1, l1_ratio=0).fit(X, y)
    assert cf.certify(model, X, y).relative_gap < 1e-3


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    ("family", "link"), [("gaussian", None), ("poisson", None), ("gamma", "log"), ("binomial", None)]
)
def test_penalties_offsets_and_tampering(family, link, ratio):
    X, y = draw(family, link or {"gaussian": "identity", "poisson": "log", "binomial": "logit"}[family])
    rng = np.random.default_rng(0)
    offset, w = rng.normal(size=len(y)) * 0.1, rng.uniform(0.5, 2, len(y))
    model = GLM(family, link, alpha=0.1, l1_ratio=ratio).fit(X, y, w, offset=offset)
    c = model.certificate_
    assert c.relative_gap < 1e-7
    assert c.verify(X, y, w, offset).holds
    assert not c.verify(X, y, w).holds
    plain = GLM(family, link, alpha=0.1, l1_ratio=ratio).fit(X, y, w)
    refuses_everything(plain.certificate_, X, y, w)


def test_exposure_is_an_offset():
    X, z, rng = data(7)
    t = rng.uniform(1, 5, len(z))
    y = rng.poisson(t * np.exp(0.2 * z)).astype(float)
    a = GLM("poisson").fit(X, y, exposure=t)
    b = GLM("poisson").fit(X, y, offset=np.log(t))
    assert np.allclose(a.coef_, b.coef_)
    assert np.allclose(a.predict(X, offset=np.log(t)), np.exp(a.scores(X) + np.log(t)))
    with pytest.raises(ValueError, match="log link"):
        GLM("gaussian").fit(X, y, exposure=t)


def test_binomial_shares_with_trials_are_repeated_rows():
    X = np.array([[0.0], [1.0], [2.0]])
    trials, hits = np.array([10.0, 8.0, 12.0]), np.array([2.0, 4.0, 9.0])
    grouped = GLM("binomial").fit(X, hits / trials, sample_weight=trials)
    rows = np.repeat(X, trials.astype(int), axis=0)
    labels = np.concatenate([np.r_[np.ones(int(h)), np.zeros(int(t - h))] for h, t in zip(hits, trials)])
    single = GLM("binomial").fit(rows, labels)
    assert np.allclose(grouped.coef_, single.coef_, rtol=1e-8)
    assert np.allclose(grouped.summary().standard_errors, single.summary().standard_errors, rtol=1e-8)


class TestNoEstimate:
    def test_a_group_without_events(self):
        X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
        with pytest.raises(NoOptimumError, match="likelihood keeps increasing"):
            GLM("poisson").fit(X, [0, 0, 0, 2, 3])

    def test_separated_shares(self):
        with pytest.raises(NoOptimumError, match="along w"):
            GLM("binomial").fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])

    def test_a_penalty_helps(self):
        model = GLM("binomial", alpha=0.1).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        assert model.certificate_.relative_gap < 1e-9


def test_sparse_equals_dense():
    X, y = draw("poisson", "log")
    a, b = GLM("poisson").fit(X, y), GLM("poisson").fit(sp.csr_array(X), y)
    assert np.allclose(a.coef_, b.coef_, rtol=1e-6)


def test_deviance_residuals_square_to_the_deviance():
    X, y = draw("poisson", "log")
    model = GLM("poisson").fit(X, y)
    assert np.sum(model.deviance_residuals(X, y) ** 2) == pytest.approx(model.summary().deviance)


@pytest.mark.parametrize(
    ("make", "y", "words"),
    [
        (lambda: GLM("poisson"), [-1.0, 2.0, 3.0], "y must be ≥ 0"),
        (lambda: GLM("gamma"), [0.0, 2.0, 3.0], "y must be > 0"),
        (lambda: GLM("binomial"), [0.0, 2.0, 1.0], "≤ 1"),
        (lambda: GLM("poisson", alpha=-1.0), [1.0, 2.0, 3.0], "alpha"),
        (lambda: GLM("gamma", alpha=0.1, l1_ratio=1.0), [1.0, 2.0, 3.0], "l1 penalty needs a convex"),
    ],
)
def test_bad_input(make, y, words):
    with pytest.raises(ValueError, match=words):
        make().fit([[0.0], [1.0], [2.0]], y)


def test_no_summary_under_a_penalty():
    X, y = draw("poisson", "log")
    with pytest.raises(ValueError, match="alpha=0"):
        GLM("poisson", alpha=1.0).fit(X, y).summary()


def test_a_fit_ends_where_rounding_hides_the_rest():
    """Targets so near their means that the objective is a difference of rounding: no hundred steps that change nothing."""
    rng = np.random.RandomState(0)
    X = 3.0 * rng.uniform(size=(20, 3))
    model = GLM(NegativeBinomial(dispersion=0.5), tol=1e-7).fit(X, X[:, 0].astype(int) + 1)
    assert model.n_iter_ < 20
