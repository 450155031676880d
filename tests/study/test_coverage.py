"""Intervals and bands of the report hold their level in simulation (many rounds with -m slow)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from certifit import metrics
from certifit.study._design import Design
from certifit.study._effects import effects
from certifit.study._facts import examine
from certifit.study._plan import choose_candidates, plan_work
from certifit.study._runner import make_pipeline
from certifit.study._winner import _precision, _roc


def at_least(share, level, rounds):
    """No sign that a fraction of successes belongs to less than the level."""
    return share > level - 3 * np.sqrt(level * (1 - level) / rounds)


def effects_cover(rounds, seed):
    rng = np.random.default_rng(seed)
    right = total = 0
    for _ in range(rounds):
        a, b = rng.normal(50, 10, 60), rng.normal(size=60)
        ward = rng.choice(["n", "s"], 60, p=[0.7, 0.3])
        facts = examine({"a": a, "b": b, "ward": ward, "y": 0.1 * a - b + 2 * (ward == "s") + rng.normal(size=60)}, "y")
        work = plan_work(facts, Design().read(facts), 3, 0)
        ridge = choose_candidates(facts, ["ridge"])[0][1]
        found = effects(make_pipeline(ridge, work).set_params(model__alpha=5.0).fit(work.X, work.y), work)
        truth = {"a": 0.1, "b": -1.0, "ward = s": 2.0, "ward = n": -2.0}
        for row in found["rows"]:
            right += row["interval"][0] <= truth[row["name"]] <= row["interval"][1]
            total += 1
    return right / total, total


def bands_cover(rounds, seed):
    """Two normal laws, two standard deviations apart: the true curves are known."""
    rng = np.random.default_rng(seed)
    roc = precision = 0
    for _ in range(rounds):
        score = np.concatenate([rng.normal(2, 1, 80), rng.normal(0, 1, 120)])
        positive = np.arange(200) < 80
        found = _roc(positive, score, "yes", band=True)
        truth = scipy.stats.norm.cdf(2 + scipy.stats.norm.ppf(np.array(found["fpr"])))
        roc += bool(np.all((np.array(found["low"]) <= truth + 1e-4) & (truth <= np.array(found["high"]) + 1e-4)))
        curve = metrics.roc(positive, score)
        keep = np.flatnonzero(curve.tpr > 0)
        band, t = _precision(curve, keep), curve.thresholds[keep]
        hits, alarms = 0.4 * scipy.stats.norm.sf(t - 2), 0.6 * scipy.stats.norm.sf(t)
        truth = hits / (hits + alarms)
        precision += bool(np.all((np.array(band["low"]) <= truth + 1e-4) & (truth <= np.array(band["high"]) + 1e-4)))
    return roc / rounds, precision / rounds


def test_effects_cover_what_is_true():
    share, total = effects_cover(60, 0)
    assert at_least(share, 0.95, total)


def test_bands_hold_whole_curves():
    for share in bands_cover(60, 0):
        assert at_least(share, 0.95, 60)


@pytest.mark.slow
def test_effects_cover_what_is_true_in_many_tables():
    share, total = effects_cover(1_000, 1)
    assert at_least(share, 0.95, total)
    assert share < 0.97


@pytest.mark.slow
def test_bands_hold_whole_curves_of_many_samples():
    for share in bands_cover(1_500, 1):
        assert at_least(share, 0.95, 1_500)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.8, 0.9])
def test_prediction_sets_cover_over_many_studies(level):
    """Averaged over training tables, the fraction of new answers inside is what was asked for, to 2 %."""
    from certifit.study import prediction_sets, run

    inside = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(620, 2))
        y = x[:, 0] + rng.standard_t(4, size=620)
        model = run({"a": x[:120, 0], "b": x[:120, 1], "y": y[:120]}, "y", models=["least squares"], folds=5).model
        (_, low), (_, high) = prediction_sets(model, x[120:], level)
        inside.append(np.mean((low <= y[120:]) & (y[120:] <= high)))
    assert np.mean(inside) == pytest.approx(level, abs=0.02)
