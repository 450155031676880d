"""Arrays of other libraries (PyTorch, CuPy, …) under ``sklearn.config_context(array_api_dispatch=True)``.

certifit computes and proves in NumPy. Under dispatch, what a method is given is converted to NumPy, and what it
answers is converted back to the library and device of X, as scikit-learn promises. The fitted attributes are then
arrays of that library too; the fit itself, with its certificates, stays in a NumPy twin of the model, which follows
when somebody changes them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn import config_context, get_config

from certifit._sklearn import array_library, move_to

_METHODS = (
    "fit", "partial_fit", "fit_transform", "fit_predict", "predict", "predict_proba", "predict_log_proba",
    "predict_joint_log_proba", "decision_function", "transform", "inverse_transform", "score",
    "score_samples", "kneighbors", "get_covariance", "get_precision",
)  # fmt: skip


def in_numpy(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that computes in NumPy whatever library its arrays are from, and answers in the library of X."""
    fits = method.__name__.startswith(("fit", "partial_fit"))

    @wraps(method)
    def converted(self: Any, *args: Any, **kwargs: Any) -> Any:
        dispatch, twin = get_config()["array_api_dispatch"], self.__dict__.get("_in_numpy")
        if not dispatch and twin is None:
            return method(self, *args, **kwargs)
        library = array_library(*args[:1], *kwargs.values()) if dispatch else None
        if library is None and twin is None:
            return method(self, *args, **kwargs)
        if dispatch and not args and not kwargs:
            library = self._library
        if twin is None:  # not `copy.copy`, which would issue certificates as pickling does
            twin = object.__new__(type(self))
            twin.__dict__.update(self.__dict__)
        else:
            _follow(twin, self)
        chosen = self.get_params(deep=False)
        twin.__dict__.update(_numpy(chosen))
        args, kwargs = _numpy(args), _numpy(kwargs)
        with config_context(array_api_dispatch=False):
            answer = method(twin, *args, **kwargs)
        if fits:
            self.__dict__.clear()
            self.__dict__.update({name: _fitted(name, part, library) for name, part in twin.__dict__.items()} | chosen)
            if library is not None:
                self._in_numpy, self._library = twin, library
        return self if answer is twin else _moved(answer, library)

    converted.__dict__["_converts"] = True
    return converted


def computes_in_numpy(cls: type) -> type:
    """Convert arrays in the methods that certifit wrote for this class; those of scikit-learn's mixins call these."""
    for name in _METHODS:
        method = inspect.getattr_static(cls, name, None)
        ours = inspect.isfunction(method) and (method.__module__ or "").startswith("certifit")
        if ours and not hasattr(method, "_converts"):
            setattr(cls, name, in_numpy(method))
    return cls


def _numpy(given: Any) -> Any:
    """Arguments with every array in NumPy."""
    if isinstance(given, dict):
        return {name: _numpy(part) for name, part in given.items()}
    if isinstance(given, (tuple, list)) and any(array_library(part) is not None for part in given):
        return type(given)(map(_numpy, given))
    return given if array_library(given) is None else move_to(given, xp=np, device="cpu")


def _moved(answer: Any, library: Any) -> Any:
    """The answer in another library; strings and what is no array stay as they are."""
    if isinstance(answer, tuple):
        return tuple(_moved(part, library) for part in answer)
    if library is None or not isinstance(answer, np.ndarray) or answer.dtype.kind not in "biuf":
        return answer
    return move_to(answer, xp=library[0], device=library[1])


def _public(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _fitted(name: str, part: Any, library: Any) -> Any:
    shown = np.asarray(part) if isinstance(part, np.floating) else part
    return _moved(shown, library) if _public(name) and library else part


def _follow(twin: Any, model: Any) -> None:
    """Give the twin the fitted arrays that were changed by hand since, in place or by assignment."""
    for name, part in model.__dict__.items():
        shown, own = _numpy(part), twin.__dict__.get(name)
        if not _public(name) or not isinstance(shown, np.ndarray) or not isinstance(own, (np.ndarray, np.floating)):
            continue
        # A device may keep fewer digits than the twin: these are no change.
        if not np.array_equal(shown, np.asarray(own).astype(shown.dtype), equal_nan=shown.dtype.kind == "f"):
            twin.__dict__[name] = shown if isinstance(own, np.ndarray) else shown[()]
