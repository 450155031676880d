"""Densities that no estimator of ours made."""

import numpy as np
import pytest

import certifit as cf

X = np.array([0.0, 1.0, 3.0])


def test_one_question_at_a_time():
    with pytest.raises(ValueError, match="exactly one of"):
        cf.certify_density([1.0], X)
    with pytest.raises(ValueError, match="exactly one of"):
        cf.certify_density([1.0], X, bandwidth=1.0, family="normal")
    with pytest.raises(ValueError, match="3 points"):
        cf.certify_density([1.0], X, bandwidth=1.0)
    with pytest.raises(ValueError, match="mapping"):
        cf.certify_density([1.0, 2.0], X, family="normal")


def test_tables_of_two_columns():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(30, 2))
    heights, a, b = np.histogram2d(*Z.T, bins=[3, 2], density=True)
    assert cf.certify_density(heights, Z, edges=[a, b]).holds
    weights = rng.integers(1, 4, 30).astype(float)
    model = cf.density.KernelDensity(bandwidth=0.7, kernel="epanechnikov").fit(Z, sample_weight=weights)
    values = np.exp(model.score_samples(Z))
    asked = {"bandwidth": 0.7, "kernel": "epanechnikov", "sample_weight": weights}
    certificate = cf.certify_density(values, Z, **asked)
    assert certificate.holds
    assert certificate.verify(Z, None, weights).holds
    assert not cf.certify_density(values * 1.001, Z, **asked).holds
