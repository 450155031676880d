"""Intervals and label sets of single predictions hold their level, and refuse where they cannot."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.files import TableError
from certifit.study import evaluate, fit, prediction_sets, run


def numbers(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return {"x": x, "y": 2 * x + rng.standard_t(5, size=n)}


def labels(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return {
        "a": x[:, 0],
        "b": x[:, 1],
        "y": np.array(["u", "v", "w"])[np.digitize(x[:, 0] + rng.normal(size=n), [-0.7, 0.7])],
    }


@pytest.mark.parametrize("level", [0.8, 0.9])
def test_intervals_of_numbers_cover(level):
    model = run(numbers(250, 1), "y", models=["least squares"], folds=5).model
    new = numbers(4000, 2)
    (_, low), (_, high) = prediction_sets(model, new["x"][:, None], level)
    assert np.mean((low <= new["y"]) & (new["y"] <= high)) == pytest.approx(level, abs=0.05)


def test_sets_of_labels_cover():
    model = run(labels(250, 1), "y", models=["logistic regression"], folds=5).model
    new = labels(4000, 2)
    ((name, sets),) = prediction_sets(model, np.column_stack([new["a"], new["b"]]), 0.9)
    assert name == "labels"
    assert np.mean([y in s.split("|") for y, s in zip(new["y"], sets)]) == pytest.approx(0.9, abs=0.05)


def test_what_cannot_be_given_is_refused():
    model = run(numbers(60, 1), "y", models=["least squares"], folds=5).model
    with pytest.raises(TableError, match="60 held-out rows are too few"):
        prediction_sets(model, np.zeros((1, 1)), 0.999)
    with pytest.raises(TableError, match="create it with certifit study"):
        prediction_sets(fit(numbers(60, 1), "y", "ridge", parameters={"alpha": 1.0}), np.zeros((1, 1)))


def test_evaluate_gives_intervals_that_hold_the_figure():
    model = fit(numbers(200, 1), "y", "ridge", parameters={"alpha": 1.0})
    lines = evaluate(model, numbers(300, 2))
    for line in lines[1:]:
        value, _, rest = line.partition(" (")
        low, high = (float(v) for v in rest.rstrip(")").split(" to "))
        assert low < float(value.split()[-1]) < high
