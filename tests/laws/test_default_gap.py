"""At default parameters no fit is more than a ten-thousandth of the null model's loss above its optimum, proved."""

from __future__ import annotations

import importlib
import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from certifit._certified import Certified
from certifit.families import FAMILIES

LIMIT = 1e-4
WALKS = {
    "PegasosSVC": "a walk of random steps: it states how far it got",
    "SGDClassifier": "a walk of random steps: it states how far it got",
    "SGDRegressor": "a walk of random steps: it states how far it got",
}
OTHERS = {
    "HardMarginSVC": "breast cancer is separable by a margin too thin for double precision: refused",
    "OneVsRest": "takes an estimator",
    "SelfTrainingClassifier": "takes an estimator",
}
# Counts, questions, graphs and networks: their certificates state no gap to the optimum of a convex objective.
NOT_CONVEX = ("neural", "tree", "naive_bayes", "neighbors", "cluster", "density", "semi_supervised", "study")
STRONGER = {"C": 10.0, "alpha": 0.1}


@cache
def tables():
    X, y = load_digits(return_X_y=True)
    return {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits": (X[::4], y[::4]),
        "diabetes": load_diabetes(return_X_y=True),
    }


def estimators():
    for family in FAMILIES:
        for model in family.models:
            other = family.folder in NOT_CONVEX or model.name in WALKS or model.name in OTHERS
            if model.role == "predictor" and not other:
                yield pytest.param(family.folder, model.name, id=model.name)


def gaps(model, X, y):
    """Proved gaps as fractions of the null model's loss; empty for models that minimise nothing convex."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
        if not isinstance(model, Certified):
            return []
        certificates = model.certificates_
    assert all(c.holds for c in certificates)
    return [c.relative_gap for c in certificates if "relative_gap" in c.figures]


@pytest.mark.parametrize(("folder", "name"), list(estimators()))
def test_the_default_fit_is_near_its_optimum(folder, name):
    cls = getattr(importlib.import_module(f"certifit.{folder}"), name)
    known = cls().get_params()
    settings = [{}] + [{k: v} for k, v in STRONGER.items() if k in known]
    for table, (X, y) in tables().items():
        if is_classifier(cls()) == (table == "diabetes"):
            continue
        target = np.column_stack([y, y**2]) if name.startswith("MultiTask") else y
        for options in settings:
            found = gaps(cls(**options), X, target)
            assert all(gap <= LIMIT for gap in found), f"{name}({options}) on {table}: {max(found):.1e}"


def test_enough_estimators_state_a_gap():
    """The law above is not empty: the convex families state a gap."""
    X, y = tables()["diabetes"]
    from certifit.linear_model import Lasso

    assert len(gaps(Lasso(), X, y)) == 1
    assert len(list(estimators())) > 25
