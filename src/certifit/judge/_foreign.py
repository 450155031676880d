"""Models of other libraries that need a reader of their own; ours of the same names prove themselves."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from certifit._types import BaseEstimator
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.certificates.network import layers_of
from certifit.exceptions import ChangedDataError, UnknownModelError
from certifit.judge._by_hand import certify_components
from certifit.judge._clusters import certify_clusters
from certifit.judge._findings import dense_rows
from certifit.judge._naive_bayes import certify_naive_bayes
from certifit.judge._registry import FOREIGN, reads
from certifit.judge._tree import certify_tree
from certifit.semi_supervised import LabelPropagation


@reads("DecisionTreeClassifier", "DecisionTreeRegressor", table=FOREIGN)
def _tree(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    return certify_tree(model, data.X, _targets(data), sample_weight=data.sample_weight)


def _targets(data: Data) -> Any:
    if data.y is None or not data.shapes_agree():
        raise ValueError(f"y and sample_weight must contain one value for each of the {data.X.shape[0]} rows of X.")
    return data.y


@reads("KMeans", "MiniBatchKMeans", "BisectingKMeans", table=FOREIGN)
def _clusters(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    return certify_clusters(model, data.X, data.sample_weight)


@reads("PCA", "IncrementalPCA", table=FOREIGN)
def _components(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    return certify_components(model.components_, data.X)


@reads("GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB", "ComplementNB", table=FOREIGN)
def _naive_bayes(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    return certify_naive_bayes(model, data.X, _targets(data), sample_weight=data.sample_weight)


@reads("KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors", "KernelDensity", table=FOREIGN)
@reads("RadiusNeighborsClassifier", "RadiusNeighborsRegressor", table=FOREIGN)
def _stored(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """Models that compare with the rows they were fitted to: are these the rows and targets that they keep?"""
    X = dense_rows(data)
    kept = np.asarray(model.tree_.data) if hasattr(model, "tree_") else model._fit_X
    kept = kept.toarray() if hasattr(kept, "toarray") else kept
    # Equal numbers of another type have another digest.
    evidence = {"rows": Data.of(X if np.array_equal(kept, X) else kept).digest(), "task": "none"}
    if not hasattr(model, "_y"):
        return issue("stored-rows", Data.of(X), evidence, rigor)
    if data.y is None or not np.array_equal(_kept_targets(model), np.asarray(data.y)):
        raise ChangedDataError(f"These are not the targets that this {type(model).__name__} was fitted to.")
    evidence["task"] = "classes" if hasattr(model, "classes_") else "values"
    return issue("stored-rows", Data.of(X, data.y), evidence, rigor)


def _kept_targets(model: BaseEstimator) -> Any:
    """Labels are kept as codes, of several columns those of each."""
    codes = np.asarray(model._y)
    if not hasattr(model, "classes_"):
        return codes
    if codes.ndim == 1:
        return np.asarray(model.classes_)[codes]
    return np.column_stack([np.asarray(names)[column] for names, column in zip(model.classes_, codes.T)])


@reads("NearestCentroid", table=FOREIGN)
def _centres(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    if model.shrink_threshold is not None:
        raise UnknownModelError("certify supports NearestCentroid of other libraries without shrink_threshold.")
    evidence = {"classes": model.classes_, "centres": model.centroids_, "distance": model.metric}
    return issue("class-centres", data, evidence, rigor)


@reads("MLPClassifier", "MLPRegressor", table=FOREIGN)
def _network(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    if hasattr(model, "classes_"):
        task = "classes" if np.asarray(data.y).ndim == 1 else "labels"
    else:
        task = "counts" if getattr(model, "loss", "squared_error") == "poisson" else "regression"
    evidence = {**layers_of(model.coefs_, model.intercepts_), "activation": model.activation, "task": task}
    return issue("network-gradient", data, evidence | {"alpha": float(model.alpha)}, rigor)


@reads("IsotonicRegression", table=FOREIGN)
def _isotonic(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    if not model.increasing_ or model.y_min is not None or model.y_max is not None:
        raise UnknownModelError("certify supports IsotonicRegression that increases, without y_min and y_max.")
    column = Data.of(np.asarray(data.X).reshape(-1, 1), data.y, data.sample_weight)
    scores = np.unique(column.X[:, 0])
    return issue("isotonic", column, {"scores": scores, "values": model.predict(scores)}, rigor)


@reads("LabelPropagation", table=FOREIGN)
def _harmonic(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """Their scores, with the graph and the inequality that our own fit proves its scores by."""
    own = LabelPropagation(model.kernel, gamma=model.gamma, n_neighbors=model.n_neighbors, tol=1e-9)
    with warnings.catch_warnings(
        action="ignore", category=UserWarning
    ):  # rows without a path to a label are named in the evidence
        evidence = own.fit(data.X, np.asarray(data.y)).certificate_.evidence
    return issue("harmonic-labels", data, {**evidence, "scores": model.label_distributions_}, rigor)
