"""The two feature maps: scores, penalties and the penalty's share of the gap, against plain products."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from certifit._objective import Objective
from certifit.certificates import Data
from certifit.certificates.maps import ColumnMap, KernelMap, row_distances
from certifit.losses import Squared
from certifit.regularizers import L1, SquaredL2

RNG = np.random.default_rng(13)
X = RNG.normal(size=(15, 3))
LINEAR = {"kernel": ["linear"]}


def inside(ball, exact):
    assert np.all((ball.lower <= np.asarray(exact) + 1e-13) & (np.asarray(exact) - 1e-13 <= ball.upper))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("padding", [None, 2.0])
def test_columns(form, padding):
    objective = Objective(Squared(), SquaredL2(), 0.7, padding=padding)
    columns = ColumnMap(Data.of(form(X), X[:, 0]), "float")
    w, b, beta = RNG.normal(size=(1, 3)), np.array([0.5]), RNG.normal(size=(15, 1))
    inside(columns.scores(w), X @ w.T)
    whole = np.append(w, b / padding) if padding else w[0]
    rows = np.column_stack([X, np.full(15, padding)]) if padding else X
    c = objective.regularizer.factor
    inside(columns.penalty(objective, w, b, columns.scores(w)), 0.7 * c * whole @ whole)
    v = -(rows.T @ beta)[:, 0] / 0.7
    inside(columns.slopes(objective, beta), v)
    gap, why = columns.gap(objective, w, b, beta)
    assert why == ""
    inside(gap, 0.7 * (c * whole @ whole + v @ v / (4 * c) - v @ whole))


def test_a_norm_asks_for_feasible_multipliers():
    objective = Objective(Squared(), L1(), 1.0)
    columns = ColumnMap(Data.of(X, X[:, 0]), "float")
    gap, why = columns.gap(objective, np.ones((1, 3)), np.zeros(1), np.full((15, 1), 1e3))
    assert np.isinf(gap.mid)
    assert "not feasible" in why
    gap, why = columns.gap(objective, np.ones((1, 3)), np.zeros(1), np.zeros((15, 1)))
    inside(gap, 3.0)
    none = Objective(Squared(), SquaredL2(), 0.0)
    assert np.isinf(columns.gap(none, np.ones((1, 3)), np.zeros(1), np.zeros((15, 1)))[0].mid)


@given(st.integers(0, 2**32 - 1))
def test_a_linear_kernel_is_the_table_of_columns(seed):
    rng = np.random.default_rng(seed)
    objective = Objective(Squared(), SquaredL2(), 1.5)
    c, beta = rng.normal(size=(1, 15)), rng.normal(size=(15, 1))
    data = Data.of(X, X[:, 0])
    columns, kernel = ColumnMap(data, "float"), KernelMap(data, LINEAR, "float", np.arange(15))
    w, b = c @ X, np.zeros(1)
    scores = kernel.scores(c)
    np.testing.assert_allclose(scores.mid, columns.scores(w).mid, atol=1e-11)
    mine, theirs = kernel.penalty(objective, c, b, scores), columns.penalty(objective, w, b, columns.scores(w))
    np.testing.assert_allclose(mine.mid, theirs.mid, rtol=1e-9)
    gaps = kernel.gap(objective, c, b, beta)[0], columns.gap(objective, w, b, beta)[0]
    assert float(gaps[0].upper) >= float(gaps[1].lower) * (1 - 1e-9)
    np.testing.assert_allclose(gaps[0].mid, gaps[1].mid, rtol=1e-6, atol=1e-9)


def test_a_kernel_refuses_what_it_cannot_mean():
    kernel = KernelMap(Data.of(X, X[:, 0]), LINEAR, "float", np.array([0, 1]))
    outside = np.zeros((15, 1))
    outside[5] = 1.0
    _, why = kernel.gap(Objective(Squared(), SquaredL2(), 1.0), np.ones((1, 2)), np.zeros(1), outside)
    assert "not among the support" in why
    for bad in (Objective(Squared(), L1(), 1.0), Objective(Squared(), SquaredL2(), 0.0)):
        with pytest.raises(ValueError, match="a kernel goes with"):
            kernel.penalty(bad, np.ones((1, 2)), np.zeros(1), kernel.scores(np.ones((1, 2))))


def test_distances_are_upper_bounds():
    centre = X.mean(axis=0)
    for form in (np.asarray, sp.csr_array):
        assert np.all(row_distances(form(X), None) >= np.linalg.norm(X, axis=1))
        assert np.all(row_distances(form(X), centre) >= np.linalg.norm(X - centre, axis=1))
