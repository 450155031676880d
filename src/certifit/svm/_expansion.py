"""Kernel machines as they answer: Σ coefⱼ k(x, vⱼ) + b over the support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array, BaseEstimator, Matrix, MatrixLike
from certifit._validation import check_is_fitted, validate_data
from certifit.kernels import RBF, Kernel, Linear, Precomputed
from certifit.svm._linear import normals

_CHUNK = 1 << 22  # kernel values at a time


def objects_of(model: Any, X: Any) -> Any:
    """X where it holds strings or other objects and the kernel is a function of them, otherwise None."""
    if not callable(model.kernel) or isinstance(model.kernel, Kernel) or scipy.sparse.issparse(X):
        return None
    return X if np.asarray(X).ndim == 1 and np.asarray(X).dtype.kind in "USTO" else None


def kernel_values(model: Any, X: Any) -> Any:
    """X, or after a fit to objects the kernel's values of X with those of the fit."""
    return X if model._objects is None else np.asarray(model.kernel(X, model._objects))


def read_rows(model: BaseEstimator, X: MatrixLike) -> Matrix:
    """New rows of a fitted machine, checked; sparse ones only after a fit to sparse ones, as in scikit-learn."""
    check_is_fitted(model)
    name = type(model).__name__
    given = isinstance(model.kernel_, Precomputed)
    if scipy.sparse.issparse(X) and not scipy.sparse.issparse(model.support_vectors_) and not given:
        raise ValueError(
            f"cannot use sparse input in {name!r} trained on dense data: give X.toarray(), or fit to sparse rows."
        )
    rows = kernel_values(model, X)
    return validate_data(model, rows, dtype=np.float64, order="C", accept_sparse="csr", reset=False)


def expansion(model: BaseEstimator, X: Matrix, columns: Array) -> Array:
    """Scores of the rows, one column a machine, from ``support_``, ``support_vectors_`` and ``intercept_``."""
    if isinstance(model.kernel_, Precomputed):
        return np.asarray(X[:, model.support_] @ columns + model.intercept_)
    V = model.support_vectors_
    if isinstance(model.kernel_, Linear):
        return np.asarray(X @ normals(V, columns) + model.intercept_)
    if model._shift is not None and not scipy.sparse.issparse(X):
        X, V = X - model._shift, V - model._shift
    step = max(1, _CHUNK // max(1, V.shape[0]))
    out = np.empty((X.shape[0], columns.shape[1]))
    for i in range(0, X.shape[0], step):
        out[i : i + step] = model.kernel_.gram(X[i : i + step], V) @ columns
    return np.asarray(out + model.intercept_)


def shift_of(kernel: Kernel, X: Matrix) -> Array | None:
    """What is taken from all rows before distances are computed: they stay, cancellation shrinks."""
    dense = isinstance(kernel, RBF) and not scipy.sparse.issparse(X)
    return np.asarray(X.mean(axis=0)) if dense else None


def stored_like(X: Matrix, values: Array) -> Any:
    """An array in CSR where X is sparse, of the same kind (matrix or array)."""
    if not scipy.sparse.issparse(X):
        return values
    made = scipy.sparse.csr_array if isinstance(X, scipy.sparse.sparray) else scipy.sparse.csr_matrix
    return made(values)


def fixed(values: Any) -> Any:
    """The same array, read-only: a property's answer that is changed in place would change nothing."""
    (values.data if scipy.sparse.issparse(values) else values).flags.writeable = False
    return values
