"""Adding things, done in a copy of the package and counted: which files must be touched?

A loss is one file; a kind of certificate one file; a family its folder, one row of the table of families and one page.
What was added is then used: fitted, certified, saved, loaded, exported, listed in the documentation.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUILT = shutil.ignore_patterns("_build", "gallery", "pictures", "extra", "generated")

LOSS = '''
"""log cosh(z − y)."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certifit.losses._base import Loss
from certifit.losses._registry import register


@register
@dataclass(frozen=True)
class LogCosh(Loss):
    """log cosh(z − y)."""

    name: ClassVar[str] = "log_cosh"
    targets: ClassVar = "real"
    smooth: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 1.0

    def value(self, z, y):
        far = abs(z - y)
        return far + np.log1p(np.exp(-2.0 * far)) - np.log(2.0)

    def slope(self, z, y):
        return np.tanh(z - y)

    def curvature(self, z, y):
        return 1.0 - np.tanh(z - y) ** 2

    def conjugate(self, u, y):
        return u * y + 0.5 * ((1.0 + u) * np.log1p(u) + (1.0 - u) * np.log1p(-u))

    def domain(self, y):
        return -np.ones_like(y), np.ones_like(y)
'''
USE_LOSS = """
import numpy as np, certifit as cf, tempfile, os
from certifit import losses
from certifit.linear_model import LinearModel
assert "LogCosh" in losses.__all__ and losses.get_loss("log_cosh") == losses.LogCosh()
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2)); y = X @ [1.0, -2.0] + rng.standard_t(2, size=60)
model = LinearModel("log_cosh", "l2", lam=0.1).fit(X, y)
c = model.certificate_
assert c.holds and c.relative_gap < 1e-7 and c.verify(X, y).holds
assert c.assumes == ()
path = os.path.join(tempfile.mkdtemp(), "m.certifit")
cf.save(LinearModel(losses.LogCosh(), "l2", lam=0.1).fit(X, y), path)
assert cf.verify(path, X, y).holds
assert np.array_equal(cf.load(path).predict(X), model.predict(X))
"""

KIND = '''
"""No constant predicts better than the mean."""
import numpy as np

from certifit.certificates._ball import ball
from certifit.certificates._record import Check, Kind, Proof, register, upper


@register
class TheMean(Kind):
    """Claim: no constant predicts better than the one in the evidence."""

    name, theorem = "the-mean", "Σ(y − m)² is least where Σ(y − m) = 0"

    def prove(self, data, evidence, rigor):
        y, m = data.y, float(evidence["mean"])
        excess = ((ball(y) - m).sum() / len(y)).square()
        small = float(excess.mid + excess.rad) < 1e-12 * float(np.mean(y * y))
        return Proof({"excess": upper(excess)}, (Check("the deviations add up to nothing", small),))

    def claim(self, figures, evidence):
        return f"No constant predicts better by more than {figures['excess']:.0e} per row."
'''
USE_KIND = """
import numpy as np
from certifit.certificates import Certificate, Data, issue, kinds
assert "the-mean" in kinds()
X, y = np.arange(5.0)[:, None], np.array([1.0, 2.0, 4.0, 8.0, 16.0])
c = issue("the-mean", Data.of(X, y), {"mean": 6.2})
assert c.holds and Certificate.from_dict(c.to_dict()).verify(X, y).holds
assert not issue("the-mean", Data.of(X, y), {"mean": 6.3}).holds
assert not c.tampered(evidence={"mean": 6.3}).verify(X, y).holds
"""

FAMILY = {
    "src/certifit/toys/__init__.py": '"""Toys: models that do next to nothing."""\n\n'
    'from certifit.toys._mean import Mean\n\n__all__ = ["Mean"]\n',
    "src/certifit/toys/_mean.py": '''
"""The mean, whatever the row."""
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from certifit._certified import Certified
from certifit.certificates import Data, issue


class Mean(Certified, RegressorMixin, BaseEstimator):
    """Predicts the mean of y."""

    def fit(self, X, y):
        """Remember the mean."""
        X, y = validate_data(self, X, y, y_numeric=True)
        self.mean_ = float(np.mean(y))
        self._promise_certificates(lambda: (issue("the-mean", Data.of(X, y), {"mean": self.mean_}),))
        return self

    def predict(self, X):
        """The mean, once per row."""
        check_is_fitted(self)
        return np.full(len(validate_data(self, X, reset=False)), self.mean_)
''',
    "src/certifit/toys/_onnx.py": '''
"""The mean as an ONNX graph."""
import numpy as np


def mean(g, model, x):
    """0·x + mean."""
    return g.answer(value=g("Add", g("ReduceSum", g("Mul", x, 0.0), [1], keepdims=0), model.mean_))
''',
    "docs/families/toys.md": '---\ngroup: "Toys"\nshort: "toys"\nabout: "the mean"\n---\n\n# Toys\n\nA mean.\n',
}
ROW = '    Family("toys", (Model("Mean", "the mean", "certifit.toys._onnx:mean"),), ("toys",), stored=True),\n'
USE_FAMILY = """
import numpy as np, certifit as cf, onnxruntime
from certifit.families import words_for
from certifit.files import from_bytes, to_bytes, verify_model
from certifit.toys import Mean
assert cf.toys.Mean is Mean and "toys" in dir(cf)
X, y = np.arange(5.0)[:, None], np.array([1.0, 2.0, 4.0, 8.0, 16.0])
model = Mean().fit(X, y)
assert model.certificate_.holds and model.certificate_.verify(X, y).holds
again = from_bytes(to_bytes(model))
assert np.array_equal(again.predict(X), model.predict(X)) and verify_model(again, X, y).holds
session = onnxruntime.InferenceSession(cf.to_onnx(model).SerializeToString())
assert session.run(["value"], {"X": X})[0].tolist() == model.predict(X).tolist()
assert words_for(Mean) == "the mean"
from _site import pages
assert "- [toys](families/toys.md): the mean" in pages.index() and "\\nfamilies/toys\\n" in pages.index()
assert "toys" in cf._FAMILIES                       # from which the pages of the reference are written
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The package and its pages, with what was compiled already."""
    home = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src", home / "src")
    shutil.copytree(ROOT / "docs", home / "docs", ignore=BUILT)
    return home


def state(home: Path) -> dict[str, bytes]:
    files = [p for p in home.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return {str(p.relative_to(home)): p.read_bytes() for p in files}


def touched(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def write(home: Path, name: str, text: str) -> None:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(text.lstrip("\n"))


def use(home: Path, code: str) -> None:
    env = os.environ | {"PYTHONPATH": f"{home / 'src'}{os.pathsep}{home / 'docs'}"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=home)
    assert done.returncode == 0, done.stderr


def test_a_loss_is_one_file(copy):
    before = state(copy)
    write(copy, "src/certifit/losses/_log_cosh.py", LOSS)
    use(copy, USE_LOSS)
    assert touched(before, state(copy)) == {"src/certifit/losses/_log_cosh.py"}


def test_a_kind_of_certificate_is_one_file_and_a_family_its_folder_a_row_and_a_page(copy):
    before = state(copy)
    write(copy, "src/certifit/certificates/the_mean.py", KIND)
    use(copy, USE_KIND)
    between = state(copy)
    assert touched(before, between) == {"src/certifit/certificates/the_mean.py"}

    for name, text in FAMILY.items():
        write(copy, name, text)
    table = copy / "src/certifit/families.py"
    table.write_text(table.read_text().replace('    Family("bounds"),\n', '    Family("bounds"),\n' + ROW))
    use(copy, USE_FAMILY)
    changed = touched(between, state(copy))
    outside = {name for name in changed if not name.startswith("src/certifit/toys/")}
    assert outside == {"src/certifit/families.py", "docs/families/toys.md"}
