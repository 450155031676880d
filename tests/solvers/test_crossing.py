"""Where a falling, piecewise linear function is zero."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from certifit.solvers.crossing import crossing


@given(st.lists(st.floats(0.01, 10.0), min_size=1, max_size=6), st.floats(0.05, 0.95))
def test_pieces(slopes, share):
    knots = np.arange(len(slopes) + 1.0)
    heights = -np.concatenate([[0.0], np.cumsum(slopes)])
    heights -= (1 - share) * heights[0] + share * heights[-1]
    seen = []

    def value(t):
        seen.append(t)
        return float(np.interp(t, knots, heights))

    a, b = crossing(value, (knots[0], heights[0]), (knots[-1], heights[-1]), lambda _: 1e-10)
    assert a == b
    assert abs(value(a)) <= 1e-10
    assert len(seen) < 60


def test_a_jump_ends_in_a_narrow_bracket():
    a, b = crossing(lambda t: 1.0 if t < 0.3 else -2.0, (0.0, 1.0), (1.0, -2.0), lambda _: 1e-10)
    assert a < 0.3 <= b
    assert b - a < 1e-12
