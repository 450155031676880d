"""scikit-learn's estimator contract on every machine."""

from __future__ import annotations

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
    NuSVR(),
    OneClassSVM(),
    SVR(kernel="linear"),
    LinearSVC(tol=1e-10),
    LinearSVC(loss="hinge", tol=1e-8),
    LinearSVR(tol=1e-10),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, tol=1e-10),
    PegasosSVC(random_state=0),
    KernelPerceptron(),
]


@contract(MACHINES)
def test_contract(estimator, check):
    check(estimator)


def _infeasible(estimator):
    """Checks whose weights leave less than the share nu = 0.5 in the lighter class, as scikit-learn's own list has them."""
    reason = "the check's weights leave less than the share nu in the lighter class, which is refused in words"
    names = (
        "class_weight_classifiers",
        "sample_weight_equivalence_on_dense_data",
        "sample_weight_equivalence_on_sparse_data",
    )
    return {f"check_{name}": reason for name in names}


@contract([NuSVC()], _infeasible)
def test_contract_nu(estimator, check):
    check(estimator)


def _unseparable(estimator):
    """Checks that fit data with equal rows of unlike labels, which HardMarginSVC refuses with the proof."""
    reason = "the check's data hold equal rows (all zeros) with unlike labels: no hyperplane separates them"
    return {
        "check_estimator_sparse_tag": reason,
        "check_estimator_sparse_array": reason,
        "check_estimator_sparse_matrix": reason,
    }


@contract([HardMarginSVC(kernel="rbf", gamma=100.0)], _unseparable)
def test_contract_hard_margin(estimator, check):
    check(estimator)
