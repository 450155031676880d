"""What the linear estimators share: reading input, predicting, naming coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from certifit._certified import note_fingerprint
from certifit._sklearn import check_sample_weight
from certifit._types import Array, Matrix
from certifit.design import look


def read_regression(model: Any, X: Any, y: Any, sample_weight: Any, multi: bool = True) -> tuple[Matrix, Array, Any]:
    """Validated X (float, dense or CSR), y as (n,) or (n, t) floats, and weights (None when all are one)."""
    X, y = read_rows(model, X, y, multi_output=multi, y_numeric=True)
    return X, np.asarray(y, dtype=float), read_weights(sample_weight, X)


def read_rows(model: Any, X: Any, y: Any, **options: Any) -> tuple[Matrix, Any]:
    """X (float, dense or CSR) and y, validated as scikit-learn does, with a quicker look for NaN and infinity."""
    X, y = validate_data(
        model, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, **options
    )
    finite = False
    if not issparse(X):
        found, finite = look(X)
        note_fingerprint(model, X, found)
    if not finite:
        assert_all_finite(X, estimator_name=type(model).__name__, input_name="X")
    return X, y


def read_weights(sample_weight: Any, X: Matrix) -> Array | None:
    """Sample weights as floats ≥ 0, not all zero; None when none were given."""
    if sample_weight is None:
        return None
    return check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def linear_scores(model: Any, X: Any) -> Array:
    """X w + b for a fitted linear model."""
    check_is_fitted(model)
    X = validate_data(model, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
    return np.asarray(X @ model.coef_.T + model.intercept_)


def surely(model: Any, X: Any, area: Any, limit: float = 0.0) -> Array:
    """Which labels stay the same wherever the optimum may be: ``area.radius`` says how far scores may move."""
    scores = model.decision_function(X)
    # The label is what floats of this size say: their rounding counts, too.
    rounding = max(1e-12, 4.0 * (model.n_features_in_ + 4) * float(np.finfo(scores.dtype).eps))
    X = validate_data(model, X, accept_sparse="csr", dtype=np.float64, reset=False)
    if area is None:
        return np.zeros(X.shape[0], dtype=bool)
    slack = rounding * (np.abs(X) @ np.abs(np.atleast_2d(model.coef_).T) + np.abs(model.intercept_)).max(axis=1)
    radius = area.radius(X) + slack
    if scores.ndim == 1:
        return np.abs(scores - limit) > radius
    top = np.sort(scores, axis=1)
    return top[:, -1] - top[:, -2] > radius


def name_coefficients(model: Any, value: tuple[Array, Array], y_ndim: int, dtype: Any) -> None:
    """Set ``coef_`` and ``intercept_`` in scikit-learn's shapes and in the dtype of X."""
    coef, intercept = value
    if y_ndim == 1:
        model.coef_ = coef[0].astype(dtype)
        model.intercept_ = dtype(intercept[0]) if model.fit_intercept else 0.0
    else:
        model.coef_ = coef.astype(dtype)
        model.intercept_ = intercept.astype(dtype) if model.fit_intercept else 0.0


def feature_names(model: Any) -> tuple[str, ...]:
    """Names of the columns as they came, or x0, x1, ..."""
    named = getattr(model, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(model.n_features_in_)) if named is None else tuple(map(str, named))


def as_evidence(model: Any) -> dict[str, Any]:
    """Coefficients of a fitted linear model as certificates hold them: (t, d) and (t,)."""
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=float))
    intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=float), (len(coef),)).copy()
    return {"coef": coef, "intercept": intercept, "fit_intercept": bool(model.fit_intercept)}
