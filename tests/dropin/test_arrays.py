"""Arrays of other libraries become NumPy's, or are refused; callbacks are not dropped silently."""

import numpy as np
import pytest
import sklearn
import sklearn.linear_model
from sklearn.base import clone, is_regressor

from certifit.linear_model import Lasso, LogisticRegression, Ridge
from certifit.model_selection import GridSearchCV
from certifit.naive_bayes import GaussianNB
from certifit.neighbors import KNeighborsClassifier
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
def test_arrays_of_the_array_api(model):
    """They are converted; with dispatch they are refused, as by scikit-learn's estimators that do not compute with them."""
    strict = pytest.importorskip("array_api_strict")
    y = Y if is_regressor(model) else (Y > 0).astype(int)
    foreign = strict.asarray(X), strict.asarray(y)
    found = clone(model).fit(*foreign).predict(foreign[0])
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, clone(model).fit(X, y).predict(X))
    with sklearn.config_context(array_api_dispatch=True):
        for refusing in (model, sklearn.linear_model.Lasso()):
            with pytest.raises(TypeError, match="dtype"):
                clone(refusing).fit(*foreign)


def test_callbacks_are_taken_where_they_are_called():
    callback = pytest.importorskip("sklearn.callback")  # since 1.9
    assert hasattr(GridSearchCV(Ridge(), {"alpha": [1.0]}), "set_callbacks")
    with pytest.raises(AttributeError, match="set_callbacks"):  # as every estimator of scikit-learn that calls none
        Ridge().set_callbacks(callback.ProgressBar())
    assert not hasattr(sklearn.linear_model.Ridge(), "set_callbacks")
    assert not hasattr(LogisticRegression(), "set_callbacks")
