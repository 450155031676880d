"""Dual points: exactly feasible, and near the optimum the gap they prove is small."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from certifit._objective import Objective
from certifit.certificates import Data, issue
from certifit.linear_model import Lasso, LinearModel
from certifit.losses import Absolute, Hinge, Logistic, Softmax, Squared
from certifit.regularizers import L1, ElasticMix, SquaredL2
from certifit.solvers.dual import _by_used_columns, dual_point, duality_proof, evidence_of

RNG = np.random.default_rng(16)
X = RNG.normal(size=(30, 4))
REAL = X @ [1.0, 0.0, -1.0, 0.5] + RNG.normal(size=30)
SIGNS = np.where(REAL > 0, 1, -1)
CASES = {
    "ridge": (Objective(Squared(), SquaredL2(), 2.0), REAL),
    "lasso": (Objective(Squared(), L1(), 2.0), REAL),
    "elastic": (Objective(Absolute(), ElasticMix(0.5), 2.0), REAL),
    "hinge": (Objective(Hinge(), SquaredL2(), 1.0, classes=(-1, 1)), SIGNS),
    "logistic": (Objective(Logistic(), L1(), 1.0, classes=(-1, 1)), SIGNS),
    "softmax": (Objective(Softmax(), SquaredL2(), 1.0, classes=(0, 1, 2)), np.digitize(REAL, [-1.0, 1.0])),
}


@pytest.mark.parametrize("case", CASES)
@given(seed=st.integers(0, 2**32 - 1))
def test_feasible_wherever_one_stands(case, seed):
    objective, y = CASES[case]
    rng = np.random.default_rng(seed)
    outputs = 3 if case == "softmax" else 1
    W, b = rng.normal(size=(outputs, 4)) * 10 ** rng.uniform(-2, 2), rng.normal(size=outputs)
    beta = dual_point(objective, Data.of(X, y), W, b)
    assert beta.shape == (30, outputs)
    assert np.all(beta.sum(axis=0) == 0.0)  # exactly: the offset is free
    target = objective.encode(y, np.ones(30))[0]
    if case == "softmax":
        assert np.all(beta.sum(axis=1) == 0.0)
        assert np.all((beta + (y[:, None] == np.arange(3)) >= 0.0) & (beta <= 1.0))
    else:
        low, high = objective.box(target.y, np.ones(30))
        assert np.all((low <= beta[:, 0]) & (beta[:, 0] <= high))
    if objective.regularizer.name == "l1":
        assert np.max(np.abs(X.T @ beta)) <= objective.strength * (1 + 1e-12)


@pytest.mark.parametrize("case", ["ridge", "lasso"])
def test_at_the_optimum_the_gap_closes(case):
    objective, y = CASES[case]
    centred = X - X.mean(axis=0)
    w = np.linalg.solve(centred.T @ centred + 2.0 * np.eye(4), centred.T @ (y - y.mean()))
    if case == "lasso":  # plain proximal gradient
        step = 1.0 / np.linalg.eigvalsh(centred.T @ centred)[-1]
        for _ in range(20_000):
            z = w - step * centred.T @ (centred @ w - (y - y.mean()))
            w = np.sign(z) * np.maximum(np.abs(z) - step * 1.0, 0.0)  # half of Λ: the loss is (z − y)²
    b = np.array([y.mean() - X.mean(axis=0) @ w])
    data = Data.of(X, y)
    beta = dual_point(objective, data, w[None], b)
    found = issue("duality", data, {**evidence_of(objective, w, b), "dual": beta})
    assert found.holds
    assert found.relative_gap < 1e-9


def test_a_record_of_what_is_judged():
    found = evidence_of([CASES["ridge"][0]] * 2, np.ones((2, 4)), 0.5)
    assert len(found["objective"]) == 2
    assert found["intercept"].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("large", [[1e10] * 4, [1.0, 1.0, 1e10, 1e10]])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_columns_of_large_numbers_do_not_cost_the_bound(large, layout):
    """Coefficients right to ten digits leave slopes far above Λ there: projected, they still prove a small gap."""
    rows = RNG.normal(size=(200, 4))
    y = np.where(rows @ [1.0, 0.5, -1.0, 2.0] + RNG.normal(size=200) > 0, 1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearModel(loss="logistic", regularizer="l1", lam=0.01).fit(rows * large, y)
    objective = Objective(Logistic(), L1(), 2.0, classes=(-1, 1))
    data, coef = Data.of(layout(rows * large), y), np.atleast_2d(model.coef_) * (1.0 + 1e-10)
    fitted = coef, np.atleast_1d(model.intercept_)
    dual = dual_point(objective, data, *fitted)
    found = issue("duality", data, evidence_of(objective, *fitted) | {"dual": dual})
    assert found.holds
    assert found.relative_gap < 1e-3


@pytest.mark.parametrize("complete", [True, False])
def test_few_columns_in_use_prove_as_much_as_all(complete):
    rng = np.random.default_rng(2)
    A = rng.normal(size=(60, 400))
    y = A[:, :3] @ [3.0, -2.0, 1.0] + 0.1 * rng.normal(size=60)
    fit = Lasso(alpha=0.3).fit(A, y)
    coef, data = np.atleast_2d(fit.coef_.copy()), Data.of(A, y)
    if not complete:  # a column that ought to be used is not: now it is the steepest
        coef[0, np.argmax(np.abs(coef[0]))] = 0.0
    objective = Objective(Squared(0.5), L1(), 0.3 * 60)
    evidence = evidence_of(objective, coef, fit.intercept_)
    quick = _by_used_columns(objective, data, coef, evidence["intercept"])
    assert quick is not None or not complete
    if quick is not None:
        assert issue("duality", data, evidence | {"dual": quick}).holds == complete
    whole = issue("duality", data, evidence | {"dual": dual_point(objective, data, coef, evidence["intercept"])})
    found = duality_proof(objective, data, evidence)
    assert found.holds
    assert whole.holds
    assert found.gap <= whole.gap * (1 + 1e-9) + 1e-12 * whole.value
