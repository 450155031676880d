"""Logistic and softmax regression: optimal, certain, and honest about what has no optimum."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as sk
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from certifit.exceptions import NoOptimumError
from certifit.linear_model import LogisticRegression
from certifit.multiclass import OneVsRest
from tests.certificates.tampering import refuses_everything
from tests.contract import contract


@contract(
    [
        LogisticRegression(),
        LogisticRegression(l1_ratio=1.0),
        LogisticRegression(l1_ratio=0.5),
        LogisticRegression(class_weight="balanced"),
        OneVsRest(LogisticRegression()),
    ]
)
def test_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_proved_gap_on_real_data_unscaled(load, fit_intercept, weighted):
    X, y = load(return_X_y=True)
    if load is load_digits:
        X, y = X[:600], y[:600]
    w = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    model = LogisticRegression(fit_intercept=fit_intercept).fit(X, y, w)
    c = model.certificate_
    assert c.holds
    assert c.relative_gap <= 1e-9
    assert c.verify(X, y, w).holds
    assert model.certain(X).mean() > 0.95


def small(seed, n=60, d=3, k=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2, d) + rng.normal(size=d)
    Z = (X - X.mean(0)) / X.std(0) @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))
    y = Z.argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y, rng


@given(
    seed=st.integers(0, 5000),
    C=st.sampled_from([1e-3, 0.1, 1.0, 100.0]),
    ratio=st.sampled_from([0.0, 0.4, 1.0]),
    k=st.sampled_from([2, 2, 3]),
    fit_intercept=st.booleans(),
    weighted=st.booleans(),
)
def test_every_penalty_reaches_a_proved_gap(seed, C, ratio, k, fit_intercept, weighted):
    X, y, rng = small(seed, k=k)
    w = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    model = LogisticRegression(C=C, l1_ratio=ratio, fit_intercept=fit_intercept).fit(X, y, w)
    c = model.certificate_
    assert c.holds, str(c)
    assert c.relative_gap < 1e-7, str(c)
    assert c.verify(X, y, w).holds, str(c.verify(X, y, w))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_agrees_with_scikit_learn(k, ratio):
    X, y, _ = small(1, n=120, k=k)
    X = (X - X.mean(0)) / X.std(0)
    ours = LogisticRegression(C=0.5, l1_ratio=ratio).fit(X, y)
    theirs = sk.LogisticRegression(C=0.5, l1_ratio=ratio, solver="saga", tol=1e-10, max_iter=100_000).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    assert np.allclose(ours.predict_log_proba(X), np.log(ours.predict_proba(X)))
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_certain_labels_are_those_of_a_much_more_exact_solution():
    for seed in range(20):
        X, y, rng = small(seed, n=80, k=2 + seed % 2)
        rough = LogisticRegression(C=1.0, tol=0.3).fit(X, y)
        exact = LogisticRegression(C=1.0, tol=1e-8).fit(X, y)
        new = np.vstack([X, X + rng.normal(size=X.shape) * X.std(0)])
        sure = rough.certain(new)
        assert (rough.predict(new)[sure] == exact.predict(new)[sure]).all()


@pytest.mark.parametrize("k", [2, 3])
def test_tampering_is_refused(k):
    X, y, _ = small(3, k=k)
    for kwargs in ({}, {"class_weight": "balanced"}, {"l1_ratio": 1.0, "C": 0.3}):
        for c in LogisticRegression(**kwargs).fit(X, y).certificates_:
            refuses_everything(c, X, y)
    model = LogisticRegression(prior=np.ones(3)).fit(X, y)
    refuses_everything(model.certificate_, X, y)


def test_sparse_equals_dense():
    X, y, _ = small(4, n=200)
    X = X * (np.abs(X) > np.median(np.abs(X)))
    dense, sparse = LogisticRegression().fit(X, y), LogisticRegression().fit(sp.csr_array(X), y)
    assert np.allclose(dense.coef_, sparse.coef_, rtol=1e-5)
    assert sparse.certificate_.relative_gap <= 1e-9
    assert sparse.certain(sp.csr_array(X)).any()


def test_many_rows_use_a_share_and_still_prove_the_gap():
    X, y, _ = small(5, n=30_000, d=6)
    model = LogisticRegression().fit(X, y)
    assert model.solver_ == "newton on a sample of rows"
    assert model.certificate_.relative_gap <= 1e-9
    X, y, _ = small(6, n=30_000, d=4, k=3)
    assert LogisticRegression().fit(X, y).certificate_.relative_gap <= 1e-8


def test_sorted_rows_and_huge_offsets_do_not_matter():
    X, y, _ = small(7, n=400)
    order = np.argsort(y)
    model = LogisticRegression().fit(X[order], y[order])
    assert np.allclose(model.coef_, LogisticRegression().fit(X, y).coef_, rtol=1e-6)
    far = LogisticRegression(C=np.inf).fit(X + 1e7, y)
    assert np.allclose(far.coef_, LogisticRegression(C=np.inf).fit(X, y).coef_, rtol=1e-4)


class TestMaximumLikelihood:
    def test_separable_data_have_no_optimum(self):
        X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
        with pytest.raises(NoOptimumError, match="separable, so the likelihood keeps increasing along w") as error:
            LogisticRegression(C=np.inf).fit(X, y)
        assert error.value.certificate.verify(X, y).holds

    def test_touching_data_have_none_either(self):
        X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
        with pytest.raises(NoOptimumError, match="touching"):
            LogisticRegression(C=np.inf).fit(X, y)

    def test_overlapping_data_have_one_and_it_is_proved(self):
        X, y, _ = small(8, n=100)
        c = LogisticRegression(C=np.inf).fit(X, y).certificate_
        assert c.kind == "local"
        assert c.relative_gap <= 1e-9

    def test_summary_against_statsmodels(self):
        sm = pytest.importorskip("statsmodels.api")
        X, y, _ = small(9, n=150)
        theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, method="newton", maxiter=100)
        s = LogisticRegression(C=np.inf).fit(X, y).summary()
        assert np.allclose(s.params, theirs.params, rtol=1e-6)
        assert np.allclose(s.standard_errors, theirs.bse, rtol=1e-6)
        assert np.allclose(s.p_values, theirs.pvalues, rtol=1e-5)
        assert s.log_likelihood == pytest.approx(theirs.llf)
        assert s.pseudo_r_squared == pytest.approx(theirs.prsquared, rel=1e-6)
        with pytest.raises(ValueError, match=r"C=np\.inf"):
            LogisticRegression().fit(X, y).summary()

    def test_spector(self, reference):
        record, table = reference("glm/logit_spector")
        expected = record["expected"]
        y = table[record["data"]["target"]].to_numpy()
        s = LogisticRegression(C=np.inf).fit(table[record["data"]["features"]], y).summary()
        params, errors = expected["params"], expected["std_errors"]
        if isinstance(params, dict):
            named = {("intercept" if k.lower() in ("const", "intercept", "_cons") else k): v for k, v in params.items()}
            other = {("intercept" if k.lower() in ("const", "intercept", "_cons") else k): v for k, v in errors.items()}
            params, errors = [named[n] for n in s.names], [other[n] for n in s.names]
        order = np.argsort(np.abs(s.params))
        assert np.allclose(np.sort(np.abs(s.params)), np.sort(np.abs(params)), rtol=1e-5)
        assert np.allclose(s.standard_errors[order], np.asarray(errors)[np.argsort(np.abs(params))], rtol=1e-4)
        assert s.log_likelihood == pytest.approx(expected["llf"], rel=1e-6)


def test_threshold_and_costs():
    X, y, _ = small(10)
    base = LogisticRegression().fit(X, y)
    p = base.predict_proba(X)[:, 1]
    assert (LogisticRegression(threshold=0.8).fit(X, y).predict(X) == (p > 0.8)).all()
    costly = LogisticRegression(costs=(1, 9)).fit(X, y)
    assert costly.threshold_ == pytest.approx(0.1)
    assert (costly.predict(X) == (p > 0.1)).all()


def test_string_labels_and_warm_start():
    X, y, _ = small(11)
    names = np.array(["no", "yes"])[y]
    model = LogisticRegression(warm_start=True, C=0.1).fit(X, names)
    first = model.n_iter_[0]
    model.C = 0.11
    assert model.fit(X, names).n_iter_[0] <= first
    assert set(model.predict(X)) <= {"no", "yes"}
    assert model.certificate_.verify(X, names).holds


def test_trace_and_budget():
    X, y, _ = small(12)
    model = LogisticRegression(trace=True).fit(X, y)
    values = [r.objective for r in model.trace_]
    assert values == sorted(values, reverse=True)
    with pytest.warns(UserWarning, match="Stopped by max_iter"):
        short = LogisticRegression(max_iter=1, C=1e4).fit(X, y)
    assert not short.certificate_.holds or short.certificate_.relative_gap > 1e-9


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"C": -1}, "C"),
        ({"l1_ratio": 2}, "l1_ratio"),
        ({"prior": [1.0]}, "prior must contain 3"),
        ({"costs": (0, 0)}, "Costs"),
    ],
)
def test_bad_parameters(params, words):
    X, y, _ = small(13)
    with pytest.raises(ValueError, match=words):
        LogisticRegression(**params).fit(X, y)


def test_one_class_is_one_sentence():
    with pytest.raises(ValueError, match="only one class"):
        LogisticRegression().fit([[1.0], [2.0]], [1, 1])


def test_one_vs_rest_carries_its_certificates():
    X, y = load_iris(return_X_y=True)
    model = OneVsRest(LogisticRegression()).fit(X, y)
    assert len(model.certificates_) == 3
    assert all(c.holds for c in model.certificates_)
    assert np.allclose(model.imbalance_, 1 / 3)
    from sklearn.multiclass import OneVsRestClassifier

    theirs = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    assert (model.predict(X) == theirs.predict(X)).all()
