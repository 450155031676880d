"""Shared work: reading a grid and a table, putting points together, and laying out what they answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from certifit._types import Answers, Array, Grid
from certifit.design import FoldTable

Part = tuple[list[int], Iterable[Answers]]
T = TypeVar("T")
M = TypeVar("M")


class CannotShare(Exception):  # noqa: N818  (not an error: the ordinary road is taken)
    """Raised where work cannot be shared; each point is then fitted separately, and `Search.sharing_` gives the reason.

    Examples
    --------
    >>> try:
    ...     raise CannotShare("rows have weights")
    ... except CannotShare as reason:
    ...     print(reason)
    rows have weights
    """


def require(condition: object, reason: str) -> None:
    """Raise `CannotShare` unless a condition holds.

    Parameters
    ----------
    condition : bool
    reason : str
        Why each point is fitted alone, as the end of a sentence.

    Examples
    --------
    >>> require(True, "never said")
    """
    if not condition:
        raise CannotShare(reason)


def is_number(value: object) -> bool:
    """Whether a parameter is one finite real number (truth values are none).

    Parameters
    ----------
    value : object

    Examples
    --------
    >>> is_number(np.float32(0.1)), is_number(True), is_number("scale"), is_number(np.inf)
    (True, False, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and bool(np.isfinite(float(value)))


def group_grid(points: Sequence[T], common: Callable[[T], Any]) -> list[tuple[Any, list[int]]]:
    """Points of a grid whose common part is equal, together: that part and their places, in order of appearance.

    Parameters
    ----------
    points : sequence
        Grid points, or what was read from them.
    common : callable
        What points must share to be served by one piece of work.

    Examples
    --------
    >>> grid = [{"C": 1.0, "gamma": 0.1}, {"C": 1.0, "gamma": 2.0}, {"C": 9.0, "gamma": 0.1}]
    >>> group_grid(grid, lambda p: p["gamma"])
    [(0.1, [0, 2]), (2.0, [1])]
    """
    groups: list[tuple[Any, list[int]]] = []
    for i, point in enumerate(points):
        part = common(point)
        for known, where in groups:
            if _alike(known, part):
                where.append(i)
                break
        else:
            groups.append((part, [i]))
    return groups


def _alike(a: Any, b: Any) -> bool:
    """Equal in type and value; where that cannot be told, different, which only costs time."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_alike(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    try:
        return bool(a == b)
    except ValueError:
        return False


@dataclass(frozen=True)
class FoldAnswers:
    """Answers of every grid point, fold by fold: (points, test rows, ...) arrays by the name of the method.

    Attributes
    ----------
    grid : list of dict
    parts : list of (places in the grid, answers fold by fold)
    passes : int
        Pieces of work done in place of one fit for each point and fold.
    refit : callable, default=None
        Fits a model to all rows from what the folds have computed.

    Examples
    --------
    >>> parts = [([1], [{"predict": np.array([[5.0]])}]), ([0], [{"predict": np.array([[4.0]])}])]
    >>> next(iter(FoldAnswers([{"a": 1}, {"a": 2}], parts, 2)))["predict"].ravel()
    array([4., 5.])
    """

    grid: Grid
    parts: Sequence[Part]
    passes: int
    refit: Callable[[Any], Any] | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that vary among points served by one piece of work."""
        names = sorted({name for point in self.grid for name in point})
        groups = [[self.grid[i] for i in where] for where, _ in self.parts]
        return tuple(n for n in names if any(not _alike(p.get(n), g[0].get(n)) for g in groups for p in g))

    def __iter__(self) -> Iterator[dict[str, Array]]:
        places = [where for where, _ in self.parts]
        for found in zip(*(answers for _, answers in self.parts)):
            if len(found) == 1 and places[0] == list(range(len(self.grid))):
                yield dict(found[0])
                continue
            whole: dict[str, Array] = {}
            for where, answers in zip(places, found):
                for name, values in answers.items():
                    if name not in whole:
                        whole[name] = np.empty((len(self.grid), *values.shape[1:]), dtype=values.dtype)
                    whole[name][where] = values
            yield whole


def assemble(
    grid: Grid, parts: Iterable[Part], passes: int | None = None, refit: Callable[[Any], Any] | None = None
) -> FoldAnswers:
    """Answers of all groups in the order of the grid.

    Parameters
    ----------
    grid : list of dict
    parts : iterable of (places in the grid, answers fold by fold)
        One for each group; answers are dicts of (points of the group, test rows, ...) arrays.
    passes : int, default=None
        Pieces of work behind them; one for each group when None.
    refit : callable, default=None
        As in `FoldAnswers`.

    Examples
    --------
    >>> two = assemble([{"a": 1}, {"a": 2}], [([0, 1], [{"predict": np.array([[4.0], [5.0]])}])])
    >>> two.passes, two.parameters
    (1, ('a',))
    """
    listed = list(parts)
    return FoldAnswers(grid, listed, len(listed) if passes is None else passes, refit)


def models_of(model: M, grid: Grid, shared: Collection[str]) -> list[M]:
    """A copy of the model for each grid point, with valid parameters.

    Parameters
    ----------
    model : estimator
    grid : list of dict
    shared : set of str
        Parameters that may vary.

    Raises
    ------
    CannotShare
        If a point sets another parameter, or one to a value that ``fit`` refuses.

    Examples
    --------
    >>> from certifit.linear_model import LogisticRegression
    >>> [m.C for m in models_of(LogisticRegression(), [{"C": 1.0}, {"C": 2.0}], {"C"})]
    [1.0, 2.0]
    """
    from sklearn import get_config
    from sklearn.base import clone

    require_shared(model, grid, shared)
    checked = not get_config()["skip_parameter_validation"]  # as in a fit; a study's thousands of points need no check
    try:
        fresh = clone(model)  # once: no fit of a point touches what copies have in common
        models = [copy(fresh).set_params(**point) for point in grid]
        for one in models if checked else ():
            one._validate_params()
    except (TypeError, ValueError) as error:
        raise CannotShare("fit rejects a parameter of the grid") from error
    return models


def require_shared(model: object, grid: Grid, shared: Collection[str]) -> None:
    """Raise `CannotShare` unless the grid varies only parameters that points can share work across.

    Parameters
    ----------
    model : estimator
    grid : list of dict
    shared : set of str

    Examples
    --------
    >>> require_shared(object(), [{"alpha": 1.0}], {"alpha"})
    """
    others = sorted({name for point in grid for name in point} - set(shared))
    require(not others, f"{type(model).__name__} does not share work across {', '.join(others)}")


def read_table(table: FoldTable, *, labels: bool = False, sparse: bool = False, **options: Any) -> FoldTable:
    """The table with validated rows, targets and weights.

    Parameters
    ----------
    table : FoldTable
        As the user gave it.
    labels : bool, default=False
        Whether targets are class labels (one column); else they are real numbers, as floats.
    sparse : bool, default=False
        Whether CSR rows will do.
    **options
        Of scikit-learn's ``check_array``, for the rows.

    Raises
    ------
    CannotShare
        For input that ``fit`` refuses (it says what is wrong), and for sparse rows unless allowed.

    Examples
    --------
    >>> read_table(FoldTable([[1.0], [2.0]], [3, 4], [])).y
    array([3., 4.])
    """
    from scipy.sparse import issparse

    from certifit._validation import check_array, check_targets

    require(sparse or not issparse(table.X), "sparse rows are fitted one by one")
    options = {"dtype": [np.float64, np.float32], "accept_sparse": "csr" if sparse else False} | options
    try:
        X = check_array(table.X, **options)
        y = np.asarray(check_targets(table.y, labels))
        y = y if labels else y.astype(float)
        weights = None if table.weights is None else check_array(table.weights, ensure_2d=False, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CannotShare("fit rejects the data") from error
    require(len(y) == X.shape[0] and (y.ndim == 1 or not labels), "the targets have a shape of their own")
    require(weights is None or (weights.shape == (len(y),) and np.all(weights >= 0)), "fit rejects the weights")
    return replace(table, X=X, y=y, weights=weights)
