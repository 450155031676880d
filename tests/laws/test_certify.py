"""`certify` takes every estimator of ours: by itself, behind a step, and inside a search.

Only what claims nothing is refused: steps that prepare columns, and the ensembles of another library that a study
compares with.
"""

import importlib
import warnings

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import certifit as cf
from certifit.exceptions import UnknownModelError
from certifit.families import FAMILIES
from certifit.linear_model import LogisticRegression
from certifit.model_selection import Search

RNG = np.random.default_rng(0)
X = RNG.integers(0, 6, size=(40, 3)).astype(float)
LABELS = (X[:, 0] + RNG.normal(size=40) > 2.5).astype(int)
APART = (X[:, 0] + X[:, 1] > 5).astype(int)
NUMBERS = X @ [1.0, -0.5, 0.2] + RNG.normal(size=40)

MODELS = {
    f"{family.folder}.{model.name}": (family, model)
    for family in FAMILIES
    for model in family.models
    if model.role == "predictor"
}
STEPS = [model.name for family in FAMILIES if family.folder == "preprocessing" for model in family.models]
ENSEMBLES = ("BlackBoxClassifier", "BlackBoxRegressor")
FREE = ("KMeans", "KernelDensity", "Histogram", "OneClassSVM", "NearestNeighbors")
POSITIVE = ("GLM", "PoissonRegressor", "GammaRegressor", "TweedieRegressor", "LogRidge")
INNER = ("OneVsRest", "SelfTrainingClassifier")
GRIDS = {
    "RidgeCV": {"alphas": [[0.1, 1.0], [1.0, 2.0]]}, "RidgeClassifierCV": {"alphas": [[0.1, 1.0], [1.0, 2.0]]},
    "RandomLinearClassifier": {"n_candidates": [5, 9]}, "OneVsRest": {"estimator__C": [0.5, 1.0]},
    "CondensedNeighbors": {"metric": ["euclidean", "manhattan"]},
}  # fmt: skip
USUAL = (("alpha", [0.5, 1.0]), ("C", [0.5, 1.0]), ("n_neighbors", [3, 4]), ("lam", [0.1, 0.2]), ("max_depth", [2, 3]),
         ("radius", [4.0, 5.0]), ("var_smoothing", [1e-9, 1e-8]), ("tol", [1e-4, 1e-3]), ("shrink_threshold", [None]),
         ("max_iter", [50, 100]))  # fmt: skip


def class_of(family, name):
    home = importlib.import_module(f"certifit.{family.folder}")
    if hasattr(home, name):
        return getattr(home, name)
    module = next(part.rpartition(".")[0] for part in family.parts if part.endswith(f".{name}"))
    return getattr(importlib.import_module(f"certifit.{family.folder}.{module}"), name)


def made(family, name):
    cls = class_of(family, name)
    if name in ("MLPClassifier", "MLPRegressor"):
        return cls(max_iter=20)
    return cls(LogisticRegression()) if name in INNER else cls(gamma=0.3) if name == "LabelPropagation" else cls()


def target(model, family, name):
    if name in FREE:
        return None
    if family.folder == "semi_supervised":
        return np.where(np.arange(40) % 3 == 0, LABELS, -1)
    if name.startswith("MultiTask"):
        return np.column_stack([NUMBERS, NUMBERS**2 / 10])
    if name in POSITIVE:
        return np.exp(NUMBERS / 4)
    return APART if name == "HardMarginSVC" else NUMBERS if is_regressor(model) else LABELS


def grid(model, name):
    parameters = model.get_params()
    return GRIDS.get(name) or next(({key: values} for key, values in USUAL if key in parameters), None)


@pytest.mark.parametrize("which", MODELS)
@pytest.mark.parametrize("how", ["bare", "pipeline", "search"])
def test_every_estimator_of_ours_is_certified(which, how):
    family, (_, name) = MODELS[which][0], which.split(".")
    model = made(family, name)
    y = target(model, family, name)
    if how == "pipeline":
        model = make_pipeline(FunctionTransformer(np.abs), model)
    elif how == "search":
        values = grid(model, name)
        if y is None or values is None:
            pytest.skip("nothing to search, or no score to search by")
        if "MultiTask" in name and name.endswith("CV"):
            pytest.skip("a search in a search: long, and the pipeline shows the same")
        model = Search(model, values, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X) if y is None else model.fit(X, y)
        if name in ENSEMBLES:
            with pytest.raises(UnknownModelError):
                cf.certify(model, X, y)
            return
        certificate = cf.certify(model, X, y)
    assert certificate.holds, certificate.failures
    assert certificate.claim.endswith(".")


@pytest.mark.parametrize("name", STEPS)
def test_steps_say_that_there_is_nothing_to_certify(name):
    step = getattr(cf.preprocessing, name)().fit(X, LABELS)
    with pytest.raises(UnknownModelError, match="which transforms columns: certify the model behind it"):
        cf.certify(step, X)
