"""The verdict on separability: right on every small case, proved, and refused when tampered with."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import certifit as cf
from certifit.certificates import Certificate, Data, issue
from certifit.certificates import _integers as integers
from certifit.certificates._data import digest_evidence
from certifit.solvers.separation import evidence, search
from tests.oracle import decision

KINDS = ("grid", "thirds", "normal", "collinear", "scales", "twins", "touching", "wide", "swapped")


def draw(rng, kind, n, d, k):
    """A small data set of a difficult kind."""
    X = rng.integers(-1, 2, size=(n, d)).astype(float)
    y = rng.integers(0, k, n)
    if kind == "thirds":
        X = rng.integers(-2, 3, size=(n, d)) / 3.0
    elif kind in ("normal", "swapped", "wide"):
        X = rng.normal(size=(n, d + n * (kind == "wide")))
    elif kind == "collinear":
        X = np.outer(rng.integers(-2, 3, n), rng.normal(size=d)) + rng.normal(size=d) * rng.integers(0, 2)
    elif kind == "scales":
        X = X * 10.0 ** rng.integers(-8, 9, size=d)
    elif kind == "twins":
        X = rng.normal(size=(n, d))
        X[n // 2 : 2 * (n // 2)] = X[: n // 2]
    elif kind == "touching":
        w = rng.integers(-2, 3, d)
        X = rng.integers(-3, 4, size=(n, d)) / 4.0
        score = X @ w
        y = np.where(score > 0, 1, np.where(score < 0, 0, rng.integers(0, 2, n)))
    if kind == "swapped":
        y = (X @ rng.normal(size=X.shape[1]) > 0).astype(int)
        y[0] = 1 - y[0]
    return X, y


def cases(seed, count, largest, classes=(2, 2, 2, 3)):
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        kind = KINDS[made % len(KINDS)]
        n, d, k = int(rng.integers(2, largest)), int(rng.integers(1, 5)), int(rng.choice(classes))
        X, y = draw(rng, kind, n, d, k)
        if len(set(y)) >= 2:
            made += 1
            yield X, y, bool(rng.integers(0, 2))


def check_case(X, y, fit_intercept):
    truth = decision(X, y.tolist(), fit_intercept)
    exact = cf.separability(X, y, fit_intercept, rigor="exact")
    assert (exact.verdict, exact.holds) == (truth, True)
    assert exact.certificate.verify(X, y).holds
    quick = cf.separability(X, y, fit_intercept)
    assert quick.verdict == truth
    assert quick.holds == (truth != "touching")
    assert quick.certificate.verify(X, y, rigor="exact").holds or truth == "touching"
    if quick.holds:
        assert quick.certificate.verify(X, y).holds
    evidence_means_what_it_says(exact, X, y, fit_intercept)
    return truth


def evidence_means_what_it_says(s, X, y, fit_intercept):
    """Products and mixtures written out in plain floats (two classes)."""
    if len(s.classes) > 2:
        return
    sign = np.where(y == s.classes[1], 1.0, -1.0)
    size = np.abs(X).max(initial=1.0)
    if s.verdict != "overlapping":
        products = sign * (X @ s.w + s.b)
        scale = np.abs(X) @ np.abs(s.w) + abs(s.b)
        assert np.all(products >= -1e-12 * scale)  # margins below rounding exist among these cases
    if s.verdict != "separable":
        assert np.all(s.multipliers >= 0)
        assert s.multipliers.sum() == pytest.approx(1)
        assert np.abs((s.multipliers * sign) @ X).max() <= 1e-9 * size
        assert len(s.rows) <= (X.shape[1] + 2 if s.verdict == "touching" else 2 * (X.shape[1] + 1))
        if fit_intercept:
            assert abs(s.multipliers @ sign) <= 1e-9


def test_agrees_with_an_exact_linear_programme():
    seen = {check_case(*case) for case in cases(seed=0, count=270, largest=9)}
    assert seen == {"separable", "touching", "overlapping"}


@pytest.mark.slow
def test_agrees_with_an_exact_linear_programme_on_thousands():
    for case in cases(seed=1, count=3000, largest=11):
        check_case(*case)


def test_agrees_without_flint(monkeypatch):
    monkeypatch.setattr(integers, "_fmpz_mat", lambda: None)
    for case in cases(seed=2, count=90, largest=8):
        check_case(*case)


def test_float_search_alone_finds_the_verdict():
    """The search itself, without the exact rescue: nearly always right, and never proved when wrong."""
    wrong = 0
    for X, y, fit_intercept in cases(seed=3, count=270, largest=9):
        truth = decision(X, y.tolist(), fit_intercept)
        found = search(X, np.unique(y, return_inverse=True)[1], len(set(y)), fit_intercept)
        wrong += found.verdict != truth
        for rigor in ("float", "exact"):
            proved = issue("separability", Data.of(X, y), evidence(found, fit_intercept), rigor).holds
            assert not (proved and found.verdict != truth)
    assert wrong <= 5


def test_evidence_for_the_wrong_verdict_is_refused():
    for X, y, fit_intercept in cases(seed=4, count=63, largest=8):
        right = cf.separability(X, y, fit_intercept, rigor="exact")
        rows = np.array([0, 1])
        for verdict in {"separable", "touching", "overlapping"} - {right.verdict}:
            evidence = {
                "weights": np.ones((len(set(y)) - 1) * (X.shape[1] + fit_intercept)),
                "rows": rows,
                "against": np.array([int(np.unique(y, return_inverse=True)[1][i] == 0) for i in rows]),
                "multipliers": np.array([0.5, 0.5]),
                **right.certificate.evidence,
                "verdict": verdict,
            }
            for rigor in ("float", "exact"):
                assert not issue("separability", Data.of(X, y), evidence, rigor).holds


@given(st.integers(0, 10**6))
def test_scaling_and_shifting_columns_keep_the_verdict(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, size=(8, 2)).astype(float), rng.integers(0, 2, 8)
    y[:2] = 0, 1
    scale, shift = 2.0 ** rng.integers(-20, 20, 2), rng.integers(-8, 8, 2)
    moved = (X + shift) * scale
    assert cf.separability(X, y, rigor="exact").verdict == cf.separability(moved, y, rigor="exact").verdict
    assert cf.separability(X, 1 - y, rigor="exact").verdict == cf.separability(X, y, rigor="exact").verdict


def tampered(certificate, **changes):
    evidence = {**certificate.evidence, **changes}
    digests = {**certificate.digests, "evidence": digest_evidence(evidence)}
    return certificate.tampered(evidence=evidence, digests=digests)


@pytest.mark.parametrize("verdict", ["separable", "touching", "overlapping"])
def test_tampering_is_refused(verdict):
    X = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1], [2, 2]])
    y = {"separable": [0, 0, 0, 0, 1], "overlapping": [0, 1, 1, 0, 1], "touching": [0, 1, 1, 1, 1]}[verdict]
    X = np.vstack([X, X[:1]]) if verdict == "touching" else X
    y = np.array([*y, 1] if verdict == "touching" else y)
    c = cf.separability(X, y, rigor="exact").certificate
    assert (c.verdict, c.holds) == (verdict, True)
    assert Certificate.from_dict(c.to_dict()).verify(X, y).holds
    other = c.verify(X + 1, y)
    assert not other.holds
    assert not other.same_data
    assert not c.tampered(evidence={**c.evidence, "fit_intercept": False}).verify(X, y).holds
    assert not c.tampered(figures={**c.figures, "verdict": "separable!"}).verify(X, y).holds
    if verdict == "separable":
        assert not tampered(c, weights=-np.asarray(c.evidence["weights"])).verify(X, y).holds
        assert not c.tampered(figures={**c.figures, "margin": 2 * c.margin}).verify(X, y).holds
    else:
        rows = c.evidence["rows"]
        mu = np.asarray(c.evidence["multipliers"])
        assert not tampered(c, multipliers=-mu).verify(X, y).holds
        assert not tampered(c, multipliers=mu[:-1]).verify(X, y).holds
        assert not tampered(c, rows=np.append(rows[:-1], 99)).verify(X, y).holds
        assert not tampered(c, rows=rows[:1], against=c.evidence["against"][:1], multipliers=mu[:1]).verify(X, y).holds
    if verdict == "touching":
        assert not tampered(c, weights=["0x1", "0x1", "-0x9"]).verify(X, y).holds


def test_many_classes_has_joint_pairwise_and_one_vs_rest_verdicts():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    s = cf.separability(X, names, rigor="exact")
    assert (s.verdict, s.holds) == ("touching", True)  # setosa stands apart, the other two overlap
    assert s.pairs["setosa", "versicolor"].verdict == "separable"
    assert s.pairs["versicolor", "virginica"].verdict == "overlapping"
    assert {k: v.verdict for k, v in s.one_vs_rest.items()} == {
        "setosa": "separable",
        "versicolor": "overlapping",
        "virginica": "overlapping",
    }
    assert s.w.shape == (3, 4)
    assert s.multipliers.shape == (150, 3)
    assert s.certificate.verify(X, names).holds


def test_large_and_wide_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 30))
    score = X @ rng.normal(size=30)
    assert cf.separability(X, score > 0).holds
    noisy = cf.separability(X, score + rng.normal(size=len(X)) > 0)
    assert (noisy.verdict, noisy.holds) == ("overlapping", True)
    assert len(noisy.rows) <= 62
    wide = cf.separability(rng.normal(size=(60, 2000)), rng.integers(0, 2, 60))
    assert (wide.verdict, wide.holds) == ("separable", True)


def test_dependent_columns_units_and_constants():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 200)
    dummies = np.eye(3)[group]  # add up to the offset's column
    y = rng.integers(0, 2, 200)
    for X in (dummies, np.column_stack([dummies, rng.normal(size=200), np.full(200, 7.0), np.zeros(200)])):
        s = cf.separability(X, y)
        assert (s.verdict, s.holds) == ("overlapping", True)
    X = rng.normal(size=(300, 3)) * [1e-200, 1.0, 1e150] + [0, 1e6, 0]
    y = (X[:, 1] + rng.normal(size=300) > 1e6).astype(int)
    assert cf.separability(X, y).holds
    s = cf.separability(X, (X[:, 0] > 0).astype(int))
    assert (s.verdict, s.holds) == ("separable", True)


def test_all_rows_zero_through_the_origin():
    s = cf.separability(np.zeros((3, 2)), [0, 1, 1], fit_intercept=False, rigor="exact")
    assert (s.verdict, s.holds) == ("overlapping", True)


def test_input_of_many_kinds():
    import pandas as pd

    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), ["no", "yes", "yes", "no"]
    for form in (X, X.tolist(), pd.DataFrame(X), scipy.sparse.csr_matrix(X), X.astype(np.float32)):
        assert cf.separability(form, y).verdict == "overlapping"
    assert cf.separability(X, np.array([False, True, True, True])).verdict == "separable"


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        ([[1.0], [2.0]], [1, 1], "at least two classes"),
        ([[1.0], [np.nan]], [0, 1], "row 1, column 0"),
        ([[1.0], [np.inf]], [0, 1], "inf"),
        ([["a"], ["b"]], [0, 1], "numbers"),
        ([[1.0], [2.0]], [0, 1, 0], "one label for each"),
        ([[1.0], [2.0]], [0, np.nan], "without a label"),
        (np.zeros((0, 2)), [], "at least two classes"),
        ([1.0, 2.0], [0, 1], "two dimensions"),
    ],
)
def test_bad_input_gets_one_clear_sentence(X, y, says):
    with pytest.raises(ValueError, match=says):
        cf.separability(X, y)


def test_unknown_rigour():
    with pytest.raises(ValueError, match="rigor"):
        cf.separability([[0], [1]], [0, 1], rigor="vague")


def test_the_name_is_a_function_whichever_way_it_is_imported():
    X, y = [[0.0], [1.0]], [0, 1]
    from certifit import geometry, margins, separability

    assert cf.separability is separability is geometry.separability
    assert cf.margins is margins is geometry.margins
    assert cf.separability(X, y).verdict == "separable"
    assert cf.margins(X, y, [1.0], -0.5).set_geometric == 0.5
    assert "separability" in dir(cf)
