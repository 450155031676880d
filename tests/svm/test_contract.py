"""scikit-learn's estimator contract on every machine."""

from __future__ import annotations

import pytest

from certifit.svm import (
    SVC,
    SVR,
    HardMarginSVC,
    KernelPerceptron,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
)
from tests.contract import contract

# Weights as copies, rows permuted, pickled twins: the fits compared agree to 1e-7.
MACHINES = [
    SVC(),
    SVC(kernel="linear"),
    SVC(probability=True),
    SVR(),
    NuSVC(),
    NuSVC(kernel="linear"),
    NuSVR(),
    OneClassSVM(),
    SVR(kernel="linear"),
    LinearSVC(tol=1e-10),
    LinearSVC(loss="hinge", tol=1e-8),
    LinearSVC(multi_class="crammer_singer", tol=1e-11),
    LinearSVR(tol=1e-10),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, tol=1e-10),
    PegasosSVC(random_state=0),
    KernelPerceptron(),
]


@pytest.mark.filterwarnings("ignore:specified nu is infeasible")
@contract(MACHINES)
def test_contract(estimator, check):
    check(estimator)


@contract([HardMarginSVC(kernel="rbf", gamma=100.0)])
def test_contract_hard_margin(estimator, check):
    check(estimator)
