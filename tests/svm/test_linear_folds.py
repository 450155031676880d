"""Linear machines of all folds and costs at once: the same as fitting each."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.model_selection import Search
from certifit.svm import LinearSVC
from tests.svm.test_folds import _both, _data


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"class_weight": "balanced"}])
def test_linear_machines_of_all_folds_at_once(classes, options):
    X, y = _data(classes=classes)
    weights = np.random.default_rng(1).integers(1, 3, size=len(y)).astype(float)
    scoring = "roc_auc" if classes == 2 else "accuracy"
    for given in (None, weights):
        model = LinearSVC(tol=1e-10, **options)
        _both(model, {"C": [0.01, 1.0, 30.0]}, X, y, given, scoring=scoring, cv=3)


def test_the_hinge_is_solved_alone():
    X, y = _data()
    search = Search(LinearSVC(loss="hinge"), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert not search.shared_
    assert "corners" in search.sharing_.reason
