"""Arrays of other libraries are converted, under dispatch there and back; callbacks are not dropped silently."""

import numpy as np
import pytest
import sklearn
import sklearn.linear_model
from sklearn.base import clone, is_regressor

from certifit.decomposition import PCA
from certifit.linear_model import Lasso, LogisticRegression, Ridge
from certifit.model_selection import GridSearchCV
from certifit.naive_bayes import GaussianNB
from certifit.neighbors import KNeighborsClassifier
from certifit.preprocessing import PolynomialFeatures, StandardScaler
from certifit.svm import SVC
from certifit.tree import DecisionTreeClassifier

X = np.random.default_rng(0).normal(size=(30, 3))
Y = X @ [1.0, -1.0, 0.5]


class Foreign:
    """An array of another library: it can only be turned into NumPy's."""

    def __init__(self, values):
        self.values = values
        self.shape = values.shape

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)


def test_foreign_arrays_are_converted():
    model = Ridge().fit(Foreign(X), Foreign(Y))
    np.testing.assert_array_equal(model.coef_, Ridge().fit(X, Y).coef_)
    assert isinstance(model.predict(Foreign(X)), np.ndarray)


def test_dispatch_changes_nothing_for_numpy():
    plain = Ridge().fit(X, Y).coef_
    with sklearn.config_context(array_api_dispatch=True):
        np.testing.assert_array_equal(Ridge().fit(X, Y).coef_, plain)


ESTIMATORS = [
    Ridge(),
    Lasso(),
    LogisticRegression(),
    SVC(),
    DecisionTreeClassifier(),
    KNeighborsClassifier(),
    GaussianNB(),
]


@pytest.mark.filterwarnings("ignore:You are comparing a array_api_strict dtype")  # in scikit-learn's validation
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_arrays_of_the_array_api(model, monkeypatch):
    """They are converted; under dispatch the answers and fitted attributes are arrays of the same library."""
    strict = pytest.importorskip("array_api_strict")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    y = Y if is_regressor(model) else (Y > 0).astype(int)
    foreign = strict.asarray(X), strict.asarray(y)
    plain = clone(model).fit(X, y)
    found = clone(model).fit(*foreign).predict(foreign[0])
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, plain.predict(X))
    with sklearn.config_context(array_api_dispatch=True):
        fitted = clone(model).fit(*foreign)
        answer = fitted.predict(foreign[0])
        assert type(answer) is type(foreign[0])
        assert fitted.score(*foreign) == plain.score(X, y)
    np.testing.assert_array_equal(np.asarray(answer), plain.predict(X))
    np.testing.assert_array_equal(fitted.predict(X), plain.predict(X))  # without dispatch, in NumPy
    for name in ("coef_", "intercept_", "theta_"):
        if name in vars(plain):
            assert type(getattr(fitted, name)) is type(foreign[0])
    assert fitted.certificate_.verify(X, y).holds == plain.certificate_.verify(X, y).holds
    assert isinstance(fitted.fit(X, y).predict(X), np.ndarray)  # a new fit in NumPy leaves nothing of the other library
    assert not any(isinstance(part, type(foreign[0])) for part in vars(fitted).values())


def test_fitted_attributes_changed_by_hand_change_the_predictions(monkeypatch):
    strict = pytest.importorskip("array_api_strict")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    foreign = strict.asarray(X)
    with sklearn.config_context(array_api_dispatch=True):
        model = Ridge().fit(foreign, strict.asarray(Y))
        before, certificate = model.predict(foreign), model.certificate_
        model.coef_ = model.coef_ * 2.0
        model.intercept_ = model.intercept_ + 5.0
        np.testing.assert_allclose(
            np.asarray(model.predict(foreign)), X @ np.asarray(model.coef_) + float(model.intercept_), rtol=1e-12
        )
        model.coef_[0] = 0.0  # in place
        assert not np.allclose(np.asarray(model.predict(foreign)), np.asarray(before))
        np.testing.assert_allclose(
            np.asarray(model.predict(foreign)), X @ np.asarray(model.coef_) + float(model.intercept_), rtol=1e-12
        )
        again = model.fit(foreign, strict.asarray(Y)).predict(foreign)
        np.testing.assert_array_equal(np.asarray(again), np.asarray(before))
    assert certificate.holds


def test_a_fit_that_fails_under_dispatch_changes_nothing(monkeypatch):
    strict = pytest.importorskip("array_api_strict")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    model = Ridge().fit(X, Y)
    before = dict(vars(model))
    with sklearn.config_context(array_api_dispatch=True), pytest.raises(ValueError, match="NaN"):
        model.fit(strict.asarray(X * np.nan), strict.asarray(Y))
    assert vars(model).keys() == before.keys()
    assert all(part is before[name] for name, part in vars(model).items())


def test_transformers_answer_in_the_library_of_x(monkeypatch):
    strict = pytest.importorskip("array_api_strict")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    for transformer in (StandardScaler(), PolynomialFeatures(), PCA()):
        with sklearn.config_context(array_api_dispatch=True):
            found = clone(transformer).fit_transform(strict.asarray(X))
        assert type(found) is type(strict.asarray(X))
        np.testing.assert_array_equal(np.asarray(found), transformer.fit(X).transform(X))


class Recorder:
    """A callback that writes down what it is told."""

    def __init__(self):
        self.tasks = []

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context, **told):
        self.tasks.append(context.task_name)

    def on_fit_task_end(self, estimator, context, **told): ...


def test_a_search_with_callbacks_calls_them_for_every_fit():
    pytest.importorskip("sklearn.callback")  # since 1.9
    seen = Recorder()
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3)
    shared = clone(search).fit(X, Y)
    fitted = search.set_callbacks(seen).fit(X, Y)
    assert shared.shared_
    assert "callbacks" in fitted.sharing_.reason
    assert seen.tasks.count("candidate-split-evaluation") == 6
    np.testing.assert_allclose(fitted.cv_results_["mean_test_score"], shared.cv_results_["mean_test_score"])
    with pytest.warns(UserWarning, match="not the scores"):
        search.fit(X, Y, sample_weight=np.ones(len(Y)))


def test_callbacks_are_taken_where_they_are_called():
    callback = pytest.importorskip("sklearn.callback")  # since 1.9
    assert hasattr(GridSearchCV(Ridge(), {"alpha": [1.0]}), "set_callbacks")
    with pytest.raises(AttributeError, match="set_callbacks"):  # as every estimator of scikit-learn that calls none
        Ridge().set_callbacks(callback.ProgressBar())
    assert not hasattr(sklearn.linear_model.Ridge(), "set_callbacks")
    assert not hasattr(LogisticRegression(), "set_callbacks")
