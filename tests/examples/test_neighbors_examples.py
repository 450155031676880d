"""The neighbour stories come out, and can be drawn."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.examples import distance_concentration, knn_regions, nearest_bayes_error


def quiet(_: str) -> None:
    """Say nothing."""


def test_nearest_bayes_error():
    pytest.importorskip("matplotlib")
    n = nearest_bayes_error.run(quiet)
    assert n["bayes"] == pytest.approx(0.15866, abs=1e-5)
    assert n["bayes"] < n["limit"] < n["bound"]
    assert n["errors"]["1"][-1] == pytest.approx(n["limit"], abs=0.012)
    assert n["errors"]["25"][-1] == pytest.approx(n["bayes"], abs=0.012)
    assert len(nearest_bayes_error.draw(n).axes) == 1


def test_distance_concentration():
    pytest.importorskip("matplotlib")
    n = distance_concentration.run(quiet)
    assert n["ratio"][0] < 0.01
    assert n["ratio"][-1] > 0.7
    assert np.all(np.diff(n["ratio"]) > 0)
    np.testing.assert_allclose(n["spread"][-4:], n["theory"][-4:], rtol=0.1)
    assert n["proved"][-1] < n["proved"][0]
    assert len(distance_concentration.draw(n).axes) == 2


def test_knn_regions():
    pytest.importorskip("matplotlib")
    n = knn_regions.run(quiet)
    assert n["training"][0] == 0.0
    assert n["border"][0] > n["border"][1] > n["border"][-1]
    assert min(n["left_out"]) == min(n["left_out"][1:3]) < n["left_out"][0]
    assert n["left_out"][-1] > min(n["left_out"])
    assert n["proved"]
    assert len(knn_regions.draw(n).axes) == 4
