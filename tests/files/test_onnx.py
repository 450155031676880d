"""ONNX graphs against the models they come from: labels equal on every row, numbers to many digits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import certifit
from certifit.linear_model import (
    AveragedPerceptron,
    LogisticRegression,
    Perceptron,
    RandomLinearClassifier,
    VotedPerceptron,
)
from certifit.multiclass import OneVsRest
from certifit.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from certifit.neighbors import KNeighborsClassifier
from certifit.tree import DecisionTreeClassifier

onnxruntime = pytest.importorskip("onnxruntime")

TABLES = {
    "iris": load_iris(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "digits": load_digits(return_X_y=True),
}


def run(model, X, input_type="float64"):
    graph = certifit.to_onnx(model, input_type=input_type)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = X if isinstance(X, dict) else {"X": np.asarray(X, dtype=input_type)}
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))


def agree(model, X, feed=None, given=None):
    """Labels equal on all rows, probabilities to 1e-9, scores to 1e-9 of their size, values to 1e-9."""
    out, given = run(model, X if feed is None else feed), X if given is None else given
    if "value" in out:
        ours = model.predict(given)
        assert out["value"].shape == ours.shape
        np.testing.assert_allclose(out["value"], ours, rtol=1e-9, atol=1e-10 * np.abs(ours).max())
        return out
    labels = model.predict(given)
    assert out["label"].shape == labels.shape
    np.testing.assert_array_equal(out["label"], labels)
    assert ("probabilities" in out) == hasattr(model, "predict_proba")
    if "probabilities" in out:
        np.testing.assert_allclose(out["probabilities"], model.predict_proba(given), rtol=0, atol=1e-9)
    if "scores" in out:
        ours = model.decision_function(given)
        assert out["scores"].shape == ours.shape
        np.testing.assert_allclose(out["scores"], ours, rtol=1e-9, atol=1e-9 * np.abs(ours).max())
    return out


CLASSIFIERS = {
    "logistic": LogisticRegression(),
    "logistic, costs": LogisticRegression(costs=(1.0, 3.0)),
    "one against rest": OneVsRest(LogisticRegression()),
    "one against rest of perceptrons": OneVsRest(Perceptron(max_iter=50)),
    "perceptron": Perceptron(max_iter=50),
    "averaged perceptron": AveragedPerceptron(),
    "voted perceptron": VotedPerceptron(max_iter=3),
    "random": RandomLinearClassifier(n_candidates=50, random_state=0),
    "tree": DecisionTreeClassifier(),
    "pruned tree": DecisionTreeClassifier(ccp_alpha=0.02),
    "gaussian": GaussianNB(),
    "bernoulli": BernoulliNB(binarize=2.0),
    "multinomial": MultinomialNB(),
    "neighbours": KNeighborsClassifier(),
    "neighbours by distance": KNeighborsClassifier(7, weights="distance"),
}


@pytest.mark.parametrize("table", ["iris", "breast cancer", "wine", "digits"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_give_our_labels_on_every_row(name, table):
    X, y = TABLES[table]
    if table == "digits" and name in ("one against rest", "logistic, costs"):
        X, y = X[:400], y[:400]
    agree(CLASSIFIERS[name].fit(X, y), X)
