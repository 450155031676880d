"""Descent on a Gram matrix, in residual form, and along a path: one problem, one answer."""

import numpy as np
import pytest

from certifit.design import CentredColumns, as_design
from certifit.solvers._gram_descent import Active, GramState, Penalty, descend_gram
from certifit.solvers._gram_path import descend_path
from certifit.solvers._residual_descent import combination, descend_residual
from certifit.solvers._working_set import WorkingSet, full_set


def _data(seed=0, n=30, d=10):
    rng = np.random.default_rng(seed)
    A, y = rng.normal(size=(n, d)), rng.normal(size=n)
    return A, y, np.ascontiguousarray(A.T @ A), A.T @ y, float(y @ y)


def _penalty(strength, d, ridge=0.0, positive=False):
    return Penalty(np.full(d, strength), np.full(d, ridge), positive)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 2.0])
@pytest.mark.parametrize("loose", [False, True])
def test_conditions_of_optimality(positive, ridge, loose):
    A, y, G, q, r2 = _data()
    penalty, state = _penalty(3.0, 10, ridge, positive), GramState(np.zeros(10), q.copy(), r2)
    descend_gram(G, state, penalty, 1e-12 * r2, 1e-12, Active(), loose=loose)
    g = A.T @ (y - A @ state.w) - ridge * state.w
    used = state.w != 0
    np.testing.assert_allclose(g[used], 3.0 * np.sign(state.w[used]), atol=1e-4 if loose else 1e-7)
    assert np.all((g if positive else np.abs(g))[~used] <= 3.0 + 1e-6)
    np.testing.assert_allclose(state.q, A.T @ (y - A @ state.w), atol=1e-9)
    assert state.r2 == pytest.approx(float(np.sum((y - A @ state.w) ** 2)), rel=1e-9)


def test_dependent_columns_still_close_the_gap():
    A, y, *_ = _data()
    A = np.column_stack([A, A[:, :4]])
    state, penalty = GramState(np.zeros(14), A.T @ y, float(y @ y)), _penalty(1.0, 14)
    descend_gram(np.ascontiguousarray(A.T @ A), state, penalty, 1e-9, 1e-9)
    assert penalty.gap(state.w, state.q, state.r2)[0] <= 1e-9


def test_residual_form_agrees():
    A, y, G, q, r2 = _data(1)
    penalty, state = _penalty(2.0, 10), GramState(np.zeros(10), q.copy(), r2)
    descend_gram(G, state, penalty, 1e-12, 1e-12)
    found = descend_residual(CentredColumns.of(as_design(A), None, False), y, np.zeros(10), penalty, 1e-10).state
    assert found.gap <= 1e-10
    np.testing.assert_allclose(found.w, state.w, atol=1e-5)


def test_a_path_is_its_points():
    _, _, G, q, r2 = _data(2)
    strengths = np.geomspace(np.abs(q).max(), 0.05, 40)
    W, gaps = descend_path(G, q, r2, strengths, lambda a: _penalty(a, 10), 1e-9)
    assert np.all(gaps <= 1e-9 * 0.5 * r2 + 1e-15)
    for i in (5, 20, 39):
        state = GramState(np.zeros(10), q.copy(), r2)
        descend_gram(G, state, _penalty(strengths[i], 10), 1e-13, 1e-13)
        np.testing.assert_allclose(W[i], state.w, atol=1e-4)


def test_extrapolation_finds_the_limit_of_a_linear_iteration():
    M = np.diag([0.9, 0.5, 0.1])
    seen = [np.ones(3)]
    for _ in range(4):
        seen.append(M @ seen[-1] + 1.0)
    np.testing.assert_allclose(combination(seen), 1.0 / (1.0 - np.diag(M)), rtol=1e-4)


@pytest.mark.parametrize("centre", [False, True])
def test_working_sets_grow_into_the_gram_matrix_of_their_columns(centre):
    rng = np.random.default_rng(3)
    A, s = rng.normal(size=(30, 10)) * 10.0 ** rng.integers(-3, 4, size=10) + 2.0, rng.uniform(0.5, 2.0, size=30)
    columns = CentredColumns.of(as_design(A), s, centre)
    B = np.sqrt(s)[:, None] * (A - (s @ A / s.sum() if centre else 0.0))
    work = WorkingSet(columns)
    for which in ([3, 1], [1, 7], [0]):
        work.include(np.array(which))
    assert work.which.tolist() == [3, 1, 7, 0]
    C = B[:, work.which] / work.scale
    np.testing.assert_allclose(work.gram[:4, :4], C.T @ C, rtol=1e-9, atol=1e-10)
    whole = full_set(columns, np.ones(30))
    D = B / whole.scale
    np.testing.assert_allclose(whole.gram, D.T @ D, rtol=1e-7, atol=1e-9)
