"""scikit-learn's validation, with a short way for what is plainly in order.

On small tables scikit-learn's validation takes longer than many fits: it asks what kind of table X is, reads the tags
of the model, builds the ranges of its parameters and converts. A NumPy array of finite floats comes out of it as it
went in. Such arrays, integers or strings as labels and parameters that were seen before are recognised here in some
microseconds; everything else, every error and every warning, is scikit-learn's.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import sklearn.utils.multiclass
import sklearn.utils.validation as theirs

_KNOWN = {
    "accept_sparse", "accept_large_sparse", "dtype", "order", "ensure_all_finite", "ensure_min_samples",
    "ensure_min_features", "multi_output", "y_numeric", "copy", "force_writeable",
}  # fmt: skip
_SIMPLE = {type(None), bool, int, float, str}
_REMEMBERED = 10_000  # sets of parameters
_GLANCE = 1 << 12  # rows that mostly show all labels there are
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def validate_data(model: Any, X: Any, y: Any = "no_validation", *, reset: bool = True, **options: Any) -> Any:
    """scikit-learn's `validate_data`, at once where X and y are arrays whose numbers it would not change."""
    kinds = "biu" if options.get("y_numeric") else "biuU"
    if not (_as_it_is(model, X, reset, options) and _target_as_it_is(X, y, kinds)):
        return theirs.validate_data(model, X, y, reset=reset, **options)
    if reset:
        model.n_features_in_ = X.shape[1]
    X = _ordered(X, options)
    return X if isinstance(y, str) else (X, y)


def check_array(X: Any, **options: Any) -> Any:
    """scikit-learn's `check_array`, at once where X is an array whose numbers it would not change."""
    if _as_it_is(None, X, True, options):
        return _ordered(X, options)
    return theirs.check_array(X, **options)


def check_targets(y: Any, labels: bool) -> Any:
    """Targets through scikit-learn's `check_array`: class labels of any type, or numbers."""
    if _target_as_it_is(y, y, "biuU" if labels else "biu"):
        return y
    return theirs.check_array(y, ensure_2d=False, dtype=None if labels else "numeric")


def check_is_fitted(model: Any, attributes: Any = None, **options: Any) -> None:
    """scikit-learn's `check_is_fitted`, at once where a fit has left what is asked for, or the number of columns."""
    wanted = [attributes] if isinstance(attributes, str) else attributes or ["n_features_in_"]
    judges_itself = attributes is None and hasattr(model, "__sklearn_is_fitted__")
    if judges_itself or not all(name in vars(model) for name in wanted):
        theirs.check_is_fitted(model, attributes, **options)


def check_classification_targets(y: Any) -> None:
    """scikit-learn's `check_classification_targets`, at once for integers or strings of which at most half differ."""
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU" and len(y) > 0
    close = plain and (len(y) <= 20 or (y.dtype.kind != "U" and 2 * _span(y) <= len(y)))
    if not (close or (plain and 2 * len(np.unique(y)) <= len(y))):
        sklearn.utils.multiclass.check_classification_targets(y)


class StatesTags:
    """Mixin before scikit-learn's BaseEstimator: its tags, and what the classes state in ``_tags``.

    Keys are "group.name"; a value that depends on the parameters is a function of the model. Tags of a group that one
    of scikit-learn's mixins brings (``classifier_tags``) can be stated where that mixin comes after this one.
    """

    _tags: ClassVar[dict[str, Any]] = {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        for cls in reversed(type(self).__mro__):
            for path, value in vars(cls).get("_tags", {}).items():
                group, name = path.split(".")
                setattr(getattr(tags, group), name, value(self) if callable(value) else value)
        return tags


def classes_and_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different labels in their order, and for each row the number of its own; integers close together by counting.

    Examples
    --------
    >>> classes_and_codes(np.array([7, 5, 7]))
    (array([5, 7]), array([1, 0, 1]))
    """
    low, high = (y.min(), y.max()) if y.dtype.kind in "iu" and len(y) else (0, -1)
    span, place = int(high) - int(low) + 1, y
    if not 0 < span <= 2 * len(y) + 1000:
        classes = np.unique(y)
        return classes, np.searchsorted(classes, y)
    if low != 0 or y.dtype != np.int64:
        place = ((y if y.dtype.kind == "u" else y.astype(np.int64)) - low).astype(np.int64)
    there = np.bincount(place[:_GLANCE], minlength=span) > 0  # all of many rows are only counted if a label is missing
    if not there.all():
        there = np.bincount(place) > 0
    return low + np.flatnonzero(there).astype(y.dtype), place if there.all() else (np.cumsum(there) - 1)[place]


def _span(y: np.ndarray) -> int:
    """How many different integers there can be in y."""
    return int(y.max()) - int(y.min()) + 1 if len(y) else 0


class RemembersParameters:
    """Mixin before scikit-learn's BaseEstimator: values of parameters that passed its check once pass at once."""

    _passed: ClassVar[set[tuple[Any, ...]]] = set()

    def _validate_params(self) -> None:
        chosen = [(type(value), value) for value in map(self.__getattribute__, self._get_param_names())]  # type: ignore[attr-defined]
        seen = (type(self), *chosen) if all(kind in _SIMPLE for kind, _ in chosen) else None
        if seen is None or seen not in self._passed:
            super()._validate_params()  # type: ignore[misc]
            if seen is not None and len(self._passed) < _REMEMBERED:
                self._passed.add(seen)


def _as_it_is(model: Any, X: Any, reset: bool, options: dict[str, Any]) -> bool:
    """Whether X is a table of floats of the type asked for, and the model has no names of columns to compare."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in _FLOATS or not options.keys() <= _KNOWN:
        return False
    if hasattr(model, "feature_names_in_") or not (reset or getattr(model, "n_features_in_", None) == X.shape[1]):
        return False
    asked = options.get("dtype", "numeric")
    if not (
        asked is None or asked == "numeric" or X.dtype in (asked if isinstance(asked, (list, tuple)) else (asked,))
    ):
        return False
    if options.get("force_writeable") and not (X.flags.writeable or options.get("copy")):
        return False
    least = options.get("ensure_min_samples", 1), options.get("ensure_min_features", 1)
    enough = X.shape[0] >= max(1, least[0]) and X.shape[1] >= max(1, least[1])
    return enough and (options.get("ensure_all_finite", True) is False or _finite(X))


def _ordered(X: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """X in the order asked for, copied where that is asked for."""
    return np.asarray((np.array if options.get("copy") else np.asarray)(X, order=options.get("order")))


def _target_as_it_is(X: Any, y: Any, kinds: str) -> bool:
    """Whether y was not given at all, or is a vector of finite floats or of one of these kinds, one for each row."""
    if isinstance(y, str):
        return y == "no_validation"
    plain = type(y) is np.ndarray and y.ndim == 1 and len(y) == len(X) and y.flags.c_contiguous
    return plain and (y.dtype.kind in kinds or (y.dtype in _FLOATS and _finite(y)))


def _finite(A: np.ndarray) -> bool:
    """Whether all numbers are seen to be finite: their sum is."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.add.reduce(A, axis=None)))
