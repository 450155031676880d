"""SGDClassifier and SGDRegressor: scikit-learn's walk, and how far it got."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model as theirs
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import scale

from certifit.linear_model import LinearModel, SGDClassifier, SGDRegressor
from certifit.regularizers import L1, ElasticMix, SquaredL2
from tests.contract import contract
from tests.proof_runs import Case, outcome

CELLS, SICK = load_breast_cancer(return_X_y=True)
CELLS = scale(CELLS)[::3, :6]
SICK = SICK[::3]
FLOWERS, KINDS = load_iris(return_X_y=True)
X, Y = load_diabetes(return_X_y=True)
# scikit-learn lists the same two checks for its own SGDClassifier and SGDRegressor.
ORDER = "the walk depends on the order of the rows: weight k is not k copies"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": ORDER,
    "check_sample_weight_equivalence_on_sparse_data": ORDER,
}


@pytest.mark.filterwarnings("ignore:Maximum number of iteration")
@contract([SGDClassifier(random_state=0), SGDRegressor(random_state=0)], expected_failures=lambda model: EXPECTED)
def test_contract(estimator, check):
    check(estimator)


def objective(model, X, t, loss):
    ratio = {"l2": 0.0, "l1": 1.0}.get(model.penalty, model.l1_ratio)
    w = np.ravel(model.coef_)
    size = ratio * np.abs(w).sum() + 0.5 * (1 - ratio) * w @ w
    return np.mean(loss(X @ w + model.intercept_[0], t)) + model.alpha * size


LOSSES = {
    "hinge": lambda z, t: np.maximum(0, 1 - t * z),
    "squared_hinge": lambda z, t: np.maximum(0, 1 - t * z) ** 2,
    "log_loss": lambda z, t: np.logaddexp(0, -t * z),
}


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_walk_with_a_gap_that_is_true(loss, penalty):
    options = {"loss": loss, "penalty": penalty, "alpha": 1e-2, "random_state": 3, "max_iter": 30, "tol": None}
    ours, other = (m(**options).fit(CELLS, SICK) for m in (SGDClassifier, theirs.SGDClassifier))
    np.testing.assert_array_equal(ours.coef_, other.coef_)
    signs = np.where(SICK == 1, 1.0, -1.0)
    names = {"log_loss": "logistic"}
    parts = {"l2": SquaredL2(0.5), "l1": L1(), "elasticnet": ElasticMix(ours.l1_ratio)}
    best = LinearModel(names.get(loss, loss), parts[penalty], lam=ours.alpha, tol=1e-9).fit(CELLS, SICK)
    here, there = objective(ours, CELLS, signs, LOSSES[loss]), best.certificate_.value
    assert ours.certificate_.holds
    assert ours.certificate_.value == pytest.approx(here)
    assert here - there <= ours.certificate_.gap * (1 + 1e-9) <= 1.01 * (here - there) + 1e-6 * here


@pytest.mark.parametrize(
    "options", [{}, {"average": True}, {"early_stopping": True}, {"learning_rate": "adaptive"}], ids=str
)
def test_several_classes_and_options(options):
    options = options | {"random_state": 0, "alpha": 0.01}
    ours, other = (m(**options).fit(FLOWERS, KINDS) for m in (SGDClassifier, theirs.SGDClassifier))
    np.testing.assert_array_equal(ours.coef_, other.coef_)
    assert ours.certificate_.holds
    assert np.isfinite(ours.certificate_.gap)
    assert not ours.certain(FLOWERS).all()


def test_weights_sparse_rows_and_a_proof_for_anybody(tmp_path):
    s = np.random.default_rng(0).uniform(0.5, 2.0, len(SICK))
    model = SGDClassifier(class_weight={0: 2.0, 1: 1.0}, random_state=0).fit(CELLS, SICK, sample_weight=s)
    other = theirs.SGDClassifier(class_weight={0: 2.0, 1: 1.0}, random_state=0).fit(CELLS, SICK, sample_weight=s)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.certificate_.verify(CELLS, SICK, s)
    few = SGDClassifier(random_state=0).fit(CELLS[::6], SICK[::6])
    assert outcome(*Case(few.certificate_, CELLS[::6], SICK[::6]).proof(tmp_path)) == "PROVED"
    assert SGDClassifier(random_state=0).fit(scipy.sparse.csr_array(CELLS), SICK).certificate_.holds


def test_regression():
    options = {"random_state": 0, "max_iter": 200, "tol": None, "alpha": 1e-3}
    ours, other = (m(**options).fit(X, Y) for m in (SGDRegressor, theirs.SGDRegressor))
    np.testing.assert_array_equal(ours.coef_, other.coef_)
    best = theirs.Ridge(alpha=1e-3 * len(Y)).fit(X, Y)
    best.penalty, best.l1_ratio = "l2", 0.0
    best.intercept_, best.alpha = np.array([best.intercept_]), 1e-3
    gap = objective(ours, X, Y, lambda z, t: 0.5 * (z - t) ** 2) - objective(
        best, X, Y, lambda z, t: 0.5 * (z - t) ** 2
    )
    assert ours.certificate_.gap == pytest.approx(gap, rel=1e-6)


@pytest.mark.filterwarnings("ignore:Maximum number of iteration")
def test_what_cannot_be_proved_says_so():
    with pytest.raises(AttributeError, match="modified_huber"):
        _ = SGDClassifier(loss="modified_huber", random_state=0).fit(CELLS, SICK).certificate_
    with pytest.raises(AttributeError, match="partial_fit"):
        _ = SGDClassifier(random_state=0).partial_fit(CELLS, SICK, classes=[0, 1]).certificate_
    with pytest.raises(AttributeError, match="sample_weight"):
        _ = SGDClassifier(class_weight="balanced", random_state=0).fit(FLOWERS[20:], KINDS[20:]).certificate_
    with pytest.raises(AttributeError, match="huber"):
        _ = SGDRegressor(loss="huber", random_state=0).fit(X, Y).certificate_
