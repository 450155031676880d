"""Intervals cover as often as they say: a small fixed-seed simulation by default, thousands of draws when slow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from certifit import metrics


def _accuracy(rng, n=80, p=0.9, method="exact"):
    right = rng.random(n) < p
    return p in metrics.share(int(right.sum()), n, method).interval()


def _auc(rng, n=60, shift=1.0):
    y = np.arange(2 * n) % 2
    truth = norm.cdf(shift / np.sqrt(2))
    return truth in metrics.roc(y, shift * y + rng.normal(size=2 * n)).interval()


def _band(rng, n=60, shift=1.0):
    y = np.arange(2 * n) % 2
    r = metrics.roc(y, shift * y + rng.normal(size=2 * n))
    low, high = r.band()
    truth = norm.sf(norm.isf(r.fpr) - shift)
    return bool(np.all((low - 1e-12 <= truth) & (truth <= high + 1e-12)))


_CELLS = np.array([0.30, 0.10, 0.45, 0.15])  # tp, fp, tn, fn


def _f(rng, n=100):
    tp, fp, tn, fn = rng.multinomial(n, _CELLS)
    c = metrics.Confusion(np.array([[tn, fp], [fn, tp]], dtype=float), np.array([0, 1]), 1)
    return 0.6 / (0.6 + 0.1 + 0.15) in c.f().interval()


def _balanced(rng, n=100):
    tp, fp, tn, fn = rng.multinomial(n, _CELLS)
    c = metrics.Confusion(np.array([[tn, fp], [fn, tp]], dtype=float), np.array([0, 1]), 1)
    return 0.5 * (0.30 / 0.45 + 0.45 / 0.55) in c.balanced_accuracy.interval()


_TABLE = np.array([[0.25, 0.05, 0.03], [0.04, 0.22, 0.06], [0.05, 0.05, 0.25]])


def _macro(rng, n=150):
    m = rng.multinomial(n, _TABLE.ravel()).reshape(3, 3).astype(float)
    labels = np.arange(3)
    truth = float(metrics.Confusion(_TABLE, labels).average("f"))
    return truth in metrics.Confusion(m, labels).average("f").interval()


def _kappa(rng, n=150):
    m = rng.multinomial(n, _TABLE.ravel()).reshape(3, 3).astype(float)
    return float(metrics.Confusion(_TABLE, np.arange(3)).kappa) in metrics.Confusion(m, np.arange(3)).kappa.interval()


def _r2(rng, n=200):
    x, e = rng.normal(size=n), rng.normal(size=n)
    return 0.5 in metrics.errors(x + e, x).r2.interval()


CASES = {
    # name: (draw, least coverage, most coverage) at 95 %
    "accuracy, exact": (_accuracy, 0.945, 1.0),
    "accuracy, Wilson": (lambda rng: _accuracy(rng, method="wilson"), 0.925, 0.985),
    "AUC, DeLong": (_auc, 0.925, 0.97),
    "ROC band": (_band, 0.945, 1.0),
    "F, delta": (_f, 0.93, 0.98),
    "balanced accuracy": (_balanced, 0.93, 0.98),
    "macro F, delta": (_macro, 0.925, 0.975),
    "kappa, delta": (_kappa, 0.925, 0.975),
    "R², delta": (_r2, 0.92, 0.975),
}


def _coverage(name, draws):
    rng = np.random.default_rng(12)
    return float(np.mean([CASES[name][0](rng) for _ in range(draws)]))


@pytest.mark.parametrize("name", list(CASES))
def test_coverage_small(name):
    # 300 draws: four standard errors are 0.05.
    _, low, high = CASES[name]
    assert low - 0.05 <= _coverage(name, 300) <= high + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CASES))
def test_coverage_in_thousands_of_draws(name):
    _, low, high = CASES[name]
    found = _coverage(name, 4000)
    print(f"{name}: {found:.3f}")
    assert low <= found <= high
