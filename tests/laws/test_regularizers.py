"""Laws that every registered regularizer must obey."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from certifit.certificates import Ball
from certifit.regularizers import (
    L1,
    ElasticMix,
    NonNegative,
    PNorm,
    SquaredL2,
    Zero,
    get_regularizer,
    regularizer_spec,
)

ALL = [
    Zero(),
    SquaredL2(),
    SquaredL2(0.5),
    SquaredL2(1.0, (1.0, -2.0, 0.5)),
    L1(),
    PNorm(1.5),
    PNorm(2.0),
    PNorm(3.0),
    ElasticMix(0.3),
    NonNegative(Zero()),
    NonNegative(SquaredL2()),
    NonNegative(L1()),
    NonNegative(ElasticMix(0.6)),
]
vectors = arrays(float, 3, elements=st.floats(-5, 5, allow_nan=False))


def allowed(reg, w):
    return np.maximum(w, 0.0) if isinstance(reg, NonNegative) else w


@pytest.mark.parametrize("reg", ALL, ids=str)
@given(w=vectors, other=vectors, step=st.floats(0.01, 3))
def test_prox_is_the_argmin(reg, w, other, step):
    u = reg.prox(w, step)

    def cost(v):
        return 0.5 * np.sum((v - w) ** 2) + step * reg.value(v)

    assert (allowed(reg, u) == u).all()
    for v in (allowed(reg, other), allowed(reg, u + 1e-3 * other), allowed(reg, w)):
        assert cost(u) <= cost(v) + 1e-6


@pytest.mark.parametrize("reg", ALL, ids=str)
@given(a=vectors, b=vectors, t=st.floats(0, 1))
def test_convex(reg, a, b, t):
    a, b = allowed(reg, a), allowed(reg, b)
    gap = t * reg.value(a) + (1 - t) * reg.value(b) - reg.value(t * a + (1 - t) * b)
    assert gap >= 0.5 * reg.convexity * t * (1 - t) * np.sum((a - b) ** 2) - 1e-9


@pytest.mark.parametrize("reg", ALL, ids=str)
@given(w=vectors, v=vectors)
def test_fenchel_young_is_not_negative(reg, w, v):
    w = allowed(reg, w)
    size = float(reg.gauge(v))
    v = np.zeros(3) if np.isinf(size) else v / max(1.0, size * (1 + 1e-12))
    assert reg.fenchel_young(w, v) >= -1e-9


@pytest.mark.parametrize("reg", ALL, ids=str)
@given(w=vectors, step=st.floats(0.1, 2))
def test_prox_residual_is_a_subgradient(reg, w, step):
    """(w − prox)/step lies in ∂R(prox), where Fenchel–Young is zero."""
    u = reg.prox(w, step)
    v = (w - u) / step
    size = float(reg.gauge(v))
    if np.isinf(size):
        assert np.allclose(v[u > 0] if isinstance(reg, NonNegative) else v, 0.0, atol=1e-12)
        return
    v = v / max(1.0, size)
    assert reg.fenchel_young(u, v) == pytest.approx(0.0, abs=2e-6)


@pytest.mark.parametrize("reg", [r for r in ALL if r.smooth], ids=str)
@given(w=vectors, d=vectors)
def test_gradient(reg, w, d):
    h = 1e-6
    numerical = (reg.value(w + h * d) - reg.value(w - h * d)) / (2 * h)
    assert reg.gradient(w) @ d == pytest.approx(numerical, abs=1e-6)


@pytest.mark.parametrize("reg", ALL, ids=str)
@given(w=vectors)
def test_balls_contain_the_float_value(reg, w):
    w = allowed(reg, w)
    value = reg.value(Ball(w))
    assert value == reg.value(w) if isinstance(value, float) else value.contains(reg.value(w))


@pytest.mark.parametrize("reg", ALL, ids=str)
def test_record_round_trip(reg):
    assert get_regularizer(regularizer_spec(reg)) == reg


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PNorm(1.0), "use L1"),
        (lambda: ElasticMix(1.0), "use L1"),
        (lambda: NonNegative(PNorm(2.0)), "w ≥ 0 goes with"),
        (lambda: get_regularizer("l3"), "Unknown regularizer 'l3'"),
        (lambda: L1().gradient(np.ones(2)), "not smooth"),
    ],
)
def test_refusals_name_a_way_out(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()
