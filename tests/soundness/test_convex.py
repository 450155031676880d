"""Every convex family against fifty digits, on tables that are awkward on purpose.

The stated gap covers the distance to any point that is found to be better; certain labels are those of the better point;
nothing raises but a ValueError that says what is wrong with the numbers; nothing runs for long.
"""

import time
import warnings

import mpmath as mp
import numpy as np
import pytest

from certifit.exceptions import NoOptimumError
from certifit.glm import GLM
from certifit.kernel_ridge import KernelRidge
from certifit.linear_model import (
    ElasticNet,
    Lasso,
    LinearModel,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from certifit.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from tests.soundness.reference import Problem, number
from tests.soundness.tables import labels, table, weights

pytestmark = pytest.mark.filterwarnings("ignore")
LONG = 60.0  # seconds of the processor, however busy it is; a fit of eight rows takes milliseconds, the hardest some seconds


def _real(rng, n):
    return rng.normal(size=n) * 10.0 ** rng.choice([0, 0, 0, 3, -3, 100, -100])


def _strength(rng):
    return float(10.0 ** rng.uniform(-4, 2))


def _loose(rng):
    return float(10.0 ** rng.integers(-10, -1))


def _regression(make):
    return lambda rng, X: (make(rng), _real(rng, X.shape[0]))


def _classes(make, k=2):
    return lambda rng, X: (make(rng), labels(rng, X.shape[0], k))


def _glm(family, link):
    def build(rng, X):
        n = X.shape[0]
        y = {"poisson": rng.poisson(2.0, n) + 0.0, "gamma": rng.gamma(2.0, size=n) + 0.01}.get(family, rng.random(n))
        return GLM(family, link, alpha=float(rng.choice([0.0, 0.1, 10.0]))), y

    return build


FAMILIES = {
    "LinearRegression": _regression(lambda r: LinearRegression(fit_intercept=bool(r.integers(0, 2)))),
    "non-negative": _regression(lambda r: LinearRegression(positive=True, fit_intercept=bool(r.integers(0, 2)))),
    "Ridge": _regression(lambda r: Ridge(_strength(r), fit_intercept=bool(r.integers(0, 2)))),
    "Lasso": _regression(lambda r: Lasso(_strength(r), tol=_loose(r), positive=bool(r.integers(0, 2)))),
    "ElasticNet": _regression(lambda r: ElasticNet(_strength(r), l1_ratio=float(r.uniform(0.1, 0.9)), tol=_loose(r))),
    "LogisticRegression": _classes(lambda r: LogisticRegression(C=_strength(r), tol=_loose(r))),
    "softmax": _classes(lambda r: LogisticRegression(C=_strength(r), tol=_loose(r)), 3),
    "logistic l1": _classes(lambda r: LogisticRegression(l1_ratio=1.0, C=_strength(r), tol=_loose(r))),
    "LinearSVC hinge": _classes(lambda r: LinearSVC(loss="hinge", C=_strength(r), tol=_loose(r))),
    "LinearSVC": _classes(lambda r: LinearSVC(C=_strength(r), tol=_loose(r)), 3),
    "SVC linear": _classes(lambda r: SVC(kernel="linear", C=_strength(r), tol=_loose(r))),
    "SVC rbf": _classes(lambda r: SVC(C=_strength(r), tol=_loose(r)), 3),
    "LinearSVR": _regression(
        lambda r: LinearSVR(
            C=_strength(r),
            epsilon=float(r.choice([0.0, 0.1])),
            tol=_loose(r),
            loss=str(r.choice(["epsilon_insensitive", "squared_epsilon_insensitive"])),
        )
    ),
    "NuSVC": _classes(lambda r: NuSVC(nu=float(r.choice([0.2, 0.4])), tol=_loose(r)), 3),
    "NuSVR": _regression(lambda r: NuSVR(C=_strength(r), nu=float(r.uniform(0.1, 0.9)), tol=_loose(r))),
    "SVR": _regression(lambda r: SVR(C=_strength(r), epsilon=float(r.choice([0.0, 0.1, 1.0])), tol=_loose(r))),
    "KernelRidge": _regression(lambda r: KernelRidge(_strength(r), kernel=str(r.choice(["linear", "rbf"])))),
    "poisson": _glm("poisson", "log"),
    "gamma": _glm("gamma", "log"),
    "binomial": _glm("binomial", "logit"),
    "absolute": _regression(lambda r: LinearModel("absolute", "l2", lam=_strength(r), tol=_loose(r))),
    "exponential": _classes(lambda r: LinearModel("exponential", "l2", lam=_strength(r), tol=_loose(r))),
}


def better(model, X, y, s, problem, at, seed):
    """Candidates for a better point: Newton's steps in high precision, or a tighter fit, by turns."""
    if seed % 2 or "tol" not in model.get_params():
        return [problem.polished(*at, steps=8)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tight = type(model)(**(model.get_params() | {"tol": 1e-13}))
        evidence = (tight.fit(X, y) if s is None else tight.fit(X, y, sample_weight=s)).certificate_.evidence
    if evidence["coef"].shape != (len(at[0]), len(at[0][0])):
        return []
    return [problem.point(evidence["coef"], evidence["intercept"])]


def examine(name, seed):
    rng = np.random.default_rng([seed, sum(map(ord, name))])
    X = table(rng)
    n = X.shape[0]
    s = weights(rng, n)
    model, y = FAMILIES[name](rng, X)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = model.fit(X, y) if s is None else model.fit(X, y, sample_weight=s)
    except (NoOptimumError, ValueError) as error:  # what cannot be fitted is refused in words
        if len(str(error)) > 30:
            return False
        raise
    certificate = model.certificate_
    assert time.process_time() - start < LONG
    assert certificate.verify(X, y, s).holds == certificate.holds
    if not certificate.holds or certificate.kind not in ("duality", "local", "least-squares"):
        return False
    problem = Problem(certificate, X, y, s)
    at = problem.point(certificate.evidence["coef"], certificate.evidence["intercept"])
    mine = problem.value(*at)
    for point in better(model, X, y, s, problem, at, seed):
        there = problem.value(*point)
        assert mine - there <= number(certificate.gap), (name, seed)
        assert there >= number(certificate.bound), (name, seed)
        same_labels(model, X, problem, point, mine - there, seed)
    return True


def same_labels(model, X, problem, point, fell, seed):
    """Labels that are called certain are those of the better point."""
    if not hasattr(model, "certain") or len(problem.targets) > 1 or fell < 0 or problem.kernel is not None:
        return
    W, B = point
    Z = np.array([[float(v) for v in problem.scores(w, b)] for w, b in zip(W, B)]).T
    there = Z[:, 0] > 0 if Z.shape[1] == 1 else Z.argmax(axis=1)
    sure = np.asarray(model.certain(X))
    apart = np.abs(Z[:, 0]) if Z.shape[1] == 1 else -np.diff(-np.sort(-Z, axis=1)[:, :2], axis=1)[:, 0]
    clear = apart > 1e-6 * (1.0 + np.abs(Z).max(axis=1))  # the better point is not the optimum itself
    mine = np.searchsorted(model.classes_, model.predict(X))
    assert not np.any(sure & clear & (mine != there)), seed


@pytest.mark.parametrize("name", FAMILIES)
def test_stated_gaps_cover_the_true_ones(name):
    proved = sum(examine(name, seed) for seed in range(50))
    assert proved >= 10


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_stated_gaps_cover_the_true_ones_two_thousand_times(name):
    assert sum(examine(name, seed) for seed in range(50, 2050)) >= 400


def test_the_reference_knows_a_minimum():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    certificate = Ridge(2.0).fit(X, y).certificate_
    problem = Problem(certificate, X, y)
    W, B = problem.polished(*problem.point(np.zeros((1, 1)), np.zeros(1)))
    assert abs(W[0][0] - mp.mpf("1.125")) < mp.mpf(10) ** -30
    assert abs(B[0] - (mp.mpf("9.5") / 3 - mp.mpf("1.125"))) < mp.mpf(10) ** -30
