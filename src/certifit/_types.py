"""Aliases and small records that every floor may use.

What a caller may pass has a name that ends in ``Like`` (`MatrixLike`, `VectorLike`): validation turns it into
an `Array` or a `Matrix`, and nothing below an estimator sees it. The names describe shapes of objects; they import
no library besides NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:  # classes that annotations alone speak of: their libraries are not loaded for it
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:
    Axes = Figure = Any

Array: TypeAlias = npt.NDArray[Any]
"""A dense NumPy array of any dtype."""

Bools: TypeAlias = npt.NDArray[np.bool_]
"""A dense NumPy array of truth values: a mask."""

BaseEstimator: TypeAlias = Any
Pipeline: TypeAlias = Any
"""Models of scikit-learn, which has no types: what they hold depends on their class."""

Matrix: TypeAlias = Any
"""A two-dimensional array: dense NumPy, or SciPy sparse."""

Numeric: TypeAlias = Any
"""Plain floats and arrays, or error-bounded numbers (`certifit.certificates.Ball`): formulas treat them alike, and no
structural type says so, for NumPy's ufuncs take both."""

Record: TypeAlias = dict[str, Any]
"""Values by name, as JSON or a model's parameters hold them."""

Named: TypeAlias = Mapping[str, Any]
"""The same, to be read only."""


class Sparse(Protocol):
    """A SciPy sparse matrix or array, as far as certifit asks anything of it."""

    dtype: np.dtype[Any]

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def nnz(self) -> int: ...
    @property
    def T(self) -> Sparse: ...
    def toarray(self) -> Array: ...
    def tocsr(self) -> Any: ...
    def tocsc(self) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...


class Frame(Protocol):
    """A data frame (pandas, polars, pyarrow and their like): named columns of one length."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def columns(self) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...


MatrixLike: TypeAlias = npt.ArrayLike | Sparse | Frame
"""X as a caller may pass it: array, nested lists, sparse matrix or data frame."""

VectorLike: TypeAlias = npt.ArrayLike | Frame
"""y as a caller may pass it: one number or label per row (or several columns of them)."""

Weights: TypeAlias = npt.ArrayLike | None
"""sample_weight as a caller may pass it: one number ≥ 0 per row, one for all of them, or None for 1."""

Label: TypeAlias = bool | int | float | str | np.generic
"""The name of one class, an entry of ``classes_``."""

ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None
"""class_weight as scikit-learn takes it."""

RandomState: TypeAlias = int | np.integer[Any] | np.random.RandomState | np.random.Generator | None
"""random_state as a caller may pass it: a seed, a generator, or None for fresh randomness."""

Answers: TypeAlias = Mapping[str, Array]
"""Answers of models about some rows, by the name of the method: "predict", "predict_proba", ..."""

Grid: TypeAlias = Sequence[Mapping[str, Any]]
"""Points of a search: parameters by name, to be laid over those of an estimator."""

Folds: TypeAlias = Sequence[tuple[Array, Array]]
"""Training and test rows of each fold."""


@runtime_checkable
class Predictor(Protocol):
    """Anything with ``predict``: a fitted model of certifit, scikit-learn or somebody else."""

    def predict(self, X: Any, /) -> Any: ...


@runtime_checkable
class Estimator(Predictor, Protocol):
    """Anything that scikit-learn's tools can clone, fit and ask."""

    def fit(self, X: Any, y: Any = ..., /) -> Any: ...
    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Any: ...


class Splitter(Protocol):
    """scikit-learn's cross-validation splitters: training and test rows by ``split``."""

    def split(self, X: Any, y: Any = ..., groups: Any = ...) -> Any: ...
    def get_n_splits(self, X: Any = ..., y: Any = ..., groups: Any = ...) -> int: ...


CV: TypeAlias = int | Splitter | Sequence[tuple[npt.ArrayLike, npt.ArrayLike]] | None
"""cv as scikit-learn takes it: a number of folds, a splitter, or the folds themselves."""
