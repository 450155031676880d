"""Judging the estimates of naive Bayes models, of other libraries or by hand: are they those of the data?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from certifit._types import Array, BaseEstimator, MatrixLike, Record, VectorLike, Weights
from certifit.certificates import Certificate, Data, issue
from certifit.exceptions import UnknownModelError
from certifit.naive_bayes._categorical import FRACTIONS

_MODELS = ("gaussian", "bernoulli", "multinomial", "categorical", "complement")
_NAMES = {f"{name.capitalize()}NB": name for name in _MODELS}


def certify_naive_bayes(
    estimates: Any,
    X: MatrixLike,
    y: VectorLike,
    model: str | None = None,
    *,
    alpha: float | VectorLike = 1.0,
    var_smoothing: float = 1e-9,
    binarize: float | None = 0.0,
    prior: str = "data",
    sample_weight: Weights = None,
) -> Certificate:
    """Are these the estimates of a naive Bayes model: counts plus α over their sum, or means and variances?

    Parameters
    ----------
    estimates : mapping or fitted model
        ``{"means": ..., "variances": ...}`` of shape (K, d) for Gaussian columns; ``{"probabilities": ...}`` of shape
        (K, d) for counts, or a list of d tables (K, m) for categories 0 … m − 1; or ``"log_probabilities"`` in their
        place. ``"class_prior"`` (K,) may be added. Classes are in sorted order. Or scikit-learn's GaussianNB,
        BernoulliNB, MultinomialNB, CategoricalNB or ComplementNB, whose parameters are read.
    X : {array-like, sparse matrix} of shape (n, d)
    y : array-like of shape (n,)
    model : {"gaussian", "bernoulli", "multinomial", "categorical"}, default=None
        None: Gaussian where there are means, multinomial else.
    alpha : float or array-like of shape (d,), ≥ 0, default=1.0
        The pseudo-count.
    var_smoothing : float ≥ 0, default=1e-9
        The fraction of the largest column variance that is added to all variances.
    binarize : float in (−∞, ∞) or None, default=0.0
        Bernoulli: values above this count as 1; None for columns of 0 and 1.
    prior : {"data", "uniform"}, default="data"
        How the class probabilities are defined: as frequencies, or equal.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    Certificate
        ``holds`` is False, with the reason, where an estimate is not that of the data; ``diagnose(X, y)`` then tries
        common mistakes.

    Examples
    --------
    >>> X, y = np.array([[2, 1], [0, 3], [4, 0]]), np.array(["a", "b", "a"])
    >>> p = (np.array([[6, 1], [0, 3]]) + 1.0) / [[7 + 2], [3 + 2]]
    >>> certify_naive_bayes({"probabilities": p}, X, y).holds
    True
    >>> wrong = certify_naive_bayes({"probabilities": np.array([[6, 1], [0, 3]]) / [[7], [3]]}, X, y)
    >>> print(wrong.diagnose(X, y)[0].sentence)
    The shares are without pseudo-counts: add α to every count.
    """
    data = Data.of(X, y, sample_weight)
    if not isinstance(estimates, Mapping):
        return _fitted(estimates, data)
    chosen = model or ("gaussian" if "means" in estimates else "multinomial")
    if chosen not in _MODELS[:-1]:
        raise ValueError(f"model must be one of {', '.join(_MODELS[:-1])}, not {model!r}.")
    if prior not in ("data", "uniform"):
        raise ValueError(f"prior must be 'data' or 'uniform', not {prior!r}.")
    if data.y is None or not data.shapes_agree():
        raise ValueError("y and sample_weight must contain one value for each row of X.")
    classes, codes = np.unique(np.asarray(data.y), return_inverse=True)
    counts = np.bincount(codes.ravel(), data.weights, len(classes))
    shares = counts / counts.sum() if prior == "data" else np.full(len(classes), 1 / len(classes))
    evidence: Record = {"classes": classes, "prior_rule": prior}
    evidence["class_prior"] = np.asarray(estimates.get("class_prior", shares), dtype=float)
    if chosen == "gaussian":
        tables = {name: np.asarray(_given(estimates, key), dtype=float)
                  for name, key in (("theta", "means"), ("var", "variances"))}  # fmt: skip
        _check_shapes(tables, (len(classes), data.X.shape[1]))
        evidence |= tables | {"class_count": counts, "var_smoothing": float(var_smoothing)}
        return issue("gaussian-counts", data, evidence)
    sizes = None
    if "log_probabilities" in estimates:
        logs, sizes = _side_by_side(estimates["log_probabilities"], chosen)
    else:
        p, sizes = _side_by_side(_given(estimates, "probabilities"), chosen)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(p)
    if np.any(np.isnan(logs)):
        raise ValueError("Probabilities must not be negative, and their logarithms must be numbers.")
    _check_shapes({"probabilities": logs}, (len(classes), data.X.shape[1] if sizes is None else sum(sizes)))
    evidence |= {"model": chosen, "alpha": _pseudo(alpha), "feature_log_prob": logs}
    return issue("smoothed-counts", data, evidence | _more(chosen, binarize, sizes))


def _pseudo(alpha: Any) -> Any:
    """One number, or one for each column."""
    return float(alpha) if np.ndim(alpha) == 0 else np.asarray(alpha, dtype=float)


def _given(estimates: Mapping[str, Any], name: str) -> Any:
    if name not in estimates:
        raise ValueError(f"estimates must contain {name!r}; it has {', '.join(map(repr, estimates)) or 'nothing'}.")
    return estimates[name]


def _check_shapes(tables: Mapping[str, Array], shape: tuple[int, int]) -> None:
    for name, table in tables.items():
        if table.shape != shape:
            raise ValueError(f"The {name} must be a table of {shape[0]} classes × {shape[1]}, not {table.shape}.")


def _side_by_side(tables: Any, model: str) -> tuple[Array, list[int] | None]:
    if model != "categorical":
        return np.asarray(tables, dtype=float), None
    parts = [np.asarray(table, dtype=float) for table in tables]
    if any(part.ndim != 2 for part in parts):
        raise ValueError("Give one table of classes × categories for each column.")
    return np.hstack(parts), [part.shape[1] for part in parts]


def _more(model: str, binarize: float | None, sizes: list[int] | None) -> Record:
    if model == "bernoulli":
        return {"binarize": None if binarize is None else float(binarize)}
    return {} if sizes is None else {"n_categories": sizes}


def _widest(data: Data, weights: Any) -> float:
    """The largest column variance; scikit-learn takes it without weights."""
    X = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X, dtype=float)
    mean = np.average(X, axis=0, weights=weights)
    found = float(np.max(np.average((X - mean) ** 2, axis=0, weights=weights)))
    return found if found > 0 else 1.0


def _fitted(model: BaseEstimator, data: Data) -> Certificate:
    """A model with scikit-learn's attributes, by its own parameters."""
    name = type(model).__name__
    if name not in _NAMES:
        raise ValueError(f"Give estimates in a mapping, or one of {', '.join(_NAMES)}; not {name}.")
    kind, classes = _NAMES[name], np.asarray(model.classes_)
    told = model.get_params()
    if kind == "complement":
        evidence = {"classes": classes, "alpha": _pseudo(told["alpha"]), "norm": bool(told["norm"])}
        stated = np.asarray(model.feature_log_prob_, dtype=float)
        return issue("complement-counts", data, evidence | {"feature_weights": stated})
    if kind == "gaussian":
        given = told.get("priors") is not None
        evidence = {
            "classes": classes, "prior_rule": "given" if given else "data", "class_prior": model.class_prior_,
            "class_count": model.class_count_, "theta": model.theta_, "var": model.var_,
            "var_smoothing": float(told["var_smoothing"]) * _widest(data, None) / _widest(data, data.sample_weight),
        }  # fmt: skip
        return issue("gaussian-counts", data, evidence)
    if kind == "categorical" and np.any(np.asarray(data.X, dtype=float) != np.trunc(np.asarray(data.X, dtype=float))):
        raise UnknownModelError(FRACTIONS)
    rule = "given" if told.get("class_prior") is not None else "data" if told["fit_prior"] else "uniform"
    logs, sizes = _side_by_side(model.feature_log_prob_, kind)
    evidence = {
        "classes": classes, "prior_rule": rule, "class_prior": np.exp(model.class_log_prior_), "model": kind,
        "alpha": _pseudo(told["alpha"]), "feature_log_prob": logs,
    }  # fmt: skip
    return issue("smoothed-counts", data, evidence | _more(kind, told.get("binarize"), sizes))
