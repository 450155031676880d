"""For a perceptron the claim is separation."""

import numpy as np
import sklearn.linear_model as sk

import certifit as cf
from certifit.linear_model import Perceptron


def test_separating_perceptrons_are_proved_to_separate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] > 0.3, "in", "out")
    keep = np.abs(X @ [1.0, -2.0, 0.5] - 0.3) > 0.2
    X, y = X[keep], y[keep]
    for model in (Perceptron(max_iter=1000), sk.Perceptron(max_iter=1000, tol=None)):
        c = cf.certify(model.fit(X, y), X, y)
        assert c.kind == "separability"
        assert c.holds
        assert c.verdict == "separable"
        assert c.verify(X, y).holds


def test_one_that_does_not_separate_is_told_its_mistakes():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    model = sk.Perceptron().fit(X, y)
    c = cf.certify(model, X, y)
    assert c.holds
    assert c.value == np.sum(model.predict(X) != y)
