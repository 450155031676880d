"""Standardising, padding with ones, and transforms of single columns."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from certifit._sklearn import check_sample_weight, usual
from certifit._types import Array, Matrix, Record, VectorLike, Weights
from certifit._validation import StatesTags, check_is_fitted
from certifit.preprocessing._base import names_in, numbers
from certifit.preprocessing._scaler import Moments


@dataclass(kw_only=True, eq=False, repr=False)
class Standardizer(StatesTags, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Scale columns to mean 0 and standard deviation 1: :math:`(x - \bar x)/\sigma`.

    A constant column becomes 0 (its standard deviation counts as 1). Missing values (NaN) are ignored in the mean and
    the standard deviation and stay missing. Both are accurate to rounding however far from zero a column lies.

    Parameters
    ----------
    with_mean, with_std : bool, default=True
        Whether to centre and to scale.
    ddof : {0, 1}, default=0
        Divisor n − ddof of the variance: 0 as in scikit-learn, 1 as in R's ``scale`` and most textbooks.

    Attributes
    ----------
    mean_, scale_ : (d,) arrays
    constant_ : (d,) boolean array
        Columns with one value only.

    Notes
    -----
    scikit-learn's ``StandardScaler`` does the same with ``ddof=0`` and learns in batches (``partial_fit``), which this
    one does not. It exists for ``ddof=1`` and because it names the constant columns.

    Examples
    --------
    >>> Standardizer(ddof=1).fit_transform([[1.0, 5.0], [3.0, 5.0]]).round(3)
    array([[-0.707,  0.   ],
           [ 0.707,  0.   ]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"ddof": [int]} | usual("with_mean with_std")

    with_mean: bool = True
    with_std: bool = True
    ddof: int = 0

    def fit(self, X: Matrix, y: VectorLike | None = None, sample_weight: Weights = None) -> Standardizer:
        """Learn means and spreads, weighted by ``sample_weight``."""
        self._validate_params()
        if self.ddof not in (0, 1):
            raise ValueError(f"ddof must be 0 or 1, got {self.ddof}.")
        X = numbers(self, X, reset=True, missing=True)
        s = np.ones(len(X)) if sample_weight is None else check_sample_weight(sample_weight, X, dtype=np.float64)
        if np.any(s < 0):
            raise ValueError("sample_weight must not be negative.")
        Z = X.astype(float)
        total, mean, scatter = Moments.of(Z, s)
        spread = np.sqrt(scatter / np.where(total > self.ddof, total - self.ddof, 1.0))
        counts = ~np.isnan(Z) & (s[:, None] > 0)
        low = np.min(Z, axis=0, initial=np.inf, where=counts)
        high = np.max(Z, axis=0, initial=-np.inf, where=counts)
        self.constant_ = ~(low < high)
        self.mean_ = np.where(self.constant_ & np.isfinite(low), low, mean)
        self.scale_ = np.where(self.constant_ | (spread == 0), 1.0, spread)
        return self

    def transform(self, X: Matrix) -> Array:
        """Centred and scaled rows."""
        check_is_fitted(self)
        X = numbers(self, X, reset=False, missing=True)
        Z = X.astype(float)
        if self.with_mean:
            Z = Z - self.mean_
        if self.with_std:
            Z = Z / self.scale_
        return Z.astype(X.dtype)

    def inverse_transform(self, X: Matrix) -> Array:
        """Back to the units of the data."""
        check_is_fitted(self)
        X = np.asarray(X)
        Z = X * self.scale_ if self.with_std else X.astype(float)
        return Z + self.mean_ if self.with_mean else Z

    _tags: ClassVar[Record] = {"input_tags.allow_nan": True, "transformer_tags.preserves_dtype": ["float64", "float32"]}


@dataclass(eq=False, repr=False)
class PadOnes(StatesTags, TransformerMixin, BaseEstimator):
    r"""Append a column of ones, so that a hyperplane through the origin of the larger space has an offset.

    :math:`\theta\cdot x + \theta_0 = (\theta, \theta_0)\cdot(x, 1)`. Note that a penalty then also applies to θ₀.

    Parameters
    ----------
    value : float, default=1.0
        What to append; a large value makes a penalty on the offset small.

    Notes
    -----
    Missing values raise an error. scikit-learn has ``preprocessing.add_dummy_feature``, a function that puts the ones
    first; this is a transformer for pipelines and puts them last, as θ₀ follows θ.

    Examples
    --------
    >>> PadOnes().fit_transform([[2.0], [3.0]])
    array([[2., 1.],
           [3., 1.]])
    """

    value: float = 1.0

    def fit(self, X: Matrix, y: VectorLike | None = None) -> PadOnes:
        """Learn the number of columns."""
        if not (isinstance(self.value, (int, float)) and np.isfinite(self.value) and self.value != 0):
            raise ValueError(f"value must be a finite number other than 0, got {self.value!r}.")
        numbers(self, X, reset=True)
        return self

    def transform(self, X: Matrix) -> Array:
        """(x, value) for each row."""
        check_is_fitted(self, "n_features_in_")
        X = numbers(self, X, reset=False)
        return np.hstack([X, np.full((len(X), 1), self.value, dtype=X.dtype)])

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> Array:
        """The input names, and ``"1"``."""
        return np.append(names_in(self, input_features), "1").astype(object)

    _tags: ClassVar[Record] = {"transformer_tags.preserves_dtype": ["float64", "float32"]}


_TRANSFORMS: dict[str, tuple[Any, str, Any]] = {
    # name: function, where it is defined in words, where it is defined
    "log": (np.log, "positive numbers", lambda x: x > 0),
    "log1p": (np.log1p, "numbers above −1", lambda x: x > -1),
    "sqrt": (np.sqrt, "numbers that are not negative", lambda x: x >= 0),
    "reciprocal": (np.reciprocal, "numbers other than 0", lambda x: x != 0),
    "square": (np.square, "all numbers", lambda x: np.ones(x.shape, bool)),
    "abs": (np.abs, "all numbers", lambda x: np.ones(x.shape, bool)),
    "asinh": (np.arcsinh, "all numbers", lambda x: np.ones(x.shape, bool)),
    "exp": (np.exp, "numbers below 709", lambda x: x < 709),
    "identity": (np.positive, "all numbers", lambda x: np.ones(x.shape, bool)),
}


@dataclass(eq=False, repr=False)
class ColumnTransforms(StatesTags, TransformerMixin, BaseEstimator):
    """Logarithms and similar functions, column by column.

    Parameters
    ----------
    transforms : dict or str, default="identity"
        A name for all columns, or a mapping from column (name or position) to a name or a list of names. Names: "log",
        "log1p", "sqrt", "reciprocal", "square", "abs", "asinh", "exp", "identity". Columns that are not mentioned stay.
    keep : bool, default=False
        Whether to keep the original column as well.

    Notes
    -----
    A value outside the domain (the logarithm of −3) is rejected with its row and column; missing values stay missing.
    scikit-learn's ``FunctionTransformer`` applies one function to everything and checks no domain.

    Examples
    --------
    >>> t = ColumnTransforms({1: ["log", "sqrt"]}).fit([[1.0, 1.0], [2.0, 4.0]])
    >>> t.transform([[7.0, 4.0]]).round(3), t.get_feature_names_out()
    (array([[7.   , 1.386, 2.   ]]), array(['x0', 'log(x1)', 'sqrt(x1)'], dtype=object))
    """

    transforms: Any = "identity"
    _: KW_ONLY
    keep: bool = False

    def fit(self, X: Matrix, y: VectorLike | None = None) -> ColumnTransforms:
        """Resolve columns and check that every value lies in the domain."""
        X = numbers(self, X, reset=True, missing=True)
        self.plan_ = self._plan(X.shape[1])
        self._apply(X)
        return self

    def _plan(self, d: int) -> list[tuple[int, str]]:
        """Output columns: (input column, name of the transform)."""
        named = list(getattr(self, "feature_names_in_", []))
        asked: dict[int, list[str]] = {}
        if isinstance(self.transforms, str):
            asked = {j: [self.transforms] for j in range(d)}
        else:
            for column, what in dict(self.transforms).items():
                if column in named:
                    j = named.index(column)
                elif isinstance(column, (int, np.integer)) and -d <= column < d:
                    j = int(column) % d
                else:
                    raise ValueError(f"There is no column {column!r}; there are {named or d}.")
                asked[j] = [what] if isinstance(what, str) else list(what)
        unknown = sorted({n for ns in asked.values() for n in ns} - set(_TRANSFORMS))
        if unknown:
            raise ValueError(f"Unknown transform {unknown[0]!r}; choose one of {', '.join(_TRANSFORMS)}.")
        plan: list[tuple[int, str]] = []
        for j in range(d):
            names = asked.get(j, ["identity"])
            if self.keep and "identity" not in names:
                names = ["identity", *names]
            plan.extend((j, n) for n in names)
        return plan

    def _apply(self, X: Array) -> Array:
        out = np.empty((len(X), len(self.plan_)), dtype=X.dtype)
        for k, (j, name) in enumerate(self.plan_):
            function, words, inside = _TRANSFORMS[name]
            x = X[:, j]
            bad = ~(inside(x) | np.isnan(x))
            if np.any(bad):
                row = int(np.flatnonzero(bad)[0])
                raise ValueError(f"{name} needs {words}: column {j} has {x[row]:g} in row {row}; leave the column out.")
            out[:, k] = function(x)
        return out

    def transform(self, X: Matrix) -> Array:
        """The transformed columns."""
        check_is_fitted(self)
        return self._apply(numbers(self, X, reset=False, missing=True))

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> Array:
        """Names such as ``"log(income)"``."""
        check_is_fitted(self)
        names = names_in(self, input_features)
        words = [str(names[j]) if n == "identity" else f"{n}({names[j]})" for j, n in self.plan_]
        return np.array(words, dtype=object)

    _tags: ClassVar[Record] = {"input_tags.allow_nan": True, "transformer_tags.preserves_dtype": ["float64", "float32"]}
