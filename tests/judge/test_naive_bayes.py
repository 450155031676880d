"""Estimates of naive Bayes models that no estimator of ours made."""

import numpy as np
import pytest

import certifit as cf

X, y = np.array([[2.0, 1.0], [0.0, 3.0], [4.0, 0.0]]), np.array(["a", "b", "a"])


def test_what_cannot_be_read_is_refused():
    with pytest.raises(ValueError, match="must contain 'probabilities'"):
        cf.certify_naive_bayes({"shares": [1.0]}, X, y)
    with pytest.raises(ValueError, match="2 classes × 2"):
        cf.certify_naive_bayes({"means": [[1.0]], "variances": [[1.0]]}, X, y)
    with pytest.raises(ValueError, match="one of gaussian"):
        cf.certify_naive_bayes({"probabilities": np.ones((2, 2))}, X, y, "normal")
    with pytest.raises(ValueError, match="prior"):
        cf.certify_naive_bayes({"probabilities": np.ones((2, 2))}, X, y, prior="given")
    with pytest.raises(ValueError, match="negative"):
        cf.certify_naive_bayes({"probabilities": -np.ones((2, 2))}, X, y)
    with pytest.raises(ValueError, match="one value for each row"):
        cf.certify_naive_bayes({"probabilities": np.ones((2, 2))}, X, y[:2])
    with pytest.raises(ValueError, match="mapping"):
        cf.certify_naive_bayes(object(), X, y)
    with pytest.raises(ValueError, match="categories"):
        cf.certify_naive_bayes({"probabilities": [[0.5, 0.5]]}, X, y, "categorical")


def test_weights_and_shares_by_class():
    weights = np.array([1.0, 2.0, 3.0])
    means = np.array([np.average(X[y == c], axis=0, weights=weights[y == c]) for c in "ab"])
    spread = np.array([np.average((X[y == c] - m) ** 2, axis=0, weights=weights[y == c]) for c, m in zip("ab", means)])
    mean = np.average(X, axis=0, weights=weights)
    added = 0.5 * np.average((X - mean) ** 2, axis=0, weights=weights).max()
    answer = {"means": means, "variances": spread + added, "class_prior": [4 / 6, 2 / 6]}
    certificate = cf.certify_naive_bayes(answer, X, y, var_smoothing=0.5, sample_weight=weights)
    assert certificate.holds
    assert certificate.verify(X, y, weights).holds
    assert not certificate.verify(X, y).holds
