"""What the linear estimators share: reading input, predicting, naming coefficients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from certifit._certified import read_rows
from certifit._linear_scores import dense
from certifit._sklearn import read_weights
from certifit._types import Array, BaseEstimator, Matrix, MatrixLike, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates import Certificate
from certifit.design import MomentSums

_TINY = 1e-9  # of the null model's loss: a proved gap below which another proof of the same fit has nothing to add


def read_regression(
    model: BaseEstimator,
    X: Matrix,
    y: VectorLike,
    sample_weight: Weights,
    multi: bool = True,
    sums: MomentSums | None = None,
) -> tuple[Matrix, Array, Any]:
    """Validated X (float, dense or CSR), y as (n,) or (n, t) floats, and weights (None when all are one).

    Without weights, the read that validates X takes ``sums`` along.
    """
    begin = None if sums is None or sample_weight is not None else sums.begin
    X, y = read_rows(model, X, y, begin, multi_output=multi, y_numeric=True)
    return X, np.asarray(y, dtype=float), read_weights(sample_weight, X)


class Certain(Protocol):
    """What a proof leaves behind that tells which labels cannot change."""

    def rows(self, X: Matrix, coef: Array, intercept: Array, now: Array, limit: float = 0.0) -> Array: ...


def surely(model: BaseEstimator, X: MatrixLike, limit: float = 0.0) -> Array:
    """Which labels are provably those of the exact optimum, by the sharpest proof of the model that bounds it."""
    now = model.decision_function(X)
    X = validate_data(model, X, accept_sparse="csr", dtype=np.float64, reset=False)
    region = region_of(model)
    if region is None:
        return np.zeros(X.shape[0], dtype=bool)
    return region.rows(X, np.atleast_2d(dense(model.coef_)), model.intercept_, np.asarray(now, dtype=float), limit)


class CertainLabels:
    """Mixin of linear classifiers: which labels their proof settles."""

    def certain(self, X: MatrixLike) -> Array:
        """Which labels are provably those of the exact optimum (of this objective on the training data).

        Parameters
        ----------
        X : array-like of shape (m, d)
            Any rows.

        Returns
        -------
        (m,) array of bool
        """
        check_is_fitted(self)
        return surely(self, X, self._limit())

    def _limit(self) -> float:
        """The score above which the label is the second class."""
        return 0.0


def region_of(model: BaseEstimator) -> Certain | None:
    """Where the exact optimum must be, from the first certificate that says so (None: nowhere in particular)."""
    main = model.certificate_
    found = [main] if main.holds and main.region is not None else model.certificates_
    return next((c.region for c in found if c.holds and c.region is not None), None)


def sharpest_first(direct: Certificate, other: Callable[[], Certificate] | None) -> Iterator[Certificate]:
    """Two proofs of one fit, the smaller gap first; where the first one's is tiny, the other waits until it is read."""
    if other is None or (direct.holds and direct.figures.get("relative_gap", np.inf) <= _TINY):
        yield direct
        if other is not None:
            yield other()
        return
    yield from sorted((direct, other()), key=lambda c: (not c.holds, c.figures.get("gap", np.inf)))


def name_coefficients(model: BaseEstimator, value: tuple[Array, Array], y_ndim: int, dtype: npt.DTypeLike) -> None:
    """Set ``coef_`` and ``intercept_`` in scikit-learn's shapes and in the dtype of X."""
    with np.errstate(over="ignore"):  # beyond the largest float32: infinite, as a certificate will say
        coef, intercept = (part.astype(dtype) for part in value)
    model.coef_ = coef[0] if y_ndim == 1 else coef
    model.intercept_ = (intercept[0] if y_ndim == 1 else intercept) if model.fit_intercept else 0.0


def feature_names(model: BaseEstimator) -> tuple[str, ...]:
    """Names of the columns as they came, or x0, x1, ..."""
    named = getattr(model, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(model.n_features_in_)) if named is None else tuple(map(str, named))
