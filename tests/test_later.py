"""scikit-learn starts without pandas and SciPy's statistics, and nobody can see a difference afterwards."""

from __future__ import annotations

import importlib.machinery
import subprocess
import sys

import pytest

from certifit._later import StandIn

BEGIN = "import sys, certifit; import sklearn.utils.fixes as fixes; "


def printed(code: str) -> str:
    """What a new process prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_nothing_stands_in_afterwards():
    code = BEGIN + (
        "from certifit._later import StandIn; "
        "print([n for n, m in list(sys.modules.items()) if isinstance(m, StandIn) or n in ('pandas', 'scipy.stats')]); "
        "import pandas, scipy.stats; "
        "print(type(pandas).__name__, type(scipy.stats).__name__, scipy.stats.norm.cdf(0), pandas.Series([1]).sum()); "
        "print(type(fixes.__loader__).__name__, fixes.__spec__.loader is fixes.__loader__)"
    )
    assert printed(code).split("\n") == ["[]", "module module 0.5 1", "SourceFileLoader True"]


def test_scikit_learn_finds_the_real_modules_when_it_uses_them():
    """Its own names of the two, without anybody else having imported them, and the two functions that use them."""
    code = BEGIN + (
        "print(fixes._mode([1, 2, 2])[0].tolist(), fixes.pd is None or fixes.pd.Series([1, 2]).sum()); "
        "import pandas; print(fixes.pd_fillna(fixes.pd, pandas.DataFrame({'a': [None, 1.0]})).shape)"
    )
    lines = printed(code).split("\n")
    assert lines[0] in ("[2] 3", "2 3")
    assert lines[1] == "(2, 1)"


def test_what_is_loaded_already_stays():
    code = "import pandas, scipy.stats, certifit; import sklearn.utils.fixes as fixes; print(fixes.pd is pandas)"
    assert printed(code) == "True"


def test_without_pandas_scikit_learn_sees_none():
    code = "import sys; sys.modules['pandas'] = None; " + BEGIN + "print(fixes.pd, sys.modules['pandas'])"
    assert printed(code) == "None None"
    hidden = (
        "import sys, importlib.machinery as m; find = m.PathFinder.find_spec; "
        "m.PathFinder.find_spec = staticmethod(lambda name, *more: None if name == 'pandas' else find(name, *more)); "
    )
    assert printed(hidden + BEGIN + "print(fixes.pd, 'pandas' in sys.modules)") == "None False"


def test_data_frames_are_known_before_and_after():
    code = (
        "from certifit.linear_model import Ridge; import pandas; "
        "model = Ridge().fit(pandas.DataFrame({'a': [1.0, 2.0, 3.0]}), [1.0, 2.0, 3.0]); print(model.feature_names_in_)"
    )
    assert printed(code) == "['a']"


def test_a_stand_in_gives_way_to_its_module():
    import colorsys

    del sys.modules["colorsys"]
    stand_in = sys.modules["colorsys"] = StandIn("colorsys")
    try:
        assert stand_in.rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)
        assert isinstance(sys.modules["colorsys"].__loader__, importlib.machinery.SourceFileLoader)
        with pytest.raises(AttributeError):
            stand_in.nothing  # noqa: B018
    finally:
        sys.modules["colorsys"] = colorsys
