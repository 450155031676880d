"""Find the objective a model claims to have minimised, solve it ourselves, and prove the distance."""

from __future__ import annotations

from typing import Any, Literal

from certifit._errors import UnknownModelError
from certifit.certificates import Certificate, Data
from certifit.certificates._data import Rigor

# Importing a module of readers makes its models known.
from certifit.judge import _glm, _least_squares, _logistic, _perceptron, _sparse, _svm  # noqa: F401
from certifit.judge._registry import READERS, TRUE_READERS


def certify(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    rigor: Rigor = "float",
    objective: Literal["own", "true"] = "own",
) -> Certificate:
    """How far is this fitted model from the best possible one, by its own objective? With proof.

    The model may be certifit's or another library's (scikit-learn, sklearnex and others with the same attributes). Our
    solver finds the optimum, the trusted part proves the difference.

    Parameters
    ----------
    model : fitted estimator
    X, y, sample_weight :
        The data it was fitted to.
    rigor : {"float", "exact"}, default="float"
    objective : {"own", "true"}, default="own"
        A model is judged by its own objective; "true" judges scikit-learn's LinearSVC, whose own penalises the offset,
        by the one that does not.

    Returns
    -------
    Certificate

    Raises
    ------
    UnknownModelError
        For a model whose objective is not known.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> certify(Ridge(alpha=1.0).fit(X, y), X, y).relative_gap < 1e-14
    True
    """
    for cls in type(model).__mro__:
        if cls.__name__ in READERS and cls.__module__ != "builtins":
            reader = READERS[cls.__name__]
            if objective == "true":
                reader = TRUE_READERS.get(cls.__name__, reader)
            return reader(model, Data.of(X, y, sample_weight), rigor)
    known = ", ".join(sorted(READERS))
    raise UnknownModelError(
        f"certify does not know the objective of {type(model).__name__}; it knows {known} (from any library)."
    )
