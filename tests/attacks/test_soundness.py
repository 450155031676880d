"""Honest fits of odd data: what their certificates claim is true in exact rationals, and nothing raises."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

import tests.attacks.oracles  # noqa: F401  (adds its judges)
from certifit.bayes import fit_density
from certifit.certificates import Certificate, Data, issue, mercer
from certifit.decomposition import PCA
from certifit.exceptions import CertifitError
from certifit.geometry import separability
from certifit.linear_model import Perceptron
from certifit.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from certifit.neighbors import (
    CondensedNeighbors,
    EditedNeighbors,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
    NearestNeighbors,
)
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.attacks.judges import JUDGES

QUICK, SLOW = 50, 2000
SCALES = (1.0, 1.0, 1e-300, 1e300, 5e-324, 1e-8, 1e150, 1e-160)
Answer = tuple[Certificate, Any, Any, Any]  # the certificate and its data


def odd(seed: int, n: int = 8) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray | None]:
    """Rows that are rank-deficient, collinear, wide, repeated, of few values, far away, or of extreme size."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    shape = seed % 8
    if shape == 1:
        X = np.column_stack([X[:, :1], 2 * X[:, :1]])
    elif shape == 2:
        X = rng.integers(-2, 3, size=X.shape).astype(float)
    elif shape == 3:
        X = np.repeat(X[: n // 2], 2, axis=0)
    elif shape == 4:
        X = np.float32(X).astype(float) + 1e6
    elif shape == 5:
        X[:, 0] = 0.0
    X = X * SCALES[int(rng.integers(len(SCALES)))]
    y = rng.permutation(np.arange(n) % 2)
    w = (None, rng.random(n), rng.integers(0, 3, n).astype(float), 10.0 ** rng.uniform(-12, 12, n))[seed % 4]
    return rng, X, y, w if w is None or np.all([w[y == k].sum() > 0 for k in (0, 1)]) else None


def _neighbours(seed: int) -> list[Answer]:
    rng, X, y, _ = odd(seed)
    metric = ("euclidean", "manhattan", "chebyshev", "cosine", "minkowski")[seed % 5]
    model = KNeighborsClassifier(2, metric=metric, p=3).fit(X, y)
    queries = X[rng.integers(0, len(X), 2)] * (1.0 if seed % 2 else 0.5)
    found = [(model.certificate_for(queries), X, y, None), (model.certificate_, X, y, None)]
    found.append((KNeighborsRegressor(2).fit(X, y.astype(float)).certificate_, X, y.astype(float), None))
    search = NearestNeighbors(metric=metric, p=3).fit(X)
    found.append((search.certificate_within(queries, float(search.kneighbors(queries, 2)[0][0, -1])), X, None, None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that do not vary
        found += [(NearestCentroid(metric=m).fit(X, y).certificate_, X, y, None) for m in ("euclidean", "manhattan")]
    if metric != "cosine":
        found += [(k().fit(X, y).certificate_, X, y, None) for k in (CondensedNeighbors, EditedNeighbors)]
    return found


def _trees(seed: int) -> list[Answer]:
    rng, X, y, w = odd(seed)
    real = rng.normal(size=len(y)) * 10.0 ** float(rng.integers(-3, 4))
    sort = DecisionTreeClassifier(max_depth=2).fit(X, y, sample_weight=w)
    fit = DecisionTreeRegressor(max_depth=2).fit(X, real, sample_weight=w)
    return [(sort.certificate_, X, y, w), (fit.certificate_, X, real, w)]


def _counts(seed: int) -> list[Answer]:
    rng, X, y, w = odd(seed)
    cells = rng.integers(0, 3, size=X.shape).astype(float)
    found = []
    for model, rows in ((GaussianNB(), X), (BernoulliNB(), X), (MultinomialNB(), np.abs(X)), (CategoricalNB(), cells),
                        (ComplementNB(), np.abs(X))):  # fmt: skip
        found.append((model.fit(rows, y, sample_weight=w).certificate_, rows, y, w))
    table = scipy.sparse.csr_matrix(np.where(cells > 0, cells, 7.0))
    table.data[table.data == 7.0] = 0.0  # zeros that are stored
    found.append((MultinomialNB().fit(table, y).certificate_, table, y, None))
    return found


def _spectra(seed: int) -> list[Answer]:
    _, X, _, _ = odd(seed)
    found = [(mercer(X @ X.T), X @ X.T, None, None)]
    return [*found, (PCA(1).fit(X).certificate_, X, None, None)]


def _hyperplanes(seed: int) -> list[Answer]:
    rng, X, y, _ = odd(seed)
    model = Perceptron(max_iter=20).fit(X, y)
    coef = {"coef": rng.normal(size=(1, X.shape[1])), "intercept": np.zeros(1)}
    found = [(c, X, y, None) for c in (model.certificate_, issue("training-errors", Data.of(X, y), coef))]
    return [*found, (separability(X, y, rigor=("float", "exact")[seed % 2]).certificate, X, y, None)]


def _densities(seed: int) -> list[Answer]:
    rng, X, _, _ = odd(seed)
    whole = rng.integers(1, 5, size=(6, 1)).astype(float)
    found = []
    for family, rows in (("normal", X[:, :1]), ("gamma", np.abs(X[:, :1])), ("poisson", whole), ("categorical", whole)):
        found.append((fit_density(rows[:, 0], family).certificate_, rows, None, None))
    return found


PROBLEMS = {
    "neighbours": _neighbours, "trees": _trees, "counts": _counts, "spectra": _spectra, "hyperplanes": _hyperplanes,
    "densities": _densities,
}  # fmt: skip


def check_truth(make: Callable[[int], list[Answer]], seed: int) -> int:
    """How many certificates of a problem hold; each of them is true."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            answers = make(seed)
        except (ValueError, CertifitError):  # data that an estimator refuses, and says why
            return 0
        held = 0
        for c, X, y, w in answers:
            assert c.verify(X, y, w).holds == c.holds, str(c)
            if c.holds:
                rows = X.toarray() if scipy.sparse.issparse(X) else X
                assert JUDGES[c.kind](c, rows, y, w) is None, f"seed {seed}: {JUDGES[c.kind](c, rows, y, w)}: {c}"
            held += c.holds
    return held


@pytest.mark.parametrize("name", PROBLEMS)
def test_claims_about_odd_data_are_true(name):
    assert sum(check_truth(PROBLEMS[name], seed) for seed in range(QUICK)) >= QUICK // 2


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_claims_about_many_odd_data_are_true(name):
    assert sum(check_truth(PROBLEMS[name], seed) for seed in range(QUICK, SLOW)) >= SLOW // 2


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
@pytest.mark.parametrize("n", [10, 60])
def test_hold_out_intervals_cover_as_often_as_they_say(share, n):
    rng, level, runs, covered = np.random.default_rng(0), 0.9, 600, 0
    X, y = np.zeros((n, 1)), np.zeros(n)
    for _ in range(runs):
        evidence = {"predictions": (rng.random(n) < share).astype(float), "level": level}
        c = issue("hold-out", Data.of(X, y), evidence)
        covered += c.low <= share <= c.high
    assert scipy.stats.binomtest(covered, runs, level, alternative="less").pvalue > 1e-4
