"""Certain labels of liblinear's machines on rows far from the origin, where its penalised offset costs most."""

import warnings

import numpy as np
import pytest
import sklearn.svm

from certifit import certify


def loss_of(t, C, width):
    """Value, slope and curvature of C Σ max(0, t)², or (with a width) of C Σ max(0, t) with a parabola on (0, width)."""
    if width == 0.0:
        return C * np.sum(np.maximum(t, 0.0) ** 2), 2.0 * C * np.maximum(t, 0.0), 2.0 * C * (t > 0)
    rounded = np.where(t < width, np.maximum(t, 0.0) ** 2 / (2 * width), t - width / 2)
    return C * rounded.sum(), C * np.clip(t / width, 0.0, 1.0), C / width * ((t > 0) & (t < width))


def optimum(X, y, C, square):
    """The minimum of ½‖(w, b)‖² + C Σ max(0, 1 − y(w·x + b))^p over three numbers: Newton, with corners rounded off."""
    Z = y[:, None] * np.column_stack([X, np.ones(len(X))])
    u, scale = np.zeros(Z.shape[1]), 1.0 + np.abs(Z).max()
    for width in (0.0,) if square else 10.0 ** np.arange(0, -9, -1):
        for _ in range(200):
            value, slope, curve = loss_of(1.0 - Z @ u, C, width)
            value, gradient = value + 0.5 * u @ u, u - Z.T @ slope
            step = np.linalg.solve(np.eye(len(u)) + (Z.T * curve) @ Z, gradient)
            for size in 0.5 ** np.arange(40):
                v = u - size * step
                if loss_of(1.0 - Z @ v, C, width)[0] + 0.5 * v @ v <= value - 1e-4 * size * (gradient @ step):
                    break
            u = v
            if np.linalg.norm(gradient) < 1e-10 * scale:
                break
    return u[:-1], u[-1]


@pytest.mark.parametrize("seed", range(24))
def test_labels_that_are_called_certain_are_those_of_the_optimum(seed):
    rng = np.random.default_rng(seed)
    shift = 10.0 ** rng.uniform(0, 3)
    X = rng.normal(size=(60, 2)) + shift
    y = (X[:, 0] - shift + 0.7 * rng.normal(size=60) > 0).astype(int)
    loss = ("hinge", "squared_hinge")[seed % 2]
    options = {
        "tol": 10.0 ** rng.uniform(-4, 0),
        "max_iter": int(10 ** rng.uniform(1, 4)),
        "C": 10 ** rng.uniform(-2, 1),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sklearn.svm.LinearSVC(loss=loss, random_state=0, dual=True, **options).fit(X, y)
    c = certify(model, X, y)
    assert c.holds
    if c.region is None:
        return
    z = X @ model.coef_[0] + model.intercept_[0]
    sure = c.region.rows(X, model.coef_, model.intercept_, z[:, None])
    w, b = optimum(X, np.where(y == 1, 1.0, -1.0), model.C, loss == "squared_hinge")
    best = X @ w + b
    clear = np.abs(best) > 1e-3 * (1.0 + np.abs(best).max())  # the reference is not exact
    assert not np.any(sure & clear & ((z > 0) != (best > 0)))
    own = 0.5 * (w @ w + b * b) + model.C * np.sum(
        np.maximum(1 - np.where(y == 1, 1, -1) * best, 0.0) ** (1 + seed % 2)
    )
    assert own >= c.bound * (1 - 1e-9)
