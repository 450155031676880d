"""Numbers of the examples about boundaries, conditioning, margins, priors, surfaces, Pegasos and truncated kernels."""

import numpy as np
import pytest

from certifit.examples import (
    diagonal_boundary,
    ill_conditioning,
    lasso_as_prior,
    pegasos_converging,
    perceptron_or_margin,
    sigmoid_surface,
    truncated_kernel,
)


def silent(line):
    """Nobody listens."""


def test_a_tree_needs_a_staircase():
    found = diagonal_boundary.run(silent)
    assert found["diagonal"]["line"].score(found["X"], found["diagonal"]["y"]) > 0.98
    assert found["diagonal"]["leaves"] > 3 * found["a box"]["leaves"]


def test_coefficients_run_away_and_predictions_do_not():
    found = ill_conditioning.run(silent)
    assert found["least squares"][-1] > 100 * found["least squares"][0]
    assert found["ridge"][-1] < 1.0
    assert found["predictions"][-1] == pytest.approx(found["predictions"][0], rel=0.3)
    assert found["condition"] == sorted(found["condition"])


def test_no_perceptron_keeps_more_than_the_largest_margin():
    found = perceptron_or_margin.run(silent)
    assert max(found["margins"]) <= found["margin"] * (1 + 1e-9)
    assert min(found["margins"]) < 0.8 * found["margin"]
    assert found["best"].certificate_.holds


def test_fits_are_tops_of_posteriors():
    found = lasso_as_prior.run(silent)
    for key, part in found.items():
        if key != "grid":
            assert part["top"] == pytest.approx(part["fit"], abs=1e-4)
    assert found["weak l1"]["fit"] == 0.0
    assert found["weak l2"]["fit"] != 0.0


def test_a_weaker_penalty_makes_a_steeper_step():
    models = sigmoid_surface.run(silent)["models"]
    assert np.all(np.diff([np.linalg.norm(m.coef_) for m in models.values()]) > 0)


def test_pegasos_falls_about_like_one_over_t():
    found = pegasos_converging.run(silent)
    assert found["gaps"][-1] < found["gaps"][0] / 20
    assert -1.6 < found["slope"] < -0.5


def test_a_few_features_are_almost_the_kernel():
    found = truncated_kernel.run(silent)
    assert found["off"][-1] < 1e-4 < found["off"][0]
    assert found["kernel"] == sorted(found["kernel"], reverse=True)
