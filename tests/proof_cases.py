"""Small fits of every family that has a proof file: a name, and a function from a random generator to a claim and its data."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from certifit import kernels, separability
from certifit.bayes import HypothesisSpace
from certifit.bayes.conjugate import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseGamma,
    NormalKnownVariance,
)
from certifit.certificates import Data, issue
from certifit.cluster import KMeans
from certifit.decomposition import PCA
from certifit.density import KernelDensity
from certifit.exceptions import NotSeparableError
from certifit.glm import GLM
from certifit.kernel_ridge import KernelRidge
from certifit.linear_model import (
    ElasticNet,
    Lasso,
    LinearModel,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
)
from certifit.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MixedNB, MultinomialNB
from certifit.neighbors import (
    CondensedNeighbors,
    EditedNeighbors,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
    RadiusNeighborsClassifier,
)
from certifit.neural import MLPClassifier, PerceptronNetwork
from certifit.reinforcement import MDP, finite_horizon, value_iteration
from certifit.semi_supervised import LabelPropagation, LabelSpreading
from certifit.svm import SVC, SVR, HardMarginSVC, KernelPerceptron, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.proof_cases_later import LATER
from tests.proof_runs import Case


def _rows(rng: np.random.Generator, n: int = 24, d: int = 3) -> np.ndarray:
    return rng.normal(size=(n, d)).round(3) * rng.choice([0.1, 1.0, 20.0]) + rng.choice([0.0, 5.0])


def _fitted(model: Any, X: Any, y: Any, weight: Any = None) -> Case:
    model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
    return Case(model.certificate_, X, y, weight)


def _real(model: Any, weighted: bool = False, targets: int = 1) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        X = _rows(rng)
        y = (X @ rng.normal(size=(3, targets)) + rng.normal(size=(24, targets))).squeeze()
        return _fitted(model, X, y, rng.integers(0, 4, 24).astype(float) if weighted else None)

    return make


def _labels(model: Any, classes: int = 2, weighted: bool = False, words: bool = False) -> Any:
    def make(rng: np.random.Generator) -> Case:
        X = _rows(rng)
        y = np.concatenate([np.arange(classes), rng.integers(0, classes, 24 - classes)])
        named = np.array(["no", "yes", "0x1p+0"])[y] if words else y
        return _fitted(model, X, named, rng.integers(1, 4, 24).astype(float) if weighted else None)

    return make


def _apart(model: Any) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        X, y = rng.normal(size=(20, 2)).round(3), np.arange(20) % 2
        return _fitted(model, X + 4.0 * y[:, None], y)

    return make


def _one_class(rng: np.random.Generator) -> Case:
    X = _rows(rng)
    return Case(OneClassSVM(nu=0.3).fit(X).certificate_, X, np.ones(24))


def _counts(model: Any) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        y = np.concatenate([[0, 1, 2], rng.integers(0, 3, 27)])
        return _fitted(model, rng.integers(0, 3, size=(30, 3)).astype(float), y)

    return make


def _mixed(rng: np.random.Generator) -> Case:
    """Numbers and words side by side, some of each missing."""
    X = np.empty((24, 4), dtype=object)
    X[:, 0], X[:, 2] = rng.normal(size=24), rng.normal(5.0, 2.0, 24)
    X[:, 1], X[:, 3] = rng.choice(["red", "green", "blue"], 24), rng.integers(0, 3, 24).astype(float)
    X[rng.integers(0, 24, 3), 0], X[rng.integers(0, 24, 3), 1] = np.nan, None
    y, weight = np.arange(24) % 2, rng.uniform(0.5, 2.0, 24)
    return Case(MixedNB(categorical=[1, 3]).fit(X, y, sample_weight=weight).certificate_, X, y, weight)


def _words_tree(model: Any, classes: int = 0, categories: int = 5, weighted: bool = False) -> Any:
    """Numbers and words side by side, some of each missing, split as they are."""

    def make(rng: np.random.Generator) -> Case:
        X = np.empty((40, 3), dtype=object)
        X[:, 0], X[:, 1] = rng.normal(size=40).round(1), np.array(list("abcdefghij"))[rng.integers(0, categories, 40)]
        X[:, 2] = rng.choice(["new", "old", "1.5"], 40)
        X[rng.integers(0, 40, 3), 0], X[rng.integers(0, 40, 3), 1] = np.nan, None
        y = rng.integers(0, classes, 40) if classes else rng.normal(size=40).round(2)
        weight = rng.integers(0, 4, 40).astype(float) if weighted else None
        return _fitted(model.set_params(categorical_features=[1, 2], random_state=0), X, y, weight)

    return make


def _poisson(rng: np.random.Generator) -> Case:
    X = rng.normal(size=(24, 2)).round(3)
    return _fitted(GLM("poisson"), X, rng.poisson(np.exp(X[:, 0])) + (np.arange(24) == 0))


def _poisson_with_offset(rng: np.random.Generator) -> Case:
    X, offset = rng.normal(size=(24, 2)).round(3), rng.normal(size=24).round(2)
    y = rng.poisson(np.exp(X[:, 0])) + (np.arange(24) == 0)
    return Case(GLM("poisson", alpha=0.1).fit(X, y, offset=offset).certificate_, X, y, offset=offset)


def _sparse(rng: np.random.Generator) -> Case:
    X = scipy.sparse.random(30, 6, 0.4, random_state=rng, format="csr")
    return _fitted(Lasso(alpha=0.01), X, rng.normal(size=30))


def _components(rng: np.random.Generator) -> Case:
    X = _rows(rng, d=4)
    return Case(PCA(2).fit(X).certificate_, X)


def _separability(kind: str) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        X = rng.integers(-4, 5, size=(30, 2)).astype(float)
        side = X[:, 0] - X[:, 1]
        y = np.where(side == 0.0, np.arange(30) % 2, side > 0) if kind == "touching" else rng.integers(0, 2, 30)
        X = X + 20.0 * y[:, None] if kind == "separable" else X
        return Case(separability(X, y, rigor="exact").certificate, X, y)

    return make


def _neighbors(metric: str) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        X, y = rng.integers(0, 4, size=(25, 3)).astype(float), rng.integers(0, 2, 25)
        found = KNeighborsClassifier(4, metric=metric).fit(X, y).certificate_for(rng.integers(0, 4, (3, 3)))
        return Case(found, X, y)

    return make


def _within(metric: str, radius: float) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        X, y = rng.integers(0, 4, size=(25, 3)).astype(float), rng.integers(0, 2, 25)
        model = RadiusNeighborsClassifier(radius, metric=metric, outlier_label=0).fit(X, y)
        return Case(model.certificate_within(rng.integers(0, 4, (3, 3))), X, y)

    return make


def _given_distances(rng: np.random.Generator) -> Case:
    X, y = rng.integers(0, 4, size=(20, 3)).astype(float), rng.integers(0, 2, 20)
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    found = KNeighborsClassifier(3, metric="precomputed").fit(D, y).certificate_for(D[:4])
    return Case(found, D, y)


def _mercer(rng: np.random.Generator) -> Case:
    K = kernels.RBF(0.5)(rng.normal(size=(8, 2)))
    return Case(kernels.mercer(K), K)


def _not_mercer(rng: np.random.Generator) -> Case:
    K = kernels.RBF(0.5)(rng.normal(size=(8, 2)))
    K[0, 0] = -1.0
    return Case(kernels.mercer(K), K)


def _clusters(weighted: bool) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        X = rng.normal(size=(24, 2)).round(3) + 6.0 * (np.arange(24) % 3)[:, None]
        weight = rng.integers(1, 4, 24).astype(float) if weighted else None
        return Case(KMeans(3, random_state=0).fit(X, sample_weight=weight).certificate_, X, None, weight)

    return make


def _constant(rng: np.random.Generator) -> Case:
    X, y = np.zeros((20, 1)), rng.normal(size=20)
    return Case(issue("constant", Data.of(X, y), {"loss": "squared", "value": np.array([y.mean()])}), X, y)


def _bayes(rng: np.random.Generator) -> Case:
    bags = {f"h{k}": {"cherry": p, "lime": 1.0 - p} for k, p in enumerate((1.0, 0.75, 0.5, 0.25))}
    space = HypothesisSpace({"h0": 0.1, "h1": 0.2, "h2": 0.4, "h3": 0.3}, bags)
    seen = [["lime"], ["cherry"], ["lime"]]
    return Case(space.certify([row[0] for row in seen]), np.array(seen, dtype=object))


def _posterior(prior: Any, draw: Callable[[np.random.Generator], Any]) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        seen = np.asarray(draw(rng), dtype=float)
        return Case(prior.certify(seen), seen[:, None])

    return make


def _holes(model: Any) -> Callable[[np.random.Generator], Case]:
    """Numbers of which some are missing."""

    def make(rng: np.random.Generator) -> Case:
        X, y = _rows(rng, 30), np.arange(30) % 3
        X[rng.random(X.shape) < 0.2] = np.nan
        return _fitted(model, X, y)

    return make


def _counted(model: Any) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        X = _rows(rng)
        return _fitted(model, X, rng.poisson(3.0, 24) + 0.0)

    return make


def _two_labels(model: Any) -> Callable[[np.random.Generator], Case]:
    """Two targets of classes, two of one and three of the other."""

    def make(rng: np.random.Generator) -> Case:
        y = np.column_stack([np.arange(24) % 2, rng.permutation(np.arange(24) % 3)])
        return _fitted(model, _rows(rng), y)

    return make


def _kernel_density(kernel: str, metric: str = "euclidean") -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        X, weight = _rows(rng, 20, 2), rng.integers(0, 4, 20) + 0.5
        model = KernelDensity(bandwidth=2.0, kernel=kernel, metric=metric).fit(X, sample_weight=weight)
        return Case(model.certificate_for(X[:3] + 0.25), X, None, weight)

    return make


def _radii(activation: str, classes: int = 2) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        y = np.arange(24) % classes
        X = rng.normal(size=(24, 2)).round(3) + 3.0 * y[:, None]
        model = MLPClassifier((4,), activation=activation, max_iter=1000, random_state=0).fit(X, y)
        return Case(model.certify_radius(X, 1e-3), X)

    return make


def _no_margin(kernel: str) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        X, y = rng.integers(-3, 4, size=(12, 2)).astype(float), np.arange(12) % 2
        X[1] = X[0]
        try:
            HardMarginSVC(kernel=kernel).fit(X, y)
        except NotSeparableError as refusal:
            return Case(refusal.certificate, X, y)
        raise AssertionError("equal rows of both classes")

    return make


def _hulls_meet(rng: np.random.Generator) -> Case:
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], *rng.normal(size=(4, 2))])
    y, half = np.array([0, 0, 1, 1, 0, 1, 0, 1]), np.array([[-0.5, -0.5, 0.5, 0.5]])
    evidence = {"kernel": ["linear"], "classes": [0, 1], "support": np.arange(4), "dual_coef": half}
    return Case(issue("no-margin", Data.of(X, y), evidence), X, y)


def _errors(classes: int) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        X, y = rng.integers(-2, 3, size=(20, 2)).astype(float), np.arange(20) % classes
        lines = 1 if classes == 2 else classes
        evidence = {"coef": rng.integers(-1, 2, size=(lines, 2)).astype(float), "intercept": np.zeros(lines)}
        return Case(issue("training-errors", Data.of(X, y), evidence), X, y)

    return make


def _stored(model: Any) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        return _fitted(model, rng.integers(0, 3, size=(25, 2)).astype(float), rng.integers(0, 3, 25))

    return make


def _network(rng: np.random.Generator) -> Case:
    X = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
    answers = {tuple(x): bool(v) for x, v in zip(X.astype(bool), rng.permutation([0, 0, 0, 1, 1, 1, 1, 0]))}

    def function(*x: bool) -> bool:
        return answers[tuple(map(bool, x))]

    y = np.array([float(function(*x)) for x in X])
    return Case(PerceptronNetwork.from_function(function, 3).certify(function), X, y)


def _plan(plan: Callable[[MDP], Any]) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        moves = rng.integers(0, 5, size=(3, 5, 5)) + np.eye(5)
        process = MDP(list(moves / moves.sum(axis=2, keepdims=True)), rewards=rng.normal(size=(5, 3)).round(2))
        rows, rewards = process.table()
        return Case(plan(process).certificate, rows, rewards)

    return make


def _spread_labels(model: Any) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        side = np.arange(20) % 2
        X, y = rng.normal(size=(20, 2)).round(2) + 2.0 * side[:, None], np.where(np.arange(20) < 6, side, -1)
        return _fitted(model, X, y)

    return make


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    "least squares": _real(LinearRegression()),
    "non-negative": _real(LinearRegression(positive=True)),
    "ridge, weighted": _real(Ridge(), weighted=True),
    "ridge, two targets": _real(Ridge(), targets=2),
    "lasso": _real(Lasso(alpha=0.1)),
    "elastic net": _real(ElasticNet(alpha=0.1)),
    "sparse lasso": _sparse,
    "absolute, l2": _real(LinearModel("absolute", "l2", lam=0.01)),
    "logistic": _labels(LogisticRegression()),
    "logistic, weighted": _labels(LogisticRegression(C=0.1), weighted=True),
    "softmax, words": _labels(LogisticRegression(), 3, words=True),
    "hinge, l1": _labels(LinearModel("hinge", "l1", lam=0.01)),
    "linear machine": _labels(LinearSVC(), 3),
    "machine of all classes": _labels(LinearSVC(multi_class="crammer_singer", class_weight="balanced"), 3),
    "machine of all classes without an offset": _labels(
        LinearSVC(multi_class="crammer_singer", fit_intercept=False, C=0.1), 3, weighted=True
    ),
    "kernel machine": _labels(SVC(), 3),
    "kernel machine, classes weighted": _labels(SVC(kernel="poly", degree=2, class_weight="balanced")),
    "kernel ridge": _real(KernelRidge(kernel="rbf")),
    "poisson": _poisson,
    "poisson with offset": _poisson_with_offset,
    "nu": _labels(NuSVC(nu=0.2)),
    "nu, tube": _real(NuSVR(nu=0.3)),
    "one class": _one_class,
    "linear tube": _real(LinearSVR(epsilon=0.2, C=0.3), weighted=True),
    "linear tube, squared": _real(LinearSVR(epsilon=0.2, loss="squared_epsilon_insensitive", fit_intercept=False)),
    "tube": _real(SVR(C=3.0, epsilon=0.3), weighted=True),
    "hard margin": _apart(HardMarginSVC()),
    "twins": _no_margin("rbf"),
    "hulls that meet": _hulls_meet,
    "perceptron": _apart(Perceptron()),
    "kernel perceptron": _apart(KernelPerceptron(kernel="rbf", gamma=0.5, max_iter=200)),
    "kernel perceptron, three classes": _labels(KernelPerceptron(kernel="poly", degree=2, max_iter=5), 3),
    "perceptron, overlapping": _labels(Perceptron(max_iter=5)),
    "separable": _separability("separable"),
    "touching": _separability("touching"),
    "overlapping": _separability("overlapping"),
    "mercer": _mercer,
    "not mercer": _not_mercer,
    "components": _components,
    "gaussian counts": _labels(GaussianNB(), words=True),
    "multinomial counts": _counts(MultinomialNB()),
    "bernoulli counts": _counts(BernoulliNB()),
    "categorical counts": _counts(CategoricalNB()),
    "mixed counts": _mixed,
    "complement counts": _counts(ComplementNB(norm=True)),
    "class centres": _labels(NearestCentroid(), 3, words=True),
    "class medians": _labels(NearestCentroid(metric="manhattan"), 2),
    "neighbours": _neighbors("euclidean"),
    "neighbours by angle": _neighbors("cosine"),
    "neighbours by given distances": _given_distances,
    "rows within a radius": _within("euclidean", 1.5),
    "rows within an angle": _within("cosine", 0.1),
    "prototypes": _stored(CondensedNeighbors()),
    "prototypes, edited": _stored(EditedNeighbors(3)),
    "tree": _labels(DecisionTreeClassifier(max_depth=3), 3),
    "tree by entropy": _labels(DecisionTreeClassifier(criterion="entropy", max_depth=2), weighted=True),
    "regression tree": _real(DecisionTreeRegressor(max_depth=2, ccp_alpha=0.01)),
    "tree by entropy, grown out": _labels(DecisionTreeClassifier(criterion="entropy"), 3),
    "tree of absolute errors": _real(DecisionTreeRegressor(criterion="absolute_error", max_depth=3), weighted=True),
    "tree of words": _words_tree(DecisionTreeClassifier(max_depth=4, ccp_alpha=0.01), 2, weighted=True),
    "tree of words for three classes": _words_tree(DecisionTreeClassifier(criterion="entropy", max_depth=2), 3),
    "regression tree of words": _words_tree(DecisionTreeRegressor(max_depth=3, min_samples_leaf=2), categories=10),
    "tree pruned by validation rows": _words_tree(DecisionTreeClassifier(pruning="reduced_error"), 2, weighted=True),
    "regression tree pruned by validation rows": _words_tree(DecisionTreeRegressor(pruning="reduced_error")),
    "tree of drawn columns": _words_tree(DecisionTreeClassifier(max_depth=3, max_features=2), 2),
    "tree of counts": _counted(DecisionTreeRegressor(criterion="poisson", max_depth=3, ccp_alpha=0.01)),
    "tree with missing numbers": _holes(DecisionTreeClassifier(max_depth=4, class_weight="balanced")),
    "tree of two targets": _real(DecisionTreeRegressor(max_depth=3), weighted=True, targets=2),
    "tree of two targets by absolute errors": _real(
        DecisionTreeRegressor(criterion="absolute_error", max_depth=2), targets=2
    ),
    "tree of two labels": _two_labels(DecisionTreeClassifier(criterion="entropy", max_depth=3)),
    "clusters": _clusters(False),
    "clusters, weighted": _clusters(True),
    "constant": _constant,
    "hypotheses": _bayes,
    "posterior of zeros and ones": _posterior(BetaBernoulli(2.0, 3.5), lambda rng: rng.integers(0, 2, 15)),
    "posterior of categories": _posterior(DirichletCategorical([1.0, 0.5, 2.0]), lambda rng: rng.integers(0, 3, 15)),
    "posterior of counts": _posterior(GammaPoisson(2.0, 1.5), lambda rng: rng.poisson(3.0, 15)),
    "posterior of a mean": _posterior(NormalKnownVariance(0.0, 10.0, 1.7), lambda rng: rng.normal(3.0, 1.3, 15)),
    "posterior of mean and variance": _posterior(
        NormalInverseGamma(0.1, 0.3, 2.0, 1.1), lambda rng: rng.normal(1e3, 1.0, 15)
    ),
    "kernel density": _kernel_density("gaussian"),
    "kernel density, within a radius": _kernel_density("epanechnikov", "manhattan"),
    "labels on a graph": _spread_labels(LabelPropagation(gamma=1.0)),
    "labels on a graph of neighbours": _spread_labels(LabelPropagation(kernel="knn", n_neighbors=3)),
    "labels, spread": _spread_labels(LabelSpreading(gamma=0.5)),
    "labels, spread over neighbours": _spread_labels(LabelSpreading(kernel="knn", n_neighbors=4, alpha=0.5)),
    "training errors": _errors(2),
    "training errors of three classes": _errors(3),
    "stored rows": _stored(KNeighborsClassifier(3)),
    "stored values": _stored(KNeighborsRegressor(3)),
    "network of thresholds": _network,
    "radii of a network": _radii("tanh"),
    "radii of a network for three classes": _radii("relu", 3),
    "plan": _plan(value_iteration),
    "plan of four steps": _plan(lambda process: finite_horizon(process, 4)),
    **LATER,
}
