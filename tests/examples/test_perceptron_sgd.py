"""The perceptron as SGD with step one; its answer depends on order and start."""

import numpy as np

from certifit.examples import perceptron_sgd


def test_same_weights_and_other_answers():
    r = perceptron_sgd.run(lambda line: None)
    np.testing.assert_array_equal(r["sgd"][0], r["perceptron"][0])
    assert r["sgd"][1] == r["perceptron"][1]
    weights = {tuple(w) for w, _, _ in r["lines"].values()}
    assert len(weights) == 3
    assert all(margin > 0 for _, _, margin in r["lines"].values())
    assert perceptron_sgd.draw(r).axes
