"""What is asked of the library: each question is a name and a function from a table to an answer.

An answer is a dict of plain parts: numbers, arrays of numbers, and words. Parts named ``gap`` are proved relative
gaps, the smaller the better; all other parts are compared for equality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
import sklearn.linear_model
import sklearn.svm
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge as TheirKernelRidge
from sklearn.pipeline import make_pipeline

from benchmarks.answers.tables import Table
from certifit import certify, separability
from certifit.bayes import BayesianLinearRegression
from certifit.decomposition import PCA
from certifit.glm import GLM, NegativeBinomial, Tweedie
from certifit.kernel_ridge import KernelRidge
from certifit.linear_model import (
    AveragedPerceptron,
    ElasticNet,
    Lasso,
    LinearModel,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    RandomLinearClassifier,
    Ridge,
    VotedPerceptron,
)
from certifit.metrics import log_loss, r2_score, roc_auc_score
from certifit.model_selection import Search, cross_validate
from certifit.multiclass import OneVsRest
from certifit.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MixedNB, MultinomialNB
from certifit.neighbors import CondensedNeighbors, EditedNeighbors, KNeighborsClassifier, KNeighborsRegressor
from certifit.preprocessing import (
    ColumnTransforms,
    CorrelationFilter,
    Factored,
    OneHot,
    PadOnes,
    PolynomialBasis,
    Standardizer,
    Thermometer,
)
from certifit.svm import SVC, HardMarginSVC, KernelPerceptron, LinearSVC, PegasosSVC
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["Question", "questions"]

Answer = dict[str, Any]

_FITTED = (
    "coef_",
    "intercept_",
    "dual_coef_",
    "components_",
    "explained_variance_",
    "theta_",
    "var_",
    "noise_variance_",
)
_FITTED += ("feature_log_prob_", "class_log_prior_", "sigma_", "alpha_", "lambda_", "mean_", "scale_", "support_")
_STEPS = 200  # enough for most; what is still short of the optimum then is an answer like any other
_NUMERIC = (np.ndarray, np.generic, float)
_RESPONSES = ("predict", "predict_proba", "decision_function", "transform")


@dataclass(frozen=True)
class Question:
    """One thing to ask, of the tables whose task is in ``tasks``."""

    name: str
    tasks: tuple[str, ...]
    ask: Callable[[Table], Answer]
    among: tuple[str, ...] = ()  # names of tables; all of the task when empty


def plain(value: Any) -> Any:
    """Arrays of numbers, numbers and words: what a pickle of any version holds."""
    if scipy.sparse.issparse(value):
        value = value.toarray()
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    array = np.asarray(value)
    return array.astype(float) if array.dtype.kind in "biuf" else [str(v) for v in array.ravel().tolist()]


def claims(certificates: Any) -> Answer:
    """What was proved: outcome and figures of each certificate."""
    found: Answer = {}
    for i, c in enumerate(certificates):
        found[f"certificate {i} holds"] = float(c.holds)
        for figure in ("value", "verdict", "mistakes", "accuracy"):
            if figure in c.figures:
                found[f"certificate {i} {figure}"] = plain(c.figures[figure])
        gap = c.figures.get("relative_gap", c.figures.get("gap"))
        if gap is not None:
            found[f"certificate {i} gap"] = float(np.max(gap))
    return found


def fitted(model: Any, table: Table) -> Answer:
    """Coefficients, predictions and proofs of a model fitted to a table."""
    if table.weight is None:
        model.fit(table.X, table.y)
    else:
        model.fit(table.X, table.y, sample_weight=table.weight)
    found = {name: plain(getattr(model, name)) for name in _FITTED if isinstance(getattr(model, name, None), _NUMERIC)}
    found.update({name: plain(getattr(model, name)(table.X)) for name in _RESPONSES if hasattr(model, name)})
    if hasattr(model, "certificates_"):
        found.update(claims(model.certificates_))
    if hasattr(model, "certificate_for"):
        found.update(claims([model.certificate_for(table.X[:5])]))
    return found


def _fit(model: Any) -> Callable[[Table], Answer]:
    return lambda table: fitted(clone(model), table)


def _search(model: Any, grid: dict[str, Any], **options: Any) -> Callable[[Table], Answer]:
    def ask(table: Table) -> Answer:
        search = Search(clone(model), grid, cv=4, **options)
        if table.weight is None:
            search.fit(table.X, table.y)
        else:
            search.fit(table.X, table.y, sample_weight=table.weight)
        found = {"scores": plain(search.cv_results_["mean_test_score"]), "chosen": plain(search.best_index_)}
        found["predict"] = plain(search.predict(table.X))
        best = search.best_estimator_
        if hasattr(best, "certificate_"):
            found.update(claims([best.certificate_]))
        return found

    return ask


def _separability(table: Table) -> Answer:
    answer = separability(table.X, table.y)
    found = claims([answer.certificate])
    if len(answer.classes) > 2:
        found["pairs"] = [a.verdict for a in answer.pairs.values()]
    return found


def _certify(model: Any, **options: Any) -> Callable[[Table], Answer]:
    def ask(table: Table) -> Answer:
        theirs = clone(model)
        if table.weight is None:
            return claims([certify(theirs.fit(table.X, table.y), table.X, table.y, **options)])
        theirs.fit(table.X, table.y, sample_weight=table.weight)
        return claims([certify(theirs, table.X, table.y, table.weight, **options)])

    return ask


def _cross(model: Any, scoring: str | None = None) -> Callable[[Table], Answer]:
    def ask(table: Table) -> Answer:
        result = cross_validate(clone(model), table.X, table.y, cv=3, scoring=scoring, sample_weight=table.weight)
        return {"scores": plain(result["test_score"])}

    return ask


def _metrics(table: Table) -> Answer:
    """Figures and intervals of predictions that certifit did not make."""
    X = table.X.toarray() if scipy.sparse.issparse(table.X) else np.asarray(table.X, dtype=float)
    score = X[:, 0] / max(np.abs(X[:, 0]).max(), 1e-300)
    if table.task == "numbers":
        figures = [r2_score(table.y, score, sample_weight=table.weight)]
    else:
        figures = [f(table.y, 1 / (1 + np.exp(-score)), sample_weight=table.weight) for f in (roc_auc_score, log_loss)]
    return {f"{i}": plain([float(f), *f.interval(0.95)[:2]]) for i, f in enumerate(figures)}


NUMBERS, CLASSES = ("numbers",), ("two", "many")


def _linear() -> Iterator[Question]:
    for model in (
        *(LinearRegression(), LinearRegression(fit_intercept=False), LinearRegression(positive=True)),
        *(Ridge(), Ridge(alpha=1e-3, fit_intercept=False), Ridge(positive=True), Ridge(alpha=100.0)),
    ):
        yield Question(repr(model), ("numbers", "targets"), _fit(model))
    for model in (
        *(Lasso(alpha=0.1), Lasso(alpha=0.01, tol=1e-10), Lasso(alpha=0.1, positive=True), Lasso(fit_intercept=False)),
        *(ElasticNet(alpha=0.1), ElasticNet(alpha=0.01, l1_ratio=0.9, tol=1e-10)),
    ):
        yield Question(repr(model), ("numbers", "targets"), _fit(model))
    yield Question("BayesianLinearRegression()", NUMBERS, _fit(BayesianLinearRegression()))
    yield Question(
        "BayesianLinearRegression(given)",
        NUMBERS,
        _fit(BayesianLinearRegression(noise_precision=4.0, weight_precision=0.5)),
    )
    for model in (
        *(LogisticRegression(), LogisticRegression(C=0.1, tol=1e-10), LogisticRegression(C=np.inf)),
        *(LogisticRegression(l1_ratio=1.0, C=0.5, solver="auto"), LogisticRegression(l1_ratio=0.5, C=0.5)),
        *(LogisticRegression(class_weight="balanced"), LogisticRegression(fit_intercept=False)),
        *(Perceptron(), AveragedPerceptron(random_state=0), VotedPerceptron(random_state=0)),
        *(RandomLinearClassifier(200, random_state=0), OneVsRest(LogisticRegression())),
    ):
        yield Question(repr(model), CLASSES, _fit(model))
    for family in ("poisson", Tweedie(1.5), NegativeBinomial(0.7)):
        for alpha in (0.0, 0.1):
            yield Question(f"GLM({family!r}, alpha={alpha})", ("counts",), _fit(GLM(family, alpha=alpha)))
    yield Question("GLM(poisson, l1)", ("counts",), _fit(GLM("poisson", alpha=0.05, l1_ratio=1.0)))
    yield Question("GLM(gaussian)", NUMBERS, _fit(GLM("gaussian")))
    yield Question("GLM(binomial, probit)", ("two",), _fit(GLM("binomial", "probit", alpha=0.01)))


_ODD = ("tall", "wide", "rank-deficient", "unlike-scales", "weighted", "sparse", "exact-line")
_ODD += ("overlapping", "separable", "touching", "wide-classes", "weighted-classes", "huge-classes", "sparse-classes")
_ODD += ("counts", "counts-weighted")


def _grammar() -> Iterator[Question]:
    """`LinearModel`: every loss with every regularizer that it can be paired with, and the solvers by name."""
    for loss in ("squared", "absolute"):
        for regularizer in ("l2", "l1", "elastic", "none", "non_negative", "p_norm"):
            model = LinearModel(loss, regularizer, lam=0.05, max_iter=_STEPS)
            yield Question(f"LinearModel({loss}, {regularizer})", NUMBERS, _fit(model), _ODD)
    for loss in ("logistic", "hinge", "squared_hinge", "exponential", "perceptron"):
        for regularizer in ("l2", "l1", "none"):
            model = LinearModel(loss, regularizer, lam=0.05, max_iter=_STEPS)
            yield Question(f"LinearModel({loss}, {regularizer})", ("two",), _fit(model), _ODD)
    for loss, regularizer in (("poisson", "l2"), ("poisson", "l1"), ("poisson", "none")):
        yield Question(
            f"LinearModel({loss}, {regularizer})", ("counts",), _fit(LinearModel(loss, regularizer, 0.05)), _ODD
        )
    for solver in ("closed_form", "coordinate", "newton", "interior_point", "proximal", "splitting"):
        model = LinearModel("squared", "l2" if solver != "coordinate" else "l1", 0.05, solver, max_iter=_STEPS)
        yield Question(f"LinearModel(squared, solver={solver})", NUMBERS, _fit(model), _ODD)
        model = LinearModel("logistic", "l2" if solver != "coordinate" else "l1", 0.05, solver, max_iter=_STEPS)
        yield Question(f"LinearModel(logistic, solver={solver})", ("two",), _fit(model), _ODD)
    for solver in ("gradient_descent", "sgd"):
        model = LinearModel("logistic", "l2", 0.05, solver, max_iter=20, random_state=0)
        yield Question(f"LinearModel(logistic, solver={solver})", ("two",), _fit(model), _ODD)


def _machines() -> Iterator[Question]:
    for model in (
        *(LinearSVC(), LinearSVC(loss="hinge", tol=1e-8), LinearSVC(C=0.1, class_weight="balanced")),
        *(
            SVC(),
            SVC(kernel="linear", tol=1e-6, max_iter=20_000),
            SVC(kernel="poly", degree=2),
            SVC(class_weight="balanced"),
        ),
        *(HardMarginSVC(), HardMarginSVC(kernel="rbf"), KernelPerceptron(max_iter=20)),
        PegasosSVC(alpha=0.01, max_iter=20, random_state=0),
    ):
        yield Question(repr(model), CLASSES, _fit(model))
    for model in (KernelRidge(), KernelRidge(alpha=0.1, kernel="rbf"), KernelRidge(kernel="polynomial", degree=2)):
        yield Question(repr(model), ("numbers", "targets"), _fit(model))


def _counting() -> Iterator[Question]:
    trees = (
        *({}, {"max_depth": 3}, {"max_leaf_nodes": 6}, {"pruning": "cv", "cv": 4}, {"ccp_alpha": 0.02}),
        *({"min_samples_leaf": 5}, {"pruning": "reduced-error", "random_state": 0}),
    )
    for options in trees:
        tree = DecisionTreeClassifier(**options)
        yield Question(repr(tree), (*CLASSES, "codes", "mixed"), _fit(tree))
        yield Question(
            repr(DecisionTreeRegressor(**options)), ("numbers", "targets"), _fit(DecisionTreeRegressor(**options))
        )
    yield Question("tree, entropy", CLASSES, _fit(DecisionTreeClassifier(criterion="entropy", max_depth=4)))
    for options in ({}, {"n_neighbors": 3, "weights": "distance"}, {"p": 1}, {"n_neighbors": 1}):
        near = KNeighborsClassifier(**options)
        yield Question(repr(near), (*CLASSES, "codes"), _fit(near))
        yield Question(
            repr(KNeighborsRegressor(**options)), ("numbers", "targets"), _fit(KNeighborsRegressor(**options))
        )
    yield Question("GaussianNB()", (*CLASSES, "codes"), _fit(GaussianNB()))
    yield Question("MixedNB()", ("mixed",), _fit(MixedNB()))
    for bayes in (BernoulliNB(binarize=1.0), MultinomialNB(alpha=0.5), CategoricalNB(min_categories=5)):
        yield Question(repr(bayes), ("codes",), _fit(bayes))


def _features() -> Iterator[Question]:
    for model in (PCA(), PCA(n_components=2), PCA(n_components=0.8), Standardizer(), PolynomialBasis(2), PadOnes()):
        yield Question(repr(model), (*NUMBERS, *CLASSES), _unweighted(model))
    for model in (CorrelationFilter(2), ColumnTransforms("square")):
        yield Question(repr(model), (*NUMBERS,), _unweighted(model))
    for model in (OneHot(), Thermometer(), Factored()):
        yield Question(repr(model), ("codes",), _unweighted(model))
    for reducer in (CondensedNeighbors(), EditedNeighbors()):
        yield Question(repr(reducer), CLASSES, _unweighted(reducer))


def _unweighted(model: Any) -> Callable[[Table], Answer]:
    return lambda t: fitted(clone(model), Table(t.name, t.task, t.X, t.y))


def _searches() -> Iterator[Question]:
    few = [0.01, 0.1, 1.0, 10.0]
    grids: list[tuple[Any, dict[str, Any], tuple[str, ...]]] = [
        (Ridge(), {"alpha": few}, ("numbers", "targets")),
        (Lasso(), {"alpha": few}, NUMBERS),
        (ElasticNet(), {"alpha": few, "l1_ratio": [0.2, 0.8]}, NUMBERS),
        (KernelRidge(kernel="rbf"), {"alpha": few, "gamma": [0.1, 1.0]}, NUMBERS),
        (KNeighborsRegressor(), {"n_neighbors": [1, 3, 7]}, NUMBERS),
        (DecisionTreeRegressor(), {"max_depth": [1, 2, 4]}, NUMBERS),
        (make_pipeline(PCA(), Ridge()), {"pca__n_components": [1], "ridge__alpha": few}, NUMBERS),
        (GLM("poisson"), {"alpha": few}, ("counts",)),
        (LogisticRegression(), {"C": few}, CLASSES),
        (LogisticRegression(l1_ratio=1.0), {"C": few}, ("two",)),
        (LinearSVC(), {"C": few}, CLASSES),
        (SVC(max_iter=20_000), {"C": few, "gamma": [0.1, 1.0]}, CLASSES),
        (KNeighborsClassifier(), {"n_neighbors": [1, 3, 7], "weights": ["uniform", "distance"]}, CLASSES),
        (DecisionTreeClassifier(), {"ccp_alpha": [0.0, 0.01, 0.05]}, CLASSES),
        (GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.1]}, CLASSES),
        (CategoricalNB(min_categories=5), {"alpha": few}, ("codes",)),
        (make_pipeline(Standardizer(), LogisticRegression()), {"logisticregression__C": few}, CLASSES),
    ]
    for model, grid, tasks in grids:
        yield Question(f"Search({model!r})", tasks, _search(model, grid))
    for model, grid, tasks in (grids[0], grids[8], grids[13]):
        yield Question(f"Search({model!r}, one-se)", tasks, _search(model, grid, rule="one-se"))
    yield Question(
        "Search(logistic, log loss)", CLASSES, _search(LogisticRegression(), {"C": few}, scoring="neg_log_loss")
    )
    yield Question("cross_validate(Ridge)", NUMBERS, _cross(Ridge()))
    yield Question("cross_validate(GaussianNB, log loss)", CLASSES, _cross(GaussianNB(), "neg_log_loss"))


def _judged() -> Iterator[Question]:
    theirs = sklearn.linear_model
    for model in (theirs.LinearRegression(), theirs.Ridge(), theirs.Lasso(0.05), theirs.ElasticNet(0.05)):
        yield Question(f"certify({model!r})", NUMBERS, _certify(model))
    for model in (theirs.MultiTaskLasso(0.1), theirs.Ridge()):
        yield Question(f"certify({model!r}, targets)", ("targets",), _certify(model))
    for model in (theirs.PoissonRegressor(alpha=0.1), theirs.TweedieRegressor(power=1.5, link="log")):
        yield Question(f"certify({model!r})", ("counts",), _certify(model))
    for model in (
        *(theirs.LogisticRegression(), theirs.LogisticRegression(C=1e6, max_iter=500), theirs.Perceptron()),
        *(
            sklearn.svm.SVC(max_iter=10_000),
            sklearn.svm.SVC(kernel="linear", max_iter=10_000),
            sklearn.svm.LinearSVC(random_state=0),
            sklearn.svm.LinearSVC(loss="hinge", random_state=0),
        ),
    ):
        yield Question(f"certify({model!r})", CLASSES, _certify(model))
    yield Question(
        "certify(LinearSVC, true)", ("two",), _certify(sklearn.svm.LinearSVC(random_state=0), objective="true")
    )
    yield Question("certify(KernelRidge)", NUMBERS, _certify(TheirKernelRidge(kernel="rbf")))


def questions() -> list[Question]:
    """Everything that is asked, in a fixed order."""
    parts = (_linear(), _grammar(), _machines(), _counting(), _features(), _searches(), _judged())
    return [
        *(q for part in parts for q in part),
        Question("separability", CLASSES, _separability),
        Question("metrics", ("numbers", "two"), _metrics),
    ]
