"""scikit-learn's estimator contract on every estimator with few labels."""

from __future__ import annotations

import pytest

from certifit.linear_model import LogisticRegression
from certifit.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from tests.contract import contract


@pytest.mark.filterwarnings("ignore:y contains no unlabeled samples")
@contract(
    [
        LabelPropagation(),
        LabelPropagation(kernel="knn", n_neighbors=3),
        LabelSpreading(),
        LabelSpreading(kernel="knn", n_neighbors=3),
        SelfTrainingClassifier(LogisticRegression(tol=1e-8)),
    ]
)
def test_contract(estimator, check):
    check(estimator)
