"""Find the objective a model claims to have minimised, solve it ourselves, and prove the distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._errors import UnknownModelError
from certifit._types import Array
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.design import as_design
from certifit.losses import Squared, loss_spec
from certifit.regularizers import NonNegative, SquaredL2, regularizer_spec
from certifit.solvers import solve_least_squares

_HOMES = {"sklearn": "sklearn", "sklearnex": "sklearnex", "daal4py": "sklearnex", "onedal": "sklearnex"}

Reader = Callable[[Any, Data, Rigor], Certificate]
_READERS: dict[str, Reader] = {}


def reads(*names: str) -> Callable[[Reader], Reader]:
    """Register a function that judges models of these class names."""

    def keep(function: Reader) -> Reader:
        _READERS.update(dict.fromkeys(names, function))
        return function

    return keep


def certify(model: Any, X: Any, y: Any, sample_weight: Any = None, rigor: Rigor = "float") -> Certificate:
    """How far is this fitted model from the best possible one, by its own objective? With proof.

    The model may be certifit's or another library's (scikit-learn's, sklearnex's and celer's
    LinearRegression, Ridge, Lasso, ElasticNet and SGDRegressor). Our
    solver finds the optimum, the trusted part proves the difference.

    Parameters
    ----------
    model : fitted estimator
    X, y, sample_weight :
        The data it was fitted to.
    rigor : {"float", "exact"}, default="float"

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
        if cls.__name__ in _READERS and cls.__module__ != "builtins":
            return _READERS[cls.__name__](model, Data.of(X, y, sample_weight), rigor)
    known = ", ".join(sorted(_READERS))
    raise UnknownModelError(
        f"certify does not know the objective of {type(model).__name__}; it knows {known} (from any library)."
    )


def _name(model: Any) -> str | None:
    """How a verdict calls somebody else's model; None for ours."""
    home = type(model).__module__.split(".")[0]
    return None if home == "certifit" else f"{_HOMES.get(home, home)} {type(model).__name__}"


def fitted(model: Any, data: Data) -> dict[str, Any]:
    """Coefficients in canonical shape."""
    coef = np.asarray(model.coef_, dtype=float)
    coef = coef.reshape(-1, data.X.shape[1])
    intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=float), (len(coef),)).astype(float)
    return {
        "coef": coef,
        "intercept": intercept,
        "fit_intercept": bool(getattr(model, "fit_intercept", True)),
        "model": _name(model),
    }


def _best(data: Data, alpha: Array, prior: Any, fit_intercept: bool, positive: bool) -> dict[str, Array]:
    Y = np.asarray(data.y, dtype=float).reshape(data.X.shape[0], -1)
    solution = solve_least_squares(
        as_design(data.X),
        Y,
        data.sample_weight,
        alpha=alpha,
        prior=prior,
        fit_intercept=fit_intercept,
        positive=positive,
    )
    return {"witness_coef": solution.value[0], "witness_intercept": solution.value[1]}


@reads("LinearRegression")
def _linear_regression(model: Any, data: Data, rigor: Rigor) -> Certificate:
    evidence = fitted(model, data)
    positive = bool(getattr(model, "positive", False))
    evidence |= _best(data, np.zeros(len(evidence["coef"])), None, evidence["fit_intercept"], positive)
    return issue("least-squares", data, evidence | ({"positive": True} if positive else {}), rigor)


@reads("Ridge")
def _ridge(model: Any, data: Data, rigor: Rigor) -> Certificate:
    evidence = fitted(model, data)
    targets = len(evidence["coef"])
    alpha = np.broadcast_to(np.asarray(model.alpha, dtype=float), (targets,)).astype(float)
    positive = bool(getattr(model, "positive", False))
    prior = getattr(model, "prior", None)
    prior = None if prior is None else np.broadcast_to(np.asarray(prior, dtype=float), evidence["coef"].shape)
    evidence |= _best(data, alpha, prior, evidence["fit_intercept"], positive)
    if np.any(alpha == 0):
        return issue("least-squares", data, evidence | {"alpha": alpha, "prior": prior}, rigor)
    squared = [SquaredL2(1.0, None if prior is None else tuple(prior[t])) for t in range(targets)]
    specs = [regularizer_spec(NonNegative(r) if positive else r) for r in squared]
    dual = {"loss": loss_spec(Squared()), "regularizer": specs, "lam": alpha, "lam_per": "sum"}
    return issue("duality", data, evidence | dual, rigor)
