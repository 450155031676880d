"""Targets that a loss is not made for are refused before any fit."""

import numpy as np
import pytest

from certifit.linear_model import LinearModel


@pytest.mark.parametrize(
    ("loss", "y"), [("poisson", [-1.0, 2.0, 3.0]), ("gamma_log", [0.0, 1.0, 2.0]), ("binomial", [0.5, 2.0, 0.0])]
)
def test_targets_outside_the_domain_are_refused(loss, y):
    with pytest.raises(ValueError, match=f"out of the valid range of the {loss} loss"):
        LinearModel(loss, "l2", lam=0.1).fit(np.arange(3.0)[:, None], y)


def test_targets_inside_it_are_proved():
    model = LinearModel("poisson", "l2", lam=0.1).fit(np.arange(3.0)[:, None], [0.0, 2.0, 3.0])
    assert model.certificate_.relative_gap < 1e-6
