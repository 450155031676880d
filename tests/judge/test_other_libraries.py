"""No right answer is refused: hundreds of random problems, answered by other libraries at a tight tolerance."""

import warnings

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.linear_model as sk
import sklearn.svm
import sklearn.tree

import certifit as cf


def problem(seed):
    """Rows of different sizes, scales and shifts, correlated columns, weights now and then."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 120)), int(rng.integers(1, 7))
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.7 * rng.normal(size=(d, d))) * 10 ** rng.uniform(-1, 1, size=d)
    X += 10 ** rng.uniform(-1, 1) * rng.normal(size=d)
    z = X @ (rng.normal(size=d) / X.std(axis=0)) + rng.normal()
    lam = float(10 ** rng.uniform(-3, 0.5))
    weights = rng.integers(1, 5, size=n).astype(float) if rng.random() < 0.3 else None
    noisy = z + (0.5 + z.std()) * rng.normal(size=n)
    signs = np.where(noisy > np.median(noisy), 1, -1)
    return X, z + rng.normal(size=n), signs, lam, weights, rng


def accepted(c, X, y, weights=None):
    assert c.holds, c.claim
    found = c.diagnose(X, y, weights)
    assert found.right, (c.relative_gap, str(found))
    assert found == []


@pytest.mark.parametrize("seed", range(60))
def test_least_squares_ridge_and_lasso(seed):
    X, y, _, lam, weights, _ = problem(seed)
    total = len(y) if weights is None else weights.sum()
    ridge = sk.Ridge(alpha=lam * total, solver="svd").fit(X, y, weights)
    c = cf.certify_coefficients(ridge.coef_, ridge.intercept_, X, y, "squared", "l2", lam, weights)
    accepted(c, X, y, weights)
    plain = sk.LinearRegression(tol=1e-14).fit(X, y, weights)
    c = cf.certify_coefficients(plain.coef_, plain.intercept_, X, y, "squared", "none", 0.0, weights)
    accepted(c, X, y, weights)
    lasso = sk.Lasso(alpha=lam / 2, tol=1e-13, max_iter=1_000_000).fit(X, y, weights)
    c = cf.certify_coefficients(lasso.coef_, lasso.intercept_, X, y, "squared", "l1", lam, weights)
    accepted(c, X, y, weights)


@pytest.mark.parametrize("seed", range(60, 120))
def test_logistic_and_counts(seed):
    X, z, signs, lam, weights, rng = problem(seed)
    total = len(z) if weights is None else weights.sum()
    with warnings.catch_warnings():  # steps below rounding are their concern
        warnings.simplefilter("ignore")
        logistic = sk.LogisticRegression(C=1 / (2 * lam * total), tol=1e-12, max_iter=1000, solver="newton-cholesky")
        logistic.fit(X, signs, weights)
        c = cf.certify_coefficients(logistic.coef_[0], logistic.intercept_[0], X, signs, "logistic", "l2", lam, weights)
        accepted(c, X, signs, weights)
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        counts = rng.poisson(np.exp(np.clip(0.3 * scaled.sum(axis=1), -3, 3))).astype(float)
        counts[0] += 1
        poisson = sk.PoissonRegressor(alpha=lam, tol=1e-12, max_iter=1000, solver="newton-cholesky")
        poisson.fit(scaled, counts, weights)
    c = cf.certify_coefficients(poisson.coef_, poisson.intercept_, scaled, counts, "poisson", "half_l2", lam, weights)
    accepted(c, scaled, counts, weights)


@pytest.mark.parametrize("seed", range(120, 160))
def test_softmax_and_machines(seed):
    X, z, signs, lam, _, _ = problem(seed)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    classes = np.digitize(z, np.quantile(z, [0.3, 0.6]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        softmax = sk.LogisticRegression(C=1 / (2 * lam * len(z)), tol=1e-12, max_iter=2000, solver="newton-cholesky")
        softmax.fit(scaled, classes)
    c = cf.certify_coefficients(softmax.coef_, softmax.intercept_, scaled, classes, "softmax", "l2", lam)
    accepted(c, scaled, classes)
    for kernel in ("linear", "rbf"):
        machine = sklearn.svm.SVC(C=1 / lam, kernel=kernel, gamma=0.5, tol=1e-9).fit(scaled, signs)
        alpha = np.zeros(len(z))
        alpha[machine.support_] = np.abs(machine.dual_coef_[0])
        accepted(cf.certify_dual(alpha, scaled, signs, C=1 / lam, kernel=kernel, gamma=0.5), scaled, signs)


@pytest.mark.parametrize("seed", range(160, 220))
def test_components_and_trees(seed):
    X, _, signs, _, _, rng = problem(seed)
    k = int(rng.integers(1, X.shape[1] + 1))
    accepted(cf.certify_components(sklearn.decomposition.PCA(k).fit(X).components_, X), X, None)
    rounded = X.astype(np.float32).astype(float)  # scikit-learn's trees see single precision
    tree = sklearn.tree.DecisionTreeClassifier(
        criterion=str(rng.choice(["gini", "entropy"])), max_depth=int(rng.integers(1, 5)), random_state=seed
    ).fit(rounded, signs)
    accepted(cf.certify_tree(tree, rounded, signs), rounded, signs)


def ours(loss, X, y, lam, regularizer="l2", **options):
    model = cf.linear_model.LinearModel(loss, regularizer, lam=lam, tol=1e-11, **options).fit(X, y)
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]) if options.get("fit_intercept", True) else 0.0


def padded(loss, X, y, lam, regularizer="l2"):
    w, _ = ours(loss, np.column_stack([X, np.ones(len(y))]), y, lam, regularizer, fit_intercept=False)
    return w[:-1], float(w[-1])


SLIPS = {
    "penalised offset": padded,
    "half the penalty": lambda loss, X, y, lam, r: ours(loss, X, y, lam / 2, r),
    "twice the penalty": lambda loss, X, y, lam, r: ours(loss, X, y, 2 * lam, r),
    "sum for mean": lambda loss, X, y, lam, r: ours(loss, X, y, lam / len(y), r),
    "penalty times n": lambda loss, X, y, lam, r: ours(loss, X, y, lam * len(y), r),
    "half the penalty, summed": lambda loss, X, y, lam, r: ours(loss, X, y, lam / (2 * len(y)), r),
    "wrong sign": lambda loss, X, y, lam, r: tuple(-v for v in ours(loss, X, y, lam, r)),
    "forgotten offset": lambda loss, X, y, lam, r: ours(loss, X, y, lam, r, fit_intercept=False),
    "scaled columns": lambda loss, X, y, lam, r: ours(loss, (X - X.mean(axis=0)) / X.std(axis=0), y, lam, r),
    "centred columns": lambda loss, X, y, lam, r: ours(loss, X - X.mean(axis=0), y, lam, r),
}


@pytest.mark.parametrize(
    ("loss", "regularizer"),
    [
        ("squared", "l1"),
        ("hinge", "l2"),
        ("absolute", "l2"),
        ("exponential", "l2"),
        ("logistic", "l1"),
        ("poisson", "l2"),
    ],
)
@pytest.mark.parametrize("slip", SLIPS)
def test_each_slip_of_each_loss_is_named(loss, regularizer, slip):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 2)) * [0.5, 1.5] + [0.6, -0.8]
    z = X @ [0.8, -0.6] + 0.5
    y = {"squared": z + rng.normal(size=40), "absolute": z + rng.normal(size=40)}.get(loss)
    if loss == "poisson":
        y = rng.poisson(np.exp(0.7 * z)).astype(float)
    y = np.where(z + 1.5 * rng.normal(size=40) > 0.4, 1.0, -1.0) if y is None else y
    lam = 0.02
    right = cf.certify_coefficients(*ours(loss, X, y, lam, regularizer), X, y, loss, regularizer, lam)
    assert right.diagnose(X, y).right
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = SLIPS[slip](loss, X, y, lam, regularizer)
    c = cf.certify_coefficients(*answer, X, y, loss, regularizer, lam)
    found = c.diagnose(X, y)
    # Where a slip changes nothing (all coefficients are zero either way) the answer is right.
    assert found.right or slip in [f.name for f in found], (c.relative_gap, str(found))
    assert all(f.certificate.holds for f in found)
    if found.right:
        assert c.relative_gap < 1e-5


@pytest.mark.parametrize(("name", "factor"), [("C/2", 0.5), ("2C", 2.0), ("C/n", 1 / 30), ("nC", 30.0)])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_each_slip_of_a_machine_is_named(name, factor, kernel):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + 1.5 * rng.normal(size=30) > 0, 1, -1)
    C = 0.5
    machine = sklearn.svm.SVC(C=C * factor, kernel=kernel, gamma=0.7, tol=1e-10).fit(X, y)
    alpha = np.zeros(30)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    if factor > 1 and alpha.max() > C:  # outside the box: refused in words
        with pytest.raises(ValueError, match=r"\[0, C\]"):
            cf.certify_dual(alpha, X, y, C=C, kernel=kernel, gamma=0.7)
        return
    found = cf.certify_dual(alpha, X, y, C=C, kernel=kernel, gamma=0.7).diagnose(X, y)
    assert f"{name} for C" in [f.name for f in found]
