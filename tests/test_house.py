"""The house itself: public names, lazy imports, no paths of a machine."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import certifit


def test_public_names_are_importable():
    for name in certifit.__all__:
        assert getattr(certifit, name) is not None
    assert set(certifit.__all__) <= set(dir(certifit))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = certifit.nothing


@pytest.mark.parametrize("family", sorted(certifit._FAMILIES))
def test_families_export_what_they_say(family):
    module = importlib.import_module(f"certifit.{family}")
    assert module.__all__, family
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert getattr(module, name).__doc__, f"{family}.{name} has no docstring"


def test_every_module_can_be_imported_alone():
    names = [m.name for m in pkgutil.walk_packages(certifit.__path__, "certifit.") if "__main__" not in m.name]
    assert len(names) > 30
    for name in names:
        importlib.import_module(name)


def test_import_loads_nothing_heavy():
    heavy = ["numba", "sklearn", "scipy", "numpy", "matplotlib"]
    code = f"import sys, certifit; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_least_squares_needs_no_compiler():
    code = "import sys, certifit.linear_model as m; m.LinearRegression(); print('numba' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"
