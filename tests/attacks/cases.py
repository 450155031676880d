"""Small honest certificates, at least one for every kind: what the attacks start from.

A case is made by fitting, so a kind that changes its evidence is attacked in its new form without a change here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import sklearn.linear_model as theirs

from certifit import certify, kernels, scale
from certifit.bayes import BayesianLinearRegression, HypothesisSpace, fit_density
from certifit.bayes.conjugate import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseGamma,
    NormalKnownVariance,
)
from certifit.certificates import Certificate, Data, issue, mercer
from certifit.cluster import KMeans
from certifit.decomposition import PCA
from certifit.density import Histogram, KernelDensity
from certifit.exceptions import NotSeparableError
from certifit.geometry import separability
from certifit.glm import GLM, VectorFamily
from certifit.kernel_ridge import KernelRidge
from certifit.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
)
from certifit.model_selection import cross_validate, hold_out
from certifit.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MixedNB, MultinomialNB
from certifit.neighbors import (
    CondensedNeighbors,
    EditedNeighbors,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
    NearestNeighbors,
)
from certifit.neural import MLPClassifier, PerceptronNetwork
from certifit.reinforcement import MDP, finite_horizon, value_iteration
from certifit.semi_supervised import LabelPropagation, LabelSpreading
from certifit.study._baseline import ConstantClassifier, ConstantRegressor
from certifit.svm import SVC, SVR, HardMarginSVC, KernelPerceptron, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor

Parts = tuple[Any, Any, Any]  # X, y, sample_weight


@dataclass(frozen=True)
class Case:
    """An honest certificate and the data it is about."""

    name: str
    certificate: Certificate
    X: Any
    y: Any = None
    sample_weight: Any = None

    @property
    def kind(self) -> str:
        return self.certificate.kind

    @property
    def data(self) -> Data:
        return Data.of(self.X, self.y, self.sample_weight)


RNG = np.random.default_rng(7)
X = np.round(RNG.normal(size=(10, 2)), 2)
REAL = np.round(X @ [1.0, -2.0] + RNG.normal(size=10), 2)
TWO = np.where(X[:, 0] + 0.9 * RNG.normal(size=10) > 0, 1, 0)
APART = np.where(X[:, 0] > np.median(X[:, 0]), 1, 0)
THREE = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0])
COUNTS = np.array([0, 1, 0, 2, 1, 0, 3, 1, 0, 2])
CELLS = RNG.integers(0, 3, size=(10, 2)).astype(float)
CELLS[:3] = np.arange(3)[:, None]
WEIGHT = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 3.0, 1.0, 1.0, 0.25, 1.0])
WORDS = np.array([[v, "abc"[i % 3]] for i, v in enumerate(X[:, 0])], dtype=object)
FRAME = pd.DataFrame({"size": X[:, 0], "name": list("abcabcabca")})
SOME = np.array([0, -1, 1, -1, -1, -1, 0, -1, -1, -1])
PAIR = np.column_stack([REAL, -REAL[::-1]])


def _square(A: Any, B: Any) -> Any:
    return (1.0 + np.asarray(A) @ np.asarray(B).T) ** 2


def _models() -> Iterator[tuple[str, Any, Parts]]:
    """Estimators whose certificates are attacked, with their data."""
    yield "ols", LinearRegression(), (X, REAL, None)
    yield "ols weighted", LinearRegression(), (X, REAL, WEIGHT)
    yield "ols non-negative", LinearRegression(positive=True), (np.column_stack([X, X[:, :1]]), REAL, WEIGHT)
    yield "ridge", Ridge(0.5), (X, REAL, None)
    yield "lasso", Lasso(0.2), (X, REAL, None)
    yield "logistic", LogisticRegression(), (X, TWO, None)
    yield "softmax", LogisticRegression(), (X, THREE, None)
    yield "poisson", GLM("poisson", "log"), (X, COUNTS.astype(float), None)
    yield "gamma inverse", GLM("gamma", "inverse"), (X, np.abs(REAL) + 1.0, None)
    yield "linear machine", LinearSVC(), (X, TWO, None)
    yield "machine of all classes", LinearSVC(multi_class="crammer_singer"), (X, THREE, WEIGHT)
    yield "svc", SVC(gamma=0.5), (X, TWO, None)
    yield "svc values", SVC(kernel=_square), (X, TWO, None)
    yield "nu svc", NuSVC(gamma=0.5, nu=0.4), (X, TWO, WEIGHT)
    yield "nu svc three", NuSVC(gamma=0.5, nu=0.4), (X, THREE, None)
    yield "nu svr", NuSVR(gamma=0.5, nu=0.4), (X, REAL, None)
    yield "linear svr", LinearSVR(epsilon=0.3, loss="squared_epsilon_insensitive"), (X, REAL, WEIGHT)
    yield "svr", SVR(gamma=0.5, C=2.0), (X, REAL, WEIGHT)
    yield "kernel ridge", KernelRidge(kernel="rbf", gamma=0.5), (X, REAL, None)
    yield "kernel ridge values", KernelRidge(kernel=_square), (X, REAL, None)
    yield "hard margin", HardMarginSVC(kernel="linear"), (X, APART, None)
    yield "hard margin values", HardMarginSVC(kernel=_square), (X, APART, None)
    yield "perceptron", Perceptron(max_iter=500), (X, APART, None)
    yield "perceptron three", Perceptron(max_iter=5), (X, THREE, None)
    yield "kernel perceptron", KernelPerceptron(kernel="rbf", gamma=0.5, max_iter=200), (X, TWO, None)
    yield "kernel perceptron three", KernelPerceptron(kernel="rbf", gamma=3.0, max_iter=200), (X, THREE, None)
    yield "gaussian", GaussianNB(), (X, TWO, WEIGHT)
    yield "bernoulli", BernoulliNB(alpha=0.5), (X, TWO, None)
    yield "multinomial", MultinomialNB(), (CELLS, TWO, WEIGHT)
    yield "complement", ComplementNB(), (CELLS, TWO, WEIGHT)
    yield "complement, normed", ComplementNB(norm=True, alpha=0.5), (CELLS, THREE, None)
    yield "means of classes", NearestCentroid(), (X, THREE, None)
    yield "medians of classes", NearestCentroid(metric="manhattan"), (X, THREE, None)
    yield "categorical", CategoricalNB(), (CELLS, THREE, None)
    yield "mixed", MixedNB(categorical=[1]), (WORDS, TWO, None)
    yield "tree", DecisionTreeClassifier(max_depth=2), (X, THREE, None)
    yield "weighted tree", DecisionTreeClassifier(criterion="entropy", ccp_alpha=0.05), (FRAME, TWO, WEIGHT)
    yield "leaves tree", DecisionTreeClassifier(max_leaf_nodes=3), (X, THREE, WEIGHT)
    yield "value tree", DecisionTreeRegressor(max_depth=2), (X, REAL, None)
    yield "median tree", DecisionTreeRegressor(criterion="absolute_error", max_depth=2), (X, REAL, None)
    yield "several targets tree", DecisionTreeRegressor(max_depth=2), (X, np.column_stack([REAL, REAL**2]), None)
    yield "two labels tree", DecisionTreeClassifier(max_depth=2), (X, np.column_stack([TWO, THREE]), WEIGHT)
    yield "tree with holes", DecisionTreeClassifier(max_depth=3), (np.where(X > 0.4, np.nan, X), THREE, None)
    yield "counts tree", DecisionTreeRegressor(criterion="poisson", max_depth=2), (X, np.abs(np.rint(REAL)), WEIGHT)
    words = np.array([["red", 1.5], ["green", 2.0], ["blue", np.nan], ["red", 0.5]] * (len(X) // 4 + 1), dtype=object)[
        : len(X)
    ]
    grouped = DecisionTreeClassifier(max_depth=2, categorical_features=[0])
    yield "tree of words", grouped, (words, TWO, WEIGHT)
    yield "tree of words for three", DecisionTreeClassifier(max_depth=2, categorical_features=[0]), (words, THREE, None)
    validated = DecisionTreeClassifier(pruning="reduced_error", random_state=0)
    yield "validated tree", validated, (X, THREE, None)
    yield "drawn tree", DecisionTreeClassifier(max_depth=2, max_features=1, random_state=0), (X, THREE, None)
    yield "pca", PCA(1), (X, None, None)
    yield "wide pca", PCA(2), (np.vstack([X[:3].T, X[3:6].T, X[6:9].T]).T[:3], None, None)
    yield "share", ConstantClassifier(), (X, THREE, None)
    yield "mean", ConstantRegressor(), (X, REAL, None)
    yield "condensed", CondensedNeighbors(), (X, APART, None)
    yield "edited", EditedNeighbors(), (X, APART, None)
    yield "stored classes", KNeighborsClassifier(3), (CELLS, TWO, None)
    yield "stored values", KNeighborsRegressor(3), (CELLS, REAL, None)
    yield "propagated", LabelPropagation(gamma=1.0), (X, SOME, None)
    yield "spread", LabelSpreading(kernel="knn", n_neighbors=3), (X, SOME, None)
    yield "clusters", KMeans(2, random_state=0), (X, None, None)
    yield "clusters on a line", KMeans(3, random_state=0), (X[:, :1], None, None)
    yield "bayesian", BayesianLinearRegression(), (X, REAL, None)


def _questions() -> Iterator[Case]:
    """Certificates that belong to no fit."""
    Q = np.array([[0.1, 0.2], [-1.0, 1.0]])
    for name, options in (
        ("euclidean", {}),
        ("cosine", {"metric": "cosine"}),
        ("minkowski", {"metric": "minkowski", "p": 3}),
    ):
        yield Case(name, KNeighborsClassifier(3, **options).fit(X, TWO).certificate_for(Q), X, TWO)
        yield Case(f"{name} radius", NearestNeighbors(radius=0.8, **options).fit(X).certificate_within(Q), X)
    yield Case("own radius", NearestNeighbors(radius=1.0).fit(X).certificate_within(None), X)
    yield Case("own", KNeighborsClassifier(2).fit(X, TWO).certificate_for(None), X, TWO)
    given = KNeighborsClassifier(2, metric=lambda a, b: float(np.abs(a - b).sum())).fit(X, TWO)
    yield Case("given distances", given.certificate_for(Q), X, TWO)
    yield Case("tasks", certify(theirs.MultiTaskElasticNet(0.2, tol=1e-10).fit(X, PAIR), X, PAIR), X, PAIR)
    yield from _separability()
    yield from _plans()
    yield from _networks()
    yield Case("built", mercer(kernels.RBF(0.5) + kernels.Linear(), X), X)
    yield Case("factor", mercer(X @ X.T + np.eye(10)), X @ X.T + np.eye(10))
    refuted = X @ X.T - np.eye(10)
    yield Case("refuted", mercer(refuted), refuted)
    yield Case("called", mercer(kernels.Function(_square), X), X)
    bags = HypothesisSpace({"fair": 0.5, "limes": 0.5}, {"fair": {"c": 0.5, "l": 0.5}, "limes": {"l": 1.0}})
    seen = bags.certify(["l", "l"])
    yield Case("bags", seen, np.array([["l"], ["l"]], dtype=object))
    yield from _densities()
    yield from _evaluations()
    yield from _one_class()
    yield from _partitions()
    yield Case("errors", issue("training-errors", Data.of(X, TWO), {"coef": [[1.0, 0.3]], "intercept": [0.1]}), X, TWO)


def _separability() -> Iterator[Case]:
    yield Case("separable", separability(X, APART).certificate, X, APART)
    yield Case("overlapping", separability(X, TWO).certificate, X, TWO)
    yield Case("three", separability(X, THREE).certificate, X, THREE)
    line = np.array([[0.0], [1.0], [1.0], [2.0]])
    sides = np.array([0, 0, 1, 1])
    yield Case("touching", separability(line, sides, rigor="exact").certificate, line, sides)
    twins = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [2.0, 2.0]])
    for kernel, rows in (("rbf", twins), ("linear", twins)):
        try:
            HardMarginSVC(kernel=kernel).fit(rows, sides)
        except NotSeparableError as refusal:
            yield Case(f"no margin {kernel}", refusal.certificate, rows, sides)
    square = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    evidence = {"kernel": ["linear"], "classes": [0, 1], "support": np.arange(4), "dual_coef": np.array([[-0.5, -0.5, 0.5, 0.5]])}  # fmt: skip
    yield Case("hulls meet", issue("no-margin", Data.of(square, sides), evidence), square, sides)


def _plans() -> Iterator[Case]:
    moves, gains = [np.eye(2), np.eye(2)[::-1]], [[0.0, 0.0], [1.0, 0.0]]
    for name, discount in (("policy", 0.5), ("horizon", 1.0)):
        process = MDP(moves, rewards=gains, discount=discount)
        rows, rewards = process.table()
        plan = value_iteration(process) if name == "policy" else finite_horizon(process, 3)
        yield Case(name, plan.certificate, rows.toarray(), rewards)


def _networks() -> Iterator[Case]:
    model = MLPClassifier((3,), random_state=0).fit(X, APART)
    yield Case("network", model.certificate_, X, APART)
    yield Case("radius", model.certify_radius(X, 1e-3), X)
    table = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)])
    xor = PerceptronNetwork.from_function(lambda a, b: a != b, 2)
    yield Case("xor", xor.certify(lambda a, b: a != b), table, np.array([0.0, 1.0, 1.0, 0.0]))


def _densities() -> Iterator[Case]:
    x = np.array([0.5, 1.0, 2.5, 0.75, 3.0])[:, None]
    whole = np.array([1.0, 2.0, 1.0, 4.0, 3.0])[:, None]
    for family, values in (("normal", x), ("gamma", x), ("poisson", whole), ("geometric", whole), ("lognormal", x)):
        fit = fit_density(values[:, 0], family)
        yield Case(family, fit.certificate_, values)
    yield Case("categorical density", fit_density(whole[:, 0] - 1, "categorical").certificate_, whole - 1)
    both = fit_density(X, "multivariate_normal")
    yield Case("multivariate", both.certificate_, X)
    normal = VectorFamily(
        "normal", lambda y: np.column_stack([y, y**2]),
        lambda e: -(e[0] ** 2) / (4 * e[1]) - 0.5 * np.log(-2 * e[1]) if e[1] < 0 else np.inf,
        lambda e: np.array([-e[0] / (2 * e[1]), e[0] ** 2 / (4 * e[1] ** 2) - 1 / (2 * e[1])]),
        lambda e: np.array([[-e[1], e[0]], [e[0], 1 - e[0] ** 2 / e[1]]]) / (2 * e[1] ** 2), [0.0, -0.5],
    )  # fmt: skip
    yield Case("vector family", normal.fit(x[:, 0]).certificate_, x)
    counted = VectorFamily(
        "two counts", lambda y: np.column_stack([y, y]) * [1.0, 0.5], lambda e: np.exp(e[0] + 0.5 * e[1]) + e[1] ** 2 / 2,
        lambda e: np.exp(e[0] + 0.5 * e[1]) * np.array([1.0, 0.5]) + [0.0, e[1]],
        lambda e: np.exp(e[0] + 0.5 * e[1]) * np.array([[1.0, 0.5], [0.5, 0.25]]) + np.diag([0.0, 1.0]), [0.0, 0.0],
    )  # fmt: skip
    yield Case("vector regression", counted.regress(X, COUNTS).certificate_, X, COUNTS)
    yield Case("kernel density", KernelDensity(bandwidth=0.7).fit(X).certificate_for(X[:2] + 0.25), X)
    for belief, seen in (
        (BetaBernoulli(2.0, 0.5), [1, 0, 1, 1]), (DirichletCategorical((1.0, 0.5, 2.0)), [0, 2, 2, 1]),
        (GammaPoisson(2.5, 0.75), [3, 0, 4]), (NormalKnownVariance(0.3, 2.0, 0.7), [1.5, -0.25, 2.2]),
        (NormalInverseGamma(0.3, 2.0, 1.5, 0.7), [1.5, -0.25, 2.2]),
    ):  # fmt: skip
        yield Case(type(belief).__name__, belief.certify(seen), np.array(seen, dtype=float)[:, None])
    yield Case("histogram", Histogram(bins=3).fit(X).certificate_, X)
    scores, hits = np.array([[0.1], [0.4], [0.4], [0.7], [0.9]]), np.array([0.0, 1.0, 0.0, 0.0, 1.0])
    evidence = {"scores": np.array([0.1, 0.4, 0.7, 0.9]), "values": np.array([0.0, 1 / 3, 1 / 3, 1.0])}
    yield Case("isotonic", issue("isotonic", Data.of(scores, hits), evidence), scores, hits)


def _one_class() -> Iterator[Case]:
    """A machine without labels: its proof is about targets that are all 1."""
    model = OneClassSVM(gamma=0.5, nu=0.4).fit(X, sample_weight=WEIGHT)
    yield Case("one class", model.certificate_, X, np.ones(len(X)), WEIGHT)


def _partitions() -> Iterator[Case]:
    """Fits of tables in partitions, one partition each."""
    names = [f"x{j}" for j in range(X.shape[1])]

    def fitted(model: Any, y: Any, w: Any = None, cells: Any = X) -> Certificate:
        table = pa.table({**dict(zip(names, cells.T)), "y": y})
        if w is None:
            return scale.fit(model, table, target="y", engine="serial").certificate_
        return scale.fit(model, table.append_column("w", [w]), target="y", weight="w", engine="serial").certificate_

    heavy = np.array([1.0, 0.25, 3.0, 0.0, 1.5, 2.0, 0.1, 1.0, 7.0, 1.0])
    for model, y in ((Ridge(), REAL), (Lasso(alpha=0.1), REAL), (LogisticRegression(), TWO), (LogisticRegression(), THREE),
                     (GLM("poisson", alpha=0.1), COUNTS), (GaussianNB(), TWO)):  # fmt: skip
        yield Case(f"{type(model).__name__} with weights in partitions", fitted(model, y, heavy), X, y, heavy)
    yield Case(
        "MultinomialNB with weights in partitions", fitted(MultinomialNB(), THREE, heavy, CELLS), CELLS, THREE, heavy
    )

    for model in (LinearRegression(), Ridge(), Lasso(alpha=0.1)):
        yield Case(f"{type(model).__name__} in partitions", fitted(model, REAL), X, REAL)
    for model, y in ((LogisticRegression(), TWO), (LogisticRegression(), THREE), (GLM("poisson", alpha=0.1), COUNTS)):
        yield Case(f"{type(model).__name__} in passes", fitted(model, y), X, y)
    for model, y in ((LinearSVC(), TWO), (LinearSVC(loss="hinge"), TWO)):
        yield Case(f"{model.loss} in passes", fitted(model, y), X, y)
    yield Case("GaussianNB in partitions", fitted(GaussianNB(), TWO), X, TWO)
    for model in (MultinomialNB(), ComplementNB(), BernoulliNB(binarize=0.5), CategoricalNB()):
        yield Case(f"{type(model).__name__} in partitions", fitted(model, THREE, cells=CELLS), CELLS, THREE)
    plain = pa.table(dict(zip(names, X.T)))
    for k in (1, 2):
        yield Case(f"{k} clusters in partitions", scale.fit(KMeans(k), plain, engine="serial").certificate_, X)
    clusters = scale.fit(KMeans(2), plain.append_column("w", [heavy]), weight="w", engine="serial").certificate_
    yield Case("clusters with weights in partitions", clusters, X, None, heavy)
    mixed = np.column_stack([X[:, 0], CELLS[:, 0]])
    gaps = np.where(np.arange(10)[:, None] == [3, 5], np.nan, mixed)
    for w, rows in ((None, mixed), (None, gaps), (heavy + 0.5, gaps)):
        certificate = fitted(MixedNB(categorical=["x1"]), THREE, w, rows)
        yield Case("MixedNB in partitions", certificate, rows, THREE, w)
    components = scale.fit(PCA(1), pa.table(dict(zip(names, X.T))), engine="serial").certificate_
    yield Case("PCA in partitions", components, X)


def _evaluations() -> Iterator[Case]:
    model = KNeighborsClassifier(1)
    part = hold_out(model, X, TWO, test_size=0.5)
    yield Case("hold-out", part.certificate(), X[part.test], TWO[part.test])
    yield Case("folds", cross_validate(model, X, TWO, cv=3).certificate(), X, TWO)
    yield Case("fold values", cross_validate(Ridge(), X, REAL, cv=3).certificate(), X, REAL)


@cache
def all_cases() -> dict[str, list[Case]]:
    """The cases of each kind."""
    found: dict[str, list[Case]] = {}

    def keep(case: Case) -> None:
        assert case.certificate.holds, f"{case.name}: {case.certificate}"
        found.setdefault(case.kind, []).append(case)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model, (rows, y, weight) in _models():
            fitted = model.fit(rows, y) if weight is None else model.fit(rows, y, sample_weight=weight)
            for certificate in fitted.certificates_:
                keep(Case(name, certificate, rows, y, weight))
        for case in _questions():
            keep(case)
    return found
