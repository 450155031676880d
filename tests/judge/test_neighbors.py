"""Lists of nearest rows that no estimator of ours made."""

import numpy as np
import pytest

import certifit as cf

X = np.array([[0.0, 0.0], [3.0, 0.0], [2.0, 2.0]])


def test_minkowski_and_columns():
    certificate = cf.certify_neighbors([[2, 1, 0]], X, [[2.0, 1.5]], metric="minkowski", p=3.0)
    assert certificate.holds
    assert certificate.verify(X).holds
    assert not cf.certify_neighbors([[1, 2, 0]], X, [[2.0, 1.5]], metric="minkowski", p=3.0).holds
    assert cf.certify_neighbors([[1]], X, [[2.9, 5.0]], feature_weights=[1.0, 0.0]).holds


def test_what_cannot_be_read_is_refused():
    with pytest.raises(ValueError, match="for each of the 2 queries"):
        cf.certify_neighbors([[0]], X, [[0.0, 0.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match="2 columns"):
        cf.certify_neighbors([[0]], X, [[0.0]])
