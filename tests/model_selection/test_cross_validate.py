"""Cross-validation, nesting, hold-out and bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.model_selection as sk
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from certifit._limits import corrected_limits
from certifit.model_selection import Search, bootstrap, cross_validate, hold_out, nested_cross_validate
from tests.model_selection.sharing import ClassShares, ShrunkenMean


def _data(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + rng.normal(size=n), np.where(X[:, 0] + rng.normal(size=n) > 0, "b", "a")


def test_scikit_learns_mapping_with_more():
    X, y, _ = _data()
    for estimator in (Ridge(), KNeighborsRegressor()):
        ours = cross_validate(estimator, X, y, cv=5, return_train_score=True, return_estimator=True)
        theirs = sk.cross_validate(estimator, X, y, cv=5, return_train_score=True, return_estimator=True)
        assert set(ours) == set(theirs)
        assert ours["test_score"] == pytest.approx(theirs["test_score"])
        assert ours["train_score"] == pytest.approx(theirs["train_score"])
        assert ours.predictions == pytest.approx(sk.cross_val_predict(estimator, X, y, cv=5))
        assert ours.interval(0.9) == pytest.approx(corrected_limits(theirs["test_score"], 0.25, 0.9)[:2])
        assert "Nadeau" in ours.interval().method


def test_shared_folds_give_the_same():
    X, y, c = _data()
    for estimator, target, method in ((ShrunkenMean(0.1, 1.0), y, "predict"), (ClassShares(), c, "predict_proba")):
        fast = cross_validate(estimator, X, target, cv=5, method=method)
        slow = cross_validate(estimator, X, target, cv=5, method=method, share=False)
        assert fast.shared
        assert not slow.shared
        assert fast["test_score"] == pytest.approx(slow["test_score"])
        assert np.array_equal(fast.predictions, slow.predictions) or fast.predictions == pytest.approx(slow.predictions)
        assert fast.responses(method).shape == slow.responses(method).shape


def test_certificates_of_the_interval():
    X, y, c = _data()
    for estimator, target, scoring in (
        (LinearRegression(), y, "neg_mean_squared_error"),
        (LinearRegression(), y, None),
        (LogisticRegression(), c, None),
    ):
        result = cross_validate(estimator, X, target, cv=6, scoring=scoring)
        proof = result.certificate()
        assert proof.holds
        assert proof.verify(X, target).holds
        assert proof.mean == pytest.approx(float(result.mean()))
        assert (proof.low, proof.high) == pytest.approx(tuple(result.interval()))
    with pytest.raises(ValueError, match="cannot be recomputed"):
        cross_validate(LogisticRegression(), X, c, scoring="roc_auc").certificate()


def test_repeated_folds_keep_their_predictions_by_fold():
    X, y, _ = _data()
    result = cross_validate(Ridge(), X, y, cv=sk.RepeatedKFold(n_splits=4, n_repeats=2, random_state=0))
    assert len(result.fold_predictions) == 8
    with pytest.raises(ValueError, match="tested exactly once"):
        _ = result.predictions
    assert result.certificate().verify(X, y).holds
    assert "8 folds" in str(result)


def test_several_scores_must_be_named():
    X, y, _ = _data()
    result = cross_validate(Ridge(), X, y, scoring=["r2", "neg_max_error"])
    with pytest.raises(ValueError, match="name one of"):
        result.interval()
    assert result.mean("r2") in result.interval(metric="r2")


def test_leave_one_out():
    X, y, _ = _data(30)
    result = cross_validate(Ridge(), X, y, cv=sk.LeaveOneOut(), scoring="neg_mean_squared_error")
    assert len(result["test_score"]) == 30
    assert result.predictions == pytest.approx(sk.cross_val_predict(Ridge(), X, y, cv=sk.LeaveOneOut()))


def test_nested_search_is_judged_from_outside():
    X, y, _ = _data()
    search = Search(Ridge(), {"alpha": [0.1, 1.0, 100.0]}, cv=4)
    result = nested_cross_validate(search, X, y, cv=5)
    theirs = sk.cross_val_score(sk.GridSearchCV(Ridge(), {"alpha": [0.1, 1.0, 100.0]}, cv=4), X, y, cv=5)
    assert result["test_score"] == pytest.approx(theirs)
    assert len(result.best_params) == 5
    assert np.isfinite(result.optimism)
    assert result.mean() in result.interval()


def test_choosing_among_many_flatters():
    grid, found = {"slope": np.linspace(-0.5, 0.5, 21).tolist()}, []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 1)), rng.normal(size=40)  # nothing to learn
        search = Search(ShrunkenMean(), grid, cv=4, scoring="neg_mean_squared_error")
        found.append(nested_cross_validate(search, X, y, cv=5, scoring="neg_mean_squared_error").optimism)
    assert np.mean(found) > 0


def test_hold_out():
    X, _, c = _data(200)
    result = hold_out(LogisticRegression(), X, c, test_size=0.3, validation_size=0.2, random_state=3)
    parts = np.concatenate([result.train, result.validation, result.test])
    assert sorted(parts.tolist()) == list(range(200))
    assert (len(result.test), len(result.validation)) == (60, 40)
    assert float(result.error) == pytest.approx(1 - result.test_score)
    proof = result.certificate()
    assert proof.verify(X[result.test], c[result.test]).holds
    assert (proof.low, proof.high) == pytest.approx(tuple(result.interval()), rel=1e-6)
    assert result.model.score(X[result.validation], c[result.validation]) == result.validation_score


def test_hold_out_of_numbers_and_bad_shares():
    X, y, _ = _data()
    result = hold_out(Ridge(), X, y)
    assert result.error in result.interval()
    assert np.isnan(result.validation_score)
    with pytest.raises(ValueError, match="needs a classifier"):
        result.certificate()
    with pytest.raises(ValueError, match="leave rows to train on"):
        hold_out(Ridge(), X, y, test_size=0.6, validation_size=0.5)


def test_bootstrap_of_a_constant_learner():
    # A constant prediction has the same error everywhere: all estimates agree.
    y = np.array([0] * 30 + [1] * 70)
    result = bootstrap(DummyClassifier(strategy="constant", constant=1), np.zeros((100, 1)), y, rounds=60)
    assert result.training == pytest.approx(0.3)
    assert result.oob == pytest.approx(0.3)
    assert result.no_information == pytest.approx(0.3)
    assert result.err632 == pytest.approx(0.3)
    assert result.err632plus == pytest.approx(0.3)
    assert result.left_out == pytest.approx(np.exp(-1), abs=0.01)
    low, high = result.interval()  # the plain binomial spread
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(0.21 / 99), rel=0.15)


def test_bootstrap_formulas():
    X, _, c = _data(80)
    result = bootstrap(KNeighborsClassifier(1), X, c, rounds=40)
    assert result.training == 0.0
    assert result.err632 == pytest.approx(0.632 * result.oob)
    p = np.mean(c == "a")  # 1-NN repeats the labels: γ = 2p(1 − p)
    assert result.no_information == pytest.approx(2 * p * (1 - p))
    R = result.oob / result.no_information
    assert result.overfitting == pytest.approx(R)
    assert result.err632plus == pytest.approx(result.oob * 0.632 / (1 - 0.368 * R))
    assert result.err632 < result.err632plus < result.oob + 1e-12


def test_bootstrap_row_errors_by_hand():
    X, y, _ = _data(25)
    result = bootstrap(Ridge(), X, y, rounds=60, random_state=4)
    sums, times = np.zeros(25), np.zeros(25)
    for counts in result.counts:
        rows = np.repeat(np.arange(25), counts)
        loss = (y - Ridge().fit(X[rows], y[rows]).predict(X)) ** 2
        sums += loss * (counts == 0)
        times += counts == 0
    assert result.row_errors == pytest.approx(sums / times, nan_ok=True)
    gamma = np.mean((y[:, None] - Ridge().fit(X, y).predict(X)[None, :]) ** 2)
    assert result.no_information == pytest.approx(gamma)


def test_bootstrap_is_the_same_for_any_number_of_workers_and_refuses_nonsense():
    X, _, c = _data(40)
    model = RandomForestClassifier(3, random_state=0)
    one, two = (bootstrap(model, X, c, rounds=6, n_jobs=n) for n in (1, 2))
    assert np.array_equal(one.row_errors, two.row_errors, equal_nan=True)
    with pytest.raises(ValueError, match="loss must be one of"):
        bootstrap(model, X, c, loss="luck")
    with pytest.raises(ValueError, match="at least 2"):
        bootstrap(model, X, c, rounds=1)
