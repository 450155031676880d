"""Whether a likelihood has a maximum: the theorem and the linear programme agree."""

import numpy as np
import pytest

from certifit._objective import Objective
from certifit.design import as_design
from certifit.losses import Binomial, Poisson
from certifit.regularizers import Zero
from certifit.solvers import Options, Task
from certifit.solvers.existence import rising_direction
from certifit.solvers.smooth import solve_smooth


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", [Poisson(), Binomial()], ids=lambda x: x.name)
def test_the_two_answers_agree(loss, seed):
    rng = np.random.default_rng(seed)
    X, share = rng.normal(size=(6, 2)), loss.name == "binomial"
    y = rng.integers(0, 2, size=6).astype(float) if share else rng.poisson(0.5, size=6).astype(float)
    direction = rising_direction(X, y, np.ones(6), True, share)
    task = Task(Objective(loss, Zero(), 0.0), as_design(X), y)
    start = np.zeros((1, 2)), np.zeros(1)
    exists = solve_smooth(task, Options(1e-12), start, null=1.0, ask_existence=True).stats["exists"]
    assert exists == (direction is None)
    if direction is not None:
        move = X @ direction[:2] + direction[2]
        assert np.all(move[y == 0] <= 1e-9)
        assert np.all(move[y == 1] >= -1e-9) if share else np.allclose(move[y > 0], 0.0, atol=1e-9)
        assert np.abs(move).max() > 1e-6
