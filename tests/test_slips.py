"""Slips in the lecture notes: the right-hand side of every entry of docs/slips.md, checked against the library."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import KFold

from certifit import bounds, kernels, losses, metrics, objective, regularizers
from certifit.decomposition import PCA
from certifit.examples import candy_bag, circle_multiplier, leaky_selection, ridge_augmented
from certifit.linear_model import Lasso, LinearRegression, LogisticRegression, Perceptron, Ridge
from certifit.model_selection import bias_variance, cross_validate
from certifit.neighbors import KNeighborsClassifier
from certifit.preprocessing import PolynomialBasis
from certifit.solvers import gradient_descent
from certifit.svm import SVC, HardMarginSVC, PegasosSVC
from certifit.tree import entropy


def silent(line: str) -> None:
    """Nobody listens to the story here."""


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) + 1.0
    return X, X @ np.array([2.0, -1.0, 0.5, 0.0]) + 3.0 + rng.normal(size=30)


@pytest.fixture(scope="module")
def apart():
    """Two separable clouds of labels −1 and +1, less than one unit from each other's border."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal((-1.0, 0.0), 0.3, (20, 2)), rng.normal((1.0, 0.3), 0.3, (20, 2))])
    return X, np.repeat([-1, 1], 20)


@pytest.fixture(scope="module")
def mixed():
    """Two overlapping clouds."""
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal((-1.0, 0.0), 1.0, (40, 2)), rng.normal((1.0, 0.3), 1.0, (40, 2))])
    return X, np.repeat([-1, 1], 40)


# N0


def test_the_offset_stands_inside_the_sign():
    X, y = np.array([[0.0], [5.0]]), np.array([-1, 1])
    model = Perceptron(shuffle=False, trace=True).fit(X, y, coef_init=[[0.0]], intercept_init=[1.0])
    assert y[0] * 0.0 + 1.0 > 0 >= y[0] * (0.0 + 1.0)  # the slip would let row 0 pass
    assert model.trace_[0].row == 0


def test_a_small_change_of_f_proves_nothing():
    def f(t):
        return float(t @ t)

    tiny = gradient_descent(f, lambda t: 2 * t, np.array([1.0]), step=1e-6, tol=1e-4)
    assert tiny.status == "converged"
    assert f(tiny.value) > 0.9 > 1e-4
    proved = gradient_descent(f, lambda t: 2 * t, np.array([1.0]), step=0.1, tol=1e-4, lower_bound=lambda t: 0.0)
    assert f(proved.value) <= 1e-4


# N1


@pytest.mark.parametrize("k", [2, 3, 8, 10])
def test_entropy_reaches_log2_k(k):
    assert entropy(np.ones(k)) == pytest.approx(math.log2(k))
    assert entropy([5] + [0] * (k - 1)) == 0.0
    assert 0.0 <= entropy(np.arange(1, k + 1)) <= math.log2(k)


def test_one_update_raises_the_score_and_may_not_mend_it():
    X, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
    step = Perceptron(shuffle=False, trace=True).fit(X, y, coef_init=[[-10.0]], intercept_init=[0.0]).trace_[0]
    before = step.label * step.score
    after = step.label * (step.after @ X[step.row] + step.intercept_after)
    assert after - before == pytest.approx(X[step.row] @ X[step.row] + 1.0)
    assert after < 0  # still wrong
    assert step.label in (-1, 1)  # the label, not the prediction


def test_descent_goes_against_the_gradient():
    s = gradient_descent(lambda t: float(t @ t), lambda t: 2 * t, np.array([3.0]), step=0.25, max_iter=1)
    assert s.value == pytest.approx([3.0 - 0.25 * 6.0])


def test_candy_bag():
    numbers = candy_bag.run(silent)
    assert float(numbers["evidence"]) == pytest.approx(0.11165, abs=5e-6)
    shares, likes = (0.1, 0.2, 0.4, 0.2, 0.1), (0.0, 0.25, 0.5, 0.75, 1.0)
    joint = [p * q**10 for p, q in zip(shares, likes)]
    assert float(numbers["evidence"]) == pytest.approx(sum(joint))
    assert joint[3] / sum(joint) == pytest.approx(0.10087, abs=5e-6)
    last = numbers["posteriors"][-1]
    values = sorted(last.values() if isinstance(last, dict) else np.ravel(last))
    assert values[-2] == pytest.approx(joint[3] / sum(joint))


def test_the_sigmoid_has_a_minus(mixed):
    X, y = mixed
    model = LogisticRegression().fit(X, y)
    z = X @ model.coef_[0] + model.intercept_[0]
    assert model.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-z)))
    assert np.corrcoef(z, y)[0, 1] > 0


def test_largest_margin_is_smallest_w(apart):
    X, y = apart
    model = HardMarginSVC(tol=1e-9).fit(X, y)
    w = model.coef_[0]
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(w))
    rng = np.random.default_rng(0)
    seen = 0
    for u in rng.normal(size=(300, 2)):
        low, high = (X[y == 1] @ u).min(), (X[y == -1] @ u).max()
        if low > high:
            scaled = 2 * u / (low - high)  # now y(w·x + b) ≥ 1, with equality on both sides
            seen += 1
            assert np.linalg.norm(scaled) >= np.linalg.norm(w) * (1 - 1e-6)
            assert 1 / np.linalg.norm(scaled) <= model.margin_ * (1 + 1e-6)
    assert seen > 20


def test_half_w_squared_is_made_small_not_large(apart):
    X, y = apart
    model = HardMarginSVC().fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    assert model.primal_value_ == pytest.approx(0.5 * w @ w)
    assert np.all(y * (X @ (10 * w) + 10 * b) >= 1)  # also allowed, and a hundred times as large: no maximum
    assert model.dual_value_ == pytest.approx(model.primal_value_, rel=1e-5)


def test_lagrangian_of_the_circle():
    n = circle_multiplier.run(silent)
    assert 1 + 2 * n["multiplier"] * n["x"] == pytest.approx(0, abs=1e-6)
    assert n["x"] ** 2 + n["y"] ** 2 - 1 == pytest.approx(0, abs=1e-6)
    assert n["x"] == pytest.approx(-1 / math.sqrt(2), abs=1e-6)


def test_multipliers_balance(apart, mixed):
    assert float(HardMarginSVC().fit(*apart).dual_coef_.sum()) == pytest.approx(0, abs=1e-9)
    assert float(SVC().fit(*mixed).dual_coef_.sum()) == pytest.approx(0, abs=1e-9)


def test_mercer_is_a_double_sum_and_may_be_zero():
    X = np.array([[1.0], [2.0]])
    K = kernels.Linear()(X)
    assert kernels.mercer(kernels.Linear(), X).verdict == "mercer"
    v = np.array([2.0, -1.0])
    assert v @ K @ v == 0.0  # equality, so "> 0" would be false
    other = kernels.Linear()(X, np.array([[-1.0]]))[:, 0]
    assert np.array([1.0, 1.0]) ** 2 @ other < 0  # Σ f(x)K(x, xⱼ)f(x) can be negative for a Mercer kernel


def test_least_squares_has_the_least_variance_not_bias(rows):
    X = np.column_stack([rows[0], np.ones(30)])
    G = np.linalg.inv(X.T @ X)
    best = G @ X.T
    y = rows[1]
    assert LinearRegression(fit_intercept=False).fit(X, y).coef_ == pytest.approx(best @ y)
    P = np.eye(30) - X @ best
    for seed in range(5):
        C = best + np.random.default_rng(seed).normal(size=best.shape) @ P
        np.testing.assert_allclose(C @ X, np.eye(5), atol=1e-9)  # another unbiased one: the bias is alike
        assert np.linalg.eigvalsh(C @ C.T - best @ best.T)[0] > -1e-9  # its covariance is larger


def test_tight_constraints_lie_on_the_margins(apart):
    X, y = apart
    model = HardMarginSVC(tol=1e-9).fit(X, y)
    scores = model.decision_function(X[model.support_])
    assert np.abs(scores) == pytest.approx(1.0, abs=1e-5)  # on H⁺ or H⁻, far from 0


def test_the_mistake_bound_needs_a_start_at_zero(apart):
    X, y = apart
    near = Perceptron(shuffle=False).fit(X, y)
    far = Perceptron(shuffle=False).fit(X, y, coef_init=[[-60.0, 0.0]])
    assert near.certificate_.value <= near.certificate_.bound
    assert far.certificate_.value > near.certificate_.bound  # the simple form is false there
    assert far.certificate_.value <= far.certificate_.bound


def test_more_folds_lower_the_bias_and_may_raise_the_variance():
    n, rng = 20, np.random.default_rng(0)
    bias, spread = {}, {}
    for k in (2, n):
        means, shares = [], []
        for _ in range(150):
            x, y = np.zeros((n, 1)), rng.normal(size=n)
            folds = KFold(k, shuffle=False)
            means.append(-cross_validate(DummyRegressor(), x, y, cv=folds, scoring="neg_mean_squared_error")[
                "test_score"
            ].mean())  # fmt: skip
            c = np.append(np.arange(n - 1) % 2, rng.integers(2))
            rng.shuffle(c)
            most = DummyClassifier(strategy="most_frequent")
            shares.append(cross_validate(most, x, c, cv=folds, scoring="accuracy")["test_score"].mean())
        bias[k], spread[k] = np.mean(means) - (1 + 1 / n), np.std(shares)
    # The estimate judges a model of n − n/k rows: its mean is 1 + 1/(n − n/k), for the model of n rows it is 1 + 1/n.
    assert 1 / (n - n / 2) - 1 / n > 10 * (1 / (n - 1) - 1 / n)
    assert bias[n] < bias[2]
    assert spread[n] > 1.2 * spread[2]


def test_features_are_chosen_on_the_training_folds():
    numbers = leaky_selection.run(silent)
    assert numbers["outside"] > 0.85  # of coin tosses
    assert numbers["inside"] < 0.65


def test_a_distance_is_zero_only_between_equal_points():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [0, 1, 0, 1]

    def blind(a, b):
        return float(abs(a[0] - b[0]))  # symmetric, d(x, x) = 0, triangle; but (0, 0) and (0, 1) are 0 apart

    with pytest.raises(ValueError, match="d\\(x, z\\) > 0 when x and z differ"):
        KNeighborsClassifier(n_neighbors=1, metric=blind).fit(X, y).predict(X)


def test_surrogates_bound_the_zero_one_loss_from_above():
    z, y = np.linspace(-30, 30, 601), np.ones(601)
    wrong = losses.ZeroOne().value(np.sign(z), y)
    assert set(np.unique(wrong)) == {0.0, 1.0}
    for loss, unit in (
        (losses.Hinge(), 1.0),
        (losses.SquaredHinge(), 1.0),
        (losses.Exponential(), 1.0),
        (losses.Logistic(), math.log(2)),
    ):
        value = loss.value(z, y) / unit
        assert np.all(value >= wrong - 1e-12)
        assert value.max() > 30  # not between 0 and 1


def test_soft_margin_objective_has_a_sum_and_a_cost(mixed):
    X, y = mixed
    for C in (0.1, 3.0):
        model = SVC(kernel="linear", C=C, tol=1e-6).fit(X, y)
        w, b = model.coef_[0], model.intercept_[0]
        J = 0.5 * w @ w + C * np.maximum(0, 1 - y * (X @ w + b)).sum()
        assert model.certificate_.value == pytest.approx(J, rel=1e-6)
        rng = np.random.default_rng(0)
        for dw, db in zip(rng.normal(size=(50, 2)) * 0.05, rng.normal(size=50) * 0.05):
            other = 0.5 * (w + dw) @ (w + dw) + C * np.maximum(0, 1 - y * (X @ (w + dw) + b + db)).sum()
            assert other >= J * (1 - 1e-6)


def test_polynomials_hold_all_powers_up_to_d_and_scalings_are_positive():
    X = np.random.default_rng(0).normal(size=(8, 3))
    assert PolynomialBasis(2).fit_transform(X).shape[1] in (math.comb(5, 2), math.comb(5, 2) - 1)
    terms = [np.ones(8), *(math.sqrt(2) * X.T), *(X.T**2)]
    terms += [math.sqrt(2) * X[:, i] * X[:, j] for i, j in itertools.combinations(range(3), 2)]
    phi = np.column_stack(terms)  # 1, x and x²: powers up to 2, not 2 alone
    assert kernels.Polynomial(degree=2, offset=1.0)(X) == pytest.approx(phi @ phi.T)
    assert kernels.mercer(2.0 * kernels.Linear(), X).verdict == "mercer"
    assert kernels.mercer(-1.0 * kernels.Linear()(X), X).verdict == "not mercer"


# N2


def test_descent_stops_by_the_size_of_the_change():
    s = gradient_descent(lambda t: float(t @ t), lambda t: 2 * t, np.array([3.0]), step=0.1, tol=1e-10)
    assert s.stats["n_iter"] > 10  # "while f(t) − f(t−1) ≥ ε" would end at once: f falls
    assert abs(float(s.value[0])) < 1e-4


def test_normal_equations(rows):
    X, T = rows
    W = np.column_stack([X, np.ones(30)])
    model = LinearRegression().fit(X, T)
    theta = np.linalg.inv(W.T @ W) @ W.T @ T
    assert np.append(model.coef_, model.intercept_) == pytest.approx(theta)
    residual = X @ model.coef_ + model.intercept_ - T  # θ·x + θ₀ − y
    assert W.T @ residual == pytest.approx(np.zeros(5), abs=1e-9)
    n, d = W.shape
    products = sum(1 for _ in itertools.product(range(n), range(d), range(d)))  # of WᵀW
    elimination = sum((d - k) ** 2 for k in range(d))
    assert products + elimination <= n * d**2 + d**3 < d**3 * n


def test_the_ridge_leaves_the_offset_alone(rows):
    X, y = rows
    n, lam = len(y), 0.7
    model = Ridge(alpha=n * lam).fit(X, y)
    W = np.column_stack([X, np.ones(n)])
    D = np.diag([1.0] * 4 + [0.0])  # a zero in the place of the offset
    assert np.append(model.coef_, model.intercept_) == pytest.approx(np.linalg.solve(W.T @ W + n * lam * D, W.T @ y))
    Z = X - X.mean(axis=0)  # or centre first
    assert model.coef_ == pytest.approx(np.linalg.solve(Z.T @ Z + n * lam * np.eye(4), Z.T @ (y - y.mean())))
    hit = np.linalg.solve(W.T @ W + n * lam * np.eye(5), W.T @ y)
    assert abs(hit[-1]) < 0.7 * abs(model.intercept_)


def test_it_is_logistic_regression_that_gives_the_sigmoid(mixed):
    X, y = mixed
    far = np.array([[50.0, 0.0], [-50.0, 0.0]])
    p = LogisticRegression().fit(X, y).predict_proba(far)
    assert np.all((p >= 0) & (p <= 1))
    z = LinearRegression().fit(X, (y + 1) / 2).predict(far)
    assert z.max() > 1
    assert z.min() < 0


def test_derivatives_of_f_and_a_target_per_row(rows):
    X, y = rows
    loss = losses.Logistic()
    z, s, h = np.linspace(-3, 3, 13), np.ones(13), 1e-6
    slope = (loss.value(z + h, s) - loss.value(z - h, s)) / (2 * h)  # ∂f/∂x
    assert loss.slope(z, s) == pytest.approx(slope, abs=1e-8)
    T = np.column_stack([y, -y])
    assert len(T) == len(X) != X.shape[1]  # n targets, not d
    assert LinearRegression().fit(X, T).coef_.shape == (2, 4)


# N3


def test_a_score_of_zero_is_a_mistake():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, -1])
    step = Perceptron(shuffle=False, trace=True).fit(X, y).trace_[0]
    assert step.score == 0.0
    assert np.any(step.after != 0)
    assert losses.PerceptronLoss().slope(np.zeros(1), np.ones(1))[0] == -1.0


def test_at_most_that_many_mistakes(apart):
    c = Perceptron(shuffle=False).fit(*apart).certificate_
    assert c.holds
    assert c.value < c.bound


def test_ridge_with_points_as_columns(rows):
    X, y = rows
    lam = 0.3
    C, Y = X.T, np.vstack([y, -2 * y])  # columns are points
    n = C.shape[1]
    W = Y @ C.T @ np.linalg.inv(C @ C.T + n * lam * np.eye(4))
    assert Ridge(alpha=n * lam, fit_intercept=False).fit(X, Y.T).coef_ == pytest.approx(W)


def test_padding_lets_the_penalty_reach_the_offset():
    numbers = ridge_augmented.run(silent)
    assert abs(numbers["offset_penalised"] - numbers["offset"]) > 1
    assert numbers["apart"] < 1e-13


# N4


def test_a_false_positive_is_predicted_one_actual_zero():
    m = metrics.confusion([0, 0, 0, 1, 1], [1, 1, 0, 0, 1])
    assert (m.fp, m.fn, m.tn, m.tp) == (2, 1, 1, 1)


def test_variance_is_the_mean_square():
    def draw(rng):
        return np.zeros((10, 1)), rng.normal(size=10)

    parts = bias_variance(
        DummyRegressor(), np.zeros((1, 1)), draw=draw, truth=(lambda X: np.zeros(len(X)), 1.0), rounds=1500
    )
    assert parts.variance == pytest.approx(0.1, rel=0.15)  # σ²/n; the mean of |f − f̄| would be 0.25, of f − f̄ 0
    assert parts.bias2 + parts.variance + parts.noise == pytest.approx(parts.total)


def test_the_pseudo_inverse_inverts_the_eigenvalues():
    X = np.column_stack([np.arange(6.0), 2 * np.arange(6.0), np.ones(6)])
    A, b = X.T @ X, X.T @ np.array([1.0, 0.0, 2.0, 1.0, 3.0, 2.0])
    d, V = np.linalg.eigh(A)
    inverse = np.divide(1.0, d, out=np.zeros(3), where=d > 1e-9)
    assert V @ np.diag(d) @ V.T == pytest.approx(A)
    coef = LinearRegression(fit_intercept=False).fit(X, [1.0, 0.0, 2.0, 1.0, 3.0, 2.0]).coef_
    assert coef == pytest.approx(V @ np.diag(inverse) @ V.T @ b)


def test_ridge_has_lambda_m_not_twice_that(rows):
    X, y = rows
    m, lam = len(y), 0.4
    A, b = X.T @ X, X.T @ y
    w = Ridge(alpha=lam * m, fit_intercept=False).fit(X, y).coef_
    assert w == pytest.approx(np.linalg.solve(lam * m * np.eye(4) + A, b))

    def J(v):
        return np.mean((X @ v - y) ** 2) + lam * v @ v

    assert J(w) < J(np.linalg.solve(2 * lam * m * np.eye(4) + A, b))


def test_the_lasso_penalty_is_not_squared(rows):
    X, y = rows
    R = regularizers.L1()
    w = np.array([1.0, -2.0, 0.5])
    assert float(R.value(w)) == 3.5
    assert float(R.value(2 * w)) == 7.0  # degree one, not two
    X, y = X - X.mean(axis=0), y - y.mean()
    alpha = 0.2
    v = Lasso(alpha=alpha, tol=1e-10).fit(X, y).coef_
    pull = X.T @ (y - X @ v) / len(y)
    assert np.abs(pull).max() <= alpha * (1 + 1e-4)  # with ‖w‖₁² the limit would be 2α‖w‖₁
    assert np.abs(pull[v != 0]) == pytest.approx(alpha, rel=1e-3)


def test_rows_or_columns_but_the_same_in_both(rows):
    X, y = rows
    w = LinearRegression(fit_intercept=False).fit(X, y).coef_
    assert w == pytest.approx(np.linalg.solve(X.T @ X, X.T @ y))
    C = X.T
    assert w == pytest.approx(np.linalg.solve(C @ C.T, C @ y))
    assert (X @ X.T).shape[0] != (X.T @ y).shape[0]  # the slip does not even fit together


def test_unit_length_and_constraints_of_one_do_not_go_together(apart):
    X, y = apart
    model = HardMarginSVC(tol=1e-9).fit(X, y)
    assert model.certificate_.holds
    assert model.margin_ < 0.999  # so no w of length one has all y(w·x + b) ≥ 1
    unit = model.coef_[0] / np.linalg.norm(model.coef_[0])
    b = model.intercept_[0] / np.linalg.norm(model.coef_[0])
    assert np.all(y * (X @ unit + b) > 0)


def test_sample_complexity_of_the_hard_margin():
    rho, gamma, m, delta = 2.0, 0.25, 5000, 0.1
    right = math.sqrt(4 * (rho / gamma) ** 2 / m) + math.sqrt(2 * math.log(2 / delta) / m)
    assert float(bounds.hard_svm_error(rho, gamma, m, delta)) == pytest.approx(right)


def test_the_hinge_takes_the_offset_along():
    w, b, x = np.array([2.0]), 1.5, np.array([1.0])
    for y, right in ((1.0, 0.0), (-1.0, 4.5)):
        assert losses.Hinge().value(w @ x + np.array([b]), np.array([y]))[0] == max(0.0, 1 - y * (w @ x + b)) == right
    assert max(0.0, 1 - 1.0 * (w @ x) + b) == 0.5  # the slip charges a point that is right by far


def test_pegasos_steps_belong_to_half_lambda(mixed):
    X, y = mixed
    lam, rng = 0.1, np.random.default_rng(0)
    for factor in (1.0, 2.0):  # gradient of (λ/2)‖w‖² and of λ‖w‖²
        w, theta = np.zeros(2), np.zeros(2)
        for t in range(1, 200):
            i = rng.integers(len(y))
            g = y[i] * X[i] * (y[i] * (w @ X[i]) < 1)
            w = w - (factor * lam * w - g) / (factor * lam * t)
            theta = theta + g
            assert w == pytest.approx(theta / (factor * lam * t))
    model = PegasosSVC(alpha=lam, max_iter=300, tol=1e-3, random_state=0).fit(X, y)
    v, b = model.coef_[0], float(np.ravel(model.intercept_)[0])
    J = 0.5 * lam * v @ v + np.maximum(0, 1 - y * (X @ v + b)).mean()
    assert lam * model.certificate_.value == pytest.approx(
        J, rel=1e-6
    )  # the certificate counts ½‖w‖² + C Σ, C = 1/(λn)


def test_smo_moves_two_multipliers(mixed):
    X, y = mixed
    model = SVC(kernel="linear", tol=1e-8).fit(X, y)
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    K = X @ X.T

    def dual(a):
        return a.sum() - 0.5 * (a * y) @ K @ (a * y)

    zero = np.zeros(len(y))
    i, j = int(np.flatnonzero(y == 1)[0]), int(np.flatnonzero(y == -1)[0])
    one, two = zero.copy(), zero.copy()
    one[i] = 1e-3
    two[[i, j]] = 1e-3
    assert one @ y != 0  # αᵢ alone cannot move
    assert two @ y == 0
    assert dual(two) > dual(zero)
    assert alpha @ y == pytest.approx(0, abs=1e-9)


def test_pca_sums_over_points_and_centres_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) @ np.diag([3.0, 2.0, 1.0, 0.5]) + 10.0
    m, n = len(X), 2
    model = PCA(n_components=n).fit(X)
    Z = X - X.mean(axis=0)
    values, V = np.linalg.eigh(Z.T @ Z)
    error = sum(np.sum((model.inverse_transform(model.transform(X)) - X) ** 2, axis=1)[i] for i in range(m))
    assert error == pytest.approx(values[:-n].sum())  # a sum over the m points
    U, _ = np.linalg.qr(rng.normal(size=(4, n)))
    beta = np.sum((V.T @ U) ** 2, axis=1)
    assert np.all((beta >= 0) & (beta <= 1 + 1e-12))
    assert np.abs(beta).sum() == pytest.approx(n)  # ‖β‖₁ ≤ n
    assert np.sum((Z @ U) ** 2) == pytest.approx(beta @ values)
    assert beta @ values <= values[-n:].sum()
    R = np.linalg.svd(X)[2][:n]
    assert np.sum((X @ R.T @ R - X) ** 2) > error  # without centring


def test_ridge_stability_counts_by_the_loss():
    assert float(bounds.ridge_stability(0.1, 2.0, loss="half_squared")) == 150 * 4 / 0.01
    assert float(bounds.ridge_stability(0.1, 2.0, loss="squared")) == 600 * 4 / 0.01


def test_the_perceptron_stops_at_some_separator(apart):
    X, y = apart
    ends = [Perceptron(shuffle=True, tol=None, random_state=s).fit(X, y) for s in range(6)]
    assert all(model.score(X, y) == 1.0 for model in ends)
    turned = {tuple(np.round(m.coef_[0] / np.linalg.norm(m.coef_[0]), 6)) for m in ends}
    assert len(turned) > 1  # there is no one θ* that it converges to
    best = HardMarginSVC().fit(X, y)
    assert all(np.min(y * m.decision_function(X)) / np.linalg.norm(m.coef_) <= best.margin_ + 1e-9 for m in ends)


def test_logistic_and_naive_bayes_draw_different_lines(mixed):
    X, y = mixed
    rng = np.random.default_rng(0)
    X = X + rng.normal(size=(len(X), 1))  # the features are not independent given the class
    means = np.array([X[y == k].mean(axis=0) for k in (-1, 1)])
    spread = np.mean([X[y == k].var(axis=0) for k in (-1, 1)], axis=0)
    bayes = (means[1] - means[0]) / spread  # equal variances: the boundary of naive Bayes is linear too
    fit = LogisticRegression(C=1e6).fit(X, y).coef_[0]
    cosine = bayes @ fit / np.linalg.norm(bayes) / np.linalg.norm(fit)
    assert cosine < 0.999


def test_the_validation_rows_choose_hyper_parameters(rows):
    from certifit.model_selection import Search

    X, y = rows
    train, held = np.arange(20), np.arange(20, 30)
    search = Search(Ridge(), {"alpha": [0.01, 1.0, 100.0]}, cv=[(train, held)], refit=False).fit(X, y)
    scores = [Ridge(a).fit(X[train], y[train]).score(X[held], y[held]) for a in (0.01, 1.0, 100.0)]
    assert search.best_index_ == int(np.argmax(scores))
    moved = y.copy()
    moved[held] += 5.0  # coefficients come from the training rows alone
    again = Ridge(1.0).fit(X[train], moved[train])
    assert np.array_equal(again.coef_, Ridge(1.0).fit(X[train], y[train]).coef_)


def test_features_are_independent_given_the_class():
    from certifit.naive_bayes import BernoulliNB

    X, y = np.array([[0, 0], [1, 1], [1, 0], [1, 1]]), np.array([0, 0, 1, 1])
    model = BernoulliNB(alpha=1.0).fit(X, y)
    theta = np.exp(model.feature_log_prob_)
    joint = 0.5 * np.prod(np.where([1, 1], theta, 1 - theta), axis=1)  # a product over features, one class at a time
    assert np.allclose(model.predict_proba([[1, 1]])[0], joint / joint.sum())


def test_the_circle_is_a_condition_on_x_and_y():
    found = circle_multiplier.run(silent)
    assert found["x"] ** 2 + found["y"] ** 2 == pytest.approx(1.0)
    assert found["primal"] == pytest.approx(-math.sqrt(2.0))


def test_equal_values_do_not_need_the_kkt_conditions():
    """min x with x² ≤ 0: the dual −1/(4λ) comes as near to 0 as one likes, yet 1 + 2λx = 0 has no solution at x = 0."""
    dual = [-1 / (4 * lam) for lam in (1.0, 1e3, 1e9)]
    assert dual == sorted(dual)
    assert -1e-9 < dual[-1] < 0.0
    assert all(
        1 + 2 * lam * 0.0 != 0.0 for lam in (1.0, 1e3, 1e9)
    )  # without an inner point (Slater) no multiplier exists


def test_an_update_raises_the_value_not_the_size():
    w, b, x, y = np.array([-3.0]), 0.0, np.array([1.0]), 1
    before = y * (w @ x + b)
    after = y * ((w + y * x) @ x + b + y)
    assert after == before + x @ x + 1
    assert abs(after) < abs(before)  # the size falls while the value rises


def test_least_squares_adds_up_squared_vertical_distances(rows):
    x, y = rows[0][:, :1], rows[1]
    line = LinearRegression().fit(x, y)
    rng = np.random.default_rng(0)
    for w, b in rng.normal(size=(200, 2)) + [line.coef_[0], line.intercept_]:
        assert np.sum((x[:, 0] * w + b - y) ** 2) >= np.sum((line.predict(x) - y) ** 2)
    direction = PCA(1).fit(np.column_stack([x, y])).components_[0]
    assert not np.isclose(direction[1] / direction[0], line.coef_[0])  # squared distances at right angles: another line


def test_weights_are_sums_of_features(rows):
    from certifit.kernel_ridge import KernelRidge

    X, y = rows[0][:, :2], rows[1] - rows[1].mean()
    model = KernelRidge(alpha=1.0, kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    r = np.sqrt(2.0)

    def phi(A):
        a, b = A.T
        return np.column_stack([a * a, b * b, r * a * b, r * a, r * b, np.ones(len(A))])

    theta = model.dual_coef_ @ phi(X)  # Σ βφ(x), not Σ βx
    assert np.allclose(phi(X) @ theta, model.predict(X))
    assert np.allclose(phi(X) @ phi(X).T, (X @ X.T + 1) ** 2)


def test_components_may_be_turned_inside_their_subspace(rows):
    X = rows[0]
    Z, U = X - X.mean(axis=0), PCA(2).fit(X).components_
    c, s = np.cos(0.7), np.sin(0.7)
    turned = np.array([[c, s], [-s, c]]) @ U
    for W in (U, turned):
        assert np.sum((Z @ W.T @ W - Z) ** 2) == pytest.approx(np.sum((Z @ U.T @ U - Z) ** 2))


def test_the_slope_of_the_offset_counts_each_row_once(rows):
    X, y = rows
    J = objective("squared", "l2", X, y, lam=0.3)
    w, b, h = np.array([1.0, -1.0, 0.5, 2.0]), 0.7, 1e-6
    residuals = X @ w + b - y
    assert len(residuals) == len(y)  # i = 1, …, n: n terms, not n + 1
    assert J.gradient(w, b)[-1] == pytest.approx(2 / len(y) * residuals.sum())
    assert J.gradient(w, b)[-1] == pytest.approx((J(w, b + h) - J(w, b - h)) / (2 * h), rel=1e-6)
    assert np.allclose(J.gradient(w, b)[:-1], 2 / len(y) * X.T @ residuals + 2 * 0.3 * w)


def test_the_share_left_out_depends_on_m():
    """Resamples of m points leave (1 − 1/m)ᵐ of them out, which tends to 1/e as m grows."""
    rng = np.random.default_rng(0)
    for m in (5, 50, 500):
        left = [1 - len(np.unique(rng.integers(m, size=m))) / m for _ in range(400)]
        assert np.mean(left) == pytest.approx((1 - 1 / m) ** m, abs=4 * np.std(left) / 20 + 1e-12)
    share = (1 - 1 / 10**8) ** 10**8
    assert share == pytest.approx(1 / np.e, rel=1e-7)


def test_every_entry_of_the_page_has_its_test_and_the_reverse():
    page = (Path(__file__).parent.parent / "docs" / "slips.md").read_text()
    named = set(re.findall(r"`(test_\w+)`", page))
    here = {name for name in globals() if name.startswith("test_")} - {
        "test_every_entry_of_the_page_has_its_test_and_the_reverse"
    }
    assert named == here
