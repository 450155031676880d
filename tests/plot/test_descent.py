"""The picture of a descent: its points, and the function under them."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from certifit.plot import descent
from certifit.solvers import gradient_descent


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def bowl(d):
    bend = np.array([1.0, 8.0])[:d]
    return lambda t: 0.5 * float(bend @ np.square(t)), lambda t: bend * t


@pytest.mark.parametrize("d", [1, 2])
def test_points_lie_where_the_descent_was(d):
    f, slope = bowl(d)
    found = gradient_descent(f, slope, np.array([2.0, 1.0])[:d], step=0.2, tol=1e-6, trace=True)
    ax = descent(f, found.trace)
    x, y = ax.lines[0].get_data()
    assert len(x) == len(found.trace)
    assert x[0] == 2.0
    assert x[-1] == pytest.approx(float(found.value[0]))
    second = f(found.value) if d == 1 else found.value[1]
    assert y[-1] == pytest.approx(float(second))
    if d == 2:
        assert len(ax.collections) >= 1  # contours


def test_the_trace_tells_the_point_and_the_fall_foreseen():
    f, slope = bowl(2)
    rows = gradient_descent(f, slope, np.array([2.0, 1.0]), step=1e-4, max_iter=5, tol=0.0, trace=True).trace
    falls = -np.diff(rows["objective"])
    np.testing.assert_allclose(falls, rows["foreseen"][1:], rtol=1e-2)  # small steps fall as the slope says
    np.testing.assert_allclose([f(t) for t in rows["theta"]], rows["objective"], rtol=1e-15)


def test_other_points_are_refused():
    f, _ = bowl(1)
    with pytest.raises(ValueError, match="one or two coordinates"):
        descent(f, np.zeros((4, 3)))
    assert descent(f, [3.0, 1.0, 0.5]).get_ylabel() == "f(θ)"
