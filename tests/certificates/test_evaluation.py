"""Certificates of hold-out error and of cross-validation: what they prove, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from sklearn.model_selection import KFold

from certifit._limits import binomial_limits, corrected_limits
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import digest_evidence
from certifit.certificates.evaluation import _tail


def _hold_out(rigor="float"):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.integers(2, size=80)
    predictions = np.where(rng.random(80) < 0.2, 1 - y, y)
    return X, y, issue("hold-out", Data.of(X, y), {"predictions": predictions, "level": 0.95}, rigor)


def _cross(metric="neg_mean_squared_error", weights=None):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    split = list(KFold(5, shuffle=True, random_state=0).split(X))
    evidence = {
        "metric": metric,
        "predictions": np.concatenate([0.9 * X[test, 0] for _, test in split]),
        "test": np.concatenate([test for _, test in split]),
        "sizes": np.array([len(test) for _, test in split]),
        "train_sizes": np.array([len(train) for train, _ in split]),
        "level": 0.9,
    }
    return X, y, weights, issue("cross-validation", Data.of(X, y, weights), evidence)


def _reissued(c: Certificate, **changes) -> Certificate:
    """Changed evidence with the digest made to fit: what a careful forger would do."""
    evidence = {**c.evidence, **changes}
    return replace(c, evidence=evidence, digests={**c.digests, "evidence": digest_evidence(evidence)})


@pytest.mark.parametrize("rigor", ["float", "exact"])
def test_hold_out_interval_is_clopper_pearson(rigor):
    X, y, c = _hold_out(rigor)
    wrong = int(np.sum(c.evidence["predictions"] != y))
    exact = scipy.stats.binomtest(wrong, 80).proportion_ci(0.95, "exact")
    assert c.holds
    assert c.mistakes == wrong
    assert c.low == pytest.approx(exact.low, rel=1e-7)
    assert c.high == pytest.approx(exact.high, rel=1e-7)
    assert c.low <= exact.low <= exact.high <= c.high
    assert c.verify(X, y).holds
    assert c.verify(X, y, rigor="exact").holds
    assert c.assumes == (
        "rows are independent draws from one distribution",
        "the model was fitted and chosen without these rows",
    )
    assert Certificate.from_dict(c.to_dict()).verify(X, y).holds


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (1, 200), (60, 200)])
def test_limits_at_the_edges(k, n):
    expected = scipy.stats.binomtest(k, n).proportion_ci(0.99, "exact")
    assert binomial_limits(k, n, 0.99) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_tails_in_whole_numbers_agree_with_the_beta_function():
    for k, n, p in [(3, 40, 0.07), (25, 40, 0.5), (40, 40, 0.9)]:
        assert _tail(k, n, p, exact=True) == pytest.approx(scipy.stats.binom.sf(k - 1, n, p), rel=1e-9)


def test_hold_out_refuses_tampering():
    X, y, c = _hold_out()
    other = c.evidence["predictions"].copy()
    other[np.flatnonzero(other != y)[0]] = 1 - other[np.flatnonzero(other != y)[0]]  # one mistake less
    assert not c.verify(X, 1 - y).same_data
    assert not c.tampered(evidence={**c.evidence, "predictions": other}).verify(X, y)
    assert not _reissued(c, predictions=other).verify(X, y)
    assert not _reissued(c, level=0.5).verify(X, y)
    assert not c.tampered(figures={**c.figures, "high": c.high * 0.9}).verify(X, y)
    assert not c.tampered(figures={**c.figures, "low": c.low * 1.1}).verify(X, y)
    assert not c.tampered(claim="It never errs.").verify(X, y)


def test_hold_out_with_weights_is_not_proved():
    X, y, c = _hold_out()
    weighted = issue("hold-out", Data.of(X, y, np.full(80, 2.0)), dict(c.evidence))
    assert not weighted.holds
    assert "every row counts once" in str(weighted)


def test_cross_validation_recomputes_every_fold():
    X, y, _, c = _cross()
    assert c.holds
    assert c.verify(X, y).holds
    scores = [-np.mean((y[t] - p) ** 2) for t, p in _folds(c)]
    low, high, error = corrected_limits(scores, 0.25, 0.9)
    assert (c.mean, c.low, c.high, c.standard_error) == pytest.approx((np.mean(scores), low, high, error))
    half = scipy.stats.t.ppf(0.95, 4) * np.std(scores, ddof=1) * np.sqrt(1 / 5 + 1 / 4)
    assert high - low == pytest.approx(2 * half)


def _folds(c):
    cuts = np.cumsum(c.evidence["sizes"].astype(int))[:-1]
    return zip(np.split(c.evidence["test"].astype(int), cuts), np.split(c.evidence["predictions"], cuts))


@pytest.mark.parametrize("metric", ["r2", "neg_mean_absolute_error", "neg_mean_squared_error"])
def test_cross_validation_agrees_with_scikit_learn(metric):
    from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

    functions = {
        "r2": r2_score,
        "neg_mean_absolute_error": lambda *a, **k: -mean_absolute_error(*a, **k),
        "neg_mean_squared_error": lambda *a, **k: -mean_squared_error(*a, **k),
    }
    weights = np.random.default_rng(2).integers(1, 4, size=60).astype(float)
    X, y, w, c = _cross(metric, weights)
    expected = [functions[metric](y[t], p, sample_weight=w[t]) for t, p in _folds(c)]
    assert c.mean == pytest.approx(np.mean(expected))
    assert c.verify(X, y, w).holds
    assert not c.verify(X, y).same_data


def test_cross_validation_refuses_tampering():
    X, y, _, c = _cross()
    better = y[c.evidence["test"].astype(int)]
    assert not _reissued(c, predictions=better).verify(X, y)
    assert not _reissued(c, metric="neg_mean_absolute_error").verify(X, y)
    assert not _reissued(c, train_sizes=c.evidence["train_sizes"] * 0 + 59).verify(X, y)
    twice = c.evidence["test"].copy()
    twice[1] = twice[0]
    assert not _reissued(c, test=twice).verify(X, y)
    assert not c.tampered(figures={**c.figures, "mean": c.mean + 0.01}).verify(X, y)
    assert not c.verify(X, y + 1e-9).same_data


def test_one_fold_gives_no_interval():
    with pytest.raises(ValueError, match="at least two folds"):
        corrected_limits([0.5], 0.1)
