"""A fit that fails leaves the model as it was: unfitted when it was new, else with the last fit, whole."""

import importlib
import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import NotFittedError

from certifit._certified import Certified
from certifit.linear_model import LogisticRegression

FAMILIES = (
    "bayes", "decomposition", "glm", "kernel_ridge", "linear_model", "multiclass", "naive_bayes", "neighbors", "svm",
    "tree",
)  # fmt: skip
RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(24, 3)))


def models():
    for family in FAMILIES:
        module = importlib.import_module(f"certifit.{family}")
        for name in module.__all__:
            cls = getattr(module, name)
            if inspect.isclass(cls) and issubclass(cls, Certified) and issubclass(cls, BaseEstimator):
                needs = [p for p in inspect.signature(cls).parameters.values() if p.default is p.empty]
                if not needs or needs[0].name == "estimator":
                    yield pytest.param(cls(LogisticRegression()) if needs else cls(), id=f"{family}.{name}")


BAD = {
    "NaN": lambda y: (np.where(X > 1.5, np.nan, X), y),
    "infinity": lambda y: (np.where(X > 1.5, np.inf, X), y),
    "no rows": lambda y: (X[:0], y[:0]),
    "no columns": lambda y: (X[:, :0], y),
    "one dimension": lambda y: (X[:, 0], y),
    "too few labels": lambda y: (X, y[:-1]),
    "one class": lambda y: (X, np.zeros(len(y), int)),
    "labels that are NaN": lambda y: (X, np.where(np.arange(len(y)) == 3, np.nan, y.astype(float))),
}


@pytest.mark.parametrize("model", list(models()))
@pytest.mark.parametrize("bad", BAD)
def test_a_failed_fit_changes_nothing(model, bad):
    y = np.arange(24) % 2 if is_classifier(model) else X @ [1.0, 2.0, 0.5] + 1.0
    Z, t = BAD[bad](y)
    model = clone(model)
    before = dict(vars(model))
    try:
        model.fit(Z, t)
    except ValueError:
        assert vars(model) == before
        if hasattr(model, "predict"):
            with pytest.raises(NotFittedError):
                model.predict(X)
        return
    assert bad in ("one class", "too few labels", "labels that are NaN", "NaN")  # some need no labels, or allow them


def test_the_last_good_fit_survives_a_bad_one():
    y = np.arange(24) % 2
    model = LogisticRegression().fit(X, y)
    good, told = model.predict_proba(X), model.certificate_
    for Z, t in ((X[:, :2], np.zeros(24)), (np.where(X > 1.5, np.nan, X), y), (X[:, :1], y[1:])):
        with pytest.raises(ValueError, match=r"class|NaN|inconsistent"):
            model.fit(Z, t)
        np.testing.assert_array_equal(model.predict_proba(X), good)
        assert model.certificate_ is told
