"""Models of other libraries whose answer is no vector of coefficients: trees, clusterings, components, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certifit.certificates import Certificate, Data
from certifit.certificates._data import Rigor
from certifit.judge._by_hand import certify_components
from certifit.judge._clusters import certify_clusters
from certifit.judge._naive_bayes import certify_naive_bayes
from certifit.judge._registry import Reader
from certifit.judge._svm import judge_linear_tube, judge_share, judge_tube
from certifit.judge._tree import certify_tree

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def _tree(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    if data.y is None or not data.shapes_agree():
        raise ValueError(f"y and sample_weight must contain one value for each of the {data.X.shape[0]} rows of X.")
    return certify_tree(model, data.X, data.y, sample_weight=data.sample_weight)


def _clusters(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    return certify_clusters(model, data.X, data.sample_weight)


def _components(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    return certify_components(model.components_, data.X)


def _naive_bayes(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    if data.y is None or not data.shapes_agree():
        raise ValueError(f"y and sample_weight must contain one value for each of the {data.X.shape[0]} rows of X.")
    return certify_naive_bayes(model, data.X, data.y, sample_weight=data.sample_weight)


FOREIGN: dict[str, Reader] = {
    "DecisionTreeClassifier": _tree,
    "DecisionTreeRegressor": _tree,
    "KMeans": _clusters,
    "MiniBatchKMeans": _clusters,
    "BisectingKMeans": _clusters,
    "PCA": _components,
    "SVR": judge_tube,
    "LinearSVR": judge_linear_tube,
    "NuSVC": judge_share,
    **dict.fromkeys(("GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB", "ComplementNB"), _naive_bayes),
}
