"""cross_val_score, cross_val_predict and cross_validate under scikit-learn's signatures: same numbers, shared or not."""

import inspect

import numpy as np
import pytest
import sklearn.model_selection as sk
from sklearn.datasets import load_iris, make_regression
from sklearn.linear_model import HuberRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certifit.linear_model import LogisticRegression, Ridge
from certifit.model_selection import (
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from certifit.naive_bayes import GaussianNB
from certifit.neighbors import KNeighborsClassifier

IRIS = load_iris(return_X_y=True)
LINE = make_regression(n_samples=80, n_features=5, noise=5.0, random_state=0)
CASES = [
    pytest.param(Ridge(), LINE, "predict", id="shared"),
    pytest.param(HuberRegressor(), LINE, "predict", id="theirs"),
    pytest.param(make_pipeline(StandardScaler(), Ridge()), LINE, "predict", id="pipeline"),
    pytest.param(GaussianNB(), IRIS, "predict_proba", id="shared probabilities"),
    pytest.param(KNeighborsClassifier(3), IRIS, "predict", id="shared labels"),
    pytest.param(LogisticRegression(tol=1e-8), IRIS, "decision_function", id="shared scores"),
]


@pytest.mark.parametrize(("model", "data", "method"), CASES)
def test_numbers_are_those_of_scikit_learn(model, data, method):
    splitter = sk.KFold(4, shuffle=True, random_state=0)
    np.testing.assert_allclose(
        cross_val_score(model, *data, cv=splitter), sk.cross_val_score(model, *data, cv=splitter), atol=1e-6
    )
    ours = cross_val_predict(model, *data, cv=splitter, method=method)
    theirs = sk.cross_val_predict(model, *data, cv=splitter, method=method)
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_a_class_that_a_fold_never_sees_and_rows_tested_twice():
    X, y = IRIS
    folds = [(np.arange(100), np.arange(100, 150)), (np.arange(50, 150), np.arange(50))]
    folds += [(np.r_[:50, 100:150], np.arange(50, 100))]
    with pytest.warns(RuntimeWarning, match="Number of classes in training fold"):
        ours = cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba")
    assert ours.shape == (150, 3)
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(Ridge(), *LINE, cv=sk.ShuffleSplit(3, random_state=0))


def test_cross_validate_takes_all_that_scikit_learns_takes():
    for mine, theirs in [(cross_validate, sk.cross_validate), (cross_val_score, sk.cross_val_score)]:
        there = inspect.signature(theirs).parameters
        here = inspect.signature(mine).parameters
        assert {n: str(p.default) for n, p in there.items()}.items() <= {
            n: str(p.default) for n, p in here.items()
        }.items()
    for model in (Ridge(), HuberRegressor()):
        found = cross_validate(model, *LINE, cv=3, return_indices=True, return_estimator=True, verbose=0, params=None)
        theirs = sk.cross_validate(model, *LINE, cv=3, return_indices=True, return_estimator=True)
        assert found.keys() == theirs.keys()
        np.testing.assert_array_equal(found["indices"]["test"][1], theirs["indices"]["test"][1])
        assert found.predictions.shape == (80,)
        assert found.certificate().holds
    with pytest.raises(ValueError, match="luck"):
        cross_val_score(Ridge(), *LINE, scoring="luck")


def test_curves_are_scikit_learns_with_intervals():
    splitter = sk.ShuffleSplit(4, test_size=0.4, random_state=1)
    curve = learning_curve(Ridge(), *LINE, cv=splitter, train_sizes=[10, 40], return_times=True)
    sizes, train, test, fit_times, _ = curve
    theirs = sk.learning_curve(Ridge(), *LINE, cv=splitter, train_sizes=[10, 40])
    for mine, other in zip((sizes, train, test), theirs):
        np.testing.assert_array_equal(mine, other)
    assert fit_times.shape == (2, 4)
    np.testing.assert_allclose(curve.held_out, [32 / 10, 32 / 40])  # 32 rows of 80 are judged
    curve = validation_curve(Ridge(), *LINE, cv=splitter, param_name="alpha", param_range=[0.1, 10.0])
    np.testing.assert_allclose(curve.held_out, 32 / 48)
    assert curve.intervals()[0].low < curve.test_scores[0].mean() < curve.intervals()[0].high
