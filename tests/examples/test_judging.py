"""The worked examples on judging models come out as told."""

from __future__ import annotations

import math

import numpy as np
import pytest

from certifit.examples import bias_variance_polynomial, bootstrap_law, leaky_selection, ridge_augmented
from tests.examples.telling import told


def test_bootstrap_leaves_out_one_in_e():
    numbers = told(bootstrap_law)
    assert numbers["exact"][-1] == pytest.approx(math.exp(-1), abs=1e-3)
    for exact, seen, error in zip(numbers["exact"], numbers["simulated"], numbers["errors"]):
        assert abs(exact - seen) <= 4 * error + 1e-12
    assert np.all(np.diff(numbers["exact"]) > 0)


def test_ridge_is_augmented_least_squares():
    numbers = told(ridge_augmented)
    assert numbers["apart"] < 1e-13
    assert abs(numbers["offset_penalised"]) < abs(numbers["offset"])


def test_polynomials_of_growing_degree():
    numbers = told(bias_variance_polynomial)
    assert np.all(np.diff(numbers["training"]) < 0)
    totals = [p.total for p in numbers["parts"]]
    assert 3 <= numbers["best"] <= 5
    assert totals[-1] > 1.5 * min(totals)
    for p in numbers["parts"]:
        assert p.bias2 + p.variance + p.noise == pytest.approx(p.total, rel=1e-9)
        assert p.noise == pytest.approx(0.09)


def test_selection_outside_the_folds_looks_like_skill():
    numbers = told(leaky_selection)
    assert numbers["outside"] > 0.85
    assert numbers["inside"] < 0.65
    assert numbers["caught"].leaks
    assert not numbers["cleared"].leaks
