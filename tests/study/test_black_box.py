"""Ensembles as arrays answer as scikit-learn's do; a study chooses them only where it may, and says what is missing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import certifit as cf
from certifit.exceptions import ExportError, TableError
from certifit.study import run
from certifit.study._black_box import NOTHING, BlackBoxClassifier, BlackBoxRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4)).round(2)
VALUE = np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * RNG.normal(size=300)


@pytest.mark.parametrize("kind", ["gradient boosting", "random forest"])
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn(kind, classes):
    y = np.digitize(VALUE, np.quantile(VALUE, np.arange(1, classes) / classes)).astype(str)
    w = RNG.integers(1, 4, 300).astype(float)
    peer = (HistGradientBoostingClassifier if kind == "gradient boosting" else RandomForestClassifier)(random_state=3)
    own = BlackBoxClassifier(kind, random_state=3).fit(X, y, sample_weight=w)
    peer.fit(X, y, sample_weight=w)
    new = RNG.normal(size=(500, 4))
    np.testing.assert_allclose(own.predict_proba(new), peer.predict_proba(new), rtol=1e-12, atol=1e-14)
    assert own.predict(new).tolist() == peer.predict(new).tolist()


@pytest.mark.parametrize(
    ("own", "peer"),
    [
        (BlackBoxRegressor(), HistGradientBoostingRegressor()),
        (BlackBoxRegressor(counts=True), HistGradientBoostingRegressor(loss="poisson")),
        (BlackBoxRegressor("random forest"), RandomForestRegressor(n_estimators=100)),
    ],
)
def test_numbers_are_those_of_scikit_learn(own, peer):
    y = np.floor(3 * np.abs(VALUE))
    new = RNG.normal(size=(200, 4))
    found = peer.set_params(random_state=0).fit(X, y).predict(new)
    np.testing.assert_allclose(own.fit(X, y).predict(new), found, rtol=1e-12, atol=1e-14)


def interaction():
    a, b = RNG.uniform(-1, 1, (2, 400))
    steps = np.floor(4 * a) * np.floor(4 * b)
    return {"a": a, "b": b, "y": steps + 0.1 * RNG.normal(size=400)}


def test_a_black_box_is_chosen_only_where_it_is_allowed_and_nothing_is_claimed(tmp_path):
    table = interaction()
    with pytest.raises(TableError, match="--allow-black-box"):
        run(table, "y", models=["gradient boosting"], folds=3)
    study = run(table, "y", models=["least squares", "gradient boosting"], folds=3, allow_black_box=True)
    assert study.record["verdict"]["winner"] == "gradient boosting"
    assert study.verdict.endswith(NOTHING)
    assert study.record["proofs"]["certificates"] == []
    assert study.record["summary"][-1]["text"].startswith(NOTHING)
    written = {p.name: p for p in study.write(tmp_path)}
    assert "model.proof" not in written
    assert NOTHING in written["report.html"].read_text()
    assert NOTHING in written["card.md"].read_text()
    assert "--allow-black-box" in written["report.html"].read_text()
    model = cf.load(written["model.certifit"])
    new = {"a": [0.3, -0.7], "b": [0.9, 0.2]}
    np.testing.assert_array_equal(model.predict(new), study.model.predict(new))
    assert not cf.verify(written["model.certifit"], table).holds
    with pytest.raises(ExportError):
        cf.files.to_code(model, "python", tmp_path / "model.py")


def test_a_model_that_can_be_proved_wins_a_tie():
    iris = load_iris(as_frame=True).frame.iloc[:100]
    study = run(iris, "target", models=["logistic regression", "random forest"], folds=3, allow_black_box=True)
    assert study.record["verdict"]["winner"] == "logistic regression"
    assert study.record["proofs"]["certificates"][0]["holds"]
