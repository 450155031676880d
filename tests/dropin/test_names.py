"""Every public name of scikit-learn can be imported from certifit: ours where we have it, scikit-learn's own elsewhere."""

import importlib
import pickle
import pkgutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
import sklearn

import certifit
from certifit._passing import MODULES, TOP, public_names

THEIRS = sorted(
    m.name
    for m in pkgutil.iter_modules(sklearn.__path__)
    if not m.name.startswith("_") and m.name not in ("conftest", "tests")
)


def is_there(module, name):
    try:
        return hasattr(module, name)
    except ImportError:
        return False


@pytest.mark.parametrize("module", [m for m in THEIRS if m not in ("externals", "experimental")])
def test_every_public_name_can_be_imported(module):
    theirs, ours = importlib.import_module(f"sklearn.{module}"), importlib.import_module(f"certifit.{module}")
    assert ours is getattr(certifit, module)
    for name in public_names(theirs):
        if not is_there(theirs, name):  # experimental: must be enabled first, there and here
            with pytest.raises(ImportError, match="enable_halving_search_cv"):
                getattr(ours, name)
            continue
        thing = getattr(ours, name)
        assert name in dir(ours)
        assert thing is getattr(theirs, name) or certifit.origin(thing) == "certifit"


def test_functions_at_the_top_of_the_package():
    for name in TOP:
        assert getattr(certifit, name) is getattr(sklearn, name)
    assert {*MODULES, *TOP} <= set(dir(certifit))


@pytest.mark.parametrize(
    "module", ["feature_extraction.text", "metrics.pairwise", "utils.validation", "utils.multiclass"]
)
def test_modules_inside_modules_are_scikit_learns_own(module):
    theirs = importlib.import_module(f"sklearn.{module}")
    assert importlib.import_module(f"certifit.{module}") is theirs
    assert theirs.__spec__.name == f"sklearn.{module}"


def test_a_name_that_nobody_has_is_refused_as_python_does():
    with pytest.raises(ModuleNotFoundError, match=r"certifit\.nonsense"):
        importlib.import_module("certifit.nonsense")
    with pytest.raises(ModuleNotFoundError, match=r"linear_model\.nonsense"):
        importlib.import_module("certifit.linear_model.nonsense")
    with pytest.raises(ModuleNotFoundError, match="_theil_sen"):
        importlib.import_module("certifit.linear_model._theil_sen")  # private there
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = certifit.linear_model.nonsense


def test_origin_tells_ours_from_theirs():
    from certifit.pipeline import make_pipeline

    from certifit.linear_model import HuberRegressor, Ridge

    assert certifit.origin(Ridge) == certifit.origin(Ridge()) == certifit.origin(certifit.linear_model) == "certifit"
    assert certifit.origin(HuberRegressor()) == certifit.origin(make_pipeline) == "scikit-learn"
    assert certifit.origin(certifit.pipeline) == "scikit-learn"
    assert certifit.origin(3.0) == "builtins"


def test_what_is_passed_on_can_be_pickled():
    from certifit.preprocessing import MinMaxScaler

    assert pickle.loads(pickle.dumps(MinMaxScaler())).get_params() == MinMaxScaler().get_params()


def test_a_module_of_ours_comes_before_one_that_is_passed_on():
    code = "import certifit.metrics as m, sklearn.metrics; print(m is sklearn.metrics, m.confusion.__module__)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "certifit.metrics._confusion"]


def test_a_filter_for_either_convergence_warning_catches_ours():
    from sklearn.exceptions import ConvergenceWarning as Theirs

    from certifit.exceptions import ConvergenceWarning as Ours
    from certifit.linear_model import LogisticRegression

    X = np.random.default_rng(0).normal(size=(40, 30)).cumsum(axis=1)
    y = X[:, 0] > 2 * X[:, 20]
    for kind in (Ours, Theirs):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", kind)
            LogisticRegression(max_iter=1, tol=1e-7).fit(X, y)
        with pytest.warns(kind):
            LogisticRegression(max_iter=1, tol=1e-7).fit(X, y)
