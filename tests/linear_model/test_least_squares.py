"""LinearRegression and Ridge: right answers, certificates, refusals."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as sk
from hypothesis import given
from hypothesis import strategies as st

from certifit._objective import Objective
from certifit.certificates import issue
from certifit.certificates._data import Data
from certifit.design import _design
from certifit.exceptions import ChangedDataError
from certifit.linear_model import LinearRegression, Ridge
from certifit.losses import Squared
from certifit.regularizers import SquaredL2
from certifit.solvers.dual import dual_point, evidence_of
from tests.certificates.tampering import refuses_everything
from tests.contract import contract


@contract(
    [
        LinearRegression(),
        LinearRegression(fit_intercept=False),
        LinearRegression(positive=True),
        Ridge(),
        Ridge(alpha=0.0),
        Ridge(positive=True),
        Ridge(solver="qr"),
        Ridge(solver="svd"),
        Ridge(solver="sparse_cg"),
        Ridge(solver="gradient_descent", tol=1e-12),
    ]
)
def test_contract(estimator, check):
    check(estimator)


def problem(seed, n=40, d=4, t=1, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3, d) + rng.normal(size=d) * 5
    Y = X @ rng.normal(size=(d, t)) / np.abs(X).max() + noise * rng.normal(size=(n, t))
    return X, Y[:, 0] if t == 1 else Y, rng


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 30),
    d=st.integers(1, 8),
    t=st.integers(1, 3),
    alpha=st.sampled_from([0.0, 1e-10, 1e-3, 1.0, 1e6]),
    fit_intercept=st.booleans(),
    weighted=st.booleans(),
)
def test_certified_gap_covers_the_true_one(seed, n, d, t, alpha, fit_intercept, weighted):
    X, y, rng = problem(seed, n, d, t)
    w = rng.integers(0, 3, n).astype(float) if weighted else None
    if weighted and w.sum() == 0:
        w[0] = 1.0
    model = (Ridge(alpha, fit_intercept=fit_intercept) if alpha else LinearRegression(fit_intercept=fit_intercept)).fit(
        X, y, w
    )
    for c in model.certificates_:
        assert c.holds, str(c)
        assert c.verify(X, y, w).holds, str(c.verify(X, y, w))
    c = model.certificate_
    assert c.relative_gap < 1e-8
    exact = issue("least-squares", Data.of(X, y, w), exact_evidence(model, alpha), "exact")
    assert 0.0 <= exact.gap <= c.gap * (1 + 1e-9) + 1e-300


def exact_evidence(model, alpha):
    return evidence_of(
        Objective(Squared(), SquaredL2(), float(alpha), model.fit_intercept), model.coef_, model.intercept_
    )


@given(seed=st.integers(0, 10_000), size=st.floats(1e-12, 1.0))
def test_the_gap_of_a_worsened_model_is_at_least_its_suboptimality(seed, size):
    X, y, rng = problem(seed)
    model = Ridge(2.0).fit(X, y)
    model.coef_ = model.coef_ * (1 + size * rng.normal(size=4))
    evidence = exact_evidence(model, 2.0)
    truth = issue("least-squares", Data.of(X, y), evidence, "exact").gap
    assert truth <= issue("least-squares", Data.of(X, y), evidence).gap * (1 + 1e-12)
    objective, data = Objective.from_dict(evidence["objective"]), Data.of(X, y)
    dual = {"dual": dual_point(objective, data, evidence["coef"], evidence["intercept"])}
    assert truth <= issue("duality", Data.of(X, y), evidence | dual).gap * (1 + 1e-12)
    exact = issue("duality", Data.of(X, y), evidence | dual, "exact")
    assert truth <= exact.gap * (1 + 1e-12) + 1e-300


@pytest.mark.parametrize("make", [LinearRegression, lambda: Ridge(0.5), lambda: Ridge(0.5, prior=[1, 2, 3, 4])])
@pytest.mark.parametrize("weighted", [False, True])
def test_tampering_is_refused(make, weighted):
    X, y, rng = problem(3)
    w = rng.uniform(0.5, 2, len(y)) if weighted else None
    for c in make().fit(X, y, w).certificates_:
        refuses_everything(c, X, y, w)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("t", [1, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_agrees_with_scikit_learn(fit_intercept, t, sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.5)
    Y = X @ rng.normal(size=(5, t)) + rng.normal(size=(60, t))
    y = Y[:, 0] if t == 1 else Y
    w = rng.uniform(0, 2, 60)
    Z = sp.csr_array(X) if sparse else X
    pairs = [
        (LinearRegression(fit_intercept=fit_intercept), sk.LinearRegression(fit_intercept=fit_intercept)),
        (Ridge(0.7, fit_intercept=fit_intercept), sk.Ridge(0.7, fit_intercept=fit_intercept)),
    ]
    for ours, theirs in pairs:
        ours.fit(Z, y, w)
        theirs.fit(X, y, w)
        assert ours.coef_.shape == theirs.coef_.shape
        assert np.allclose(ours.coef_, theirs.coef_, atol=1e-9)
        assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
        assert np.allclose(ours.predict(Z), theirs.predict(X), atol=1e-9)
        assert ours.certificate_.holds
        assert ours.certificate_.verify(Z, y, w).holds
    if not sparse and t == 1:
        plain, other = LinearRegression().fit(X, y), sk.LinearRegression().fit(X, y)
        assert np.allclose(plain.singular_, other.singular_)
        assert plain.rank_ == other.rank_


@pytest.mark.parametrize("make", [LinearRegression, lambda **k: Ridge(0.3, **k)])
def test_non_negative(make):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 6))
    y = X @ [1, -1, 0, 2, -3, 0.1] + rng.normal(size=50)
    ours = make(positive=True).fit(X, y)
    theirs = (sk.LinearRegression if make is LinearRegression else lambda **k: sk.Ridge(0.3, tol=1e-10, **k))(
        positive=True
    ).fit(X, y)
    assert (ours.coef_ >= 0).all()
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.certificate_.relative_gap < 1e-12
    refuses_everything(ours.certificate_, X, y)


def test_ridge_is_least_squares_on_augmented_data():
    X, y, _ = problem(5)
    alpha = 0.8
    Xa = np.vstack([X, np.sqrt(alpha) * np.eye(4)])
    ya = np.append(y, np.zeros(4))
    ridge = Ridge(alpha, fit_intercept=False).fit(X, y)
    plain = LinearRegression(fit_intercept=False).fit(Xa, ya)
    assert np.allclose(ridge.coef_, plain.coef_, rtol=1e-12)


def test_prior_pulls_towards_it():
    X, y, _ = problem(6)
    prior = np.array([1.0, 2.0, 3.0, 4.0])
    assert np.allclose(Ridge(1e12, prior=prior).fit(X, y).coef_, prior, rtol=1e-4)
    shifted = Ridge(2.0).fit(X, y - X @ prior)
    assert np.allclose(Ridge(2.0, prior=prior).fit(X, y).coef_, shifted.coef_ + prior)


def test_every_solver_gives_the_same_answer_and_says_its_name():
    X, y, _ = problem(7, n=60)
    base = Ridge(0.1).fit(X, y)
    assert base.solver_ == "cholesky"
    for solver in ("cholesky", "qr", "svd", "lsqr", "sparse_cg"):
        model = Ridge(0.1, solver=solver).fit(X, y)
        assert np.allclose(model.coef_, base.coef_, rtol=1e-7), solver
        assert model.certificate_.relative_gap < 1e-14


def test_gradient_descent_stops_by_the_gap_and_leaves_a_trace():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(80, 3))
    y = X @ [1, 2, 3] + rng.normal(size=80)
    model = Ridge(1.0, solver="gradient_descent", tol=1e-10, trace=True).fit(X, y)
    gaps = [row.gap for row in model.trace_]
    assert gaps[0] > gaps[-1]
    assert model.certificate_.relative_gap <= 2e-10
    assert all(a.objective >= b.objective - 1e-12 for a, b in zip(model.trace_, model.trace_[1:]))


def test_time_budget_returns_the_best_so_far_with_its_gap():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 30)) @ np.diag(np.logspace(0, -4, 30))
    y = X @ rng.normal(size=30) * 100 + rng.normal(size=300)
    model = Ridge(1e-6, solver="gradient_descent", tol=1e-15, time_budget=0.05).fit(X, y)
    assert model.certificate_.holds
    assert model.certificate_.gap > 0


class TestHardData:
    def test_columns_of_very_different_size(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(100, 3)) * [1e-8, 1.0, 1e8]
        w = np.array([1e8, 1.0, 1e-8])
        model = LinearRegression().fit(X, X @ w + 3.0)
        assert np.allclose(model.coef_, w, rtol=1e-12)
        assert model.intercept_ == pytest.approx(3.0)

    def test_large_offset(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(100, 2)) + 1e8
        model = LinearRegression().fit(X, X @ [2.0, -1.0] + 5.0)
        assert np.allclose(model.coef_, [2.0, -1.0], rtol=1e-7)
        assert model.certificate_.holds

    def test_collinear_columns_have_the_least_norm_solution(self):
        rng = np.random.default_rng(0)
        X = np.round(rng.normal(size=(30, 3)), 2) * 64  # sums without rounding: the rank is 3, not merely about 3
        X = np.round(np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2]]))
        X[:, 3] = X[:, 0] + X[:, 1]
        y = rng.normal(size=30)
        model = LinearRegression().fit(X, y)
        least = np.linalg.pinv(X - X.mean(0)) @ (y - y.mean())
        assert model.rank_ == 3
        assert np.allclose(model.coef_, least)
        assert "dependent" in model.certificate_.claim
        assert model.certificate_.relative_gap < 1e-9
        with pytest.raises(ValueError, match="columns are dependent"):
            model.summary()

    def test_more_columns_than_rows(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(10, 40)), rng.normal(size=10)
        model = LinearRegression().fit(X, y)
        assert np.allclose(model.predict(X), y)
        assert np.allclose(model.coef_, np.linalg.pinv(X - X.mean(0)) @ (y - y.mean()))
        wide = Ridge(1e-3).fit(X, y)
        assert wide.solver_ == "dual cholesky"
        assert wide.certificate_.relative_gap < 1e-14

    def test_constant_target_and_constant_column(self):
        X = np.column_stack([np.arange(5.0), np.full(5, 7.0)])
        model = LinearRegression().fit(X, np.full(5, 2.5))
        assert np.allclose(model.coef_, 0.0, atol=1e-15)
        assert model.intercept_ == pytest.approx(2.5)
        assert model.certificate_.holds
        assert model.certificate_.relative_gap == 0.0 or model.certificate_.gap < 1e-25

    def test_one_row(self):
        model = LinearRegression().fit([[3.0, 4.0]], [5.0])
        assert model.predict([[3.0, 4.0]]) == pytest.approx(5.0)
        assert Ridge().fit([[3.0, 4.0]], [5.0]).intercept_ == pytest.approx(5.0)

    def test_zero_weights_are_absent_rows(self):
        X, y, _ = problem(11)
        w = np.ones(40)
        w[::3] = 0
        a, b = LinearRegression().fit(X, y, w), LinearRegression().fit(X[w > 0], y[w > 0])
        assert np.allclose(a.coef_, b.coef_, rtol=1e-10)
        assert a.summary().df_resid == b.summary().df_resid

    def test_float32_stays_float32(self):
        X, y, _ = problem(12)
        model = Ridge().fit(X.astype(np.float32), y)
        assert model.coef_.dtype == np.float32
        assert model.predict(X.astype(np.float32)).dtype == np.float32
        assert model.certificate_.holds
        assert model.certificate_.relative_gap < 1e-9

    @pytest.mark.parametrize("kind", ["plain", "far", "tiny", "huge", "nearly dependent", "unrelated"])
    @pytest.mark.parametrize("model", [LinearRegression, Ridge])
    def test_many_rows_in_single_precision(self, monkeypatch, model, kind):
        """Rough products and refined steps give what double precision gives, or are not used."""
        monkeypatch.setattr(_design, "_FEW", 1)
        rng = np.random.default_rng(13)
        X = rng.normal(size=(7_000, 20))
        y = rng.normal(size=7_000) + (0.0 if kind == "unrelated" else X @ rng.normal(size=20) + 5.0)
        X = {
            "far": X + 1000.0,
            "tiny": X * 1e-20,
            "huge": X * 1e25,
            "nearly dependent": np.column_stack([X[:, 1:], X[:, 1] + 1e-3 * X[:, 0]]),
        }.get(kind, X).astype(np.float32)
        options = {} if model is LinearRegression else {"alpha": float(np.var(X.astype(float)))}
        narrow, wide = model(**options).fit(X, y), model(**options).fit(X.astype(float), y)
        assert np.allclose(narrow.coef_, wide.coef_, rtol=0, atol=2e-7 * np.abs(wide.coef_).max())
        assert narrow.intercept_ == pytest.approx(wide.intercept_, rel=1e-6, abs=1e-7)
        assert narrow.certificate_.holds
        rounded = 1e-6 if kind in ("far", "nearly dependent") else 1e-12  # coefficients in single precision cost this
        assert narrow.certificate_.relative_gap < rounded
        if model is LinearRegression:
            a, b = narrow.summary(), wide.summary()
            assert np.allclose(a.standard_errors, b.standard_errors, rtol=1e-6)
            assert np.allclose(a.r_squared, b.r_squared, rtol=1e-9)

    def test_huge_values_do_not_overflow(self):
        X, y = np.array([[1e200], [2e200], [4e200]]), np.array([1.0, 2.0, 3.9])
        model = LinearRegression().fit(X, y)
        assert np.allclose(model.predict(X), LinearRegression().fit(X / 1e200, y).predict(X / 1e200))


@pytest.mark.parametrize("model", [LinearRegression(), Ridge()])
@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[np.nan], [1.0]], [1, 2], "NaN"),
        ([[np.inf], [1.0]], [1, 2], "infinity"),
        ([["a"], ["b"]], [1, 2], "could not convert string"),
        ([[1.0], [2.0]], [1, 2, 3], "inconsistent numbers of samples"),
        ([1.0, 2.0], [1, 2], "Expected 2D array"),
        (np.empty((0, 2)), [], "minimum of 1 is required"),
        ([[1.0], [2.0]], [np.nan, 1], "NaN"),
    ],
)
def test_bad_input_gets_one_sentence_and_leaves_nothing(model, X, y, words):
    from sklearn.base import clone

    model = clone(model)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "certificate_")


@pytest.mark.parametrize("solver", ["lsqr", "sparse_cg", "sag", "saga", "lbfgs"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_every_solver_of_scikit_learn_leads_to_the_optimum(solver, kind):
    X, y, _ = problem(1)
    positive = solver == "lbfgs"
    best = Ridge(alpha=0.5, positive=positive).fit(X, y)
    model = Ridge(alpha=0.5, positive=positive, solver=solver).fit(kind(X), y)
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-8)
    assert model.certificate_.holds


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": np.array([1.0, 2.0])}, "Number of targets"),
        ({"solver": "lbfgs"}, "only when positive=True"),
        ({"solver": "svd", "positive": True}, "does not support positive"),
        ({"solver": "luck"}, "solver"),
        ({"prior": [1.0]}, "prior must contain 4"),
        ({"prior": [1.0] * 4, "positive": True}, "cannot be combined"),
    ],
)
def test_bad_parameters(params, words):
    X, y, _ = problem(1)
    with pytest.raises(ValueError, match=words):
        Ridge(**params).fit(X, y)


def test_all_weights_zero():
    with pytest.raises(ValueError, match="at least one non-zero"):
        Ridge().fit([[1.0], [2.0]], [1, 2], [0, 0])


def test_certificates_survive_pickling_and_do_not_hold_the_data():
    X, y, _ = problem(2)
    model = pickle.loads(pickle.dumps(Ridge().fit(X, y)))
    assert model.certificate_.verify(X, y).holds
    assert model._promise is None


def test_a_wide_ridge_is_proved_by_duality_alone():
    """Nothing of the size d × d is formed: the proof of a wide fit is about as cheap as the fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 210))
    model = Ridge(alpha=1.0).fit(X, X[:, 0] + rng.normal(size=20))
    assert [c.kind for c in model.certificates_] == ["duality"]
    assert model.certificate_.holds
    assert model.certificate_.relative_gap < 1e-10
    assert {c.kind for c in Ridge().fit(X.T, rng.normal(size=210)).certificates_} == {"duality", "least-squares"}


@pytest.mark.parametrize(("n", "d", "t", "intercept"), [(3, 5, 1, False), (1, 1, 2, True)])
def test_a_tiny_penalty_on_few_rows_is_proved_closely(n, d, t, intercept):
    X, y, _ = problem(int(n == 3), n, d, t)
    assert Ridge(1e-10, fit_intercept=intercept).fit(X, y).certificate_.relative_gap < 1e-8


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [LinearRegression, Ridge, lambda: Ridge(fit_intercept=False)])
@pytest.mark.parametrize("targets", [1, 3])
def test_sums_taken_along_by_the_read_give_the_same_fit(dtype, make, targets):
    """Many rows in C order: the read that validates X sums the products; in Fortran order a pass of its own does."""
    rng = np.random.default_rng(0)
    X = rng.normal(2.0, 1.0, size=(60_000, 96)).astype(dtype)
    Y = (X @ rng.normal(size=(96, targets)) + rng.normal(size=(60_000, targets))).astype(dtype)
    y = Y[:, 0] if targets == 1 else Y
    one, two = make().fit(X, y), make().fit(np.asfortranarray(X), y)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-5 if dtype == np.float32 else 1e-11)
    X[100, 3] += 1.0
    with pytest.raises(ChangedDataError, match="changed in place"):
        _ = one.certificate_
    X[100, 3] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        make().fit(X, y)


def test_sparse_rows_with_thousands_of_columns_are_proved_without_a_matrix_of_these():
    X = sp.random(3000, 4000, 0.002, random_state=0, format="csr")
    model = Ridge().fit(X, X @ np.linspace(-1.0, 1.0, 4000) + 1.0)
    assert model.certificate_.kind == "duality"
    assert model.certificate_.relative_gap < 1e-12
    assert model.certificate_.verify(X, X @ np.linspace(-1.0, 1.0, 4000) + 1.0).holds
