"""Judging perceptrons: their objective is separation, so that is the claim."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.judge._registry import reads


@reads("Perceptron", "AveragedPerceptron", "RandomLinearClassifier")
def _perceptron(model: Any, data: Data, rigor: Rigor) -> Certificate:
    """That its hyperplane separates the classes; where it does not, how many rows are on the wrong side."""
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=float))
    intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=float), (len(coef),)).copy()
    if len(model.classes_) == 2:
        weights = np.append(coef[0], intercept[0]) if model.fit_intercept else coef[0]
        evidence = {"verdict": "separable", "fit_intercept": bool(model.fit_intercept), "weights": weights}
        certificate = issue("separability", data, evidence, rigor)
        if certificate.holds:
            return certificate
    return issue("training-errors", data, {"coef": coef, "intercept": intercept}, rigor)
