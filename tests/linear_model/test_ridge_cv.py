"""RidgeCV, RidgeClassifier and RidgeClassifierCV: leave-one-out without leaving anything out, and proofs of labels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris, make_multilabel_classification
from sklearn.metrics import make_scorer, mean_absolute_error

from certifit.design import as_design
from certifit.linear_model import Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV
from certifit.solvers.leave_one_out import LeaveOneOut
from tests.contract import contract
from tests.proof_runs import Case, outcome

X, Y = load_diabetes(return_X_y=True)
FLOWERS, KINDS = load_iris(return_X_y=True)


@contract([RidgeCV(), RidgeCV(cv=3), RidgeClassifier(), RidgeClassifierCV(), RidgeClassifierCV(cv=2)])
def test_contract(estimator, check):
    check(estimator)


@settings(deadline=None, max_examples=40)
@given(
    n=st.integers(3, 12), d=st.integers(1, 15), seed=st.integers(0, 10**6), offset=st.booleans(), how=st.integers(0, 2),
    weighted=st.booleans(), alpha=st.sampled_from([1e-8, 1e-3, 1.0, 1e3]),
)  # fmt: skip
def test_errors_are_those_of_fits_without_the_row(n, d, seed, offset, how, weighted, alpha):
    rng = np.random.default_rng(seed)
    A, y = rng.normal(size=(n, d)) + 3.0, rng.normal(size=(n, 2))
    s = rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)
    alpha = max(alpha, 1e-3) if how else alpha  # a Gram matrix has half the digits
    rows = scipy.sparse.csr_array(A) if how == 2 else A
    found = LeaveOneOut.of(as_design(rows), s if weighted else None, offset, gram=how == 1).errors(alpha, y)
    for i in range(n):
        keep = np.arange(n) != i
        model = Ridge(alpha, fit_intercept=offset).fit(A[keep], y[keep], s[keep])
        left = np.sqrt(s[i]) * (y[i] - model.predict(A[i : i + 1])[0])
        np.testing.assert_allclose(found[i], left, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["svd", "eigen", None])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", make_scorer(mean_absolute_error)])
def test_leave_one_out_as_in_scikit_learn(mode, scoring):
    options = {"alphas": [1e-3, 1e-2, 0.1, 1.0], "gcv_mode": mode, "scoring": scoring, "store_cv_results": True}
    s = np.linspace(0.5, 2.0, len(Y))
    ours, other = (m(**options).fit(X, Y, s) for m in (RidgeCV, theirs.RidgeCV))
    assert ours.alpha_ == other.alpha_
    assert ours.best_score_ == pytest.approx(other.best_score_)
    np.testing.assert_allclose(ours.cv_results_, other.cv_results_, rtol=1e-6)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-6)
    assert ours.certificate_.holds
    assert ours.certificate_.relative_gap < 1e-12


def test_one_strength_for_each_target():
    rng = np.random.default_rng(0)
    targets = np.c_[Y, rng.normal(size=len(Y))]
    options = {"alphas": [1e-2, 1.0, 1e3], "alpha_per_target": True}
    ours, other = (m(**options).fit(X, targets) for m in (RidgeCV, theirs.RidgeCV))
    assert ours.alpha_.tolist() == other.alpha_.tolist()
    assert len(set(ours.alpha_)) == 2
    np.testing.assert_allclose(ours.best_score_, other.best_score_)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-6)


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error", make_scorer(mean_absolute_error)])
def test_folds_as_in_scikit_learn(scoring):
    options = {"alphas": [0.0, 1e-2, 1.0], "cv": 4, "scoring": scoring}
    ours, other = (m(**options).fit(X, Y) for m in (RidgeCV, theirs.RidgeCV))
    assert ours.alpha_ == other.alpha_
    assert ours.best_score_ == pytest.approx(other.best_score_)
    with pytest.raises(ValueError, match="incompatible"):
        RidgeCV(cv=3, store_cv_results=True).fit(X, Y)


@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"class_weight": {0: 3.0, 1: 1.0, 2: 0.5}},
                                     {"fit_intercept": False, "alpha": 30.0}, {"positive": True, "tol": 1e-9}], ids=str)  # fmt: skip
@pytest.mark.parametrize("classes", [2, 3])
def test_ridge_classifier_as_in_scikit_learn_and_proved(options, classes):
    rows = classes > KINDS
    if isinstance(options.get("class_weight"), dict):
        options = {"class_weight": {k: v for k, v in options["class_weight"].items() if k < classes}}
    ours, other = (m(**options).fit(FLOWERS[rows], KINDS[rows]) for m in (RidgeClassifier, theirs.RidgeClassifier))
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=2e-4)
    np.testing.assert_array_equal(ours.predict(FLOWERS), other.predict(FLOWERS))
    np.testing.assert_allclose(ours.decision_function(FLOWERS), other.decision_function(FLOWERS), atol=5e-3)
    assert ours.certificate_.holds
    assert ours.certificate_.relative_gap < 1e-9


def test_the_proof_speaks_of_the_labels(tmp_path):
    names = np.array(["setosa", "versicolor", "virginica"])[KINDS[::5]]
    model = RidgeClassifier(class_weight="balanced").fit(FLOWERS[::5], names)
    assert model.certificate_.verify(FLOWERS[::5], names)
    assert not model.certificate_.verify(FLOWERS[::5], names[::-1])
    assert outcome(*Case(model.certificate_, FLOWERS[::5], names).proof(tmp_path)) == "PROVED"
    assert model.certain(FLOWERS[::5]).all()


def test_certain_labels_are_those_of_the_optimum():
    """A fit that stops early is certain of few labels, and right about those."""
    exact = RidgeClassifier().fit(FLOWERS, KINDS == 1)
    rough = RidgeClassifier(solver="gradient_descent", tol=1e-3, max_iter=50_000).fit(FLOWERS, KINDS == 1)
    sure = rough.certain(FLOWERS)
    assert not sure.all()
    np.testing.assert_array_equal(rough.predict(FLOWERS)[sure], exact.predict(FLOWERS)[sure])


def test_several_labels_a_row_and_choice_by_folds():
    A, labels = make_multilabel_classification(60, 8, n_classes=4, random_state=0)
    ours, other = (m().fit(A, labels) for m in (RidgeClassifier, theirs.RidgeClassifier))
    np.testing.assert_array_equal(ours.predict(A), other.predict(A))
    assert ours.certificate_.holds
    for options in ({"cv": 3}, {}, {"scoring": "accuracy"}, {"store_cv_results": True}, {"class_weight": "balanced"}):
        pair = [
            m([0.1, 1.0, 50.0], **options).fit(FLOWERS, KINDS) for m in (RidgeClassifierCV, theirs.RidgeClassifierCV)
        ]
        assert pair[0].alpha_ == pair[1].alpha_, options
        assert pair[0].best_score_ == pytest.approx(pair[1].best_score_)
        np.testing.assert_allclose(pair[0].coef_, pair[1].coef_, atol=1e-8)
