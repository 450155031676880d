"""Smoothed Newton for linear machines: gap between feasible points, widths that fall, words for the end."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.losses import EpsilonInsensitive, get_loss
from certifit.solvers import Options
from certifit.solvers.linear_svc import _Corner, linear_svc


def _task(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y, rng.uniform(0.1, 2.0, n)


def _primal(X, y, cost, w, b, loss):
    short = np.maximum(0.0, 1.0 - y * (X @ w + b))
    return 0.5 * w @ w + cost @ (short if loss == "hinge" else short**2)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["hinge", "squared_hinge"]), st.booleans())
def test_the_gap_lies_between_two_feasible_points(seed, loss, offset):
    X, y, cost = _task(seed)
    target = 1e-7 * cost.sum()
    found = linear_svc(X, y, cost, target, Options(trace=True), loss=loss, offset=offset)
    m = found.value
    assert found.status == "converged"
    alpha, v = y * m.beta, X.T @ m.beta
    assert np.all(alpha >= 0)
    dual = alpha.sum() - 0.5 * v @ v
    if loss == "hinge":
        assert np.all(alpha <= cost)
    else:
        dual -= 0.25 * np.sum(alpha**2 / cost)
    gap = _primal(X, y, cost, m.coef, m.intercept, loss) - dual
    assert gap == pytest.approx(m.gap, abs=1e-9 * cost.sum())
    assert -1e-10 * cost.sum() <= gap <= target * (1 + 1e-6)
    assert all(r.gap >= -1e-10 * cost.sum() for r in found.trace)
    widths = found.trace["width"]
    assert widths == sorted(widths, reverse=True)
    plain = linear_svc(X, y, cost, target, loss=loss, offset=offset)
    assert np.array_equal(plain.value.coef, m.coef)


def test_the_squared_hinge_never_rises():
    X, y, cost = _task(3, 300)
    values = linear_svc(X, y, cost, 1e-10, Options(trace=True), loss="squared_hinge").trace["objective"]
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(values))


def test_words_for_the_end():
    X, y, cost = _task(4, 300)
    assert linear_svc(X, y, cost, 1e-9, Options(max_iter=1)).status == "max_iter"
    assert linear_svc(X, y, cost, 1e-9, Options(max_iter=1)).stats["steps"] == 1
    assert linear_svc(X, y, cost, 1e-9, Options(time_budget=0.0)).status == "time_budget"
    assert linear_svc(X, y, cost, 0.0).status == "precision"


def test_a_fit_is_close_to_its_optimum_also_where_the_null_model_is_far_away():
    X, y, cost = _task(3)
    cost = 1e4 * cost
    loose = linear_svc(X, y, cost, 1e-2 * cost.sum()).value
    close = linear_svc(X, y, cost, 1e-2 * cost.sum(), excess=1e-6).value
    primal = [
        0.5 * m.coef @ m.coef + cost @ np.maximum(0.0, 1.0 - y * (X @ m.coef + m.intercept)) for m in (loose, close)
    ]
    assert close.gap <= 1e-6 * primal[1] <= 1e-6 * primal[0] * (1 + 1e-9)


def test_the_squared_hinge_ends_with_one_step_more():
    """Where the target is loose the gap is far below it: 19 of 20 tables end at 1e-8 or less."""
    gaps = [linear_svc(*_task(seed), 1e-2, loss="squared_hinge").value.gap for seed in range(20)]
    assert max(gaps) <= 1e-2
    assert sum(gap <= 1e-8 for gap in gaps) >= 19


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("sparse", [False, True])
def test_fewer_rows_than_columns_give_the_same_direction(sparse, loss, offset):
    X, y, cost = _task(3, n=40, d=120)
    X[20:22] = X[18:20]  # copies
    corner = _Corner(scipy.sparse.csr_matrix(X) if sparse else X, y, cost, get_loss(loss), offset)
    for h in (2.0, 1.5):
        corner.look(h)
        step, rows = corner.direction(), np.flatnonzero(corner.curvature)
        assert 0 < len(rows) < 120
        A = np.column_stack([X, np.ones(40)])[rows]
        H = A.T @ (corner.curvature[rows, None] * A) + np.diag([1.0] * 120 + [0.0])
        size = 121 if offset else 120
        expected = -np.linalg.solve(H[:size, :size], corner.gradient[:size])
        np.testing.assert_allclose(step[:size], expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())
        corner.move(step, h)


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("loss", ["hinge", EpsilonInsensitive(0.3)], ids=["hinge", "tube"])
def test_sparse_rows_with_many_columns_are_swept_over(loss, offset):
    """The same optimum as of dense rows, which Newton's method takes, to within the gaps that both have."""
    rng = np.random.default_rng(7)
    X = scipy.sparse.random(300, 2000, 0.01, random_state=1, format="csr")
    y = X @ rng.normal(size=2000) + 0.5 + 0.3 * rng.normal(size=300)
    y = np.where(y > np.median(y), 1.0, -1.0) if loss == "hinge" else y
    cost = rng.uniform(0.0, 4.0, 300)
    cost[:20] = 0.0
    found = [linear_svc(A, y, cost, 1e-4 * cost.sum(), loss=loss, offset=offset) for A in (X, X.toarray())]
    assert [f.stats["method"] for f in found] == ["dual coordinate descent", "smoothed newton"]
    assert all(f.status == "converged" for f in found)
    kind, values = get_loss(loss), []
    for m in (f.value for f in found):
        values.append(0.5 * m.coef @ m.coef + cost @ kind.value(X @ m.coef + m.intercept, y))
        assert np.all(np.abs(m.beta) <= cost)
        assert not offset or abs(m.beta.sum()) < 1e-12
        np.testing.assert_allclose(found[0].value.coef, X.T @ found[0].value.beta, atol=1e-2)
    assert values[0] - values[1] <= found[0].value.gap
    assert values[1] - values[0] <= found[1].value.gap
    assert offset or found[0].value.intercept == 0.0
