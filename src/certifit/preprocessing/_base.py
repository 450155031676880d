"""What the transformers share: reading numbers and naming columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._sklearn import check_feature_names_in
from certifit._types import Array, BaseEstimator, Matrix
from certifit._validation import check_is_fitted, validate_data


def numbers(transformer: BaseEstimator, X: Matrix, reset: bool, missing: bool = False) -> Array:
    """X as floats (n, d); NaN only where missing values have a meaning."""
    finite: Any = "allow-nan" if missing else True
    X = validate_data(transformer, X, dtype=[np.float64, np.float32], reset=reset, ensure_all_finite=finite)
    return np.asarray(X)


def names_in(transformer: Any, input_features: Any) -> Array:
    """Names of the input columns as scikit-learn's rules have them (x0, x1, ... when there are none)."""
    check_is_fitted(transformer, "n_features_in_")
    return check_feature_names_in(transformer, input_features)
