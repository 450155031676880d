"""One job a family: data of any size, and the fit whose cost is measured (`benchmarks.scaling`, workload ``proof``)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

Sizes = dict[str, int]


@dataclass(frozen=True)
class Job:
    """A family at work.

    ``usual`` are its sizes (rows, columns, classes, points of a grid); ``grows`` says how far each of them is taken,
    and ``promised`` with which power of it theory lets the cost grow. ``raced`` are the sizes at which it meets other
    libraries, where it does. ``least`` is what every proof does with the table besides hashing it: it reads it, forms
    the products of its columns, or orders them. ``shown`` says what a checker is shown, given model, X and y.
    """

    fit: Callable[[Any, Any, Sizes], Any]
    usual: Sizes
    grows: dict[str, tuple[int, ...]]
    promised: dict[str, float]
    target: str = "class"
    raced: Sizes = field(default_factory=dict)
    least: str = "read"
    shown: Callable[[Any, Any, Any], Any] = lambda model, X, y: (X, y)

    def data(self, sizes: Sizes) -> tuple[Any, Any]:
        """Gaussian rows with a linear signal and noise; targets as the family wants them."""
        rng = np.random.default_rng(0)
        n, d, k = sizes["rows"], sizes["columns"], sizes.get("classes", 2)
        X = rng.normal(size=(n, d))
        W = rng.normal(size=(d, k)) / np.sqrt(d)
        if self.target == "number":
            return X, X @ W[:, 0] + 0.5 * rng.normal(size=n)
        if self.target == "count":
            return X, rng.poisson(np.exp(0.5 * X @ W[:, 0])).astype(float)
        y = (2.0 * X @ W + rng.gumbel(size=(n, k))).argmax(axis=1)
        if self.target == "class of words":
            return rng.poisson(np.exp(0.3 * X)).astype(float), y
        if self.target == "few classes":
            return X, np.where(rng.random(n) < 0.1, y, -1)
        return X, y


def _fit(module: str, name: str, **options: Any) -> Callable[[Any, Any, Sizes], Any]:
    def fit(X: Any, y: Any, sizes: Sizes) -> Any:
        model = getattr(__import__(f"certifit.{module}", fromlist=[name]), name)
        return model(**options).fit(X, y)

    return fit


def _search(module: str, name: str, parameter: str, low: float, high: float) -> Callable[[Any, Any, Sizes], Any]:
    def fit(X: Any, y: Any, sizes: Sizes) -> Any:
        from certifit.model_selection import Search

        model = getattr(__import__(f"certifit.{module}", fromlist=[name]), name)
        return Search(model(), {parameter: np.logspace(low, high, sizes["points"])}, cv=5).fit(X, y)

    return fit


def _clusters(X: Any, y: Any, sizes: Sizes) -> Any:
    from certifit.cluster import KMeans

    return KMeans(sizes["classes"], n_init=1, max_iter=20, random_state=0).fit(X)


def _neighbours(X: Any, y: Any, sizes: Sizes) -> Any:
    from certifit.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(5).fit(X, y)
    model.predict(X[: max(100, len(X) // 10)])
    return model


def _density(X: Any, y: Any, sizes: Sizes) -> Any:
    from certifit.density import KernelDensity

    model = KernelDensity(bandwidth=0.3, rtol=1e-3).fit(X)
    model.score_samples(X[: max(100, len(X) // 10)])
    return model


def _network(X: Any, y: Any, sizes: Sizes) -> Any:
    from certifit.neural_network import MLPClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # twenty steps are measured, wherever they lead
        return MLPClassifier(solver="lbfgs", max_iter=20, random_state=0).fit(X, y)


def _plan(X: Any, y: Any, sizes: Sizes) -> Any:
    """Values of the states of a decision process whose rewards are X: a row a state, a column an action."""
    from certifit.reinforcement import value_iteration

    return value_iteration(_process(X.shape, X.tobytes()), tol=1e-6)


@lru_cache(maxsize=1)
def _process(shape: tuple[int, int], rewards: bytes) -> Any:
    """The process of these rewards, made once: every action leads to ten states, most of the time to one near by."""
    import scipy.sparse

    from certifit.reinforcement import MDP

    (n, actions), rng, near = shape, np.random.default_rng(0), 0.8
    shares = np.full(10 * n, (1.0 - near) / 9.0)
    shares[::10] = near
    steps = []
    for _ in range(actions):
        at = rng.integers(n, size=(n, 10))
        at[:, 0] = (np.arange(n) + rng.integers(-5, 6, size=n)) % n
        steps.append(scipy.sparse.csr_matrix((shares, (np.arange(n).repeat(10), at.ravel())), shape=(n, n)))
    return MDP(steps, np.frombuffer(rewards).reshape(shape), 0.95)


_ROWS, _COLUMNS = (1_000, 10_000, 100_000, 1_000_000), (3, 10, 30, 100, 300, 1_000, 3_000)
_SMALL_ROWS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)  # as far as the time of one fit allows
_CLASSES, _POINTS = (2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000), (3, 10, 30, 100, 300, 1_000, 3_000)
JOBS = {
    "LinearRegression": Job(
        _fit("linear_model", "LinearRegression"), {"rows": 20_000, "columns": 20},
        {"rows": _ROWS, "columns": _COLUMNS}, {"rows": 1, "columns": 2}, "number",
    ),
    "Ridge": Job(
        _fit("linear_model", "Ridge"), {"rows": 20_000, "columns": 20},
        {"rows": _ROWS, "columns": _COLUMNS}, {"rows": 1, "columns": 2}, "number",
    ),
    "Lasso": Job(
        _fit("linear_model", "Lasso", alpha=0.05), {"rows": 2_000, "columns": 50},
        {"rows": _ROWS, "columns": (10, 100, 1_000, 10_000)}, {"rows": 1, "columns": 1}, "number",
    ),
    "LogisticRegression": Job(
        _fit("linear_model", "LogisticRegression"), {"rows": 20_000, "columns": 20},
        {"rows": _ROWS, "columns": _COLUMNS, "classes": _CLASSES}, {"rows": 1, "columns": 1, "classes": 1},
    ),
    "GLM, Poisson": Job(
        _fit("glm", "GLM", family="poisson", alpha=1e-3), {"rows": 20_000, "columns": 20},
        {"rows": _ROWS, "columns": _COLUMNS}, {"rows": 1, "columns": 1}, "count",
    ),
    "Perceptron": Job(
        _fit("linear_model", "Perceptron", max_iter=5, tol=None), {"rows": 20_000, "columns": 20},
        {"rows": _ROWS, "columns": _COLUMNS}, {"rows": 1, "columns": 1},
    ),
    "LinearSVC": Job(
        _fit("svm", "LinearSVC"), {"rows": 5_000, "columns": 20},
        {"rows": _ROWS, "columns": _COLUMNS}, {"rows": 1, "columns": 1},
    ),
    "SVC, RBF": Job(
        _fit("svm", "SVC"), {"rows": 1_000, "columns": 20},
        {"rows": _SMALL_ROWS, "columns": _COLUMNS}, {"rows": 2, "columns": 1},
    ),
    "KernelRidge": Job(
        _fit("kernel_ridge", "KernelRidge", kernel="rbf"), {"rows": 500, "columns": 10},
        {"rows": _SMALL_ROWS[:5], "columns": _COLUMNS}, {"rows": 3, "columns": 1}, "number",
    ),
    "DecisionTreeClassifier": Job(
        _fit("tree", "DecisionTreeClassifier", max_depth=8), {"rows": 10_000, "columns": 10},
        {"rows": _ROWS, "columns": _COLUMNS}, {"rows": 1, "columns": 1},
    ),
    "KNeighborsClassifier": Job(
        _neighbours, {"rows": 5_000, "columns": 10}, {"rows": _ROWS, "columns": _COLUMNS},
        {"rows": 2, "columns": 1},
    ),
    "GaussianNB": Job(
        _fit("naive_bayes", "GaussianNB"), {"rows": 20_000, "columns": 20},
        {"rows": _ROWS, "columns": _COLUMNS, "classes": _CLASSES}, {"rows": 1, "columns": 1, "classes": 0},
    ),
    "PCA": Job(
        _fit("decomposition", "PCA", n_components=5), {"rows": 20_000, "columns": 20},
        {"rows": _ROWS, "columns": (5, *_COLUMNS[1:])}, {"rows": 1, "columns": 2},
    ),
    "KMeans": Job(
        _clusters, {"rows": 10_000, "columns": 10, "classes": 8},
        {"rows": _ROWS, "columns": _COLUMNS, "classes": _CLASSES}, {"rows": 1, "columns": 1, "classes": 1},
    ),
    "BayesianRidge": Job(
        _fit("linear_model", "BayesianRidge"), {"rows": 20_000, "columns": 20},
        {"rows": _ROWS, "columns": _COLUMNS}, {"rows": 1, "columns": 2}, "number",
    ),
    "MultinomialNB": Job(
        _fit("naive_bayes", "MultinomialNB"), {"rows": 20_000, "columns": 20},
        {"rows": _ROWS, "columns": _COLUMNS, "classes": _CLASSES}, {"rows": 1, "columns": 1, "classes": 0},
        "class of words",
    ),
    "KernelDensity": Job(
        _density, {"rows": 5_000, "columns": 3},
        {"rows": _SMALL_ROWS, "columns": _COLUMNS}, {"rows": 2, "columns": 1},
    ),
    "LabelSpreading": Job(
        _fit("semi_supervised", "LabelSpreading", kernel="knn"), {"rows": 5_000, "columns": 10},
        {"rows": _SMALL_ROWS[2:], "columns": _COLUMNS}, {"rows": 2, "columns": 1}, "few classes",
    ),
    "MLPClassifier": Job(
        _network, {"rows": 2_000, "columns": 20},
        {"rows": _ROWS, "columns": _COLUMNS, "classes": _CLASSES[:8]}, {"rows": 1, "columns": 1, "classes": 1},
    ),
    "Decision process": Job(
        _plan, {"rows": 2_000, "columns": 4}, {"rows": _ROWS, "columns": (1, 3, 10, 30, 100, 300, 1_000)},
        {"rows": 1, "columns": 1}, "number",
    ),
    "Search of Ridge": Job(
        _search("linear_model", "Ridge", "alpha", -3, 3), {"rows": 10_000, "columns": 20, "points": 20},
        {"rows": _ROWS, "points": _POINTS}, {"rows": 1, "points": 0}, "number",
    ),
    "Search of LogisticRegression": Job(
        _search("linear_model", "LogisticRegression", "C", -3, 3), {"rows": 10_000, "columns": 20, "points": 10},
        {"rows": _ROWS, "points": _POINTS}, {"rows": 1, "points": 1},
    ),
}  # fmt: skip
"""In the order of the documentation."""
_RACED = {
    "LinearRegression": {"rows": 100_000, "columns": 100},
    "Ridge": {"rows": 100_000, "columns": 200},
    "Lasso": {"rows": 1_000, "columns": 10_000},
    "LogisticRegression": {"rows": 100_000, "columns": 100},
    "GLM, Poisson": {"rows": 100_000, "columns": 50},
    "Perceptron": {"rows": 200_000, "columns": 50},
    "LinearSVC": {"rows": 100_000, "columns": 50},
    "SVC, RBF": {"rows": 10_000, "columns": 20},
    "DecisionTreeClassifier": {"rows": 100_000, "columns": 20},
    "GaussianNB": {"rows": 1_000_000, "columns": 20},
    "PCA": {"rows": 100_000, "columns": 100},
    "KMeans": {"rows": 200_000, "columns": 20, "classes": 20},
}
_LEAST = dict.fromkeys(
    ("LinearRegression", "Ridge", "LogisticRegression", "GLM, Poisson", "PCA", "BayesianRidge"), "products"
)
_LEAST |= dict.fromkeys(("Search of Ridge", "Search of LogisticRegression"), "products")
_LEAST["DecisionTreeClassifier"] = "orders"
for _name in JOBS:
    JOBS[_name] = replace(JOBS[_name], raced=_RACED.get(_name, {}), least=_LEAST.get(_name, "read"))
for _name in ("PCA", "KMeans", "KernelDensity"):
    JOBS[_name] = replace(JOBS[_name], shown=lambda model, X, y: (X,))
JOBS["Decision process"] = replace(JOBS["Decision process"], shown=lambda model, X, y: model.mdp.table())
