"""Labels that LinearModel calls certain are those of a far more exact fit."""

import numpy as np
import pytest

import certifit as cf
from certifit.linear_model import LinearModel


@pytest.mark.parametrize("loss", ["logistic", "exponential", "hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(5))
def test_certain_labels_do_not_change(loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 3)) * [1.0, 1e3, 1e-3]
    y = np.where(X @ [1.0, 1e-3, 1e3] + rng.logistic(size=80) > 0, "yes", "no")
    rough = LinearModel(loss, "l2", lam=0.05, tol=1e-3).fit(X, y)
    fine = LinearModel(loss, "l2", lam=0.05, tol=1e-12).fit(X, y)
    rows = rng.standard_normal((500, 3)) * [1.0, 1e3, 1e-3]
    sure = rough.certain(rows)
    assert np.array_equal(rough.predict(rows)[sure], fine.predict(rows)[sure])
    assert fine.certain(rows).mean() > 0.9


def test_no_bound_no_certainty_and_no_labels_no_question():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), rng.integers(0, 2, 30)
    assert not LinearModel("hinge", "l1", lam=0.1).fit(X, y).certain(X).any()
    assert not hasattr(LinearModel("squared"), "certain")


def test_certainty_survives_a_file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = (X[:, 0] + rng.logistic(size=60) > 0).astype(int)
    model = LinearModel("logistic", "l2", lam=0.1).fit(X, y)
    sure = model.certain(X)
    cf.save(model, tmp_path / "m.certifit")
    assert np.array_equal(cf.load(tmp_path / "m.certifit").certain(X), sure)
