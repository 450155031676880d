"""Lasso and elastic net: published answers, other libraries, laws, certificates."""

from __future__ import annotations

import inspect
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model as theirs
from hypothesis import given
from hypothesis import strategies as st

from certifit import certify
from certifit.certificates import Data
from certifit.certificates._data import digest_evidence
from certifit.exceptions import ConvergenceWarning
from certifit.linear_model import ElasticNet, Lasso, LinearRegression, Ridge, enet_path, lasso_path


@contextmanager
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def make(rng, n, d, kind="plain"):
    X = rng.normal(size=(n, d))
    if kind == "correlated":
        X = X @ (np.eye(d) + rng.normal(size=(d, d)))
    if kind == "units":
        X = X * 10.0 ** rng.integers(-4, 4, size=d)
    if kind == "duplicated":
        X[:, d // 2 :] = X[:, : d - d // 2]
    if kind == "far":
        X = X + 1e3
    y = X[:, :3].sum(axis=1) + rng.normal(size=n)
    return X, y


def top(X, y, ratio=1.0, weights=None):
    s = np.ones(len(y)) if weights is None else weights
    Xc, yc = X - s @ X / s.sum(), y - s @ y / s.sum()
    return np.abs(Xc.T @ (s * yc)).max() / s.sum() / ratio


def objective(model, X, y, ratio, weights=None):
    s = np.ones(len(y)) if weights is None else weights
    w, b = np.asarray(model.coef_), model.intercept_
    fit = s @ (y - X @ w - b) ** 2 / (2 * s.sum())
    return fit + model.alpha * (ratio * np.abs(w).sum() + 0.5 * (1 - ratio) * w @ w)


# -- published answers --------------------------------------------------------------------------------
def test_glmnet_quickstart(reference):
    record, table = reference("elastic_net/glmnet_quickstart")
    y, X = table["y"].to_numpy(), table.drop(columns="y").to_numpy()
    scale = X.std(axis=0)
    expected = record["expected"]

    def fit(lam):
        model = Lasso(lam, tol=1e-13).fit(X / scale, y)
        return np.append(model.intercept_, model.coef_ / scale)

    half = expected["lambda_0.5_exact_nonzero"]
    found = fit(0.5)
    np.testing.assert_array_equal(np.flatnonzero(found), half["index_0_is_intercept"])
    np.testing.assert_allclose(found[half["index_0_is_intercept"]], half["values"], atol=1e-5)
    tenth = list(expected["lambda_0.1"].values())
    np.testing.assert_allclose(fit(0.1)[: len(tenth)], tenth, atol=1e-4)
    fitted = fit(0.05)
    five = (fitted[0] + X @ fitted[1:])[:5]
    np.testing.assert_allclose(five, expected["lambda_0.05_fitted_first_5"], atol=2e-3)
    assert top(X / scale, y) == pytest.approx(expected["lambda_max"], abs=5e-4)


def test_esl_prostate(reference):
    record, table = reference("esl/prostate")
    names = record["data"]["features"]
    X = table[names].to_numpy(dtype=float)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    train = table["train"].to_numpy().astype(bool)
    y = table["lpsa"].to_numpy()
    inner = Z[train]
    scale = inner.std(axis=0, ddof=1)
    model = Lasso(0.207479, tol=1e-13).fit(inner / scale, y[train])
    coef = model.coef_ / scale
    expected = record["expected"]["table_3_3"]["lasso"]
    np.testing.assert_allclose(coef, expected[1:], atol=1.01e-3)
    assert model.intercept_ == pytest.approx(expected[0], abs=1.01e-3)


# -- other solvers ------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["plain", "correlated", "units", "duplicated", "far"])
@pytest.mark.parametrize("shape", [(60, 8), (25, 60), (7, 9)])
def test_as_good_as_a_high_accuracy_solver(kind, shape):
    rng = np.random.default_rng([*shape, len(kind)])
    for trial in range(14):
        X, y = make(rng, *shape, kind)
        ratio = [1.0, 0.5, 0.05][trial % 3]
        weights = rng.integers(0, 4, shape[0]).astype(float) if trial % 2 else None
        if weights is not None and weights.sum() < 5:
            weights[:3] += 2
        alpha = top(X, y, ratio, weights) * 10.0 ** rng.uniform(-4, 0.1)
        positive = trial % 5 == 0
        mine = ElasticNet(alpha, l1_ratio=ratio, tol=1e-11, positive=positive).fit(X, y, weights)
        other = theirs.ElasticNet(alpha, l1_ratio=ratio, tol=1e-13, max_iter=3000, positive=positive)
        with _quiet():
            other.fit(X, y, weights)
        null = np.average((y - np.average(y, weights=weights)) ** 2, weights=weights) / 2
        mine_value, other_value = objective(mine, X, y, ratio, weights), objective(other, X, y, ratio, weights)
        assert mine_value <= other_value + 1e-10 * null
        assert mine.certificate_.holds
        assert mine.certificate_.relative_gap < 1e-7
        assert mine.certificate_.verify(X, y, weights).holds


def test_coefficients_equal_scikit_learns():
    rng = np.random.default_rng(0)
    X, y = make(rng, 80, 12)
    for mine, other in [
        (Lasso(0.1, tol=1e-12), theirs.Lasso(0.1, tol=1e-14, max_iter=100_000)),
        (ElasticNet(0.1, tol=1e-12), theirs.ElasticNet(0.1, tol=1e-14, max_iter=100_000)),
    ]:
        np.testing.assert_allclose(mine.fit(X, y).coef_, other.fit(X, y).coef_, atol=1e-8)
        assert mine.intercept_ == pytest.approx(other.intercept_, abs=1e-8)
        np.testing.assert_allclose(mine.predict(X), other.predict(X), atol=1e-7)


@pytest.mark.parametrize(("n", "d"), [(200, 10), (40, 150)])
def test_sparse_input_gives_the_same(n, d):
    rng = np.random.default_rng(1)
    X = scipy.sparse.random_array((n, d), density=0.1, rng=rng, format="csr")
    y = rng.normal(size=n) + np.asarray(X.sum(axis=1)).ravel()
    alpha = top(X.toarray(), y) / 20
    sparse, dense = Lasso(alpha, tol=1e-12).fit(X, y), Lasso(alpha, tol=1e-12).fit(X.toarray(), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)
    assert sparse.certificate_.verify(X, y).holds
    assert sparse.sparse_coef_.nnz == np.count_nonzero(sparse.coef_)


def test_several_targets_are_independent():
    rng = np.random.default_rng(2)
    X, _ = make(rng, 30, 5)
    Y = rng.normal(size=(30, 3))
    both = Lasso(0.05, tol=1e-12).fit(X, Y)
    assert both.coef_.shape == (3, 5)
    for t in range(3):
        np.testing.assert_allclose(both.coef_[t], Lasso(0.05, tol=1e-12).fit(X, Y[:, t]).coef_, atol=1e-9)
    assert both.certificate_.verify(X, Y).holds
    assert len(both.n_iter_) == 3


# -- edges ----------------------------------------------------------------------------------------------
def test_no_penalty_is_least_squares_and_no_one_norm_is_ridge():
    rng = np.random.default_rng(3)
    X, y = make(rng, 30, 4)
    np.testing.assert_allclose(Lasso(0.0).fit(X, y).coef_, LinearRegression().fit(X, y).coef_, atol=1e-12)
    enet = ElasticNet(0.5, l1_ratio=0.0).fit(X, y)
    np.testing.assert_allclose(enet.coef_, Ridge(0.5 * 30).fit(X, y).coef_, atol=1e-12)
    assert enet.certificate_.relative_gap < 1e-12
    assert Lasso(0.0).fit(X, y).certificate_.holds


def test_a_large_penalty_leaves_nothing():
    rng = np.random.default_rng(4)
    X, y = make(rng, 30, 4)
    model = Lasso(top(X, y) * 1.0001).fit(X, y)
    assert not np.any(model.coef_)
    assert model.intercept_ == pytest.approx(y.mean())
    assert np.any(Lasso(top(X, y) * 0.99, tol=1e-8).fit(X, y).coef_)


def test_units_of_columns_do_not_matter():
    rng = np.random.default_rng(5)
    X, y = make(rng, 60, 6)
    wild = X * np.array([1e-8, 1e8, 1.0, 1.0, 1e-4, 1e4])
    for data in (X, wild):
        model = Lasso(0.05, tol=1e-8).fit(data, y)
        assert model.dual_gap_ < 1e-8 * np.var(y) / 2
        assert model.certificate_.relative_gap < 1e-6  # rounding in columns of size 1e8 costs the bound two digits


def test_tiny_penalty():
    rng = np.random.default_rng(6)
    X, y = make(rng, 50, 5)
    model = Lasso(1e-9, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, atol=1e-7)
    assert model.certificate_.relative_gap < 1e-6


@given(st.integers(0, 10_000))
def test_weight_is_repetition(seed):
    rng = np.random.default_rng(seed)
    X, y = make(rng, 12, 4)
    s = rng.integers(0, 3, 12)
    if s.sum() < 3:
        s[:3] += 1
    repeated = Lasso(0.05, tol=1e-12).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    weighted = Lasso(0.05, tol=1e-12).fit(X, y, s.astype(float))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_, abs=1e-8)


def test_warm_start_random_order_float32_constant_columns():
    rng = np.random.default_rng(7)
    X, y = make(rng, 40, 6)
    X[:, 3] = 2.5
    model = Lasso(0.1, warm_start=True, tol=1e-10).fit(X, y)
    before = model.coef_.copy()
    np.testing.assert_allclose(model.fit(X, y).coef_, before, atol=1e-9)
    assert before[3] == 0.0
    shuffled = Lasso(0.1, selection="random", random_state=0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(shuffled.coef_, before, atol=1e-6)
    assert Lasso(0.1).fit(X.astype(np.float32), y).coef_.dtype == np.float32


def test_trace_and_time_budget():
    rng = np.random.default_rng(8)
    X, y = make(rng, 30, 80)
    model = Lasso(0.01, tol=1e-9, trace=True).fit(X, y)
    assert model.trace_[-1].gap <= 1e-9
    hurried = ElasticNet(0.001, tol=0.0, time_budget=1e-6)
    with _quiet():
        hurried.fit(X, y)
    assert hurried.certificate_.holds


def test_a_fit_stopped_early_says_how_far_it_came(monkeypatch):
    from certifit.solvers import coordinate

    rng = np.random.default_rng(9)
    X, y = make(rng, 50, 200)
    monkeypatch.setattr(coordinate, "_INNER", 1e8)  # lazy rounds
    with pytest.warns(ConvergenceWarning, match="proved relative gap"):
        model = Lasso(top(X, y) * 1e-3, tol=1e-10, max_iter=1).fit(X, y)
    assert model.certificate_.holds
    assert model.certificate_.relative_gap > 1e-9


def test_bad_input_is_refused_in_one_sentence():
    X, y = np.ones((4, 2)), np.arange(4.0)
    with pytest.raises(ValueError, match="NaN"):
        Lasso().fit(np.where(X > 0, np.nan, X), y)
    with pytest.raises(ValueError, match="weights"):
        Lasso().fit(X, y, np.zeros(4))
    with pytest.raises(ValueError, match="precompute"):
        Lasso(precompute=np.eye(3)).fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        Lasso(-1.0).fit(X, y)


# -- the certificate refuses what was tampered with ----------------------------------------------------
def test_tampering_is_refused():
    rng = np.random.default_rng(10)
    X, y = make(rng, 30, 4)
    good = Lasso(0.1, tol=1e-10).fit(X, y).certificate_
    assert good.verify(X, y).holds
    coef = np.array(good.evidence["coef"]) + 0.1
    evidence = dict(good.evidence) | {"coef": coef}
    assert not good.tampered(evidence=evidence).verify(X, y).holds
    digests = dict(good.digests) | {"evidence": digest_evidence(evidence)}
    assert not good.tampered(evidence=evidence, digests=digests).verify(X, y).holds
    assert not good.tampered(figures=dict(good.figures) | {"gap": 0.0, "bound": good.value}).verify(X, y).holds
    assert not good.verify(X + 1e-9, y).holds
    moved = X + 1e-3
    digests = dict(good.digests) | {"data": Data.of(moved * 2, y).digest()}
    assert not good.tampered(digests=digests).verify(moved * 2, y).holds


# -- the path -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("n", "d"), [(40, 100), (200, 12)])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_path_agrees_with_scikit_learns(n, d, ratio):
    rng = np.random.default_rng(11)
    X, y = make(rng, n, d, "correlated")
    alphas, coefs, gaps = enet_path(X, y, l1_ratio=ratio, alphas=30, tol=1e-10)
    null = y @ y / (2 * n)
    assert np.all(gaps <= 1e-10 * null)
    with _quiet():
        other = theirs.enet_path(X, y, l1_ratio=ratio, alphas=alphas, tol=1e-12, max_iter=20_000)

    def J(W):
        fit = np.sum((y[:, None] - X @ W) ** 2, axis=0) / (2 * n)
        return fit + alphas * (ratio * np.abs(W).sum(axis=0) + 0.5 * (1 - ratio) * (W**2).sum(axis=0))

    assert np.all(J(coefs) <= J(other[1]) + 1e-9 * null)
    assert not np.any(coefs[:, 0])


def test_support_grows_monotonically_for_orthogonal_columns():
    rng = np.random.default_rng(12)
    Q, _ = np.linalg.qr(rng.normal(size=(50, 20)))
    y = rng.normal(size=50)
    _, coefs, _ = lasso_path(Q, y, alphas=60, tol=1e-12)
    on = coefs != 0
    assert np.all(on[:, 1:] >= on[:, :-1])
    assert np.all(np.diff(np.abs(coefs).sum(axis=0)) >= -1e-12)
    alphas = lasso_path(Q, y, alphas=60)[0]
    q = Q.T @ y
    np.testing.assert_allclose(coefs, np.sign(q)[:, None] * np.maximum(np.abs(q)[:, None] - 50 * alphas, 0), atol=1e-9)


def test_path_options():
    rng = np.random.default_rng(13)
    X, y = make(rng, 20, 5)
    alphas, coefs, _, rounds = lasso_path(X, y, alphas=7, return_n_iter=True, positive=True)
    assert len(alphas) == len(rounds) == 7
    assert np.all(coefs >= 0)
    assert np.all(np.diff(alphas) < 0)
    with pytest.raises(ValueError, match="l1_ratio"):
        enet_path(X, y, l1_ratio=-0.5)
    with pytest.raises(ValueError, match="alphas"):
        lasso_path(X, y, alphas=[1.0, -1.0])
    weights = rng.integers(1, 3, 20)
    np.testing.assert_allclose(
        lasso_path(X, y, alphas=[0.1], sample_weight=weights, tol=1e-12)[1],
        lasso_path(np.repeat(X, weights, axis=0), np.repeat(y, weights), alphas=[0.1], tol=1e-12)[1],
        atol=1e-9,
    )


# -- judging other people's models ------------------------------------------------------------------------
def test_certify_judges_scikit_learns_models():
    rng = np.random.default_rng(14)
    X, y = make(rng, 60, 30)
    rough = certify(theirs.Lasso(0.05, tol=0.1).fit(X, y), X, y)
    fine = certify(theirs.Lasso(0.05, tol=1e-10).fit(X, y), X, y)
    assert rough.holds
    assert fine.holds
    assert fine.relative_gap < 1e-8 < rough.relative_gap
    assert certify(Lasso(0.05, tol=1e-10).fit(X, y), X, y).relative_gap < 1e-9
    net = theirs.ElasticNet(0.05, l1_ratio=0.3, tol=1e-10, positive=True).fit(X, y)
    assert certify(net, X, y).relative_gap < 1e-8
    assert certify(theirs.ElasticNet(0.05, l1_ratio=0.0, tol=1e-10).fit(X, y), X, y).relative_gap < 1e-8


def test_certify_judges_celers_models():
    celer = pytest.importorskip("celer")
    rng = np.random.default_rng(15)
    X, y = make(rng, 60, 30)
    assert certify(celer.Lasso(0.05, tol=1e-10).fit(X, y), X, y).relative_gap < 1e-8
    assert certify(celer.ElasticNet(0.05, l1_ratio=0.6, tol=1e-10).fit(X, y), X, y).relative_gap < 1e-8


@pytest.mark.parametrize("loss", ["squared_error", "epsilon_insensitive"])
@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
def test_certify_judges_sgd(loss, penalty):
    rng = np.random.default_rng(16)
    X, y = make(rng, 200, 5)
    model = theirs.SGDRegressor(loss=loss, penalty=penalty, alpha=0.05, epsilon=0.0, random_state=0, max_iter=3000)
    verdict = certify(model.fit(X, y), X, y)
    assert verdict.holds
    assert 0 <= verdict.relative_gap < 0.05
    assert verdict.verify(X, y).holds


# -- shared work of folds ---------------------------------------------------------------------------------
@pytest.mark.parametrize("estimator", [Lasso(), ElasticNet(positive=True), Lasso(fit_intercept=False)], ids=repr)
def test_search_shares_the_work_of_folds(estimator):
    from sklearn.model_selection import GridSearchCV

    from certifit.model_selection import Search

    rng = np.random.default_rng(17)
    X, y = make(rng, 120, 6, "correlated")
    grid = {"alpha": np.geomspace(1, 1e-3, 7)}
    if isinstance(estimator, ElasticNet):
        grid["l1_ratio"] = [0.3, 1.0]
    mine, other = Search(estimator, grid, cv=4).fit(X, y), GridSearchCV(estimator, grid, cv=4).fit(X, y)
    assert mine.shared_
    np.testing.assert_allclose(mine.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], atol=1e-7)
    X, y = rng.normal(size=(20, 40)), rng.normal(size=20)
    grid = {"alpha": [0.1, 1.0, 0.3]}
    wide, alone = (Search(Lasso(tol=1e-10), grid, cv=4, share=share).fit(X, y) for share in (True, False))
    assert wide.sharing_.passes == 4  # one path a fold
    assert wide.cv_results_["mean_test_score"] == pytest.approx(alone.cv_results_["mean_test_score"], rel=1e-6)


@pytest.mark.parametrize(("tol", "apart"), [(1e-4, 0.03), (1e-10, 1e-6)])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_folds_of_large_tables_keep_to_the_tolerance(tol, apart, ratio):
    """Strengths between those that are solved are interpolated: each still has the gap that was asked for."""
    from certifit.design import FoldTable
    from certifit.solvers.lasso_folds import LassoFolds

    rng = np.random.default_rng(18)
    X, y = make(rng, 900, 250, "units")
    alphas = np.append(np.geomspace(1.0, 1e-3, 40), 1e-3) * top(X, y, ratio)
    rows = np.arange(900)
    split = [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)]
    for (train, _), (coef, offset) in zip(split, LassoFolds(FoldTable(X, y, split)).paths(alphas, ratio, tol=tol)):
        A, b = X[train], y[train]
        null = np.var(b) / 2
        for i in (0, 1, 7, 20, 33, 39, 40):
            best = ElasticNet(alphas[i], l1_ratio=ratio, tol=1e-11).fit(A, b)
            mine = ElasticNet(alphas[i])
            mine.coef_, mine.intercept_ = coef[i], offset[i]
            assert objective(mine, A, b, ratio) <= objective(best, A, b, ratio) + (tol + 1e-10) * null
            np.testing.assert_allclose(A @ coef[i] + offset[i], best.predict(A), atol=apart * np.std(b))
        np.testing.assert_array_equal(coef[39], coef[40])  # the same strength twice


# -- several targets that share their columns ---------------------------------------------------------------
@pytest.mark.parametrize(("n", "d"), [(60, 12), (20, 50)])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_path_for_several_targets_agrees_with_scikit_learns(n, d, ratio):
    rng = np.random.default_rng(19)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    X[:, 1] = X[:, 0]
    Y = X[:, :3] @ rng.normal(size=(3, 2)) + rng.normal(size=(n, 2))
    alphas, coefs, gaps, rounds = enet_path(X, Y, l1_ratio=ratio, alphas=12, tol=1e-9, return_n_iter=True)
    with _quiet():
        other = theirs.enet_path(X, Y, l1_ratio=ratio, alphas=12, tol=1e-11, max_iter=20_000)
    np.testing.assert_allclose(alphas, other[0])
    assert coefs.shape == other[1].shape == (2, d, 12)
    assert len(rounds) == 12
    null = np.sum(Y**2) / (2 * n)
    assert np.all(gaps <= 1e-9 * null)

    def J(W):
        fit = np.sum((Y[:, :, None] - np.einsum("nd,tdk->ntk", X, W)) ** 2, axis=(0, 1)) / (2 * n)
        rows = np.sqrt(np.sum(W**2, axis=0)).sum(axis=0)
        return fit + alphas * (ratio * rows + 0.5 * (1 - ratio) * np.sum(W**2, axis=(0, 1)))

    assert np.all(J(coefs) <= J(other[1]) + 1e-9 * null)
    assert np.all(J(coefs) >= J(other[1]) - 1e-6 * null)
    assert not np.any(coefs[:, :, 0])
    used = np.any(coefs != 0, axis=0)
    assert np.all(np.all(coefs != 0, axis=0) == used)  # a column serves both targets or none


def test_path_for_several_targets_takes_weights_sparse_columns_and_a_start():
    rng = np.random.default_rng(20)
    X = scipy.sparse.random_array((30, 8), density=0.4, rng=rng, format="csr")
    Y = rng.normal(size=(30, 3))
    s = rng.integers(0, 3, 30)
    alphas = [0.05, 0.01]
    weighted = lasso_path(X, Y, alphas=alphas, sample_weight=s, tol=1e-12)[1]
    rows = np.repeat(np.arange(30), s)
    repeated = lasso_path(X.toarray()[rows], Y[rows], alphas=alphas, tol=1e-12)[1]
    np.testing.assert_allclose(weighted, repeated, atol=1e-8)
    again = lasso_path(X, Y, alphas=alphas[1:], sample_weight=s, tol=1e-12, coef_init=weighted[:, :, 1])
    np.testing.assert_allclose(again[1][:, :, 0], weighted[:, :, 1], atol=1e-8)
    one = lasso_path(X, Y[:, :1], alphas=alphas, tol=1e-12)[1]
    np.testing.assert_allclose(one[0], lasso_path(X, Y[:, 0], alphas=alphas, tol=1e-12)[1], atol=1e-8)
    with pytest.raises(ValueError, match="positive"):
        lasso_path(X, Y, positive=True)
    with pytest.raises(ValueError, match="coef_init"):
        lasso_path(X, Y, coef_init=np.zeros(8))


def test_path_without_a_kink_is_ridge_and_least_squares():
    rng = np.random.default_rng(21)
    X, y = make(rng, 30, 4)
    with _quiet():
        ridge = theirs.enet_path(X, y, l1_ratio=0.0, alphas=[0.1, 1.0], tol=1e-13, max_iter=100_000)[1]
    np.testing.assert_allclose(enet_path(X, y, l1_ratio=0.0, alphas=[0.1, 1.0])[1], ridge, atol=1e-7)
    plain = lasso_path(X, y, alphas=[0.0, 0.1], tol=1e-12)[1]
    np.testing.assert_allclose(plain[:, 1], np.linalg.lstsq(X, y, rcond=None)[0], atol=1e-10)
    np.testing.assert_allclose(plain[:, :1], lasso_path(X, y, alphas=[0.1], tol=1e-12)[1], atol=1e-12)
    assert enet_path(X.astype(np.float32), y, alphas=3)[1].dtype == np.float32
    with pytest.raises(ValueError, match="supply a grid"):
        enet_path(X, y, l1_ratio=0.0)


def test_one_column_of_targets_has_the_shapes_of_scikit_learn():
    rng = np.random.default_rng(22)
    X, y = make(rng, 30, 4)
    for offset in (True, False):
        mine, other = Lasso(0.1, fit_intercept=offset), theirs.Lasso(0.1, fit_intercept=offset)
        mine.fit(X, y[:, None])
        other.fit(X, y[:, None])
        for name in ("coef_", "intercept_", "dual_gap_", "n_iter_"):
            assert np.shape(getattr(mine, name)) == np.shape(getattr(other, name))
        assert mine.predict(X).shape == other.predict(X).shape == (30,)
        assert mine.certificate_.verify(X, y[:, None]).holds
        assert type(mine.sparse_coef_) is type(other.sparse_coef_)
    for ours, theirs_ in [(lasso_path, theirs.lasso_path), (enet_path, theirs.enet_path)]:
        assert set(inspect.signature(theirs_).parameters) - {"params"} <= set(inspect.signature(ours).parameters)


def test_numbers_too_large_to_square_are_refused_in_one_sentence():
    rng = np.random.default_rng(23)
    X, y = make(rng, 20, 3)
    with pytest.raises(ValueError, match="too large or too small to square"):
        Lasso(0.1).fit(X * 1e160, y)
    assert not np.any(Lasso(0.1).fit(X * 1e-160, y * 1e-160).coef_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("estimator", [Lasso(tol=1e-10), Lasso(tol=1e-10, fit_intercept=False)], ids=repr)
def test_the_fit_after_a_search_comes_from_the_same_moments(estimator, weighted):
    from sklearn.base import clone

    from certifit.model_selection import Search

    rng = np.random.default_rng(24)
    X, y = make(rng, 150, 6, "units")
    weights = {"sample_weight": rng.integers(0, 3, 150).astype(float)} if weighted else {}
    found = Search(estimator, {"alpha": np.geomspace(1, 1e-3, 9)}, cv=5).fit(X, y, **weights)
    alone = clone(estimator).set_params(**found.best_params_).fit(X, y, **weights)
    assert found.shared_
    np.testing.assert_allclose(found.best_estimator_.coef_, alone.coef_, rtol=1e-7, atol=1e-9)
    assert found.best_estimator_.certificate_.verify(X, y, weights.get("sample_weight")).holds


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_working_sets_too_large_for_a_gram_matrix_go_on_with_residuals(monkeypatch, sparse, positive):
    from certifit.solvers import coordinate

    rng = np.random.default_rng(25)
    X, y = make(rng, 30, 60)
    X[np.abs(X) < 0.5] = 0.0
    alpha = top(X, y) / 50
    best = Lasso(alpha, tol=1e-10, positive=positive).fit(X, y)
    monkeypatch.setattr(coordinate, "_CAP", 8)
    model = Lasso(alpha, tol=1e-8, positive=positive).fit(scipy.sparse.csr_array(X) if sparse else X, y)
    assert model.solver_ == "coordinate descent, residual"
    assert objective(model, X, y, 1.0) <= objective(best, X, y, 1.0) + 1e-8 * np.var(y)
    assert model.certificate_.relative_gap < 1e-7
