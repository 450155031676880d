"""Laws that every registered loss must obey."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.certificates import Ball
from certifit.losses import (
    Asymmetric,
    Exponential,
    Logistic,
    Softmax,
    Squared,
    ZeroOne,
    best_offset,
    get_loss,
    loss_names,
    loss_spec,
)

POINTWISE = [loss for n in loss_names() if (loss := get_loss(n)).targets in ("real", "sign")] + [Squared(0.5)]
scores = st.floats(-30, 30, allow_nan=False)


def truth(loss, y):
    return np.array([y]) if loss.targets == "real" else np.array([1.0 if y > 0 else -1.0])


@pytest.mark.parametrize("loss", POINTWISE, ids=str)
@given(z=scores, y=scores)
def test_slope_is_the_numerical_derivative(loss, z, y):
    y, h = truth(loss, y), 1e-6 * (1 + abs(z))
    z = np.array([z])
    numerical = (loss.value(z + h, y) - loss.value(z - h, y)) / (2 * h)
    low, high = loss.slope(z - h, y), loss.slope(z + h, y)
    slack = 1e-4 * (1 + np.abs(loss.value(z, y)))
    assert (low - slack <= numerical).all()
    assert (numerical <= high + slack).all()


@pytest.mark.parametrize("loss", POINTWISE, ids=str)
@given(z=scores, y=scores)
def test_curvature_is_the_derivative_of_the_slope(loss, z, y):
    y, h = truth(loss, y), 1e-5 * (1 + abs(z))
    z = np.array([z])
    kink = abs(float(z[0]) * float(y[0]) - (1.0 if "hinge" in loss.name else 0.0)) < 3 * h
    kink = kink or abs(abs(float(z[0] - y[0])) - getattr(loss, "epsilon", 0.0)) < 3 * h
    if (not loss.smooth or loss.name in ("squared_hinge", "squared_epsilon_insensitive")) and kink:
        return
    numerical = (loss.slope(z + h, y) - loss.slope(z - h, y)) / (2 * h)
    assert np.allclose(loss.curvature(z, y), numerical, rtol=1e-3, atol=1e-4 * (1 + np.abs(loss.value(z, y))))


@pytest.mark.parametrize("loss", POINTWISE, ids=str)
@given(a=scores, b=scores, y=scores, t=st.floats(0, 1))
def test_convex(loss, a, b, y, t):
    y = truth(loss, y)
    mix = loss.value(np.array([t * a + (1 - t) * b]), y)
    bound = t * loss.value(np.array([a]), y) + (1 - t) * loss.value(np.array([b]), y)
    assert (mix <= bound * (1 + 1e-9) + 1e-9).all()


@pytest.mark.parametrize("loss", POINTWISE, ids=str)
@given(z=scores, y=scores, share=st.floats(0, 1))
def test_fenchel_young_is_not_negative_and_zero_at_the_slope(loss, z, y, share):
    y, z = truth(loss, y), np.array([z])
    low, high = loss.domain(y)
    u = np.clip(np.array([-30.0]), low, high) * share + np.clip(np.array([30.0]), low, high) * (1 - share)
    scale = 1 + np.abs(loss.value(z, y)) + np.abs(u * z)
    assert (loss.fenchel_young(z, u, y) >= -1e-9 * scale).all()
    at = loss.slope(z, y)
    assert ((at >= low) & (at <= high)).all()
    assert np.allclose(loss.fenchel_young(z, at, y), 0.0, atol=1e-9 * (1 + np.abs(loss.value(z, y)).max()) ** 2)


@pytest.mark.parametrize("loss", POINTWISE, ids=str)
def test_conjugate_is_the_supremum(loss):
    grid = np.linspace(-60, 60, 240_001)
    for y in (np.array([1.0]), np.array([-1.0])):
        low, high = (float(np.clip(e[0], -0.9, 0.9)) for e in loss.domain(y))
        for u in np.linspace(low + 0.05 * (high - low), high - 0.05 * (high - low), 7):
            brute = np.max(u * grid - loss.value(grid, np.broadcast_to(y, grid.shape)))
            assert np.isclose(loss.conjugate(np.array([u]), y)[0], brute, atol=2e-3)


@pytest.mark.parametrize("loss", POINTWISE, ids=str)
@given(z=scores, y=scores)
def test_balls_contain_the_float_value(loss, z, y):
    y, z = truth(loss, y), np.array([z])
    assert loss.value(Ball(z), y).contains(loss.value(z, y)).all()


def test_nothing_overflows():
    y = np.array([1.0])
    for loss in (Logistic(), Exponential()):
        for z in (1e308, -1e308, 800.0, -800.0):
            with np.errstate(over="raise", invalid="raise"):
                assert np.isfinite(loss.slope(np.array([z]), y)).all()
    assert np.isfinite(Logistic().value(np.array([-1e300]), y)).all()


def test_softmax_laws():
    rng = np.random.default_rng(0)
    loss, z, y = Softmax(), rng.normal(size=(20, 4)) * 5, rng.integers(0, 4, 20)
    h = 1e-6
    numerical = np.stack([(loss.value(z + h * e, y) - loss.value(z - h * e, y)) / (2 * h) for e in np.eye(4)], axis=1)
    assert np.allclose(loss.slope(z, y), numerical, atol=1e-7)
    p = rng.dirichlet(np.ones(4), 20)
    assert (loss.fenchel_young(z, p - loss.one_hot(y, 4), y) >= -1e-12).all()
    assert np.allclose(loss.fenchel_young(z, loss.slope(z, y), y), 0.0, atol=1e-12)
    two = np.column_stack([np.zeros(20), z[:, 0]])
    signs = np.where(y % 2 == 1, 1.0, -1.0)
    assert np.allclose(loss.value(two, y % 2), Logistic().value(z[:, 0], signs))


def test_evaluation_losses():
    assert ZeroOne().value(np.array([1, 2, 3]), np.array([1, 0, 3])).tolist() == [0, 1, 0]
    cost = Asymmetric(false_positive=2, false_negative=5)
    assert cost.value(np.array([1, -1, 1]), np.array([-1, 1, 1])).tolist() == [2, 5, 0]
    assert cost.threshold == pytest.approx(2 / 7)
    with pytest.raises(ValueError, match="Costs must be finite"):
        Asymmetric(-1, 1)


@pytest.mark.parametrize("loss", POINTWISE, ids=str)
def test_record_round_trip(loss):
    assert get_loss(loss_spec(loss)) == loss


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"Unknown loss 'hindge'; choose one of .*hinge"):
        get_loss("hindge")


@pytest.mark.parametrize("loss", POINTWISE, ids=str)
def test_best_offset_cannot_be_improved(loss):
    rng = np.random.default_rng(1)
    z, w = rng.normal(size=40), rng.uniform(0.1, 2, 40)
    y = rng.normal(size=40) * 3 if loss.targets == "real" else rng.choice([-1.0, 1.0], 40)
    b = best_offset(loss, z, y, w)
    best = w @ loss.value(z + b, y)
    for step in (-1e-3, 1e-3, -1, 1):
        assert best <= w @ loss.value(z + b + step, y) + 1e-9
