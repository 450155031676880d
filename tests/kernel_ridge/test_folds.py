"""One Gram matrix answers every strength and fold: the same as fitting each."""

from __future__ import annotations

import numpy as np
import pytest

from certifit import kernels
from certifit.kernel_ridge import KernelRidge
from certifit.model_selection import Search
from tests.kernel_ridge.test_kernel_ridge import _data


@pytest.mark.parametrize("weighted", [False, True])
def test_one_gram_matrix_serves_all_folds(weighted):
    X, y = _data(3)
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    grid = {"alpha": [0.01, 1.0], "gamma": [None, 0.3], "kernel": ["rbf", "poly"]}
    shared, alone = (Search(KernelRidge(), grid, cv=3, share=s).fit(X, y, sample_weight=weights) for s in (True, False))
    assert shared.shared_
    assert not alone.shared_
    for k in range(3):
        assert shared.cv_results_[f"split{k}_test_score"] == pytest.approx(alone.cv_results_[f"split{k}_test_score"])


def test_lms_and_kernels_that_are_code_are_fitted_alone():
    X, y = _data(4)
    assert not Search(KernelRidge(solver="lms"), {"alpha": [1.0, 2.0]}, cv=2).fit(X, y).shared_
    assert not Search(KernelRidge(kernel=kernels.Linear()), {"alpha": [1.0, 2.0]}, cv=2).fit(X, y).shared_
