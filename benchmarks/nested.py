"""Nested cross-validation as one would write it with scikit-learn: the peer of the study's comparison in the workloads.

The same models on both sides, with the same grids, as many folds (ten, five inside) and the same columns (standardised,
one-hot): model by model, with GridSearchCV inside cross_val_score. Models that scikit-learn has no counterpart of
(additive models, averaged perceptrons) and those without a grid (perceptron) are left out on both sides. A whole study,
which has these too and then fits, proves and explains the chosen model, is timed beside them and compared with nothing.

``python -m benchmarks.nested [TABLE ...] [--folds K]`` compares the models that both have, by processor seconds of the
first K outer folds on one thread: a measure that other programs on the machine disturb little.
"""

from __future__ import annotations

import argparse
import time
import warnings
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import Entry, installed
from certifit.parallel import cores

_POWERS = np.logspace(-3, 3, 7)
_SHRINK = np.logspace(-3, 4, 15)
_NEIGHBOURS = [1, 3, 5, 7, 11, 15, 21, 31, 51]


def table(name: str) -> tuple[Any, str]:
    """One of the four tables: a data frame and the name of its target."""
    import pandas as pd
    from sklearn import datasets

    if name in ("breast_cancer", "diabetes"):
        frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
        return frame.replace({"target": {0: "malignant", 1: "benign"}}) if name == "breast_cancer" else frame, "target"
    rng = np.random.default_rng(0)
    if name == "wide":
        factors = rng.normal(size=(165, 10))
        X = factors @ rng.normal(size=(10, 1100)) + rng.normal(size=(165, 1100))
        y = factors[:, 0] + 0.5 * factors[:, 1] + 0.5 * rng.normal(size=165)
        return pd.DataFrame(X).add_prefix("x").assign(target=y), "target"
    X = rng.normal(size=(5_000, 14))
    frame = pd.DataFrame(X).add_prefix("x")
    for j, levels in enumerate((3, 5, 8, 12, 2, 4)):
        frame[f"c{j}"] = np.array(list("abcdefghijkl"))[rng.integers(0, levels, 5_000)]
    score = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + (frame.c0 == "a") + rng.normal(size=5_000)
    return frame.assign(target=np.where(score > 0.3, "yes", "no")), "target"


def entries(name: str) -> list[Entry]:
    """The study's comparison and nested searches of scikit-learn, plain and accelerated, of the same models; all cores.

    And a whole study, with yardsticks and report. All keep their worker processes from the warm-up on.
    """
    from certifit.study import _runner, examine, run

    frame, target = table(name)
    facts, folds = examine(frame, target), _folds(len(frame))

    def same() -> Any:
        return _runner.execute(_plan(facts), workers=cores())

    def whole() -> Any:
        with TemporaryDirectory() as folder:
            return run(frame, target, folds=folds, workers=cores(), out=folder)

    found = [Entry("certifit, the same models", same, kind="ours")]
    found.append(Entry("scikit-learn, nested", lambda: nested(frame, target), repeats=1))
    if installed("sklearnex"):
        from sklearnex import patch_sklearn, unpatch_sklearn

        def accelerated() -> Any:
            patch_sklearn(verbose=False)
            try:
                return nested(frame, target)
            finally:
                unpatch_sklearn()

        found.append(Entry("scikit-learn-intelex, nested", accelerated, repeats=1))
    found.append(
        Entry(
            "certifit", whole, kind="ours", note="all models, yardsticks, proofs, report", repeats=1, case="whole study"
        )
    )
    return found


def _folds(rows: int) -> int:
    return 10 if rows <= 2_000 else 5


def nested(frame: Any, target: str) -> dict[str, float]:
    """Mean score of every model."""
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

    X, y = frame.drop(columns=target), frame[target].to_numpy()
    classes = y.dtype.kind not in "fiu"
    outer = (StratifiedKFold if classes else KFold)(_folds(len(y)), shuffle=True, random_state=0)
    scoring = "roc_auc" if classes else "r2"
    return {
        name: float(cross_val_score(search, X, y, cv=outer, scoring=scoring, n_jobs=cores()).mean())
        for name, search in searches(X, y, classes).items()
    }


def searches(X: Any, y: Any, classes: bool) -> dict[str, Any]:
    """An unfitted GridSearchCV for every model, columns standardised or one-hot inside."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    inner = (StratifiedKFold if classes else KFold)(5, shuffle=True, random_state=1)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude=float)),
        (StandardScaler(), make_column_selector(dtype_include=float)),
    )
    found = {}
    for name, (steps, grid) in models(classes, len(y), X.shape[1], 1.0 if classes else float(np.std(y))).items():
        last = steps[-1].__class__.__name__.lower()
        named = {k if "__" in k else f"{last}__{k}": v for k, v in grid.items()}
        scoring = "roc_auc" if classes else "r2"
        found[name] = GridSearchCV(make_pipeline(encode, *steps), named, cv=inner, scoring=scoring)
    return found


def _strong(points: int, wide: bool) -> Any:
    """Penalties of a 1-norm in units of the target's spread: the stronger half with more columns than rows."""
    return np.logspace(-4, 0, points)[points // 2 if wide else 0 :]


def models(classes: bool, rows: int, columns: int, spread: float = 1.0) -> dict[str, tuple[list[Any], dict[str, Any]]]:
    """scikit-learn's counterparts of the study's candidates, with the study's grids."""
    from sklearn import kernel_ridge, linear_model, naive_bayes, neighbors, svm, tree
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import PolynomialFeatures

    wide = columns > rows
    few = [k for k in _NEIGHBOURS if k <= rows // 3]
    kept = lambda counts: {"pca__n_components": [k for k in counts if k < min(rows - 1, columns)]}  # noqa: E731
    if classes:
        logistic = linear_model.LogisticRegression(max_iter=5_000)
        found = {
            "logistic": ([logistic], {"C": _POWERS}),
            "linear SVM": ([svm.LinearSVC()], {"C": _POWERS}),
            "naive Bayes": ([naive_bayes.GaussianNB()], {"var_smoothing": [1e-9, 1e-6, 1e-3, 1e-1]}),
            "tree": ([tree.DecisionTreeClassifier()], {"ccp_alpha": [0.0, 0.0003, 0.001, 0.003, 0.01, 0.03]}),
            "neighbours": ([neighbors.KNeighborsClassifier()], {"n_neighbors": few}),
            "components": ([PCA(), logistic], {**kept((2, 5, 10, 20)), "C": [0.1, 10.0]}),
        }
        if columns <= 40 and rows * columns <= 50_000:
            squares = PolynomialFeatures(2, include_bias=False)
            found["squares"] = ([squares, logistic], {"C": [0.001, 0.03, 1.0]})
        if rows <= 3_000:
            machines = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": ["scale", 0.001, 0.01, 0.1]}
            found["SVM"] = ([svm.SVC()], machines)
        return found
    found = {
        "least squares": ([linear_model.LinearRegression()], {"fit_intercept": [True]}),
        "ridge": ([linear_model.Ridge()], {"alpha": _SHRINK}),
        "tree": ([tree.DecisionTreeRegressor()], {"max_leaf_nodes": [2, 4, 8, 16, 32, 64]}),
        "neighbours": ([neighbors.KNeighborsRegressor()], {"n_neighbors": few}),
        "kernel ridge": (
            [kernel_ridge.KernelRidge(kernel="rbf")],
            {"alpha": [0.001, 0.01, 0.1, 1.0, 10.0], "gamma": [0.001, 0.003, 0.01, 0.1]},
        ),
        "lasso": ([linear_model.Lasso(max_iter=50_000)], {"alpha": spread * _strong(9, wide)}),
        "elastic net": (
            [linear_model.ElasticNet(max_iter=50_000)],
            {"alpha": spread * _strong(5, wide), "l1_ratio": [0.2, 0.5, 0.8]},
        ),
        "components": ([PCA(), linear_model.LinearRegression()], kept((1, 2, 3, 5, 8, 12, 20))),
    }
    if columns <= 40:
        found["squares"] = ([PolynomialFeatures(2, include_bias=False), linear_model.Ridge()], {"alpha": _SHRINK})
    return found


_OURS = {
    "logistic": "logistic regression",
    "tree": "decision tree",
    "neighbours": "nearest neighbours",
    "SVM": "SVM with Gaussian kernel",
}


def _called(facts: Any) -> dict[str, str]:
    """What the study calls the models that both have, by their short names."""
    classes = facts.task == "classification"
    squares = "logistic regression with squares and products" if classes else "ridge with squares and products"
    components = "logistic regression" if classes else "least squares"
    ours = _OURS | {"squares": squares, "components": f"{components} on principal components"}
    rows, columns = facts.X.shape
    return {short: ours.get(short, short) for short in models(classes, rows, columns)}


def _plan(facts: Any) -> Any:
    """The part of a study that both have."""
    from certifit.study._plan import plan_study

    return plan_study(facts, list(_called(facts).values()), _folds(len(facts.y)), 0)


def compare(name: str, folds: int) -> list[tuple[str, float, float]]:
    """Processor seconds of both for each model that both have, on the first outer folds; ours are warm."""
    from certifit.study import _runner, examine

    frame, target = table(name)
    facts = examine(frame, target)
    plan, called = _plan(facts), _called(facts)
    _runner.warm(plan)
    ours, rows = {c.name: c for c in plan.candidates}, []
    X, y = frame.drop(columns=target), frame[target].to_numpy()
    for short, search in searches(X, y, facts.task == "classification").items():
        own = peer = 0.0
        for k in range(folds):
            own += _runner.run_piece(ours[called[short]], k, plan.work).seconds
            train, test = plan.work.folds[k]
            began = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                search.fit(X.iloc[train], y[train]).score(X.iloc[test], y[test])
            peer += time.process_time() - began
        rows.append((called[short], own, peer))
        print(f"{name:14s} {called[short]:48s} {own:8.2f} {peer:8.2f} {peer / own:6.1f}", flush=True)
    own, peer = (sum(row[i] for row in rows) for i in (1, 2))
    print(f"{name:14s} {'all':48s} {own:8.2f} {peer:8.2f} {peer / own:6.1f}", flush=True)
    return rows


def main() -> None:
    """Compare on the tables named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["breast_cancer", "diabetes", "mixed", "wide"])
    parser.add_argument("--folds", type=int, default=1, help="outer folds that are measured")
    asked = parser.parse_args()
    import_module("sklearn.ensemble")  # only libraries that are loaded can be limited, OpenMP's among them
    with threadpool_limits(1):
        for name in asked.names:
            compare(name, asked.folds)


if __name__ == "__main__":
    main()
