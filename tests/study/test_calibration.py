"""Calibration: the curve's intervals, maps learned inside the folds, the proof of the isotonic one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from certifit.study import decisions, run
from certifit.study._calibration import Isotonic, Sigmoid, apply_map, curve


def covered(rounds, seed):
    """Shares of simulated tables in which every interval of the curve holds what was said, which is true."""
    rng = np.random.default_rng(seed)
    right = 0
    for _ in range(rounds):
        p = rng.beta(0.7, 2.0, size=400)
        right += curve(p, rng.random(400) < p)["off"] == 0
    return right / rounds


def test_the_curve_holds_its_level():
    assert covered(200, 0) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200)


@pytest.mark.slow
def test_the_curve_holds_its_level_in_many_tables():
    assert covered(4_000, 1) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 4_000)


def test_probabilities_that_are_off_are_noticed():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 2_000)
    found = curve(p, rng.random(2_000) < expit(3 * np.log(p / (1 - p))))
    assert found["off"] >= 4
    assert "are off in" in found["text"]
    assert sum(g["rows"] for g in found["groups"]) == 2_000


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=3, max_size=60))
def test_isotonic_is_scikit_learns_and_proved(rows):
    p, y = np.array([a / 20 for a, _ in rows]), np.array([int(b) for _, b in rows])
    made = Isotonic().fit(p, y)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    grid = np.linspace(-0.1, 1.1, 50)
    np.testing.assert_allclose(made.apply(grid), theirs.predict(grid), atol=1e-12)
    np.testing.assert_allclose(apply_map(made.record(), grid), made.apply(grid), atol=1e-12)
    assert made.prove(p, y)["holds"]


def test_the_sigmoid_finds_slope_and_offset():
    rng = np.random.default_rng(0)
    z = rng.normal(size=20_000) * 2
    made = Sigmoid().fit(expit(z), (rng.random(20_000) < expit(0.5 * z - 1)).astype(int))
    assert (made.a, made.b) == (pytest.approx(0.5, abs=0.03), pytest.approx(-1.0, abs=0.05))
    np.testing.assert_allclose(apply_map(made.record(), expit(z[:5])), made.apply(expit(z[:5])))


def test_a_study_advises_a_map_where_it_helps():
    """Naive Bayes on copies of one column is far too sure of itself; logistic regression is not."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    y = np.where(rng.random(500) < expit(x), "ill", "well")
    copies = {f"copy{j}": x + 0.3 * rng.normal(size=500) for j in range(6)}
    sure = run(copies | {"y": y}, "y", models=["naive Bayes"], folds=5)
    found = sure.record["calibration"]
    assert found["off"] > 0
    assert found["advice"] in ("sigmoid", "isotonic")
    assert found["maps"][found["advice"]]["interval"][0] > 0
    assert sure.model.about["recalibrated"]["kind"] == found["advice"]
    p = np.array([[0.01, 0.99], [0.5, 0.5]])
    (name, mended), *_ = decisions(sure.model, p)
    assert name == f"calibrated {found['positive']}"
    assert mended[0] > mended[1] or p[0, 0] < p[1, 0]
    plain = run({"x": x, "y": y}, "y", models=["logistic regression"], folds=5, metric="log_loss").record["calibration"]
    assert plain["advice"] is None
    assert plain["off"] == 0
    assert "The probabilities are calibrated" in plain["text"]
