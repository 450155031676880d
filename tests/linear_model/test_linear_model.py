"""LinearModel: every pairing, refusals, the linear programme, every solver on the same problem."""

from __future__ import annotations

import re
import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from scipy.optimize import linprog

import certifit as cf
from certifit.exceptions import ConvergenceWarning, DivergenceError, PairingError
from certifit.linear_model import ElasticNet, Lasso, LinearModel, LinearRegression, Ridge
from certifit.losses import Squared, ZeroOne
from certifit.regularizers import L1, ElasticMix, NonNegative, PNorm, SquaredL2, Zero

PENALTIES = [
    Zero(),
    SquaredL2(),
    SquaredL2(0.5, (0.5, -0.5, 0.0, 1.0)),
    L1(),
    ElasticMix(0.3),
    PNorm(1.5),
    PNorm(3.0),
    NonNegative(Zero()),
    NonNegative(L1()),
    NonNegative(SquaredL2()),
    NonNegative(ElasticMix(0.5)),
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, X @ np.array([1.0, -2.0, 0.0, 0.5]) + 3 + rng.standard_t(3, size=40)


@pytest.mark.parametrize("regularizer", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_pairing_is_solved_and_proved(data, loss, regularizer, weighted):
    X, y = data
    weights = np.arange(40) % 3 if weighted else None
    bare = loss == "absolute" and isinstance(regularizer, Zero)
    with pytest.warns(ConvergenceWarning, match="gap is infinite") if bare else nullcontext():
        model = LinearModel(loss, regularizer, lam=0.2, tol=1e-6).fit(X, y, weights)
    certificate = model.certificate_
    if bare:
        assert not certificate.holds
        assert "No bound" in certificate.claim
    else:
        assert certificate.holds
        assert certificate.relative_gap < 2e-6
        assert certificate.verify(X, y, weights).holds
    if isinstance(regularizer, NonNegative):
        assert np.all(model.coef_ >= 0)


def test_the_sentences_of_the_grammar(data):
    X, y = data
    n = len(y)
    pairs = [
        (LinearModel("squared", "none", 0.0), LinearRegression()),
        (LinearModel("squared", "l2", 0.3), Ridge(0.3 * n)),
        (LinearModel("squared", "l1", 0.4), Lasso(0.2, tol=1e-10)),
        (LinearModel(Squared(0.5), ElasticMix(0.5), 0.2), ElasticNet(0.2, tol=1e-10)),
    ]
    for mine, named in pairs:
        np.testing.assert_allclose(mine.fit(X, y).coef_, named.fit(X, y).coef_, atol=1e-6)


@pytest.mark.parametrize("solver", ["closed_form", "newton", "proximal", "gradient_descent", "sgd"])
def test_solvers_agree_on_ridge(data, solver):
    X, y = data
    tol = 1e-4 if solver == "sgd" else 1e-10
    model = LinearModel("squared", "l2", 0.3, solver, tol=tol, random_state=0).fit(X, y)
    exact = Ridge(0.3 * len(y)).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.1 if solver == "sgd" else 1e-4)
    assert model.solver_ == solver
    assert model.certificate_.relative_gap < 2 * tol


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("shape", [(30, 3), (50, 8)])
def test_absolute_loss_against_a_linear_programme(shape, fit_intercept):
    rng = np.random.default_rng(1)
    n, d = shape
    X, y = rng.normal(size=shape) * 10.0 ** rng.integers(-2, 3, size=d), rng.standard_t(1.5, size=n) + 5
    for lam in (0.0, 0.05):
        with nullcontext() if lam else pytest.warns(ConvergenceWarning, match="gap is infinite"):
            model = LinearModel("absolute", "l1", lam, fit_intercept=fit_intercept).fit(X, y)
        b = int(fit_intercept)
        A = np.hstack([X, -X, np.ones((n, b)), -np.ones((n, b)), np.eye(n), -np.eye(n)])
        cost = np.concatenate([np.full(2 * d, lam * n), np.zeros(2 * b), np.ones(2 * n)])
        programme = linprog(cost, A_eq=A, b_eq=y, method="highs")
        value = np.abs(y - model.predict(X)).sum() + lam * n * np.abs(model.coef_).sum()
        assert value == pytest.approx(programme.fun, rel=1e-7)


def test_the_median_is_robust():
    X, y = np.arange(9.0)[:, None], np.arange(9.0) * 2 + 1
    y[8] = 1e6
    with pytest.warns(ConvergenceWarning, match=r"a penalty \(lam > 0\)"):
        model = LinearModel("absolute", "none", 0.0).fit(X, y)
    assert model.coef_[0] == pytest.approx(2.0, abs=1e-12)


@pytest.mark.parametrize(
    ("loss", "regularizer", "solver", "works"),
    [
        ("absolute", "l2", "newton", "interior_point"),
        ("absolute", "p_norm", "interior_point", "splitting"),
        ("squared", "l1", "closed_form", "coordinate"),
        ("squared", "l1", "gradient_descent", "coordinate"),
        ("squared", NonNegative(L1()), "sgd", "coordinate"),
    ],
)
def test_impossible_pairings_name_one_that_works(data, loss, regularizer, solver, works):
    X, y = data
    model = LinearModel(loss, regularizer, 0.1, solver)
    with pytest.raises(PairingError, match=works):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    assert LinearModel(loss, regularizer, 0.1, works, tol=1e-5).fit(X, y).certificate_.holds


def test_refusals(data):
    X, y = data
    with pytest.raises(PairingError, match="logistic"):
        LinearModel(ZeroOne()).fit(X, y)
    with pytest.raises(ValueError, match="continuous"):
        LinearModel("hinge").fit(X, y)
    with pytest.raises(PairingError, match="weights"):
        LinearModel(solver="sgd").fit(X, y, np.ones(40))
    with pytest.raises(ValueError, match="Unknown loss"):
        LinearModel("cubic").fit(X, y)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        LinearModel(solver="sgd", tol=1e-12, max_iter=3, random_state=0).fit(X, y)


@pytest.mark.parametrize("solver", ["newton", "gradient_descent", "proximal"])
@pytest.mark.parametrize("max_iter", [1, 2, 5, 50])
def test_a_warning_says_what_the_certificate_says(data, solver, max_iter):
    X, y = data
    model = LinearModel("logistic", "l2", 0.1, solver, max_iter=max_iter)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, y > 3)
    gap = model.certificate_.figures.get("relative_gap", np.inf)
    assert bool(told) == (gap > 1e-8)
    assert all(f"{gap:.1e}" in str(w.message) for w in told)
    assert all(word in model.get_params() for w in told for word in ("max_iter", "time_budget") if word in str(w))


@pytest.mark.parametrize("loss", ["zero_one", "asymmetric"])
def test_losses_that_only_evaluate_are_refused_with_one_that_works(loss):
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
    with pytest.raises(PairingError, match="loss='logistic'"):
        LinearModel(loss=loss).fit(X, y)


def test_a_prior_of_the_wrong_length_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="prior has 2 numbers, X has 1"):
        LinearModel(regularizer=SquaredL2(prior=(1.0, 2.0))).fit(np.arange(6.0)[:, None], np.arange(6.0))


@pytest.mark.parametrize("loss", ["exponential", "logistic", "squared", "squared_hinge"])
@pytest.mark.parametrize("intercept", [True, False])
def test_gradient_descent_by_hand_is_the_solver(loss, intercept):
    """θ ← θ − η∇J(θ) from a start, written down, gives the same θ pass by pass; the certificate says how far it is."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, 2))
    signs = np.where(X[:, 0] + rng.normal(size=25) > 0, 1.0, -1.0)
    start, eta = np.array([0.5, -1.0, 0.3][: 2 + intercept]), 0.05
    options = {"solver": "gradient_descent", "fit_intercept": intercept, "eta": eta, "start": start}
    J = cf.objective(loss, "l2", X, signs, lam=0.1, fit_intercept=intercept)
    theta = start
    for _ in range(9):
        theta = theta - eta * J.gradient(theta)
    with pytest.warns(ConvergenceWarning, match="proved relative gap"):
        model = LinearModel(loss, "l2", lam=0.1, max_iter=9, trace=True, **options).fit(X, signs)
    found = np.append(model.coef_, model.intercept_ if intercept else [])
    assert np.allclose(found, theta, atol=1e-12)
    assert np.allclose(model.trace_[-1].theta, theta, atol=1e-12)
    assert model.trace_[0].objective == pytest.approx(J(start))
    assert model.trace_[4].foreseen == pytest.approx(eta * np.sum(J.gradient(model.trace_[3].theta) ** 2))
    best = LinearModel(loss, "l2", lam=0.1, fit_intercept=intercept).fit(X, signs)
    gap = J(theta) - best.certificate_.bound
    assert np.isfinite(model.certificate_.gap)
    assert model.certificate_.gap >= gap * (1 - 1e-6)
    whole = LinearModel(loss, "l2", lam=0.1, **options).fit(X, signs)
    assert np.allclose(whole.coef_, best.coef_, atol=1e-3)


def test_eta_and_start_belong_to_gradient_descent():
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 0, 1])
    with pytest.raises(ValueError, match="belong to solver='gradient_descent'"):
        LinearModel("logistic", eta=0.1).fit(X, y)
    with pytest.raises(ValueError, match="start must contain 2 finite numbers"):
        LinearModel("logistic", solver="gradient_descent", start=[1.0]).fit(X, y)
    with pytest.raises(DivergenceError, match="try η"):
        LinearModel("exponential", solver="gradient_descent", eta=50.0).fit(X, y)


TARGETS = ("squared", "absolute", "logistic", "exponential", "hinge", "squared_hinge", "poisson")


@pytest.mark.parametrize("loss", TARGETS)
@pytest.mark.parametrize("regularizer", ["l2", "l1", "elastic", "none"])
@pytest.mark.parametrize("max_iter", [None, 2])
def test_what_is_not_proved_is_said_and_warnings_agree_with_the_certificate(loss, regularizer, max_iter):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    z = X @ [1.0, -1.0, 0.5]
    y = {"squared": z + rng.normal(size=40), "poisson": rng.poisson(np.exp(0.3 * z)).astype(float)}.get(loss)
    y = z + rng.normal(size=40) if loss == "absolute" else y
    y = np.where(z + rng.normal(size=40) > 0, 1, -1) if y is None else y
    model = LinearModel(loss, regularizer, lam=0.0 if regularizer == "none" else 0.05, max_iter=max_iter)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y)
    gap = model.certificate_.figures.get("relative_gap", np.inf)  # none where nothing is proved
    words = " ".join(str(w.message) for w in said)
    assert gap <= 1e-8 or words, (gap, model.status_)
    assert set(re.findall(r"(\w+)=", words)) <= set(model.get_params())
    stated = re.search(r"relative gap of ([0-9.e+-]+)", words)
    if stated:
        assert float(stated[1]) == pytest.approx(gap, rel=0.1)
    if np.isinf(gap):
        assert "infinite" in words


def test_counts_of_zero_alone_have_no_optimum_and_that_is_said():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(ConvergenceWarning, match="the gap is infinite"):
        model = LinearModel("poisson", "none", lam=0.0).fit(X, np.zeros(20))
    assert not model.certificate_.holds
    with pytest.raises(ValueError, match="out of the valid range of the poisson loss"):
        LinearModel("poisson").fit(X, -np.ones(20))
