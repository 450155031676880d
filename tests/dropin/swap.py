"""pytest plugin: certifit's classes in the place of scikit-learn's while scikit-learn's own tests run (see `suite`)."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
import pkgutil
import signal
import sys
from typing import Any

import pytest

import certifit
from certifit._passing import public_names

MODULES = [
    "cluster", "decomposition", "kernel_ridge", "linear_model", "metrics", "model_selection", "naive_bayes", "neighbors",
    "neural_network", "preprocessing", "semi_supervised", "svm", "tree",
]  # fmt: skip
FITS = ("fit", "partial_fit", "fit_transform", "fit_predict", "split")
# Private methods that fixtures call to find the truth independently; they read public parameters and attributes only.
LENT = ("_get_loss", "_build_graph", "_get_kernel")
SECONDS = 90  # of processor time for one test: other work on the machine fails none
now: dict[str, Any] = {"test": None, "touched": set(), "why": ""}


def pairs():
    """(their module, name, theirs, ours) of every public name that certifit wrote itself."""
    for folder in MODULES:
        theirs, ours = importlib.import_module(f"sklearn.{folder}"), importlib.import_module(f"certifit.{folder}")
        for name in public_names(theirs):
            try:
                here = getattr(ours, name, None)
            except ImportError:  # experimental names of scikit-learn, which certifit has not written
                continue
            if here is not None and certifit.origin(here) == "certifit":
                yield theirs, name, getattr(theirs, name), here


def noting(function, name):
    """The same function; a call is noted for the test that runs."""

    @functools.wraps(function)
    def called(*args, **kwargs):
        if now["test"] is not None:
            now["touched"].add(name)
        return function(*args, **kwargs)

    return called


def stand_in(theirs, ours, name):
    """What scikit-learn's tests meet in the place of a class or function."""
    if not inspect.isclass(theirs):
        return noting(ours, name)
    body = {"__module__": theirs.__module__, "__qualname__": name}
    for method in FITS:
        found = inspect.getattr_static(ours, method, None)
        if inspect.isfunction(found):
            body[method] = noting(found, name)
    for helper in LENT:
        if hasattr(theirs, helper) and not hasattr(ours, helper):
            body[helper] = inspect.getattr_static(theirs, helper)
    return type(ours)(name, (ours,), body)


def pytest_configure(config):
    import sklearn

    config.addinivalue_line("markers", "no_check_spmatrix: of scikit-learn's own configuration")

    for found in pkgutil.walk_packages(sklearn.__path__, "sklearn."):
        if not {"tests", "conftest", "externals", "experimental", "_build_utils"} & set(found.name.split(".")):
            try:
                importlib.import_module(found.name)
            except Exception:  # an optional part that is not installed
                continue
    for module, name, theirs, ours in list(pairs()):
        new = stand_in(theirs, ours, name)
        for home in {module.__name__, getattr(theirs, "__module__", None)}:
            if home in sys.modules and getattr(sys.modules[home], name, None) is theirs:
                setattr(sys.modules[home], name, new)


def say(**line):
    """One more line of the log."""
    with open(os.environ["SUITE_LOG"], "a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


def pytest_collection_modifyitems(items):
    """Tests that stand in the log already are left out, so that a module goes on after a crash."""
    with open(os.environ["SUITE_LOG"], encoding="utf-8") as log:
        seen = {json.loads(line)["id"] for line in log}
    items[:] = [item for item in items if item.nodeid not in seen]


def pytest_runtest_logstart(nodeid):
    now.update(test=nodeid, touched=set(), why="", outcome="skipped")
    say(id=nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    def late(*_):
        raise TimeoutError(f"no answer in {SECONDS} s")

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def pytest_runtest_logreport(report):
    if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
        expected = hasattr(report, "wasxfail")
        if "[XPASS(strict)]" in str(report.longrepr):  # scikit-learn expects its own class to fail here
            now["outcome"] = "xpassed"
            return
        now["outcome"] = f"x{'failed' if report.skipped else 'passed'}" if expected else report.outcome
        if report.failed:
            now["why"] = str(report.longrepr).strip().splitlines()[-1][:200]


def pytest_runtest_logfinish(nodeid):
    say(id=nodeid, outcome=now["outcome"], touched=sorted(now["touched"]), why=now["why"])
    now["test"] = None
