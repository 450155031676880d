"""Mistakes of a perceptron against Novikoff's bound, and the count of errors: replayed in plain NumPy."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.certificates import Ball, Data, issue
from certifit.certificates.perceptron import _moves
from certifit.linear_model import Perceptron

RNG = np.random.default_rng(11)


def run(X, y, eta=1.0, epochs=200):
    """Rosenblatt's rule from zero on (x, 1): weights, and how often each row was wrong."""
    Z, w, wrong = np.column_stack([X, np.ones(len(X))]), np.zeros(X.shape[1] + 1), np.zeros(len(X), dtype=int)
    for _ in range(epochs):
        before = wrong.sum()
        for i, s in enumerate(2 * y - 1):
            if s * (Z[i] @ w) <= 0:
                w = w + eta * s * Z[i]
                wrong[i] += 1
        if wrong.sum() == before:
            return w, wrong
    return w, wrong


def evidence(w, wrong, separator, eta=1.0):
    rows = np.flatnonzero(wrong)
    return {
        "fit_intercept": True, "eta0": eta, "classes": [0, 1], "verdict_0": "separable", "weights_0": separator,
        "mistaken_0": rows, "times_0": wrong[rows], "class_weights_0": np.ones(2), "start_0": np.zeros(len(w)),
        "coef_0": w,
    }  # fmt: skip


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("eta", [1.0, 1e-9 / 3, 1e-300, 5e-324])  # the last two by two products with |x|
def test_the_moves_of_all_mistakes_contain_the_exact_ones(offset, eta):
    rng = np.random.default_rng(3)
    X, rows = rng.normal(size=(400, 3)) * [1.0, 1e8, 1e-8], np.flatnonzero(rng.random(400) < 0.6)
    counts, costs = rng.integers(1, 9, size=len(rows)).astype(float), rng.choice([0.7, 1.3], size=len(rows))
    moved, error, reach = _moves(X, rows, Ball(counts) * costs * eta, offset)
    Z = np.column_stack([X, np.ones(400)])[rows, : 3 + offset]
    steps = [Fraction(t) * Fraction(c) * Fraction(eta) for t, c in zip(counts, costs)]
    for j, column in enumerate(Z.T):
        terms = [s * Fraction(x) for s, x in zip(steps, column)]
        assert abs(Fraction(moved[j]) - sum(terms)) <= Fraction(error[j])
        assert sum(map(abs, terms)) <= Fraction(reach[j]) + Fraction(error[j])
        assert error[j] <= 1e-12 * reach[j] + 1e-290


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 3.0))
def test_mistakes_never_exceed_novikoffs_bound(seed, eta):
    rng = np.random.default_rng(seed)
    X = rng.integers(-8, 9, (12, 2)).astype(float)
    separator = np.array([1.0, -1.0, 0.5])
    Z = np.column_stack([X, np.ones(12)])
    y = (Z @ separator > 0).astype(int)
    if len(set(y)) == 2:
        w, wrong = run(X, y, eta)
        found = issue("perceptron", Data.of(X, y), evidence(w, wrong, separator, eta))
        assert found.holds
        margin = np.abs(Z @ separator).min() / np.linalg.norm(separator)
        assert found.bound == pytest.approx((Z**2).sum(axis=1).max() / margin**2, rel=1e-9)
        assert found.value == wrong.sum() <= found.bound


@pytest.fixture
def proved():
    X = RNG.normal(size=(20, 2)) + np.repeat([[0.0], [6.0]], 10, axis=0)
    y = np.repeat([0, 1], 10)
    w, wrong = run(X, y)
    return X, y, evidence(w, wrong, w)


def test_the_steps_must_lead_to_the_weights(proved):
    X, y, ok = proved
    assert issue("perceptron", Data.of(X, y), ok).holds
    forged = [
        ok | {"coef_0": ok["coef_0"] * 1.001},
        ok | {"times_0": ok["times_0"] + 1},
        ok | {"start_0": np.array([0.0, 0.0, 1.0])},
        ok | {"weights_0": -ok["weights_0"]},
        ok | {"eta0": 2.0},
        ok | {"class_weights_0": np.array([1.0, 2.0])},
    ]
    assert not any(issue("perceptron", Data.of(X, y), e).holds for e in forged)
    assert not issue("perceptron", Data.of(X, y[::-1].copy()), ok).holds


def test_it_never_stops_where_hulls_meet():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 1, 0])
    w, wrong = run(X, y, epochs=3)
    common = {k: v for k, v in evidence(w, wrong, w).items() if k not in ("weights_0", "verdict_0")}
    mixture = {
        "verdict_0": "overlapping",
        "rows_0": [0, 3, 1, 2],
        "against_0": [1, 1, 0, 0],
        "multipliers_0": np.ones(4),
    }
    found = issue("perceptron", Data.of(X, y), common | mixture)
    assert found.holds
    assert "never stop" in found.claim
    assert not issue("perceptron", Data.of(X, y), common | mixture | {"rows_0": [0, 1, 1, 2]}).holds


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_training_errors_are_those_of_the_labels(seed, K):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (15, 2)).astype(float), np.arange(15) % K
    W = rng.integers(-2, 3, (K if K > 2 else 1, 3)).astype(float)
    found = issue("training-errors", Data.of(X, y), {"coef": W[:, :2], "intercept": W[:, 2]})
    scores = X @ W[:, :2].T + W[:, 2]
    labels = scores.argmax(axis=1) if K > 2 else (scores[:, 0] > 0).astype(int)
    assert found.holds
    assert found.value == int(np.sum(labels != y))


def test_mistakes_are_counted_beyond_64_bits():
    """Two opposite rows, 2⁶³ − 1 mistakes on each: their updates cancel, but in 64 bits five mistakes would be left."""
    X, y, w = np.array([[1.0], [1.0], [2.0]]), np.array([0, 1, 1]), np.array([14.0, 7.0])
    hulls = {"verdict_0": "touching", "rows_0": np.array([1, 0]), "against_0": np.array([0, 1]),
             "multipliers_0": np.ones(2)}  # fmt: skip
    claim = evidence(w, np.array([2**63 - 1, 2**63 - 1, 7]), np.array([1.0, -1.0])) | hulls
    assert not issue("perceptron", Data.of(X, y), claim).holds


def test_signs_of_products_that_rounding_decides_are_not_believed():
    """Rows of 1e300 times weights below the normal floats: computed with the wrong sign, and proved with the right one."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x, u = rng.normal(size=6) * 1e300, rng.normal(size=6) * 1e-310
        exact = [Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, u)]
        x[-1] = float(-sum(exact[:-1]) / Fraction(float(u[-1])))
        true = sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, u))
        if true * int(np.sign(x @ u)) < 0:
            break
    X, y = np.vstack([x, -x]), np.array([1, 0]) if true < 0 else np.array([0, 1])
    assert issue("training-errors", Data.of(X, y), {"coef": u[None], "intercept": np.zeros(1)}).value == 2
    claim = {"verdict": "separable", "fit_intercept": False, "weights": u[None]}
    assert not issue("separability", Data.of(X, y), claim).holds


@pytest.mark.parametrize("wrong", [(), (7,), (7, 1003, 2011)])
def test_an_overlap_is_found_wherever_it_is(wrong):
    """Few rows are looked at first: where these can be separated, all the others decide."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y == 1, 1.0, -1.0)
    X[list(wrong), 0] *= -1.0
    certificate = Perceptron(max_iter=5, tol=None).fit(X, y).certificate_
    assert certificate.holds
    assert certificate.verdict == ("not separable" if wrong else "separable")
    assert certificate.verify(X, y).holds
