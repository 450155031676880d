"""scikit-learn's estimator contract, all checks, no expected failure.

``@contract([Ridge(), Lasso()])`` on ``def test_contract(estimator, check): check(estimator)``.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks


def contract(estimators: list[Any], expected_failures: Any = None) -> Any:
    """Parametrise a test over every check of every estimator."""
    return parametrize_with_checks(estimators, legacy=True, expected_failed_checks=expected_failures)
