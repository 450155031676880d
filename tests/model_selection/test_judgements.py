"""Comparison, curves, bias-variance and the leakage check."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.model_selection as sk
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from certifit.model_selection import (
    bias_variance,
    bootstrap,
    compare,
    hold_out,
    leakage_check,
    learning_curve,
    validation_curve,
)
from certifit.model_selection._compare import _holm


def _data(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + rng.normal(size=n)


# -- compare ---------------------------------------------------------------------------------------
def test_comparison_by_hand():
    X, y = _data()
    result = compare({"line": LinearRegression(), "near": KNeighborsRegressor()}, X, y, cv=5, repeats=2)
    cv = sk.RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
    a, b = (sk.cross_val_score(m, X, y, cv=cv) for m in (LinearRegression(), KNeighborsRegressor()))
    d = result.difference("line", "near")
    assert d.value == pytest.approx(np.mean(a - b))
    t = np.mean(a - b) / (np.std(a - b, ddof=1) * np.sqrt(1 / 10 + 1 / 4))
    assert d.p_value == pytest.approx(2 * stats.t.sf(abs(t), 9))
    turned = result.difference("near", "line")
    assert turned.value == -d.value
    assert turned.interval == pytest.approx((-d.interval.high, -d.interval.low))
    assert result.best in result.sentence
    assert "line" in str(result)


def test_three_models_are_adjusted_by_holm():
    X, y = _data()
    result = compare([LinearRegression(), Ridge(), DummyRegressor()], X, y, cv=5)
    assert len(result.differences) == 3
    assert all(d.adjusted >= d.p_value for d in result.differences)
    assert not result.difference("LinearRegression", "Ridge").decided
    assert result.difference("Ridge", "DummyRegressor").decided
    assert _holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    with pytest.raises(ValueError, match="at least two models"):
        compare([Ridge()], X, y)
    twice = compare([Ridge(), Ridge()], X, y, cv=3)
    assert twice.differences[0].p_value == 1.0


# -- curves ----------------------------------------------------------------------------------------
def test_curves_are_scikit_learns():
    X, y = _data()
    ours = validation_curve(Ridge(), X, y, param_name="alpha", param_range=[0.1, 10.0], cv=4)
    train, test = sk.validation_curve(Ridge(), X, y, param_name="alpha", param_range=[0.1, 10.0], cv=4)
    for a, b in zip(ours, (train, test)):
        assert a == pytest.approx(b)
    assert ours.best in (0.1, 10.0)
    sizes, train, test = learning_curve(Ridge(), X, y, train_sizes=[20, 90], cv=4, shuffle=False)
    theirs = sk.learning_curve(Ridge(), X, y, train_sizes=[20, 90], cv=4)
    for a, b in zip((sizes, train, test), theirs):
        assert a == pytest.approx(b)
    assert all(low < high for low, high in ours.intervals())


def test_curves_refuse_nonsense():
    X, y = _data()
    with pytest.raises(ValueError, match="Invalid parameter 'luck'"):
        validation_curve(Ridge(), X, y, param_name="luck", param_range=[1])
    for sizes in ([0.5, 1.5], [500]):
        with pytest.raises(ValueError, match="within"):
            learning_curve(Ridge(), X, y, train_sizes=sizes)


# -- bias and variance -----------------------------------------------------------------------------
def _adds_up(parts):
    assert parts.bias2 + parts.variance + parts.noise == pytest.approx(parts.total, rel=1e-9, abs=1e-12)


@given(st.integers(0, 10**6))
def test_parts_add_up_on_real_data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    y = X[:, 0] + rng.normal(size=30)
    c = np.array(["a", "b", "c"])[np.arange(30) % 3]
    for parts in (
        bias_variance(Ridge(), X, y, rounds=12, random_state=seed),
        bias_variance(DecisionTreeClassifier(random_state=0), X, c, loss="zero_one", rounds=12, random_state=seed),
    ):
        _adds_up(parts)
        assert parts.noise == 0.0
        assert parts.bias2 >= 0


def test_squared_parts_of_the_mean_are_known():
    # The mean of n draws: bias² at x is (μ(x) − E ȳ)², variance σ²/n, noise σ².
    points = np.linspace(-1, 1, 21)[:, None]

    def draw(rng):
        X = rng.uniform(-1, 1, size=(25, 1))
        return X, X[:, 0] + rng.normal(size=25)

    parts = bias_variance(DummyRegressor(), points, draw=draw, truth=(points[:, 0], 1.0), rounds=3000)
    _adds_up(parts)
    assert parts.noise == 1.0
    assert parts.bias2 == pytest.approx(np.mean(points**2), rel=0.02)
    assert parts.variance == pytest.approx((1 + 1 / 3) / 25, rel=0.1)


def test_truth_may_be_functions_and_draw_may_take_nothing():
    rng = np.random.default_rng(0)
    points = np.linspace(-1, 1, 11)[:, None]

    def draw():
        X = rng.uniform(-1, 1, size=(20, 1))
        return X, 2 * X[:, 0] + 0.1 * rng.normal(size=20)

    a = bias_variance(LinearRegression(), points, draw=draw, truth=(lambda X: 2 * X[:, 0], 0.01), rounds=50)
    b = bias_variance(
        LinearRegression(), points, draw=draw, truth=lambda X: (2 * X[:, 0], np.full(11, 0.01)), rounds=50
    )
    for parts in (a, b):
        _adds_up(parts)
        assert parts.noise == pytest.approx(0.01)
        assert parts.bias2 < 1e-4


def _flip(rng, n, noise):
    X = rng.normal(size=(n, 2))
    best = (X[:, 0] > 0).astype(int)
    return X, np.where(rng.random(n) < noise, 1 - best, best)


def test_zero_one_parts_with_known_noise():
    points = np.random.default_rng(1).normal(size=(60, 2))
    best = (points[:, 0] > 0).astype(int)
    options = {"loss": "zero_one", "rounds": 40, "draw": lambda rng: _flip(rng, 40, 0.2)}
    parts = bias_variance(KNeighborsClassifier(3), points, truth=(best, 0.2), **options)
    _adds_up(parts)
    # two classes: c₁ = 2P(f = y*) − 1, net variance −V where biased (Domingos)
    right = parts.points["variance"] * 0 + np.where(
        parts.points["bias2"] == 1, -parts.points["variance"], 1 - parts.points["variance"]
    )
    assert parts.points["noise"] == pytest.approx((2 * right - 1) * 0.2)
    shares = np.where(best[:, None] == [0, 1], 0.8, 0.2)
    again = bias_variance(KNeighborsClassifier(3), points, truth=shares, **options)
    assert again.total == pytest.approx(parts.total)
    assert again.variance == pytest.approx(parts.variance)


def test_zero_one_total_is_the_error_on_fresh_labels():
    rng = np.random.default_rng(5)
    points, _ = _flip(rng, 200, 0.2)
    best = (points[:, 0] > 0).astype(int)
    parts = bias_variance(
        KNeighborsClassifier(1), points, loss="zero_one", rounds=60, draw=lambda r: _flip(r, 40, 0.2), truth=(best, 0.2)
    )
    errors = []
    for _ in range(300):
        X, y = _flip(rng, 40, 0.2)
        fresh = np.where(rng.random(200) < 0.2, 1 - best, best)
        errors.append(np.mean(KNeighborsClassifier(1).fit(X, y).predict(points) != fresh))
    assert parts.total == pytest.approx(np.mean(errors), abs=0.02)


def test_three_classes_with_known_shares():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 1))
    shares = rng.dirichlet(np.ones(3), size=50)

    def draw(rng):
        X = rng.normal(size=(30, 1))
        return X, np.concatenate([[0, 1, 2], rng.integers(3, size=27)])

    parts = bias_variance(KNeighborsClassifier(1), points, loss="zero_one", rounds=30, draw=draw, truth=shares)
    _adds_up(parts)
    assert parts.bias == parts.bias2


def test_a_constant_learner_has_no_variance():
    X, y = np.zeros((40, 1)), np.array([0] * 10 + [1] * 30)
    parts = bias_variance(DummyClassifier(strategy="constant", constant=1), X, y, loss="zero_one", rounds=30)
    assert parts.variance == 0.0
    assert parts.bias2 == pytest.approx(0.25)
    assert "0-1 loss 0.25 = bias 0.25" in str(parts)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "absolute"}, "'squared' or 'zero_one'"),
        ({"rounds": 1}, "at least 2"),
        ({"y": None}, "Give outcomes y"),
        ({"truth": (0.0, -1.0)}, "noise is a variance"),
        ({"truth": 3.0}, "truth must be"),
        ({"y": None, "truth": (0.0, 1.0)}, "Without draw="),
    ],
)
def test_bias_variance_refuses_nonsense(options, words):
    X, y = _data(20)
    with pytest.raises(ValueError, match=words):
        bias_variance(Ridge(), X, **{"y": y, "rounds": 5, **options})


# -- leakage ---------------------------------------------------------------------------------------
def _noise(n=60, d=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), np.arange(n) % 2


def _top(X, y):
    return X[:, np.argsort(-np.abs((X - X.mean(axis=0)).T @ (y - y.mean())))[:20]]


def test_choosing_features_outside_the_folds_is_found():
    X, y = _noise()
    wrong = leakage_check(KNeighborsClassifier(3), X, y, prepare=_top, rounds=8)
    assert wrong.leaks
    assert wrong.score > 0.7  # looks like skill on pure noise
    assert wrong.skill > 0.1
    assert "LEAK" in str(wrong)
    right = leakage_check(make_pipeline(SelectKBest(k=20), KNeighborsClassifier(3)), X, y, rounds=8)
    assert not right.leaks
    assert abs(right.skill) < 0.1
    assert "No leak" in str(right)


def test_overlapping_folds_are_found():
    X, y = _noise(d=3)
    everything = [(np.arange(60), np.arange(30)), (np.arange(60), np.arange(30, 60))]
    found = leakage_check(KNeighborsClassifier(1), X, y, cv=everything, rounds=5)
    assert found.leaks
    assert found.duplicates == 60


def test_honest_procedures_are_rarely_accused():
    accused = 0
    for seed in range(8):
        X, y = _noise(d=3, seed=seed)
        y = np.where(np.arange(60) < 45, 0, 1)  # unequal classes are no skill
        accused += leakage_check(LogisticRegression(), X, y, rounds=5, random_state=seed).leaks
    assert accused <= 1


def test_numbers_and_prepared_pairs():
    X, y = _data(60)
    assert not leakage_check(Ridge(), X, y, rounds=5, prepare=lambda X, y: (X, y)).leaks
    with pytest.raises(ValueError, match="at least 3"):
        leakage_check(Ridge(), X, y, rounds=2)


def test_results_read_in_one_line():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    assert repr(hold_out(LogisticRegression(), X, y)).startswith("error 0.")
    assert "rows, " in repr(hold_out(LinearRegression(), X, X[:, 0] + y))
    assert "out-of-bag 0." in repr(bootstrap(LogisticRegression(), X, y, rounds=10))
    assert "0-1" in str(bias_variance(LogisticRegression(), X, y, rounds=10))  # the loss of a classifier
