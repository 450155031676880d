"""Answers with one known slip are told what it was; right answers are called right."""

import time
import warnings

import numpy as np
import pytest
import scipy.optimize
import sklearn.decomposition
import sklearn.kernel_ridge
import sklearn.svm
from sklearn.datasets import load_breast_cancer

import certifit as cf
from certifit.judge._diagnose import SLIPS

LOSSES = {
    "squared": lambda z, y: (z - y) ** 2,
    "logistic": lambda z, y: np.logaddexp(0, -y * z),
    "squared_hinge": lambda z, y: np.maximum(0, 1 - y * z) ** 2,
}


def minimise(loss, X, y, lam, weights=None, offset=True, penalise_offset=False):
    """An answer of somebody else's: quasi-Newton on the objective as it is written down."""
    share = np.full(len(y), 1 / len(y)) if weights is None else weights / len(y)

    def J(t):
        w, b = t[:-1], t[-1] if offset else 0.0
        penalty = w @ w + (b * b if penalise_offset else 0.0)
        return share @ LOSSES[loss](X @ w + b, y) + lam * penalty

    found = scipy.optimize.minimize(J, np.zeros(X.shape[1] + 1), method="BFGS", options={"gtol": 1e-9})
    for _ in range(3):
        found = scipy.optimize.minimize(J, found.x, method="BFGS", options={"gtol": 1e-11})
    return found.x[:-1], float(found.x[-1]) if offset else 0.0


def problem(loss, seed=0, n=40, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 3.0, 0.5][:d] + [1.0, -2.0, 0.0][:d]
    z = X @ rng.normal(size=d) + 0.7
    y = z + rng.normal(size=n) if loss == "squared" else np.where(z + 2 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def judged(answer, loss, X, y, lam):
    return cf.certify_coefficients(*answer, X, y, loss=loss, regularizer="l2", lam=lam).diagnose(X, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_a_right_answer_is_right(loss, seed):
    X, y = problem(loss, seed)
    found = judged(minimise(loss, X, y, 0.1), loss, X, y, 0.1)
    assert found.right
    assert str(found).startswith("Right.")


WRONG = {
    "penalised offset": lambda loss, X, y, lam: minimise(loss, X, y, lam, penalise_offset=True),
    "half the penalty": lambda loss, X, y, lam: minimise(loss, X, y, lam / 2),
    "twice the penalty": lambda loss, X, y, lam: minimise(loss, X, y, 2 * lam),
    "sum for mean": lambda loss, X, y, lam: minimise(loss, X, y, lam / len(y)),
    "penalty times n": lambda loss, X, y, lam: minimise(loss, X, y, lam * len(y)),
    "no penalty": lambda loss, X, y, lam: minimise(loss, X, y, 0.0),
    "wrong sign": lambda loss, X, y, lam: tuple(-v for v in minimise(loss, X, y, lam)),
    "forgotten offset": lambda loss, X, y, lam: minimise(loss, X, y, lam, offset=False),
    "scaled columns": lambda loss, X, y, lam: minimise(loss, (X - X.mean(0)) / X.std(0), y, lam),
    "centred columns": lambda loss, X, y, lam: minimise(loss, X - X.mean(0), y, lam),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("slip", WRONG)
def test_each_slip_is_named_and_proved(slip, loss):
    if (slip, loss) == ("no penalty", "squared_hinge"):
        pytest.skip("without a penalty a bounded minimiser of the squared hinge need not be unique")
    X, y = problem(loss, 1)
    found = judged(WRONG[slip](loss, X, y, 0.1), loss, X, y, 0.1)
    assert not found.right
    named = {finding.name: finding for finding in found}
    assert slip in named
    assert named[slip].certificate.holds
    assert named[slip].certificate.relative_gap < 1e-5
    assert named[slip].sentence in str(found)


def test_labels_of_the_other_coding():
    X, y = problem("logistic", 2)
    w, b = minimise("squared", X, (y + 1) / 2, 0.1)
    assert "labels 0/1 for −1/+1" in {f.name for f in judged((w, b), "squared", X, y, 0.1)}


def test_other_norm_loss_and_transposed():
    X, y = problem("squared", 3, n=3)
    w, _ = minimise("squared", X.T, y, 0.1, offset=False)
    c = cf.certify_coefficients(w, None, X, y, loss="squared", lam=0.1)
    assert "transposed matrix" in {f.name for f in c.diagnose(X, y)}
    X, y = problem("logistic", 3)
    answer = minimise("squared_hinge", X, y, 0.1)
    c = cf.certify_coefficients(*answer, X, y, loss="hinge", lam=0.1)
    assert [f.name for f in c.diagnose(X, y)] == ["other loss"]
    lasso = cf.linear_model.LinearModel("squared", "l1", lam=0.1, tol=1e-10).fit(X, y)
    c = cf.certify_coefficients(lasso.coef_, lasso.intercept_, X, y, loss="squared", regularizer="l2", lam=0.1)
    assert "other norm" in {f.name for f in c.diagnose(X, y)}


def test_a_class_left_out():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2, 3], 20)
    X = rng.normal(size=(80, 2)) + np.column_stack([y % 2, y // 2])
    part = y != 2
    three = cf.linear_model.LogisticRegression(C=1 / (2 * 0.1 * 60), tol=1e-12).fit(X[part], y[part])
    W, b = np.zeros((4, 2)), np.zeros(4)
    W[[0, 1, 3]], b[[0, 1, 3]] = three.coef_, three.intercept_
    found = cf.certify_coefficients(W, b, X, y, loss="softmax", lam=0.1).diagnose(X, y)
    assert [f.name for f in found] == ["class 2 left out"]


def descend(X, y, lam, eta, passes):
    w, b = np.zeros(X.shape[1]), 0.0
    for _ in range(passes):
        g = -y / (1 + np.exp(y * (X @ w + b))) / len(y)
        w, b = w - eta * (X.T @ g + 2 * lam * w), b - eta * g.sum()
    return w, b


@pytest.mark.parametrize(("passes", "said"), [(30, "stopped too early"), (29, "off by a pass"), (31, "off by a pass")])
def test_gradient_descent_is_replayed(passes, said):
    X, y = problem("logistic", 4)
    c = cf.certify_coefficients(*descend(X, y, 0.1, 0.05, passes), X, y, loss="logistic", lam=0.1)
    assert c.diagnose(X, y, eta=0.05, passes=30)[0].name == said


def test_a_step_that_diverges():
    X, y = problem("squared", 4)
    c = cf.certify_coefficients(np.full(3, 1e9), 0.0, X, y, loss="squared", lam=0.1)
    assert c.diagnose(X, y, eta=10.0, passes=200)[0].name == "step too large"


def run_of(step, passes, factor=1.0):
    """Gradient descent whose gradient is too large by a factor."""
    X, y = problem("logistic", 4)
    J, theta = cf.objective("logistic", "l2", X, y, lam=0.1), np.zeros(4)
    for _ in range(passes):
        theta = theta - factor * step * J.gradient(theta)
    return X, y, cf.certify_coefficients(theta[:3], theta[3], X, y, loss="logistic", lam=0.1)


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (-1.0, "gradient ascent"), (40.0, "summed gradient"), (1 / 40, "gradient divided by n twice"),
        (0.5, "half the gradient"), (2.0, "twice the gradient"),
    ],
)  # fmt: skip
def test_wrong_gradients_are_replayed(factor, said):
    X, y, c = run_of(0.01, 12, factor)
    assert [f.name for f in c.diagnose(X, y, eta=0.01, passes=12)] == [said]


def test_a_large_step_is_not_too_few_passes():
    """A fixed step that is small enough never raises J: one that does is too large, wherever the passes end."""
    for passes in (3, 10, 41):
        X, y, c = run_of(20.0, passes)
        assert [f.name for f in c.diagnose(X, y, eta=20.0, passes=passes)] == ["step too large"]


def test_a_trace_is_replayed():
    X, y = problem("logistic", 4)
    J = cf.objective("logistic", "l2", X, y, lam=0.1)
    for step, passes, said in ((0.05, 15, "stopped too early"), (20.0, 3, "step too large")):
        found = cf.solvers.gradient_descent(J, J.gradient, np.zeros(4), step=step, max_iter=passes, trace=True)
        c = cf.certify_coefficients(found.value[:3], found.value[3], X, y, loss="logistic", lam=0.1)
        assert [f.name for f in c.diagnose(X, y, trace=found.trace)] == [said]
    up = cf.solvers.gradient_descent(
        lambda t: -J(t), lambda t: -J.gradient(t), np.zeros(4), step=0.05, max_iter=15, trace=True
    )
    c = cf.certify_coefficients(up.value[:3], up.value[3], X, y, loss="logistic", lam=0.1)
    assert [f.name for f in c.diagnose(X, y, trace=up.trace)] == ["gradient ascent"]


def test_zero_and_penalties_that_were_not_asked_for():
    X, y = problem("squared", 5)
    zero = cf.certify_coefficients(np.zeros(3), y.mean(), X, y, loss="squared", regularizer="l1", lam=0.01)
    assert ["which is optimal from λ" in f.sentence for f in zero.diagnose(X, y)] == [True]
    ridge = minimise("squared", X, y, 0.3)
    found = cf.certify_coefficients(*ridge, X, y, loss="squared", regularizer="none", lam=0.0).diagnose(X, y)
    assert [f.name for f in found] == ["penalty not asked for"]
    assert "λ = 0.3:" in found[0].sentence


def test_a_penalty_on_scaled_columns_that_were_scaled_back():
    X, y = problem("logistic", 6)
    w, b = minimise("logistic", (X - X.mean(0)) / X.std(0), y, 0.1)
    w = w / X.std(0)
    assert [f.name for f in judged((w, b - w @ X.mean(0)), "logistic", X, y, 0.1)] == ["penalty on scaled columns"]


def test_dual_variables_for_another_cost():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
    model = cf.svm.SVC(kernel="linear", C=0.5, tol=1e-12).fit(X, y)
    alpha = np.zeros(40)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    assert cf.certify_dual(alpha, X, y, C=0.5).diagnose(X, y).right
    found = cf.certify_dual(alpha, X, y, C=1.0).diagnose(X, y)
    assert [f.name for f in found] == ["C/2 for C"]


def test_components():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * [5, 2, 1, 0.1] + [10, 0, 0, 3]
    mean = X.mean(0)
    V = np.linalg.svd(X - mean)[2]
    assert cf.certify_components(V[:2], X).diagnose(X).right
    said = {
        "not centred": np.linalg.svd(X)[2][:1],
        "scaled columns": np.linalg.svd((X - mean) / X.std(0))[2][:2],
        "smallest for largest": V[2:],
    }
    for slip, U in said.items():
        assert slip in {f.name for f in cf.certify_components(U, X).diagnose(X)}, slip
    W = np.linalg.svd(X[:, :2] - mean[:2])[2]
    assert cf.certify_components(W, X[:, :2]).diagnose(X[:, :2]).right


def test_other_data_are_refused_in_a_sentence():
    X, y = problem("squared")
    c = cf.certify_coefficients([1.0, 0.0, 0.0], 0.0, X, y, loss="squared", lam=0.1)
    with pytest.raises(ValueError, match="not the data"):
        c.diagnose(X, y + 1)


def test_every_slip_has_a_question():
    assert len({name for name, _, _ in SLIPS}) == len(SLIPS)
    assert all(question.endswith("?") for _, question, _ in SLIPS)


def test_raw_columns_get_an_answer():
    """One of the slips tried is a 1-norm on unscaled columns, whose fit would take minutes: it is cut short."""
    X, y = load_breast_cancer(return_X_y=True)
    c = cf.certify_coefficients(np.zeros(X.shape[1]), 0.0, X, y, loss="logistic", regularizer="l2", lam=0.01)
    start = time.process_time()
    assert not c.diagnose(X, y).right
    assert time.process_time() - start < 60


def machine(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) * [1.0, 3.0] + [1.0, 0.0]
    return X, (X[:, 0] * X[:, 1] + rng.normal(size=60) > 0).astype(int)


def multipliers(model, n):
    alpha = np.zeros(n)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return alpha


DUAL = {
    "2γ for γ": ({"kernel": "rbf", "gamma": 0.6}, {"kernel": "rbf", "gamma": 0.3}),
    "γ/2 for γ": ({"kernel": "rbf", "gamma": 0.15}, {"kernel": "rbf", "gamma": 0.3}),
    "C/2 for C": ({"kernel": "rbf", "gamma": 0.3, "C": 0.5}, {"kernel": "rbf", "gamma": 0.3}),
    "linear kernel": ({"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.3}),
    "kernel with a constant of one": (
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.3},
        {"kernel": "poly", "degree": 2, "coef0": 0.0, "gamma": 0.3},
    ),
    "kernel of one degree less": (
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.3},
        {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 0.3},
    ),
}


@pytest.mark.parametrize("slip", DUAL)
def test_slips_of_dual_variables(slip):
    X, y = machine()
    used, asked = DUAL[slip]
    theirs = sklearn.svm.SVC(tol=1e-9, **used).fit(X, y)
    assert cf.certify(theirs, X, y).diagnose(X, y).right
    found = cf.certify_dual(multipliers(theirs, 60), X, y, **asked).diagnose(X, y)
    assert not found.right
    assert slip in [f.name for f in found]


def test_scaled_columns_and_half_multipliers_of_a_machine():
    X, y = machine()
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    alpha = multipliers(sklearn.svm.SVC(gamma=0.5, C=0.05, tol=1e-9).fit(scaled, y), 60)
    found = cf.certify_dual(alpha, X, y, 0.05, "rbf", gamma=0.5).diagnose(X, y)
    assert "scaled columns" in [f.name for f in found]
    alpha = multipliers(sklearn.svm.SVC(gamma=0.5, tol=1e-9).fit(X, y), 60)
    found = cf.certify_dual(alpha / 2, X, y, 1.0, "rbf", gamma=0.5).diagnose(X, y)
    assert "half of α" in [f.name for f in found]


RIDGE = {
    "λ/2 for λ": {"alpha": 0.25}, "2λ for λ": {"alpha": 1.0}, "λn for λ": {"alpha": 30.0},
    "λ/n for λ": {"alpha": 0.5 / 60}, "2γ for γ": {"gamma": 0.8}, "linear kernel": {"kernel": "linear"},
}  # fmt: skip


@pytest.mark.parametrize("slip", RIDGE)
def test_slips_of_kernel_ridge(slip):
    X, _ = machine()
    y = X[:, 0] + np.sin(X[:, 1])
    settings = {"alpha": 0.5, "kernel": "rbf", "gamma": 0.4}
    model = sklearn.kernel_ridge.KernelRidge(**settings).fit(X, y)
    assert cf.certify(model, X, y).diagnose(X, y).right
    model = sklearn.kernel_ridge.KernelRidge(**settings | RIDGE[slip]).fit(X, y).set_params(**settings)
    assert slip in [f.name for f in cf.certify(model, X, y).diagnose(X, y)]
    scaled = sklearn.kernel_ridge.KernelRidge(**settings).fit((X - X.mean(0)) / X.std(0), y)
    assert "scaled columns" in [f.name for f in cf.certify(scaled, X, y).diagnose(X, y)]


@pytest.mark.parametrize("family", ["poisson", "gamma", "probit"])
def test_slips_of_generalized_linear_models(family):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2)) + [1.0, 0.0]
    mean = np.exp(0.3 * X[:, 0] - 0.1 * X[:, 1])
    y = {"poisson": rng.poisson(mean), "gamma": rng.gamma(2, mean / 2), "probit": rng.random(80) < 0.5 * mean / 2}[
        family
    ]
    kind = ("binomial", "probit") if family == "probit" else (family, "log")

    def fitted(alpha, link=kind[1]):
        return cf.glm.GLM(kind[0], link, alpha=alpha, tol=1e-9).fit(X, y.astype(float))

    def names(model, alpha):
        model.alpha = alpha
        found = cf.certify(model, X, y.astype(float)).diagnose(X, y.astype(float))
        assert not found.right
        return [f.name for f in found]

    assert cf.certify(fitted(0.2), X, y.astype(float)).diagnose(X, y.astype(float)).right
    twice = "2λ for λ" if family == "probit" else "twice the penalty"
    half = "λ/2 for λ" if family == "probit" else "half the penalty"
    assert twice in names(fitted(0.2), 0.1)
    assert half in names(fitted(0.1), 0.2)
    assert "no penalty" in names(fitted(0.0), 0.2)
    if family == "probit":
        other = fitted(0.2, "cloglog")
        other.link = "probit"
        assert "other link" in names(other, 0.2)


def test_softmax_slips():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(90) % 3)
    X = rng.normal(size=(90, 2)) * [1.0, 4.0] + np.column_stack([y == 1, 2.0 * (y == 2)])

    def fit(X, lam):
        model = cf.linear_model.LogisticRegression(C=1 / (2 * lam * 90), tol=1e-12).fit(X, y)
        return model.coef_, model.intercept_

    for answer, slip in (
        (fit(X, 0.1), None), (fit(X, 0.05), "half the penalty"), (fit(X, 0.2), "twice the penalty"),
        (fit(X, 0.1 / 90), "sum for mean"), (fit((X - X.mean(0)) / X.std(0), 0.1), "scaled columns"),
        (tuple(-v for v in fit(X, 0.1)), "wrong sign"),
    ):  # fmt: skip
        found = cf.certify_coefficients(*answer, X, y, loss="softmax", lam=0.1).diagnose(X, y)
        assert found.right is (slip is None)
        assert slip is None or slip in [f.name for f in found]


def test_softmax_descent_is_replayed():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) % 3)
    X = rng.normal(size=(60, 2)) + np.column_stack([y == 1, y == 2])
    J, theta = cf.objective("softmax", "l2", X, y, lam=0.05), np.zeros(9)
    for _ in range(12):
        theta = theta - 0.3 * J.gradient(theta)
    c = cf.certify_coefficients(theta[:6].reshape(3, 2), theta[6:], X, y, loss="softmax", lam=0.05)
    assert c.diagnose(X, y, eta=0.3, passes=12)[0].name == "stopped too early"
    assert c.diagnose(X, y, eta=0.3, passes=13)[0].name == "off by a pass"


VARIANCES = {
    "n for n − 1": lambda p, n: p.explained_variance_ * (n - 1) / n,
    "sums for variances": lambda p, n: p.explained_variance_ * (n - 1),
    "standard deviations": lambda p, n: np.sqrt(p.explained_variance_),
    "singular values": lambda p, n: p.singular_values_,
    "shares of the variance": lambda p, n: p.explained_variance_ratio_,
}


def test_slips_of_components():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4)) + 5.0
    p = sklearn.decomposition.PCA(2).fit(Z)
    assert cf.certify_components(p.components_, Z, p.explained_variance_).diagnose(Z).right
    for slip, wrong in VARIANCES.items():
        found = cf.certify_components(p.components_, Z, wrong(p, 40)).diagnose(Z)
        assert [f.name for f in found] == [slip]
    rows = Z - Z.mean(axis=1, keepdims=True)
    for U, slip in (
        (2 * p.components_, "not of length one"),
        (np.linalg.svd(Z)[2][:2], "not centred"),
        (np.linalg.svd(Z - Z.mean(axis=0))[2][-1:], "smallest for largest"),
        (np.linalg.svd(rows)[2][:2], "means of rows subtracted"),
    ):
        assert slip in [f.name for f in cf.certify_components(U, Z).diagnose(Z)]
    square = rng.normal(size=(4, 4))
    turned = sklearn.decomposition.PCA(2).fit(square.T).components_
    assert "transposed matrix" in [f.name for f in cf.certify_components(turned, square).diagnose(square)]


def test_every_kind_of_fit_can_be_asked():
    """A claim that holds is right, whatever its kind; none is refused."""
    X, y = machine()
    for model in (
        cf.neighbors.KNeighborsClassifier(), cf.svm.HardMarginSVC(kernel="rbf", gamma=9.0), cf.linear_model.Perceptron(),
        cf.linear_model.VotedPerceptron(), cf.svm.NuSVC(), cf.svm.KernelPerceptron(kernel="rbf"),
        cf.neural.MLPClassifier(max_iter=5), cf.neighbors.EditedNeighbors(), cf.tree.DecisionTreeClassifier(),
    ):  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.fit(X, y).certificate_.diagnose(X, y)
        assert found.right, type(model).__name__


@pytest.mark.parametrize(("factor", "name"), [(0.5, "half the penalty"), (1 / 12, "sum for mean")])
def test_a_wrong_strength_and_a_penalised_offset_are_found_together(factor, name):
    rng = np.random.default_rng(3)
    X, lam = rng.normal(size=(12, 2)), 0.3
    y = X @ [1.0, -2.0] + 4.0 + rng.normal(size=12)
    padded = np.column_stack([X, np.ones(12)])
    theta = np.linalg.solve(padded.T @ padded / 12 + factor * lam * np.eye(3), padded.T @ y / 12)
    c = cf.certify_coefficients(theta[:2], theta[2], X, y, loss="squared", regularizer="l2", lam=lam)
    found = c.diagnose(X, y)
    assert [f.name for f in found] == [f"penalised offset and {name}"]
