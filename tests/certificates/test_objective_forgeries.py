"""What an enemy writes into the objective of a proof is refused, never used."""

import copy

import numpy as np
import pytest

from certifit._objective import Objective
from certifit.certificates import Data, issue
from certifit.certificates._data import digest_evidence
from certifit.linear_model import Lasso, LinearModel, LinearRegression, LogisticRegression, Ridge
from certifit.losses import SquaredHinge
from certifit.regularizers import NonNegative, SquaredL2
from certifit.solvers.dual import evidence_of
from certifit.svm import SVC, LinearSVC

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
REAL, LABELS = RNG.normal(size=20), (X[:, 0] + RNG.normal(size=20) > 0).astype(int)
MODELS = {
    "least squares": (LinearRegression(), REAL),
    "ridge": (Ridge(), REAL),
    "lasso": (Lasso(0.1), REAL),
    "logistic": (LogisticRegression(), LABELS),
    "machine": (LinearSVC(loss="hinge"), LABELS),
    "kernel machine": (SVC(), LABELS),
    "any": (LinearModel("logistic", "elastic", lam=0.1), LABELS),
}
CHANGES = [
    ("strength", -1.0), ("strength", float("nan")), ("strength", float("inf")), ("strength", True), ("strength", "1"),
    ("padding", -1.0), ("padding", -1e6), ("padding", 0.0), ("padding", float("nan")), ("stated", "median"),
    ("layout", "none"), ("classes", [0.0, 0.0]), ("classes", [0.0, -0.0]), ("classes", [1.0]), ("classes", []),
    ("class_weight", [-1.0, 1.0]), ("class_weight", [1.0]), ("class_weight", [float("nan"), 1.0]),
    ("fit_intercept", 1), ("offset", True), ("loss", {"name": "no such"}), ("loss", "squared"), ("regularizer", None),
    ("loss", {"name": "squared", "params": {"factor": -1.0}}), ("loss", {"name": "squared", "params": {}, "factor": -1.0}),
    ("regularizer", {"name": "l2", "params": {"factor": -1.0}}), ("regularizer", {"name": "l2", "factor": -1.0}),
    ("regularizer", {"name": "elastic", "params": {"l1_ratio": 1.5}}),
    ("regularizer", {"name": "p_norm", "params": {"p": 0.5}}),
    ("regularizer", {"name": "non_negative", "params": {"base": {"name": "none", "params": {}, "really": "l2"}}}),
    ("lam_per", 1.0),
]  # fmt: skip


def reissued(certificate, evidence):
    """The certificate with other evidence, digests made anew."""
    digests = dict(certificate.digests) | {"evidence": digest_evidence(evidence)}
    return certificate.tampered(evidence=evidence, digests=digests)


@pytest.mark.parametrize("name", MODELS)
def test_no_objective_that_is_not_one(name):
    model, y = MODELS[name]
    certificate = model.fit(X, y).certificate_
    assert certificate.verify(X, y).holds
    for key, value in CHANGES:
        evidence = dict(certificate.evidence)
        record = evidence["objective"]
        record = copy.deepcopy(record[0] if isinstance(record, list) else record)
        evidence["objective"] = record | {key: value}
        assert not reissued(certificate, evidence).verify(X, y).holds, (key, value)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("key", ["coef", "intercept", "dual"])
def test_no_numbers_that_are_none(name, key):
    model, y = MODELS[name]
    certificate = model.fit(X, y).certificate_
    if key not in certificate.evidence:
        return
    good = np.asarray(certificate.evidence[key])
    bad = [np.full_like(good, np.nan), np.full_like(good, np.inf), good.astype(str), good.astype(object), good[:0], good.ravel()[:-1], good[None],
           good + 1e300, good.astype(bool), good.astype(complex)]  # fmt: skip
    for value in bad:
        assert not reissued(certificate, dict(certificate.evidence) | {key: value}).verify(X, y).holds


def test_a_penalised_offset_has_the_sign_of_a_coefficient():
    """With w ≥ 0 the weight of the constant column must not be negative either: its term could make a gap of −∞."""
    objective = Objective(SquaredHinge(), NonNegative(SquaredL2(0.5)), 1.0, classes=(0.0, 1.0), padding=1.0)
    evidence = evidence_of(objective, np.zeros((1, 3)), np.array([-5.0])) | {"dual": np.zeros((20, 1))}
    assert not issue("duality", Data.of(X, LABELS), evidence).holds


def test_coefficients_lost_to_underflow_are_not_equal_to_multipliers():
    certificate = SVC(kernel="linear", C=1.0).fit(X, LABELS).certificate_
    evidence = dict(certificate.evidence)
    evidence["coef"] = np.full_like(evidence["coef"], 2.0**-1074)
    evidence["dual"] = np.zeros_like(evidence["dual"])
    evidence["objective"] = evidence["objective"] | {"strength": 0.25}
    forged = issue("duality", Data.of(X, LABELS), evidence)
    assert forged.gap > 0.0
