"""Trained networks: scikit-learn's own weights from the same seed, gradients, certificates, radii nobody can break."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.sparse
import sklearn.neural_network
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from certifit.certificates import Ball, Data
from certifit.certificates.network import labels_hold
from certifit.exceptions import ConvergenceWarning
from certifit.neural import MLPClassifier, MLPRegressor
from certifit.solvers import check_gradient, network
from certifit.solvers.network import ACTIVATIONS, NetworkTask, pack, start_layers, unpack, value_and_gradient
from tests.certificates.tampering import forged, refuses_everything, reissued

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
THREE = np.array(["a", "b", "c"])[np.argmax(X + 0.3 * RNG.normal(size=X.shape), axis=1)]
TWO = (X[:, 0] * X[:, 1] > 0).astype(int)
VALUES = np.sin(X[:, 0]) + X[:, 1] ** 2


def small(**options):
    return MLPClassifier((5, 4), **{"activation": "tanh", "random_state": 0, "tol": 1e-3, "max_iter": 500, **options})


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("loss", ["log", "two", "squared"])
def test_gradients_of_every_activation(activation, loss):
    rng = np.random.default_rng(1)
    Y = {
        "log": np.eye(3)[rng.integers(0, 3, 12)],
        "two": rng.integers(0, 2, (12, 1)) * 1.0,
        "squared": rng.normal(size=(12, 2)),
    }[loss]
    task = NetworkTask(rng.normal(size=(12, 3)), Y, rng.random(12), activation, "log" if loss == "two" else loss, 0.3)
    layers = start_layers([3, 4, 3, Y.shape[1]], activation, np.random.RandomState(0))
    theta = pack(layers)
    f = lambda t: value_and_gradient(task, unpack(t, layers))[0]  # noqa: E731
    grad = lambda t: pack(value_and_gradient(task, unpack(t, layers))[1])  # noqa: E731
    assert check_gradient(f, grad, theta)
    assert not check_gradient(f, lambda t: grad(t) + 1e-4 * (np.arange(len(t)) == 2), theta)


@pytest.mark.parametrize("read", [np.asarray, scipy.sparse.csr_matrix])
def test_rows_in_parts_have_the_gradient_of_all_rows(monkeypatch, read):
    rng = np.random.default_rng(2)
    task = NetworkTask(read(X), np.eye(3)[rng.integers(0, 3, len(X))], rng.random(len(X)), "relu", "log", 0.3)
    layers = start_layers([3, 4, 3], "relu", np.random.RandomState(0))
    value, gradient = value_and_gradient(task, layers)
    monkeypatch.setattr(network, "_PART", 1)
    monkeypatch.setattr(network, "_ROWS", 3)
    in_parts, parts = value_and_gradient(task, layers)
    assert in_parts == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(pack(parts), pack(gradient), rtol=0, atol=1e-15)
    with threadpool_limits(1):  # what is summed does not depend on who does it
        assert np.array_equal(pack(value_and_gradient(task, layers)[1]), pack(parts))


def test_check_gradient_names_the_wrong_entry():
    found = check_gradient(lambda t: float(np.sum(t**3)), lambda t: np.array([3 * t[0] ** 2, t[1]]), [1.0, 2.0])
    assert not found
    assert found.worst == 1
    np.testing.assert_allclose(found.numerical, [3.0, 12.0], rtol=1e-6)
    with pytest.raises(ValueError, match="one length"):
        check_gradient(lambda t: 0.0, lambda t: np.zeros(3), [1.0, 2.0])


STEPS = [
    {"solver": "lbfgs", "max_iter": 5},
    {"solver": "adam", "max_iter": 6, "batch_size": 7},
    {"solver": "sgd", "max_iter": 6, "batch_size": 7, "learning_rate": "invscaling", "learning_rate_init": 0.1},
    {"solver": "sgd", "max_iter": 6, "nesterovs_momentum": False, "learning_rate": "adaptive"},
    {"solver": "adam", "max_iter": 8, "early_stopping": True, "validation_fraction": 0.3},
]


@pytest.mark.parametrize("options", STEPS, ids=lambda o: "-".join(map(str, o.values())))
@pytest.mark.parametrize("target", ["two", "three", "values"])
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer", "ignore:lbfgs failed", "ignore:.*before the stopping rule")
def test_the_same_seed_gives_scikit_learns_network(options, target):
    y = {"two": TWO, "three": THREE, "values": VALUES}[target]
    name = "MLPRegressor" if target == "values" else "MLPClassifier"
    ours = {"MLPClassifier": MLPClassifier, "MLPRegressor": MLPRegressor}[name](
        hidden_layer_sizes=(6, 4), random_state=3, **options
    ).fit(X, y)
    theirs = getattr(sklearn.neural_network, name)(hidden_layer_sizes=(6, 4), random_state=3, **options).fit(X, y)
    for a, b in zip([*ours.coefs_, *ours.intercepts_], [*theirs.coefs_, *theirs.intercepts_], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)
    assert np.array_equal(ours.predict(X), theirs.predict(X)) or name == "MLPRegressor"
    np.testing.assert_allclose(ours.loss_, theirs.loss_, rtol=1e-6)
    if options["solver"] != "lbfgs":
        np.testing.assert_allclose(ours.loss_curve_, theirs.loss_curve_, rtol=1e-6)


def exact_value(model, X, y):
    """J in 50 digits."""
    mpmath.mp.dps = 50
    total = mpmath.mpf(0)
    codes = np.searchsorted(model.classes_, y)
    for row, c in zip(X, codes):
        a = mpmath.matrix([list(map(mpmath.mpf, row))])
        for i, (W, b) in enumerate(zip(model.coefs_, model.intercepts_)):
            a = a * mpmath.matrix(W.tolist()) + mpmath.matrix([b.tolist()])
            if i + 1 < len(model.coefs_):
                a = a.apply(mpmath.tanh)
        total += mpmath.log(mpmath.fsum(mpmath.exp(v) for v in a)) - a[int(c)]
    decay = mpmath.fsum(mpmath.mpf(v) ** 2 for W in model.coefs_ for v in W.ravel())
    return (total + mpmath.mpf(model.alpha) / 2 * decay) / len(X)


def test_the_certificate_states_value_and_gradient():
    model = small(alpha=0.5).fit(X, THREE)
    c = model.certificate_
    refuses_everything(c, X, THREE)
    assert abs(c.value - float(exact_value(model, X, THREE))) < 1e-12
    task = NetworkTask(X, np.eye(3)[np.searchsorted(model.classes_, THREE)], np.ones(len(X)), "tanh", "log", 0.5)
    g = np.linalg.norm(pack(value_and_gradient(task, [*model.coefs_, *model.intercepts_])[1]))
    assert g <= c.gradient <= 1.01 * g + 1e-12
    assert not forged(c, alpha=0.1).verify(X, THREE).holds
    assert not forged(c, activation="relu").verify(X, THREE).holds
    assert not forged(c, layers=2).verify(X, THREE).holds


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
def test_gradient_norms_of_every_activation_with_weights(activation):
    w = np.linspace(0.5, 2.0, len(X))
    model = MLPRegressor(hidden_layer_sizes=(4,), activation=activation, random_state=0, max_iter=2000, alpha=1.0).fit(
        X, VALUES, sample_weight=w
    )
    c = model.certificate_
    task = NetworkTask(X, VALUES[:, None], w, activation, "squared", model.alpha)
    value, gradient = value_and_gradient(task, [*model.coefs_, *model.intercepts_])
    assert c.holds
    assert abs(c.value - value) < 1e-12
    assert np.linalg.norm(pack(gradient)) <= c.gradient * (1 + 1e-9)
    assert c.verify(X, VALUES, w).holds
    assert not c.verify(X, VALUES).holds


def attacked(model, x, radius, rng):
    """Points of the box around x: random ones, corners, and corners that the gradient of the score points to."""
    d = len(x)
    yield from x + radius * rng.uniform(-1, 1, (60, d))
    yield from x + radius * rng.choice([-1.0, 1.0], (30, d))
    for _ in range(4):
        z = x + radius * rng.uniform(-1, 1, d)
        for _ in range(10):
            base = model._scores(z[None])[0]
            slopes = np.array([(model._scores((z + 1e-6 * e)[None])[0] - base) / 1e-6 for e in np.eye(d)])
            own = base.argmax() if len(base) > 1 else 0
            away = slopes[:, own] if len(base) > 1 else slopes[:, 0] * np.sign(base[0])
            z = np.clip(z - 0.3 * radius * np.sign(away), x - radius, x + radius)
            yield z


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(list(ACTIVATIONS)), st.booleans())
def test_no_perturbation_within_the_radius_changes_a_label(seed, activation, two):
    rng = np.random.default_rng(seed)
    model = MLPClassifier((6, 5), activation=activation, random_state=seed % 100, max_iter=30, tol=1e-2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *a, **k: None)
        model.fit(X, TWO if two else THREE)
    rows = rng.normal(size=(5, 3)) * 1.5
    radii, labels = model.certified_radius(rows), model.predict(rows)
    assert np.all(radii >= 0)
    assert np.any(radii > 0)
    for x, r, label in zip(rows, radii, labels):
        points = np.array(list(attacked(model, x, r, rng)))
        assert np.all(model.predict(points) == label)


def test_the_radius_of_a_linear_network_is_exact():
    """With one class boundary w·x + b = 0 the distance in the largest-coordinate norm is |w·x + b| / Σ|w|."""
    model = MLPClassifier((3,), activation="identity", random_state=0, max_iter=50, tol=1e-2).fit(X, X[:, 0] > 0)
    layers = list(zip(model.coefs_, model.intercepts_))
    w = layers[0][0] @ layers[1][0][:, 0]
    b = layers[0][1] @ layers[1][0][:, 0] + layers[1][1][0]
    exact = np.abs(X @ w + b) / np.abs(w).sum()
    radii = model.certified_radius(X)
    assert np.all(radii <= exact * (1 + 1e-9))
    single = [(w[:, None], np.array([b]))]
    codes = (X @ w + b > 0).astype(int)
    assert np.all(labels_hold(single, "identity", X, codes, 0.999 * exact))
    assert not np.any(labels_hold(single, "identity", X, codes, 1.001 * exact))


def test_a_huge_weight_of_a_unit_that_is_never_negative_pulls_one_way_only():
    """A rectified unit in [0, h] times 1e300 helps its class or does nothing; rounding must not make it hurt."""
    # Units max(x, 0), which is off at some points of both boxes, and max(1 − x, 0): both speak for class 1 only.
    layers = [(np.array([[1.0, -1.0]]), np.array([0.0, 1.0])), (np.array([[0.0, 1e300], [0.0, 1.0]]), np.zeros(2))]
    X, codes = np.array([[-0.05], [0.05]]), np.array([1, 1])
    assert np.all(labels_hold(layers, "relu", X, codes, np.array([0.1, 0.1])))
    assert not np.any(labels_hold(layers, "relu", X, 1 - codes, np.array([0.1, 0.1])))


def test_radius_certificates_are_refused_when_changed():
    model = small().fit(X, THREE)
    c = model.certify_radius(X)
    refuses_everything(c, X, None)
    radii, codes = np.array(c.evidence["radii"]), np.array(c.evidence["codes"])
    assert not forged(c, radii=radii * 1.2).verify(X).holds
    assert not forged(c, codes=(codes + 1) % 3).verify(X).holds
    assert not reissued(c, Data.of(X), radii=radii + 0.5).holds
    assert not reissued(c, Data.of(X), radii=np.full(len(X), np.nan)).holds
    assert model.certify_radius(X, 0.0).certain == 0
    assert not model.certify_radius(X, 100.0).holds


@settings(max_examples=50, deadline=None)
@given(st.floats(-30, 30), st.floats(0, 3), st.sampled_from(["tanh", "logistic", "relu"]))
def test_activations_on_balls_hold_every_value(mid, rad, name):
    from certifit.certificates.network import _ACTIVATIONS

    mpmath.mp.dps = 60
    function = {
        "tanh": mpmath.tanh,
        "logistic": lambda t: 1 / (1 + mpmath.exp(-t)),
        "relu": lambda t: max(t, mpmath.mpf(0)),
    }[name]
    image = _ACTIVATIONS[name][0](Ball(np.array([mid]), np.array([rad])))
    for t in np.linspace(-1, 1, 5):
        value = function(mpmath.mpf(mid) + mpmath.mpf(rad) * mpmath.mpf(t))
        assert mpmath.mpf(float(image.lower[0])) <= value <= mpmath.mpf(float(image.upper[0]))


def test_automatic_choice_traces_and_limits():
    model = small(trace=True).fit(X, TWO)
    assert model.solver_ == "lbfgs"
    assert [row.iteration for row in model.trace_] == list(range(model.n_iter_ + 1))
    assert model.trace_[-1].objective < model.trace_[0].objective
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter"):
        stopped = small(early_stopping=True, max_iter=3, trace=True).fit(X, TWO)
    assert stopped.solver_ == "adam"
    assert "validation" in stopped.trace_.columns
    with pytest.warns(ConvergenceWarning, match="stopped at the time budget"):
        small(time_budget=1e-9).fit(X, TWO)


def test_sparse_rows_and_clear_errors():
    a, b = (small(alpha=1.0, tol=1e-9).fit(rows, TWO) for rows in (X, scipy.sparse.csr_matrix(X)))
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(scipy.sparse.csr_matrix(X)), atol=1e-6)
    assert b.certificate_.verify(X, TWO).holds
    with pytest.raises(ValueError, match="must be > 0"):
        MLPClassifier((3, 0)).fit(X, TWO)
    with pytest.raises(ValueError, match="Unknown label type"):
        MLPClassifier((3,)).fit(X, np.column_stack([TWO + 3, TWO + 5]))
