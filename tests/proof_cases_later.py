"""Small fits of the later families and of tables in partitions, whose proofs `checker_families` and `checker_partitions` check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import sklearn.tree as theirs

from certifit import certify, scale
from certifit.bayes import BayesianLinearRegression, fit_density
from certifit.certificates import Data, issue
from certifit.cluster import KMeans
from certifit.decomposition import PCA
from certifit.density import Histogram, KernelDensity
from certifit.glm import GLM, NegativeBinomial, Tweedie, VectorFamily
from certifit.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from certifit.model_selection import cross_validate, hold_out
from certifit.naive_bayes import CategoricalNB, ComplementNB, GaussianNB, MixedNB, MultinomialNB
from certifit.neighbors import KNeighborsClassifier
from certifit.neural import MLPClassifier, MLPRegressor
from certifit.semi_supervised import LabelPropagation
from certifit.svm import LinearSVC
from certifit.tree import DecisionTreeClassifier
from tests.proof_runs import Case

Make = Callable[[np.random.Generator], Case]


def _isotonic(rng: np.random.Generator) -> Case:
    x, y, w = rng.integers(0, 9, 20) / 8.0, rng.normal(size=20).round(2), rng.integers(1, 4, 20) + 0.0
    scores = np.unique(x)
    values = np.maximum.accumulate([np.average(y[x == v], weights=w[x == v]) for v in scores])
    evidence = {"scores": scores, "values": values}
    return Case(issue("isotonic", Data.of(x[:, None], y, w), evidence), x[:, None], y, w)


def _histogram(rng: np.random.Generator) -> Case:
    X, w = rng.normal(size=(30, 2)).round(2), rng.integers(0, 3, 30) + 0.5
    return Case(Histogram(bins=3).fit(X, sample_weight=w).certificate_, X, None, w)


def _cosine_density(rng: np.random.Generator) -> Case:
    X = rng.normal(size=(20, 3)).round(3)
    return Case(KernelDensity(bandwidth=1.5, kernel="cosine").fit(X).certificate_for(X[:3] + 0.25), X)


def _density(family: str, draw: Callable[[np.random.Generator], Any]) -> Make:
    def make(rng: np.random.Generator) -> Case:
        x = np.asarray(draw(rng), dtype=float)
        return Case(fit_density(x, family).certificate_, x.reshape(len(x), -1))

    return make


def _equations(rng: np.random.Generator) -> Case:
    family = VectorFamily(
        "two counts", lambda y: np.column_stack([y, y]) * [1.0, 0.5], lambda e: np.exp(e[0] + 0.5 * e[1]) + e[1] ** 2 / 2,
        lambda e: np.exp(e[0] + 0.5 * e[1]) * np.array([1.0, 0.5]) + [0.0, e[1]],
        lambda e: np.exp(e[0] + 0.5 * e[1]) * np.array([[1.0, 0.5], [0.5, 0.25]]) + np.diag([0.0, 1.0]), [0.0, 0.0],
    )  # fmt: skip
    X, y = rng.normal(size=(12, 2)).round(2), rng.poisson(2.0, 12).astype(float)
    return Case(family.regress(X, y).certificate_, X, y)


def _stationary(family: Any, link: str, draw: Callable[[np.random.Generator, Any], Any]) -> Make:
    def make(rng: np.random.Generator) -> Case:
        X = rng.uniform(0.1, 1.0, size=(30, 2)).round(3)
        y = np.asarray(draw(rng, X[:, 0]), dtype=float)
        return Case(GLM(family, link, alpha=0.01).fit(X, y).certificate_, X, y)

    return make


def _evidence(rng: np.random.Generator) -> Case:
    X = rng.normal(size=(25, 3)).round(3)
    y = X @ [1.0, -2.0, 0.0] + rng.normal(size=25).round(3)
    return Case(BayesianLinearRegression().fit(X, y).certificate_, X, y)


def _held_out(rng: np.random.Generator) -> Case:
    X, y = rng.normal(size=(40, 2)).round(2), np.arange(40) % 2
    part = hold_out(KNeighborsClassifier(1), X, y, test_size=0.5)
    return Case(part.certificate(), X[part.test], y[part.test])


def _folds(model: Any, classes: bool) -> Make:
    def make(rng: np.random.Generator) -> Case:
        X = rng.normal(size=(30, 2)).round(2)
        y = rng.permutation(np.array(["no", "yes"])[np.arange(30) % 2]) if classes else X[:, 0] + rng.normal(size=30)
        return Case(cross_validate(model, X, y, cv=5).certificate(), X, y)

    return make


def _flat(model: Any, classes: int) -> Make:
    def make(rng: np.random.Generator) -> Case:
        X, y = rng.normal(size=(15, 2)).round(2), np.arange(15) % classes if classes else rng.normal(size=15).round(2)
        fitted = model.set_params(random_state=0, max_iter=5000).fit(X, y)
        return Case(fitted.certificate_, X, y)

    return make


def _drawn_tree(rng: np.random.Generator) -> Case:
    X, y = rng.normal(size=(24, 2)).round(2), np.arange(24) % 3
    return Case(DecisionTreeClassifier(max_depth=3, splitter="random", random_state=0).fit(X, y).certificate_, X, y)


def _single_precision(model: Any, targets: int) -> Make:
    """scikit-learn's tree of columns with numbers that single precision does not tell apart."""

    def make(rng: np.random.Generator) -> Case:
        X = np.repeat(rng.normal(size=(12, 2)).round(2), 2, axis=0)
        X[::2] += 1e-9
        y = rng.integers(0, 3, 24) if targets == 1 else rng.normal(size=(24, targets)).round(2)
        return Case(certify(model.fit(X, y), X, y), X, y)

    return make


def _given_graph(rng: np.random.Generator) -> Case:
    side = np.arange(16) % 2
    X, y = rng.normal(size=(16, 2)).round(2) + 2.0 * side[:, None], np.where(np.arange(16) < 4, side, -1)

    def near(A: Any, B: Any) -> Any:
        return 1.0 / (1.0 + np.abs(A[:, None] - B[None]).sum(axis=2))

    return Case(LabelPropagation(kernel=near).fit(X, y).certificate_, X, y)


def _partitions(model: Any, target: str, weighted: bool = False, cells: bool = False) -> Make:
    """A fit of a table in three partitions, with its rows in one table beside it."""

    def make(rng: np.random.Generator) -> Case:
        X = rng.integers(0, 3, size=(30, 2)).astype(float) if cells else rng.normal(size=(30, 2)).round(3)
        targets = {
            "real": X @ [1.0, -2.0] + rng.normal(size=30).round(2), "two": np.arange(30) % 2, "three": np.arange(30) % 3,
            "counts": rng.poisson(2.0, 30), "words": np.array(["no", "yes"])[np.arange(30) % 2],
        }  # fmt: skip
        y = targets.get(target)
        weight = rng.integers(1, 5, 30) / 2.0 if weighted else None
        table = pa.table({"a": X[:, 0], "b": X[:, 1]})
        names: dict[str, Any] = {}
        for name, column in (("target", y), ("weight", weight)):
            if column is not None:
                table, names[name] = table.append_column(name, [column]), name
        found = scale.fit(model, scale.Source.of(table, 3), engine="serial", **names)
        return Case(found.certificate_, X, y, weight)

    return make


LATER: dict[str, Make] = {
    "isotonic": _isotonic,
    "histogram": _histogram,
    "kernel density by cosines": _cosine_density,
    "normal density": _density("normal", lambda rng: rng.normal(3.0, 2.0, 15).round(2)),
    "lognormal density": _density("lognormal", lambda rng: rng.uniform(0.5, 3.0, 15).round(2)),
    "gamma density": _density("gamma", lambda rng: rng.uniform(0.5, 3.0, 15).round(2)),
    "poisson density": _density("poisson", lambda rng: rng.poisson(2.0, 15)),
    "categorical density": _density("categorical", lambda rng: np.r_[0, 1, 2, rng.integers(0, 3, 12)]),
    "normal density of two columns": _density("multivariate_normal", lambda rng: rng.normal(size=(15, 2)).round(2)),
    "likelihood equations": _equations,
    "gamma with inverse link": _stationary(
        "gamma", "inverse", lambda rng, x: 1.0 / (1.0 + x) * rng.uniform(0.8, 1.2, 30)
    ),
    "probit": _stationary("binomial", "probit", lambda rng, x: np.arange(30) % 3 == 0),
    "complementary log-log": _stationary("binomial", "cloglog", lambda rng, x: np.arange(30) % 3 == 0),
    "negative binomial": _stationary(NegativeBinomial(0.5), "log", lambda rng, x: rng.poisson(2.0, 30)),
    "tweedie": _stationary(Tweedie(2.5), "log", lambda rng, x: 1.0 + x * rng.uniform(0.5, 1.5, 30)),
    "evidence of a regression": _evidence,
    "held-out rows": _held_out,
    "folds": _folds(KNeighborsClassifier(3), True),
    "folds of values": _folds(Ridge(), False),
    "gradient of a network": _flat(MLPClassifier((3,), activation="tanh"), 3),
    "gradient of a network of two classes": _flat(MLPClassifier((3,)), 2),
    "gradient of a network of values": _flat(MLPRegressor(hidden_layer_sizes=(3,), activation="logistic"), 0),
    "labels on a given graph": _given_graph,
    "tree of drawn thresholds": _drawn_tree,
    "tree in single precision": _single_precision(theirs.DecisionTreeClassifier(max_depth=3, random_state=0), 1),
    "tree of two targets in single precision": _single_precision(
        theirs.DecisionTreeRegressor(max_depth=2, random_state=0), 2
    ),
    "least squares in partitions": _partitions(LinearRegression(), "real"),
    "ridge in partitions": _partitions(Ridge(), "real", weighted=True),
    "non-negative ridge in partitions": _partitions(Ridge(positive=True), "real"),
    "lasso in partitions": _partitions(Lasso(alpha=0.1), "real", weighted=True),
    "elastic net in partitions": _partitions(ElasticNet(alpha=0.1), "real"),
    "logistic in partitions": _partitions(LogisticRegression(), "words", weighted=True),
    "softmax in partitions": _partitions(LogisticRegression(), "three"),
    "poisson in partitions": _partitions(GLM("poisson", alpha=0.1), "counts"),
    "linear machine in partitions": _partitions(LinearSVC(), "three"),
    "hinge machine in partitions": _partitions(LinearSVC(loss="hinge"), "two"),
    "gaussian counts in partitions": _partitions(GaussianNB(), "words", weighted=True),
    "multinomial counts in partitions": _partitions(MultinomialNB(), "three", weighted=True, cells=True),
    "categorical counts in partitions": _partitions(CategoricalNB(), "two", cells=True),
    "complement counts in partitions": _partitions(ComplementNB(), "three", cells=True),
    "mixed counts in partitions": _partitions(MixedNB(categorical=["b"]), "two", cells=True),
    "components in partitions": _partitions(PCA(1), "none"),
    "clusters in partitions": _partitions(KMeans(2), "none", weighted=True),
}
