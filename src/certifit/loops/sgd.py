"""One pass of stochastic gradient descent over rows in a given order, with a running average."""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit

SQUARED, ABSOLUTE, HINGE, SQUARED_HINGE, LOGISTIC, EXPONENTIAL, PERCEPTRON = range(7)
_LARGEST = 1e6  # slopes are cut here, so that no step can leave the finite numbers


@njit()
def slope_of(code, factor, z, y):
    """dL/dz of the loss with this code (``factor`` is that of the squared loss)."""
    if code == SQUARED:
        return 2.0 * factor * (z - y)
    if code == ABSOLUTE:
        return 1.0 if z > y else (-1.0 if z < y else 0.0)
    m = y * z
    if code == HINGE:
        return -y if m <= 1.0 else 0.0
    if code == SQUARED_HINGE:
        return -2.0 * y * max(0.0, 1.0 - m)
    if code == LOGISTIC:
        return -y / (1.0 + np.exp(min(m, 700.0)))
    if code == EXPONENTIAL:
        return -y * np.exp(min(-m, 13.0))
    return -y if m <= 0.0 else 0.0


@njit(fastmath={"reassoc", "contract"})
def sgd_pass(A, y, order, code, factor, w, b, average, average_b, l1, l2, centre, offset, step, decay, t, skip):
    """One pass; w and average change in place, offsets and the count of steps are returned.

    The step is step/(1 + decay·step·t) for decay > 0, else step/√(1 + t). After each gradient step comes the prox of
    the penalty Σ l1ⱼ|wⱼ| + ½ l2ⱼ(wⱼ − centreⱼ)². Averaging starts after ``skip`` steps.
    """
    d = A.shape[1]
    for k in range(len(order)):
        i = order[k]
        z = b
        for j in range(d):
            z += A[i, j] * w[j]
        g = slope_of(code, factor, z, y[i])
        g = min(max(g, -_LARGEST), _LARGEST)
        eta = step / (1.0 + decay * step * t) if decay > 0.0 else step / np.sqrt(1.0 + t)
        t += 1.0
        share = 1.0 / max(t - skip, 1.0)
        for j in range(d):
            v = w[j] - eta * g * A[i, j]
            if l2[j] > 0.0:
                v = (v + eta * l2[j] * centre[j]) / (1.0 + eta * l2[j])
            cut = eta * l1[j] / (1.0 + eta * l2[j])
            if cut > 0.0:
                v = v - cut if v > cut else (v + cut if v < -cut else 0.0)
            w[j] = v
            average[j] += share * (v - average[j])
        if offset:
            b -= eta * g
            average_b += share * (b - average_b)
    return b, average_b, t


def warm() -> None:
    """Compile."""
    A, y = np.eye(2), np.array([1.0, -1.0])
    zero = np.zeros(2)
    sgd_pass(A, y, np.arange(2), 0, 0.5, zero.copy(), 0.0, zero.copy(), 0.0, zero, zero, zero, True, 0.1, 0.0, 0.0, 0.0)
