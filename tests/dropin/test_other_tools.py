"""Tools of other projects take our estimators. Each is tried where it is installed."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from certifit.linear_model import LassoCV, LogisticRegression, Ridge
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor, to_sklearn

FLOWERS, KINDS = load_iris(return_X_y=True)
X, Y = load_diabetes(return_X_y=True)


@pytest.fixture
def shap():
    with warnings.catch_warnings():  # what these tools use of others is their own affair
        warnings.simplefilter("ignore")
        yield pytest.importorskip("shap")


@pytest.mark.parametrize("model", [Ridge(), LassoCV(cv=3, alphas=10)])
def test_shap_explains_regressions(shap, model):
    model.fit(X, Y)
    explainer = shap.LinearExplainer(model, X)
    parts = explainer.shap_values(X[:5])
    np.testing.assert_allclose(parts.sum(axis=1) + explainer.expected_value, model.predict(X[:5]))


def test_shap_explains_logistic_regression(shap):
    two = KINDS < 2
    model = LogisticRegression().fit(FLOWERS[two], KINDS[two])
    explainer = shap.LinearExplainer(model, FLOWERS[two])
    parts = explainer.shap_values(FLOWERS[:5])
    np.testing.assert_allclose(parts.sum(axis=1) + explainer.expected_value, model.decision_function(FLOWERS[:5]))


def test_shap_explains_probabilities_of_any_model(shap):
    model = LogisticRegression().fit(FLOWERS, KINDS)
    explainer = shap.KernelExplainer(model.predict_proba, FLOWERS[::30])
    parts = np.asarray(explainer.shap_values(FLOWERS[:2], silent=True))
    total = parts.sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, model.predict_proba(FLOWERS[:2]), atol=1e-6)


def test_shap_explains_trees(shap):
    model = DecisionTreeRegressor(max_depth=3).fit(X, Y)
    explainer = shap.TreeExplainer(to_sklearn(model))
    parts = explainer.shap_values(X[:5])
    np.testing.assert_allclose(parts.sum(axis=1) + explainer.expected_value, model.predict(X[:5]))


def test_dtreeviz_draws_trees():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dtreeviz = pytest.importorskip("dtreeviz")
        model = DecisionTreeClassifier(max_depth=2).fit(FLOWERS, KINDS)
        drawn = dtreeviz.model(
            to_sklearn(model), FLOWERS, KINDS, feature_names=list("abcd"), target_name="kind", class_names=list("xyz")
        )
        assert drawn.shadow_tree.nnodes() == model.tree_.node_count


def test_mlflow_keeps_models(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow = pytest.importorskip("mlflow.sklearn")
        model = Ridge().fit(X, Y)
        mlflow.save_model(model, str(tmp_path / "model"), serialization_format="cloudpickle")
        back = mlflow.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert back.certificate_.verify(X, Y)


def test_skops_keeps_models():
    skops = pytest.importorskip("skops.io")
    model = LogisticRegression().fit(FLOWERS, KINDS)
    stored = skops.dumps(model)
    back = skops.loads(stored, trusted=skops.get_untrusted_types(data=stored))
    np.testing.assert_array_equal(back.predict(FLOWERS), model.predict(FLOWERS))
    assert back.certificate_.verify(FLOWERS, KINDS)
