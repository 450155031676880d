"""scikit-learn's estimator contract on every machine."""

from __future__ import annotations

from certifit.svm import SVC, LinearSVC
from tests.contract import contract


@contract([
    LinearSVC(tol=1e-10), LinearSVC(loss="hinge", tol=1e-10),SVC(tol=1e-9), SVC(kernel="linear", tol=1e-8), SVC(probability=True, tol=1e-8)])
def test_contract(estimator, check):
    check(estimator)
