"""Rows far from the origin, margins thin beside it, and given kernel values: right answers or a clear refusal."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.exceptions import NotSeparableError, ThinMarginError
from certifit.kernels import RBF
from certifit.svm import SVC, HardMarginSVC


def _cloud(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.round(rng.normal(size=(n, 3)) + 1.5 * y[:, None], 3), y


def test_hard_margin_far_from_the_origin():
    X, y = np.array([[0.0], [1.0], [3.0]]), [0, 1, 1]
    model = HardMarginSVC().fit(1e8 + X, y)
    assert model.margin_ == pytest.approx(0.5, rel=1e-9)
    assert model.predict(1e8 + X).tolist() == y
    assert model.certificate_.holds
    assert model.certificate_.relative_gap < 1e-5
    assert model.primal_value_ == pytest.approx(2.0)


@pytest.mark.parametrize("shift", [1e3, 1e6, 1e8])
def test_a_common_shift_changes_nothing_but_the_offset(shift):
    X, y = _cloud()
    X = np.round(X * 64) / 64  # the shifted numbers are exact
    near, far = (SVC(kernel="linear", tol=1e-6).fit(Z, y) for Z in (X, X + shift))
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
    np.testing.assert_allclose(far.decision_function(X + shift), near.decision_function(X), atol=1e-5)
    assert far.certificate_.holds
    assert far.certificate_.relative_gap < max(1.1e-8, 1e-12 * shift)
    assert far.certificate_.verify(X + shift, y)


def test_what_no_line_separates_is_refused_exactly():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[-1] = X[:20].mean(axis=0)
    y = np.r_[np.zeros(39, dtype=int), 1]
    with pytest.raises(NotSeparableError, match="no hyperplane") as refusal:
        HardMarginSVC().fit(X, y)
    assert refusal.value.certificate.kind == "separability"
    assert refusal.value.certificate.verify(X, y)


def test_a_margin_thinner_than_rounding_is_not_called_absent():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0 + 1e-9], [0.0, 1e-9]])
    with pytest.raises(ThinMarginError, match="separable") as refusal:
        HardMarginSVC().fit(X, [0, 0, 1, 1])
    assert refusal.value.certificate.figures["verdict"] == "separable"


@pytest.mark.parametrize("number", [1.0, 0.1, 1e8 / 3.0])
def test_equal_rows_have_no_variance(number):
    X, y = np.full((10, 3), number), np.arange(10) % 2
    model = SVC().fit(X, y)
    assert model._gamma == 1.0
    assert model.certificate_.holds
    assert SVC().fit(X, y, np.arange(1.0, 11.0))._gamma == 1.0


def test_certain_with_given_kernel_values_and_their_diagonal():
    X, y = _cloud(90)
    new = np.random.default_rng(1).normal(size=(50, 3)) * 2
    k = RBF(gamma=0.3)
    ours, given = SVC(kernel=k, tol=1e-7).fit(X, y), SVC(kernel="precomputed", tol=1e-7).fit(k(X), y)
    sure = given.certain(k(new, X), diagonal=np.ones(50))
    assert not given.certain(k(new, X)).any()
    assert sure.sum() > 40
    assert (sure == ours.certain(new)).mean() > 0.95
    exact = SVC(kernel=k, tol=1e-11).fit(X, y)
    assert (given.predict(k(new, X))[sure] == exact.predict(new)[sure]).all()
    with pytest.raises(ValueError, match="diagonal"):
        given.certain(k(new, X), diagonal=np.ones(3))
    part = np.flatnonzero(ours.predict(X) == y)
    hard = HardMarginSVC(kernel="precomputed").fit(k(X[part]), y[part])
    sides = hard.certain(k(new, X[part]), diagonal=np.ones(50))
    formula = HardMarginSVC(kernel=k).fit(X[part], y[part])
    assert sides.any()
    assert (hard.predict(k(new, X[part]))[sides] == formula.predict(new)[sides]).all()
