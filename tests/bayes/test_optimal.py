"""What is optimal when all is known."""

import numpy as np
import pytest
import scipy.stats

from certifit.bayes import BayesOptimal


def test_two_normals():
    best = BayesOptimal({"a": 0.3, "b": 0.7}, {"a": scipy.stats.norm(-1), "b": scipy.stats.norm(1)})
    cut = 0.5 * np.log(0.3 / 0.7)
    assert best.predict([cut - 1e-6, cut + 1e-6]).tolist() == ["a", "b"]
    closed = 0.3 * scipy.stats.norm.sf(cut + 1) + 0.7 * scipy.stats.norm.cdf(cut - 1)
    assert best.error(support=(-12, 12)) == pytest.approx(closed, rel=1e-9)
    assert best.error(draws=200_000, random_state=0) == pytest.approx(closed, abs=0.003)
    p = best.predict_proba([[0.0]])
    assert p[0, 1] == pytest.approx(0.7)


def test_no_rule_beats_it_in_the_plane():
    densities = {k: scipy.stats.multivariate_normal(m, c) for k, m, c in ((0, [0, 0], [1, 2]), (1, [1, 1], [2, 1]))}
    best = BayesOptimal({0: 0.5, 1: 0.5}, densities)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40_000)
    X = np.where(y[:, None] == 0, rng.multivariate_normal([0, 0], np.diag([1, 2]), 40_000), 0.0)
    X += np.where(y[:, None] == 1, rng.multivariate_normal([1, 1], np.diag([2, 1]), 40_000), 0.0)
    wrong = np.mean(best.predict(X) != y)
    assert wrong == pytest.approx(best.error(draws=40_000, random_state=1), abs=0.01)
    for angle in np.linspace(0, np.pi, 7):
        line = (X @ [np.cos(angle), np.sin(angle)] > 0.5).astype(int)
        assert min(np.mean(line != y), np.mean(line == y)) > wrong - 0.005


def test_discrete_classes_and_functions():
    best = BayesOptimal({"few": 0.5, "many": 0.5}, {"few": scipy.stats.poisson(1), "many": scipy.stats.poisson(5)})
    assert best.predict([[0], [2], [3]]).tolist() == ["few", "few", "many"]
    by_hand = BayesOptimal(
        {"u": 0.5, "v": 0.5}, {"u": lambda X: np.where(X[:, 0] < 0.5, 2.0, 0.0), "v": lambda X: 1.0 + 0 * X[:, 0]}
    )
    assert by_hand.predict([[0.2], [0.7]]).tolist() == ["u", "v"]


def test_regression_function():
    def joint(x, y):
        return scipy.stats.norm.pdf(x) * scipy.stats.norm.pdf(y, np.sin(x), 0.5)

    best = BayesOptimal(joint=joint, support=(-np.inf, np.inf))
    x = np.array([-1.0, 0.3, 2.0])
    np.testing.assert_allclose(best.predict(x), np.sin(x), atol=1e-8)
    np.testing.assert_allclose(best.noise(x), 0.25, atol=1e-8)


def test_bad_problems_are_named():
    for arguments, match in [
        ({}, "Give either"),
        ({"joint": lambda x, y: y}, "support"),
        ({"priors": {"a": 1.0}, "densities": {"b": scipy.stats.norm()}}, "same classes"),
        ({"priors": {"a": 0.4}, "densities": {"a": scipy.stats.norm()}}, "sum to one"),
    ]:
        with pytest.raises(ValueError, match=match):
            BayesOptimal(**arguments)
    with pytest.raises(ValueError, match="regression problem"):
        BayesOptimal(joint=lambda x, y: y, support=(0, 1)).predict_proba([[0.0]])
