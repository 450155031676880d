"""scikit-learn's estimator contract, all checks, no expected failure.

``@contract([Ridge(), Lasso()])`` on ``def test_contract(estimator, check): check(estimator)``.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks


def contract(estimators: list[Any], expected_failures: Any = None) -> Any:
    """Parametrise a test over every check of every estimator."""
    mark = parametrize_with_checks(estimators, legacy=True, expected_failed_checks=expected_failures)
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)  # scikit-learn 1.8 hands over a generator
