"""Ridge on a log scale: means of the target, the same from shared folds, proved on the logarithms."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.files import verify_model
from certifit.model_selection import Search
from certifit.study import run
from certifit.study._log_ridge import LogRidge
from certifit.study._models import Shape


def _data(n=400, seed=0, noise=0.6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.exp(X @ [1.0, -0.5, 0.0] + noise * rng.normal(size=n))


def test_predictions_are_means_not_typical_values():
    X, y = _data(4000)
    model = LogRidge(alpha=1.0).fit(X, y)
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=0.05)
    assert model.smearing_ == pytest.approx(np.exp(0.6**2 / 2), rel=0.05)  # of a normal error
    assert np.all(model.predict(1e6 * X) > 0)
    assert np.all(np.isfinite(model.predict(1e6 * X)))


@pytest.mark.parametrize("weighted", [False, True])
def test_shared_folds_give_what_fits_alone_give(weighted):
    X, y = _data()
    s = np.random.default_rng(1).random(len(y)) if weighted else None
    grid = {"alpha": [0.1, 10.0, 300.0]}
    ours, alone = (Search(LogRidge(), grid, cv=4, share=share).fit(X, y, sample_weight=s) for share in (True, False))
    assert ours.shared_
    assert ours.cv_results_["mean_test_score"] == pytest.approx(alone.cv_results_["mean_test_score"], rel=1e-9)


def test_the_certificate_speaks_of_the_logarithms():
    X, y = _data()
    model = LogRidge().fit(X, y)
    assert verify_model(model, X, y).holds
    assert not verify_model(model, X, 1.1 * y).holds
    with pytest.raises(ValueError, match="positive"):
        LogRidge().fit(X, -y)


def test_a_study_of_a_skewed_target_tries_the_log_scale_and_its_model_verifies(tmp_path):
    X, y = _data(300, noise=0.25)
    table = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "price": y}
    study = run(table, "price", models=["ridge", "ridge on a log scale"], folds=4, out=tmp_path)
    assert study.record["verdict"]["winner"] == "ridge on a log scale"
    assert verify_model(study.model, table).holds
    assert (tmp_path / "model.proof").exists()


def test_only_long_upper_tails_are_skewed():
    rng = np.random.default_rng(3)
    assert Shape.of(np.exp(rng.normal(size=500))) == Shape(True, True)
    assert Shape.of(10.0 + rng.normal(size=500)) == Shape(True, False)
    assert Shape.of(rng.normal(size=500)) == Shape(False, False)
