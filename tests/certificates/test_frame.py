"""Products and gradients in one read of the table, against rational numbers and against the road by parts."""

import numpy as np
import pytest
import scipy.sparse

from certifit.certificates import Ball, Data, rationals, to_float
from certifit.certificates._frame import Frame, middle
from certifit.certificates.local import LocalBound, _Fit
from certifit.certificates.spectrum import centred_scatter
from certifit.linear_model import LogisticRegression


def _exact_gradient(frame: Frame, X, rho):
    """D⁻¹Aᵀρ in rationals."""
    A = rationals(X) - rationals(frame.centre)
    A = np.column_stack([A, rationals(np.ones(len(X)))]) if frame.fit_intercept else A
    scale = rationals(np.ldexp(1.0, -frame.power))
    return (A.T @ rationals(rho)) * scale[:, None]


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("far", [0.0, 0.1, 1e6])
def test_gradients_are_enclosed(offset, weighted, far):
    rng = np.random.default_rng(int(far) + weighted)
    X = rng.normal(size=(300, 4)) * [1.0, 1e-3, 1e3, 1.0] + far
    weights = rng.uniform(0.1, 3.0, size=300) if weighted else np.ones(300)
    rho = Ball(rng.normal(size=(300, 2)), np.full((300, 2), 1e-12))
    frame = Frame.of(X, weights, offset, residuals=rho)
    assert frame.pull is not None
    q, true = frame.half_gradient(X), _exact_gradient(frame, X, rho.mid)
    assert np.all(rationals(q.lower) <= true)
    assert np.all(true <= rationals(q.upper))
    gram = frame.gram
    B = to_float((rationals(X) - rationals(frame.centre)) * rationals(np.ldexp(1.0, -frame.power[:4])))
    B = np.column_stack([B, np.full(300, np.ldexp(1.0, -frame.power[-1]))]) if offset else B
    np.testing.assert_allclose(gram, B.T @ (B * weights[:, None]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("offset", [True, False])
def test_rows_of_slight_weight_take_part_in_the_gradient(offset):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3)) + [0.0, 0.1, 40.0]
    weights = 10.0 ** rng.uniform(-30, 0, size=300)
    weights[:20] = 0.0
    rho = Ball(rng.normal(size=(300, 1)), np.full((300, 1), 1e-13))
    frame = Frame.of(X, weights, offset, residuals=rho)
    assert frame.pull is not None
    for moved in (0.0, 0.9e-13, -0.9e-13):
        q, true = frame.half_gradient(X), _exact_gradient(frame, X, rho.mid + moved)
        assert np.all(rationals(q.lower) <= true)
        assert np.all(true <= rationals(q.upper))
    assert np.all(q.rad <= 1e-8)


def test_columns_about_zero_are_not_centred_and_others_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    assert not np.any(middle(X, np.ones(500)))
    for far in (X + 1.0, X + [0, 0, 0, 0, 1e9], np.column_stack([X, np.full(500, 3.0)])):
        assert np.any(middle(far, np.ones(500)))
    near = X + 1e9
    near[:, 1:] -= 1e9
    assert np.abs(middle(near, np.ones(500))[0] - 1e9) < 1.0


@pytest.mark.parametrize("far", [0.0, 5.0])
def test_scatter_about_the_mean_does_not_depend_on_the_point_it_is_taken_about(far):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3)) + far
    S, shift, _ = centred_scatter(Data.of(X), X.mean(axis=0) + 0.25)
    E = rationals(X)
    mean = E.sum(axis=0) / 400
    true = (E - mean).T @ (E - mean)
    assert np.all(rationals(S.lower) <= true)
    assert np.all(true <= rationals(S.upper))
    off = mean - rationals(X.mean(axis=0) + 0.25)
    assert np.all(rationals(shift.lower) <= off)
    assert np.all(off <= rationals(shift.upper))


@pytest.mark.parametrize("sparse", [True, False])
def test_the_cheap_lengths_are_upper_bounds_of_the_sharp_ones(sparse):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3)) * [1.0, 10.0, 0.1]
    y = (X @ [1.0, 0.1, 5.0] + rng.logistic(size=400) > 0).astype(int)
    table = scipy.sparse.csr_matrix(X) if sparse else X
    model = LogisticRegression().fit(table, y)
    c = model.certificate_
    assert c.holds
    assert c.kind == LocalBound.name
    fit = _Fit.of(Data.of(table, y), c.evidence)
    found = fit.at(model.coef_[0], float(model.intercept_[0]))
    assert found.area is not None
    assert found.lengths is not None
    # Without a penalty to speak of xᵀH⁻¹x is at most one over the curvature of the row; with all slack it is below both.
    sharp = found.area.lengths(fit.X)
    assert np.all(found.lengths >= sharp * (1 - 1e-9))
    assert np.all(found.area.quick_lengths(fit.X) >= sharp * (1 - 1e-9))
    some = np.array([3, 17, 250])
    np.testing.assert_array_equal(found.area.lengths(fit.X, some), sharp[some])
    shorter = found.area.shortened(np.full(400, np.inf), fit.X, float(np.median(sharp)))
    assert np.all(shorter >= sharp * (1 - 1e-9))
    assert np.all(shorter <= np.maximum(sharp, np.median(sharp)) * (1 + 1e-9))
