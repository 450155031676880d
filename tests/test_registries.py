"""A user's own loss, regularizer and kernel: usable everywhere, and never mistaken for certifit's."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import certifit as cf
from certifit import kernels, losses, regularizers
from certifit.certificates import Certificate
from certifit.kernels import mercer
from certifit.linear_model import LinearModel
from certifit.svm import SVC

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X @ [1.0, -2.0] + RNG.standard_t(2, size=60)
LABELS = np.where(X[:, 0] + 0.5 * RNG.normal(size=60) > 0, "b", "a")


@losses.register
@dataclass(frozen=True)
class TestHuber(losses.Loss):
    """½r² up to the width, linear beyond."""

    __test__ = False
    width: float = 1.0
    name: ClassVar[str] = "test_huber"
    targets: ClassVar[str] = "real"
    smooth: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 1.0

    def value(self, z, y):
        near = np.minimum(np.abs(z - y), self.width)
        return near * (np.abs(z - y) - 0.5 * near)

    def slope(self, z, y):
        return np.clip(z - y, -self.width, self.width)

    def curvature(self, z, y):
        return (np.abs(z - y) < self.width) * 1.0

    def conjugate(self, u, y):
        return u * y + 0.5 * np.square(u)

    def domain(self, y):
        return np.full(np.shape(y), -self.width), np.full(np.shape(y), self.width)


@regularizers.register
@dataclass(frozen=True)
class Quarter(regularizers.Regularizer):
    """¼‖w‖²."""

    name: ClassVar[str] = "test_quarter"
    smooth: ClassVar[bool] = True

    @property
    def convexity(self):
        return 0.5

    def value(self, w):
        return 0.25 * np.square(w).sum()

    def gradient(self, w):
        return 0.5 * w

    def prox(self, w, step):
        return w / (1 + 0.5 * step)

    def conjugate(self, v):
        return np.square(v).sum()

    def gauge(self, v):
        return 0.0


@kernels.register
@dataclass(frozen=True)
class Cube(kernels.Kernel):
    """(xᵀz + c)³."""

    offset: float = 1.0
    name: ClassVar[str] = "test_cube"

    @property
    def proof(self):
        return kernels.Proof("a product of sums of Mercer kernels")

    def gram(self, X, Z, arithmetic=kernels.Arithmetic()):  # noqa: B008
        one = arithmetic.products(X, Z) + self.offset
        return one * one * one

    def diagonal(self, X, arithmetic=kernels.Arithmetic()):  # noqa: B008
        one = arithmetic.squares(X) + self.offset
        return one * one * one


def test_a_loss_of_ones_own_is_fitted_and_certified_with_its_assumption():
    model = LinearModel(TestHuber(0.7), "l2", lam=0.1).fit(X, Y)
    c = model.certificate_
    assert c.holds
    assert c.relative_gap < 1e-7
    assert any("'test_huber'" in a and "TestHuber" in a for a in c.assumes)
    again = Certificate.from_dict(json.loads(json.dumps(c.to_dict())))
    assert again.verify(X, Y).holds
    silent = again.tampered(assumes=tuple(a for a in c.assumes if "test_huber" not in a))
    assert not silent.verify(X, Y).holds
    by_name = LinearModel("test_huber", "l2", lam=0.1).fit(X, Y)
    assert by_name.certificate_.holds


def test_the_optimum_is_the_one_that_scipy_finds():
    from scipy.optimize import minimize

    loss = TestHuber()
    model = LinearModel(loss, Quarter(), lam=0.2, tol=1e-10).fit(X, Y)

    def objective(v):
        return float(np.mean(loss.value(X @ v[:2] + v[2], Y)) + 0.2 * 0.25 * v[:2] @ v[:2])

    best = minimize(objective, np.zeros(3), tol=1e-12)
    assert np.append(model.coef_, model.intercept_) == pytest.approx(best.x, abs=1e-5)
    assert len(model.certificate_.assumes) >= 2
    assert model.certificate_.holds


def test_a_file_that_names_an_unknown_loss_is_refused():
    c = LinearModel("test_huber", "l2", lam=0.1).fit(X, Y).certificate_
    code = (
        "import json, sys, numpy as np; from certifit.certificates import Certificate\n"
        "given = json.loads(sys.stdin.read())\n"
        "out = Certificate.from_dict(given['certificate']).verify(np.array(given['X']), np.array(given['y']))\n"
        "print(out.holds, out.reason)"
    )
    given = json.dumps({"certificate": c.to_dict(), "X": X.tolist(), "y": Y.tolist()})
    out = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, text=True, check=True).stdout
    assert out.startswith("False")
    assert "Unknown loss 'test_huber'" in out


def test_a_kernel_of_ones_own():
    model = SVC(kernel=Cube(0.5)).fit(X, LABELS)
    c = model.certificate_
    assert c.holds
    assert any("'test_cube'" in a for a in c.assumes)
    assert kernels.rebuild((2.0 * Cube(0.5) + kernels.Linear()).record()) == 2.0 * Cube(0.5) + kernels.Linear()
    proved = mercer(Cube(0.5), X)
    assert any("'test_cube'" in a for a in proved.assumes)
    assert not any("certifit's own" in a for a in mercer(kernels.Polynomial(3), X).assumes)


def test_built_in_formulas_assume_nothing():
    c = LinearModel("squared", "l2", lam=0.1).fit(X, Y).certificate_
    assert not any("trust" in a for a in c.assumes)


def test_names_are_not_taken_twice():
    class Impostor(losses.Squared):
        pass

    with pytest.raises(ValueError, match="already"):
        losses.register(Impostor)
    with pytest.raises(ValueError, match="not a registered loss"):
        losses.loss_spec(Impostor())
    assert losses.get_loss("squared") == losses.Squared()
    again = losses.register(TestHuber)  # the same class once more, as when a notebook's cell runs again
    assert losses.get_loss("test_huber") == again()


def test_a_kernel_that_calls_itself_linear_is_not_recorded_as_linear():
    class Odd(kernels.Linear):
        def gram(self, X, Z, arithmetic=kernels.Arithmetic()):  # noqa: B008
            return arithmetic.products(X, Z) * 2.0

    assert Odd().record() is None


def test_what_cannot_be_registered_says_why():
    with pytest.raises(TypeError, match="derived from Loss"):
        losses.register(int)
    with pytest.raises(TypeError, match="does not define"):
        losses.register(type("Half", (losses.Loss,), {"name": "half"}))
    with pytest.raises(TypeError, match="make it a dataclass"):
        losses.register(type("Hidden", (losses.Squared,), {"name": "hidden", "__init__": lambda self, a: None}))
    with pytest.raises(TypeError, match="needs a name"):
        regularizers.register(type("Nameless", (Quarter,), {"name": ""}))
    with pytest.raises(ValueError, match=r"Unknown kernel 'nothing'.*register"):
        kernels.rebuild(["nothing"])


def test_a_registered_loss_can_be_saved(tmp_path):
    model = LinearModel("test_huber", "l2", lam=0.1).fit(X, Y)
    cf.save(model, tmp_path / "m.certifit")
    assert cf.verify(tmp_path / "m.certifit", X, Y).holds
    assert np.array_equal(cf.load(tmp_path / "m.certifit").predict(X), model.predict(X))


def test_a_registered_kernel_is_exported_by_its_own_formula():
    import onnxruntime

    model = SVC(kernel=2.0 * Cube(0.5) + kernels.RBF(0.3).normalized()).fit(X, LABELS)
    session = onnxruntime.InferenceSession(cf.to_onnx(model).SerializeToString())
    labels, scores = session.run(["label", "scores"], {"X": X})
    assert labels.tolist() == model.predict(X).tolist()
    assert scores == pytest.approx(model.decision_function(X), rel=1e-10, abs=1e-12)
