"""One public place for what is raised and warned of."""

import inspect
import pkgutil
from importlib import import_module

import numpy as np
import pytest

import certifit
from certifit import exceptions
from certifit._errors import need

NAMES = [getattr(exceptions, name) for name in exceptions.__all__]


def test_every_exception_of_the_library_is_public():
    """Whatever a module defines or imports as an error of certifit can be caught by a public name."""
    private = {"UsageError"}  # the command line's own: it never leaves it
    found = set()
    for info in pkgutil.walk_packages(certifit.__path__, "certifit."):
        if "__main__" in info.name:
            continue
        for name, thing in vars(import_module(info.name)).items():
            if inspect.isclass(thing) and issubclass(thing, exceptions.CertifitError) and not name.startswith("_"):
                found.add(name)
    assert found - private <= set(exceptions.__all__)
    assert len(found) > 9


@pytest.mark.parametrize("kind", NAMES, ids=lambda k: k.__name__)
def test_they_are_shown_by_their_public_name(kind):
    assert kind.__module__ == "certifit.exceptions"
    if not issubclass(kind, Warning):
        assert issubclass(kind, exceptions.CertifitError)


@pytest.mark.parametrize("kind", [exceptions.NotSeparableError, exceptions.ThinMarginError])
def test_a_proof_travels_with_its_error(kind):
    error = kind("no", certificate="proof")
    assert error.certificate == "proof"
    assert str(error) == "no"
    assert kind("no").certificate is None


def test_an_absent_package_is_named_with_its_extra():
    need("numpy", "core")
    with pytest.raises(exceptions.MissingExtraError, match=r"pip install 'certifit\[moon\]'"):
        need("certifit_of_the_moon", "moon")


def test_old_spellings_of_options_work_with_a_warning():
    from certifit.linear_model import Ridge
    from certifit.model_selection import Search
    from certifit.reinforcement import MDP, value_iteration
    from certifit.tree import DecisionTreeRegressor

    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40.0)
    grid = {"alpha": [0.1, 1.0, 10.0]}
    with pytest.warns(FutureWarning, match="rule='one-se' is now spelled 'one_se'"):
        old = Search(Ridge(), grid, rule="one-se").fit(X, y)
    assert old.best_params_ == Search(Ridge(), grid, rule="one_se").fit(X, y).best_params_
    with pytest.warns(FutureWarning, match="'reduced_error'"):
        tree = DecisionTreeRegressor(pruning="reduced-error", random_state=0).fit(X, y)
    new = DecisionTreeRegressor(pruning="reduced_error", random_state=0).fit(X, y)
    assert np.array_equal(tree.predict(X), new.predict(X))
    mdp = MDP([np.eye(2), np.eye(2)[::-1]], rewards=[[0.0, 0.0], [1.0, 0.0]], discount=0.5)
    with pytest.warns(FutureWarning, match="'gauss_seidel'"):
        plan = value_iteration(mdp, method="gauss-seidel")
    assert np.array_equal(plan.values, value_iteration(mdp, method="gauss_seidel").values)
