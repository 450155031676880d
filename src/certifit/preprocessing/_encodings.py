"""Categories as numbers: one-hot, thermometer and factored codes."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from certifit._sklearn import StrOptions, usual
from certifit._types import Array, Matrix, Record, VectorLike
from certifit._validation import StatesTags, check_is_fitted, validate_data
from certifit.preprocessing._base import names_in

_UNKNOWN = [StrOptions({"error", "ignore"})]


def _table(transformer: BaseEstimator, X: Matrix, reset: bool) -> Array:
    """X as (n, d) numbers or words; missing values (None, NaN) allowed."""
    X = validate_data(transformer, X, dtype=None, reset=reset, ensure_all_finite="allow-nan")
    X = np.asarray(X)
    return X.astype(object) if X.dtype.kind in "OUS" else X


def _missing(x: Array) -> Array:
    """Where a column has no value."""
    if x.dtype != object:
        return np.isnan(x) if x.dtype.kind == "f" else np.zeros(len(x), bool)
    return np.array([_absent(v) for v in x], dtype=bool)


def _absent(value: object) -> bool:
    """None, NaN, and pandas' NA and NaT: what is nothing, or unlike itself."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA answers neither yes nor no
        return True


def _ordered(X: Matrix) -> list[list[Any] | None]:
    """The order that a data frame's own types give (ordered categories of pandas, Enum of polars), per column."""
    found: list[list[Any] | None] = []
    for kind in getattr(X, "dtypes", ()) if hasattr(X, "columns") else ():
        levels = getattr(kind, "categories", None)
        given = getattr(kind, "ordered", False) or type(kind).__name__ == "Enum"
        found.append(list(levels) if given and levels is not None else None)
    return found


def _levels(x: Array) -> Array:
    """The distinct values in order, missing ones left out."""
    values = x[~_missing(x)]
    try:
        return np.unique(values)
    except TypeError as mixed:
        raise ValueError(
            "A column mixes numbers and strings, which cannot be ordered: convert it to strings."
        ) from mixed


def _codes(transformer: BaseEstimator, x: Array, levels: Array, column: int) -> tuple[Array, Array]:
    """Position of each value among the levels (−1 where missing or unknown), and the missing mask."""
    absent = _missing(x)
    where = {v: i for i, v in enumerate(levels.tolist())}
    codes = np.array([-1 if gone else where.get(v, -2) for v, gone in zip(x.tolist(), absent)], dtype=int)
    if np.any(codes == -2):
        if transformer.handle_unknown == "error":
            row = int(np.flatnonzero(codes == -2)[0])
            raise ValueError(
                f"Row {row} has {x[row]!r} in column {column}, which was not seen in fit; "
                f"handle_unknown='ignore' codes such values as zeros."
            )
        codes[codes == -2] = -1
    return codes, absent


class _Encoder(StatesTags, TransformerMixin, BaseEstimator):
    """What the encoders share: levels per column, unknown values, missing values, names."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {"handle_unknown": _UNKNOWN}
    handle_unknown: str

    def fit(self, X: Matrix, y: VectorLike | None = None) -> Any:
        """Learn the levels of every column."""
        self._validate_params()
        X = _table(self, X, reset=True)
        self.categories_ = self._read_levels(X)
        self.missing_ = np.array([bool(np.any(_missing(X[:, j]))) for j in range(X.shape[1])])
        return self

    def _read_levels(self, X: Array) -> list[Array]:
        return [_levels(X[:, j]) for j in range(X.shape[1])]

    def _block(self, j: int, codes: Array, absent: Array) -> Array:
        raise NotImplementedError

    def _words(self, j: int, name: str) -> list[str]:
        raise NotImplementedError

    def transform(self, X: Matrix) -> Array:
        """The codes, (n, m) floats."""
        check_is_fitted(self)
        X = _table(self, X, reset=False)
        blocks = [self._encoded(j, X[:, j]) for j in range(X.shape[1])]
        return np.hstack(blocks) if blocks else np.zeros((len(X), 0))

    def _encoded(self, j: int, x: Array) -> Array:
        return self._block(j, *_codes(self, x, self.categories_[j], j))

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> Array:
        """Names composed of column and level."""
        check_is_fitted(self)
        names = names_in(self, input_features)
        words = [w for j in range(len(self.categories_)) for w in self._words(j, str(names[j]))]
        return np.array(words, dtype=object)

    _tags: ClassVar[Record] = {
        "input_tags.categorical": True,
        "input_tags.string": True,
        "input_tags.allow_nan": True,
        "transformer_tags.preserves_dtype": [],
    }


def _on(codes: Array, width: int) -> Array:
    out = np.zeros((len(codes), width))
    seen = codes >= 0
    out[np.flatnonzero(seen), codes[seen]] = 1.0
    return out


@dataclass(kw_only=True, eq=False, repr=False)
class OneHot(_Encoder):
    """One column of 0 and 1 per level.

    Parameters
    ----------
    drop_first : bool, default=False
        Leave the first level of every column out (its rows are all zero), as regressions with an offset need.
    handle_unknown : {"error", "ignore"}, default="error"
        A level not seen in `fit`: raise an error, or code as zeros.

    Attributes
    ----------
    categories_ : list of arrays
        The levels of each column, in order.
    missing_ : (d,) boolean array
        Columns that had missing values in `fit`: these get a level of their own, named ``missing``.

    Notes
    -----
    A column with one level gives a constant column (none with ``drop_first``). A missing value in a column that had
    none in `fit` is an unknown level. scikit-learn's ``OneHotEncoder`` is the fuller tool (sparse output, rare levels);
    this one returns dense numbers, for tables of at most a few thousand levels.

    Examples
    --------
    >>> code = OneHot().fit([["red"], ["blue"], ["red"]])
    >>> code.transform([["red"]]), code.get_feature_names_out(["colour"])
    (array([[0., 1.]]), array(['colour=blue', 'colour=red'], dtype=object))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"drop_first": ["boolean"], "handle_unknown": _UNKNOWN}

    drop_first: bool = False
    handle_unknown: str = "error"

    def _block(self, j: int, codes: Array, absent: Array) -> Array:
        out = _on(codes, len(self.categories_[j]))
        if self.missing_[j]:
            out = np.hstack([out, absent[:, None].astype(float)])
        elif np.any(absent) and self.handle_unknown == "error":
            raise ValueError(f"Column {j} has missing values, but had none in fit; use handle_unknown='ignore'.")
        return out[:, 1:] if self.drop_first else out

    def _words(self, j: int, name: str) -> list[str]:
        words = [f"{name}={v}" for v in self.categories_[j]]
        if self.missing_[j]:
            words.append(f"{name}=missing" if f"{name}=missing" not in words else f"{name} is missing")
        return words[1:] if self.drop_first else words


@dataclass(eq=False, repr=False)
class Thermometer(_Encoder):
    """Ordered levels as a thermometer: level k of K sets the first k − 1 of K − 1 columns to 1.

    Neighbouring levels then differ in one place, and a linear model can give every step its own size.

    Parameters
    ----------
    order : list of lists, default=None
        The levels of each column from low to high. When None: the order of pandas' ordered categories or polars' Enum
        where a column has that type, else sorted values.
    handle_unknown : {"error", "ignore"}, default="error"
        A level not seen: raise an error, or code as zeros (which with ``drop_first`` is the lowest level).
    drop_first : bool, default=True
        Leave out the column that is 1 for every level: it is redundant if there is an intercept. False keeps all K
        columns, of which level k sets the first k.

    Notes
    -----
    Missing values raise an error, since they have no place in the order. A column with one level gives no column at
    all. scikit-learn has no encoder of this kind (its ``OrdinalEncoder`` assumes equal steps).

    Examples
    --------
    >>> code = Thermometer(order=[["low", "middle", "high"]]).fit([["low"], ["high"], ["middle"]])
    >>> code.transform([["low"], ["middle"], ["high"]])
    array([[0., 0.],
           [1., 0.],
           [1., 1.]])
    >>> Thermometer(order=[["low", "high"]], drop_first=False).fit_transform([["low"], ["high"]])
    array([[1., 0.],
           [1., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "order": ["array-like", None],
        "handle_unknown": _UNKNOWN,
    } | usual("drop_first")

    order: Any = None
    _: KW_ONLY
    handle_unknown: str = "error"
    drop_first: bool = True

    def fit(self, X: Matrix, y: VectorLike | None = None) -> Thermometer:
        """Learn the levels of every column and their order."""
        self._given = _ordered(X) if self.order is None else list(self.order)
        try:
            super().fit(X, y)
            return self
        finally:
            del self._given  # needed while fitting only

    def transform(self, X: Matrix) -> Array:
        """The codes, (n, m) floats."""
        check_is_fitted(self)
        self._refuse_missing(_table(self, X, reset=False))
        return super().transform(X)

    @staticmethod
    def _refuse_missing(X: Array) -> None:
        for j in range(X.shape[1]):
            if np.any(_missing(X[:, j])):
                raise ValueError(f"Column {j} has missing values (NaN), which have no place in an order: fill them.")

    def _read_levels(self, X: Array) -> list[Array]:
        self._refuse_missing(X)
        if self.order is not None and len(self.order) != X.shape[1]:
            raise ValueError(f"order must list the levels of all {X.shape[1]} columns, got {len(self.order)}.")
        words = object if X.dtype == object else None
        given = self._given or [None] * X.shape[1]
        levels = [_levels(X[:, j]) if o is None else np.array(list(o), dtype=words) for j, o in enumerate(given)]
        for j, level in enumerate(levels):
            if len(set(level.tolist())) < len(level):
                raise ValueError(f"The order of column {j} lists a level twice.")
            extra = sorted(set(X[:, j].tolist()) - set(level.tolist()), key=str)
            if extra and self.handle_unknown == "error":
                raise ValueError(f"Column {j} has the level {extra[0]!r}, which order does not list.")
        return levels

    def _block(self, j: int, codes: Array, absent: Array) -> Array:
        steps = np.arange(int(self.drop_first), len(self.categories_[j]))
        return ((codes[:, None] >= steps) & ~absent[:, None]).astype(float)

    def _words(self, j: int, name: str) -> list[str]:
        return [f"{name}>={v}" for v in self.categories_[j][int(self.drop_first) :]]

    _tags: ClassVar[Record] = {"input_tags.allow_nan": False}


@dataclass(eq=False, repr=False)
class Factored(_Encoder):
    """Strings made of parts (make-model, blood type AB+), one-hot encoded part by part.

    Parameters
    ----------
    factors : callable, str or None, default=None
        What splits a value into its parts: a function that returns a tuple, or a separator; None is one part.
    handle_unknown : {"error", "ignore"}, default="error"
        A part not seen in `fit`: raise an error, or code as zeros; the other parts still count.

    Notes
    -----
    Values that share a part share a column, so that unseen combinations of known parts can be encoded. Missing values
    are coded as zeros. A column with one value gives constant columns. scikit-learn has no encoder of this kind.

    Examples
    --------
    >>> code = Factored("-").fit([["A-pos"], ["B-neg"]])
    >>> code.transform([["A-neg"]]), code.get_feature_names_out(["blood"])
    (array([[1., 0., 1., 0.]]),
     array(['blood[0]=A', 'blood[0]=B', 'blood[1]=neg', 'blood[1]=pos'], dtype=object))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"factors": [callable, str, None], "handle_unknown": _UNKNOWN}

    factors: Any = None
    _: KW_ONLY
    handle_unknown: str = "error"

    def _parts(self, value: Any) -> tuple[Any, ...]:
        if self.factors is None:
            return (value,)
        return tuple(str(value).split(self.factors)) if isinstance(self.factors, str) else tuple(self.factors(value))

    def _read_levels(self, X: Array) -> list[Array]:
        self.parts_ = []
        for j in range(X.shape[1]):
            present = X[:, j][~_missing(X[:, j])].tolist()
            split = [self._parts(v) for v in present]
            width = max((len(p) for p in split), default=1)
            self.parts_.append([_levels(_objects([p[k] for p in split if len(p) > k])) for k in range(width)])
        return [_levels(X[:, j]) for j in range(X.shape[1])]

    def _encoded(self, j: int, x: Array) -> Array:
        split = [() if gone else self._parts(v) for v, gone in zip(x.tolist(), _missing(x))]
        longer = [i for i, p in enumerate(split) if len(p) > len(self.parts_[j])]
        if longer and self.handle_unknown == "error":
            raise ValueError(
                f"Row {longer[0]} has {x[longer[0]]!r} in column {j}, with more parts than any value in fit; "
                f"handle_unknown='ignore' leaves the rest out."
            )
        columns = [_objects([p[k] if len(p) > k else None for p in split]) for k in range(len(self.parts_[j]))]
        parts = [_on(_codes(self, c, v, j)[0], len(v)) for c, v in zip(columns, self.parts_[j])]
        return np.hstack(parts)

    def _words(self, j: int, name: str) -> list[str]:
        parts = self.parts_[j]
        if self.factors is None:
            return [f"{name}={v}" for v in parts[0]]
        return [f"{name}[{k}]={v}" for k, levels in enumerate(parts) for v in levels]


def _objects(values: list[Any]) -> Array:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
