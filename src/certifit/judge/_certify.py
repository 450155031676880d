"""Find the objective a model claims to have minimised, solve it ourselves, and prove the distance."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import numpy as np
import scipy.sparse

from certifit._types import BaseEstimator, Matrix, VectorLike, Weights
from certifit._validation import check_is_fitted
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.certificates._record import kind_named
from certifit.exceptions import ChangedDataError, UnknownModelError
from certifit.glm import VectorFit

# Importing a module of readers makes its models known.
from certifit.judge import _foreign, _glm, _least_squares, _logistic, _perceptron, _sparse, _svm  # noqa: F401
from certifit.judge._by_hand import certify_coefficients
from certifit.judge._registry import FOREIGN, READERS, TRUE_READERS, Reader, reads
from certifit.linear_model import LinearModel
from certifit.semi_supervised import SelfTrainingClassifier
from certifit.svm import OneClassSVM


def certify(
    model: BaseEstimator,
    X: Matrix,
    y: VectorLike | None = None,
    sample_weight: Weights = None,
    rigor: Rigor = "float",
    objective: Literal["own", "true"] = "own",
) -> Certificate:
    """How far is this fitted model from the best possible one, by its own objective? With proof.

    The model may be certifit's or another library's (scikit-learn, sklearnex and others with the same attributes). A
    solver of certifit finds the optimum, and the certificate proves the distance to it.

    Parameters
    ----------
    model : fitted estimator
        Also one inside a pipeline or a search (GridSearchCV): the last step is certified, on the rows transformed by
        the steps before it; these are the data of the certificate (``pipe[:-1].transform(X)``). Of one
        against the rest (or one), the part farthest from its best is certified, on rows with labels 0 and 1.
    X, y, sample_weight :
        The data it was fitted to (``y=None`` for a model without targets). Given other data, the certificate says how
        far the model is from the best one for those data. Models that certify only by their own evidence (neighbours,
        trees, naive Bayes, clusterings of certifit) reject other data.
    rigor : {"float", "exact"}, default="float"
    objective : {"own", "true"}, default="own"
        By default a model is certified by its own objective. scikit-learn's LinearSVC penalises the offset; "true"
        certifies it by the objective without that penalty.

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
    model, X = _inmost(model, X)
    reader = _reader(model, objective)
    if not isinstance(model, VectorFit):  # which exists by being fitted
        check_is_fitted(model)
    data = Data.of(X, y, sample_weight)
    if reader is None:
        return _own(model, data, rigor)
    if reader not in FOREIGN.values():  # these need no y, or check it themselves
        _check(model, data)
    return reader(model, data, rigor)


def _inmost(model: BaseEstimator, X: Matrix) -> tuple[Any, Any]:
    """The model inside pipelines and searches, and the rows as it sees them."""
    while True:
        names = {cls.__name__ for cls in type(model).__mro__}
        if "BaseSearchCV" in names:
            if not hasattr(model, "best_estimator_"):
                raise ValueError(f"This {type(model).__name__} has no best_estimator_: fit it with refit=True first.")
            model = model.best_estimator_
        elif "Pipeline" in names and hasattr(model, "steps"):
            X, model = model[:-1].transform(X) if len(model.steps) > 1 else X, model.steps[-1][1]
        else:
            return model, X


def _own(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """An estimator of ours that proves its own fit: its evidence, proved again from the data that it was fitted to."""
    try:
        held = model.certificate_
    except AttributeError as withheld:  # it says why there is none
        raise UnknownModelError(str(withheld)) from None
    recognise = kind_named(held.kind).recognise
    same = recognise(_as_fitted(model, data), held.digests)
    if same is None and data.y is not None:  # a model without targets ignores y, as its fit does
        same = recognise(Data.of(data.X, None, data.sample_weight), held.digests)
    if same is None and isinstance(model, LinearModel):
        return _by_coefficients(model, data, rigor)
    if same is None:  # some kinds speak about the rows alone, not the model
        raise ChangedDataError(f"These are not the data that this {type(model).__name__} was fitted to.")
    return issue(held.kind, same, held.evidence, rigor)


def _by_coefficients(model: LinearModel, data: Data, rigor: Rigor) -> Certificate:
    """Other data than those of the fit: the coefficients are judged as if somebody had written them down."""
    _check(model, data)
    w, b = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    several = len(w) > 1
    c = certify_coefficients(
        w if several else w[0], (b if several else float(b[0])) if model.fit_intercept else None, data.X,
        np.asarray(data.y), model.loss, model.regularizer, float(model.lam), data.sample_weight,
    )  # fmt: skip
    return c if rigor == "float" else issue(c.kind, data, c.evidence, rigor)


def _as_fitted(model: BaseEstimator, data: Data) -> Data:
    """The data in the form in which a model was fitted: logarithms, no target but 1, labels that it gave itself."""
    if data.y is not None and hasattr(model, "certified_target"):
        return Data.of(data.X, model.certified_target(data.y), data.sample_weight)
    if isinstance(model, OneClassSVM):
        return Data.of(data.X, np.ones(data.X.shape[0]), data.sample_weight)
    if isinstance(model, SelfTrainingClassifier):
        labels, y = np.asarray(model.transduction_), np.asarray(data.y)
        known = [not (isinstance(v, (int, float)) and v == -1) for v in y.tolist()]
        if labels.shape != y.shape or not np.array_equal(labels[known], y[known]):
            raise ChangedDataError("These are not the data that this SelfTrainingClassifier was fitted to.")
        used = np.flatnonzero(np.asarray(model.labeled_iter_) >= 0)
        return Data.of(data.X[used], labels[used], data.sample_weight)
    return data


_REASONS = {
    "LabelSpreading": "LabelSpreading of other libraries keeps normalised scores only, which solve no equation: fit "
    "certifit.semi_supervised.LabelSpreading.",
    "SelfTrainingClassifier": "A SelfTrainingClassifier was fitted to labels that it gave itself: certify its "
    "estimator_ on those, or fit certifit.semi_supervised.SelfTrainingClassifier.",
    "ARDRegression": "ARDRegression has a strength for each column, for which there is no certificate: BayesianRidge "
    "has one.",
}


def _reader(model: BaseEstimator, objective: str) -> Reader | None:
    """Who judges such a model: by the name of its class, or of a class that it was derived from elsewhere."""
    for cls in type(model).__mro__:
        if cls.__name__ not in READERS or cls.__module__ == "builtins":
            continue
        # A library that derives one of its models from another changes the objective (MultiTaskLasso from Lasso).
        if cls.__name__ != type(model).__name__ and _home(cls) == _home(type(model)):
            break
        return TRUE_READERS.get(cls.__name__, READERS[cls.__name__]) if objective == "true" else READERS[cls.__name__]
    if _home(type(model)) == "certifit" and hasattr(type(model), "certificate_"):
        return None
    if type(model).__name__ in FOREIGN:
        return FOREIGN[type(model).__name__]
    if hasattr(model, "transform") and not hasattr(model, "predict"):
        raise UnknownModelError(
            f"There is no certificate of {type(model).__name__}, which transforms columns: certify the model behind it."
        )
    if type(model).__name__ in _REASONS:
        raise UnknownModelError(_REASONS[type(model).__name__])
    known = ", ".join(sorted({*READERS, *FOREIGN}))
    raise UnknownModelError(
        f"certify does not know the objective of {type(model).__name__}; it knows {known} (from "
        "any library, also in a pipeline or a search)."
    )


def _home(cls: type) -> str:
    return cls.__module__.split(".")[0]


def _check(model: BaseEstimator, data: Data) -> None:
    """One sentence where model and data cannot belong together."""
    X, y, name = data.X, data.y, type(model).__name__
    if X.ndim != 2 or X.dtype == object:
        raise ValueError("X must be a table of numbers with two dimensions.")
    if y is None or not data.shapes_agree():
        raise ValueError(f"y and sample_weight must contain one value for each of the {X.shape[0]} rows of X.")
    for part, what in ((X.data if scipy.sparse.issparse(X) else X, "X"), (y, "y"), (data.weights, "sample_weight")):
        if part.dtype.kind == "f" and not np.all(np.isfinite(part)):
            raise ValueError(f"{what} contains NaN or infinity: replace or drop it first.")
    if np.any(data.weights < 0) or not np.any(data.weights > 0):
        raise ValueError("sample_weight must not be negative, nor zero for every row.")
    columns = getattr(model, "n_features_in_", X.shape[1])
    if columns != X.shape[1]:
        raise ValueError(f"This {name} was fitted to {columns} columns, and X has {X.shape[1]}.")
    if hasattr(model, "classes_"):
        classes = np.asarray(model.classes_)
        seen = np.unique(np.asarray(y))
        strange = [c for c in seen.tolist() if c not in classes.tolist()]
        if strange:
            raise ValueError(f"y holds the label {strange[0]!r}; this {name} knows {classes.tolist()}.")
        if len(seen) < 2:
            raise ValueError(f"y holds one class only, {seen.tolist()}: there is nothing to certify.")


@reads("OneVsRest", "OneVsRestClassifier", "OneVsOneClassifier")
def _of_parts(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """The part that is farthest from its best; each is a model of its own, fitted to labels 0 and 1."""
    y, classes, parts = np.asarray(data.y), np.asarray(model.classes_), list(model.estimators_)
    if y.ndim != 1:
        raise UnknownModelError(f"certify supports {type(model).__name__} with one label a row.")
    if type(model).__name__ == "OneVsOneClassifier":
        pairs = list(itertools.combinations(classes.tolist(), 2))
        problems = [(np.flatnonzero((y == a) | (y == b)), b) for a, b in pairs]
    else:
        problems = [(np.arange(len(y)), c) for c in (classes[1:] if len(parts) == 1 else classes)]
    found = []
    for part, (rows, positive) in zip(parts, problems, strict=True):
        weights = None if data.sample_weight is None else np.asarray(data.sample_weight)[rows]
        found.append(certify(part, data.X[rows], (y[rows] == positive).astype(int), weights, rigor))
    return min(found, key=lambda c: (c.holds, -float(c.figures.get("relative_gap", np.inf))))
