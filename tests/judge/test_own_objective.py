"""A model is judged by its own objective whatever its options, or not at all; and data must fit the model."""

import numpy as np
import pytest
import sklearn.linear_model as sk
import sklearn.svm
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certifit as cf
from certifit.exceptions import UnknownModelError

RNG = np.random.default_rng(1)
X = RNG.normal(size=(80, 3))
LABELS = np.where(X[:, 0] + RNG.normal(size=80) > 0.5, "yes", "no")
THREE = RNG.integers(0, 3, 80)
WEIGHTS = RNG.integers(0, 4, 80).astype(float)
SLOW = {"max_iter": 3000, "tol": None, "average": True, "random_state": 0}


@pytest.mark.parametrize("class_weight", [None, "balanced", {"no": 2.0, "yes": 0.5}])
@pytest.mark.parametrize("weights", [None, WEIGHTS, 7 * WEIGHTS], ids=["plain", "weighted", "sevenfold"])
@pytest.mark.parametrize(
    "model",
    [
        sk.LogisticRegression(tol=1e-10, max_iter=10_000),
        sk.LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000),
        sk.LogisticRegression(solver="liblinear", intercept_scaling=3.0, tol=1e-10, max_iter=100_000),
        sk.LogisticRegression(solver="liblinear", l1_ratio=1.0, tol=1e-10, max_iter=100_000),
        sk.SGDClassifier("log_loss", alpha=0.05, **SLOW),
        sk.SGDClassifier("hinge", alpha=0.05, **SLOW),
        sklearn.svm.LinearSVC(tol=1e-9, max_iter=100_000),
        sklearn.svm.SVC(tol=1e-9),
    ],
    ids=lambda m: f"{type(m).__name__}-{getattr(m, 'solver', getattr(m, 'loss', ''))}",
)
def test_a_converged_classifier_has_a_small_gap_under_any_weights(model, weights, class_weight):
    model.set_params(class_weight=class_weight).fit(X, LABELS, sample_weight=weights)
    c = cf.certify(model, X, LABELS, weights)
    assert c.verify(X, LABELS, weights).holds
    assert c.relative_gap < (0.06 if isinstance(model, sk.SGDClassifier) else 1e-6)


@pytest.mark.parametrize("weights", [None, WEIGHTS, 7 * WEIGHTS], ids=["plain", "weighted", "sevenfold"])
def test_a_converged_regression_by_gradient_descent_has_a_small_gap_under_any_weights(weights):
    y = X @ [1.0, 2.0, 3.0]
    c = cf.certify(sk.SGDRegressor(alpha=0.1, eta0=0.001, **SLOW).fit(X, y, sample_weight=weights), X, y, weights)
    assert c.relative_gap < 3e-3


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_a_search_over_penalties_is_judged_by_what_it_chose(ratio):
    options = {"l1_ratios": (ratio,), "use_legacy_attributes": False, "solver": "saga", "scoring": "accuracy"}
    model = sk.LogisticRegressionCV(Cs=3, tol=1e-9, max_iter=100_000, **options).fit(X, LABELS)
    assert cf.certify(model, X, LABELS).relative_gap < 1e-9


def test_pipelines_and_searches_are_judged_on_the_rows_their_last_step_sees():
    pipe = make_pipeline(StandardScaler(), sk.LogisticRegression(tol=1e-10))
    search = GridSearchCV(pipe, {"logisticregression__C": [0.1, 10.0]})
    for model in (pipe, search, make_pipeline(StandardScaler(), search), make_pipeline(sk.LogisticRegression())):
        inner = model.fit(X, LABELS)
        c = cf.certify(inner, X, LABELS)
        assert c.holds
        assert c.relative_gap < 1e-6
    c = cf.certify(pipe, X, LABELS)
    assert c.verify(pipe[:-1].transform(X), LABELS).holds
    assert not c.verify(X, LABELS).same_data
    with pytest.raises(ValueError, match="refit=True"):
        cf.certify(GridSearchCV(pipe, {"logisticregression__C": [0.1]}, refit=False).fit(X, LABELS), X, LABELS)


def test_a_model_with_another_objective_than_its_ancestor_is_not_judged():
    derived = type("GroupLasso", (sk.Lasso,), {"__module__": "sklearn.linear_model._group"})
    y = X @ RNG.normal(size=3)
    with pytest.raises(UnknownModelError, match="does not know the objective of GroupLasso"):
        cf.certify(derived().fit(X, y), X, y)
    with pytest.raises(UnknownModelError, match="penalty='l2', not penalty='l1'"):
        cf.certify(sklearn.svm.LinearSVC(penalty="l1").fit(X, THREE), X, THREE)


@pytest.mark.parametrize(
    "option",
    [{"link": "identity"}, {"P2": np.ones(3)}, {"lower_bounds": np.zeros(3)}, {"scale_predictors": True}],
    ids=str,
)
def test_options_of_glum_that_change_the_objective_are_named(option):
    glum = pytest.importorskip("glum")
    y = np.exp(X[:, 0]) + 3.0
    model = glum.GeneralizedLinearRegressor(family="poisson", alpha=0.1, **option).fit(X, y)
    with pytest.raises(UnknownModelError, match=next(iter(option))):
        cf.certify(model, X, y)


def test_the_verdict_is_about_the_data_given():
    other = X[::-1] * 2.0
    model = sk.LogisticRegression(tol=1e-10).fit(X, LABELS)
    c = cf.certify(model, other, LABELS)
    best = cf.certify(sk.LogisticRegression(tol=1e-10).fit(other, LABELS), other, LABELS)
    assert c.verify(other, LABELS).holds
    assert c.value - best.value == pytest.approx(c.gap, abs=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: (m, X[:, :2], LABELS), "fitted to 3 columns, and X has 2"),
        (lambda m: (m, X, THREE), "y holds the label"),
        (lambda m: (m, X, np.full(80, "no")), "one class only"),
        (lambda m: (m, X, LABELS[:-1]), "each of the 80 rows"),
        (lambda m: (m, X, LABELS, WEIGHTS[1:]), "each of the 80 rows"),
        (lambda m: (m, X, LABELS, -WEIGHTS), "must not be negative"),
        (lambda m: (m, X, LABELS, 0 * WEIGHTS), "nor zero for every row"),
        (lambda m: (m, np.where(X > 2, np.nan, X), LABELS), "X contains NaN"),
        (lambda m: (m, X[:, 0], LABELS), "two dimensions"),
        (lambda m: (m, X, None), "one value for each"),
        (lambda m: (m, np.full((80, 3), "word"), LABELS), "table of numbers"),
        (lambda m: (type(m)(), X, LABELS), "not fitted"),
    ],
)
@pytest.mark.parametrize("make", [sk.LogisticRegression, sk.Perceptron, sklearn.svm.LinearSVC, sklearn.svm.SVC])
def test_data_that_cannot_be_the_models_get_one_sentence(make, change, words):
    with pytest.raises((ValueError, NotFittedError), match=words):
        cf.certify(*change(make().fit(X, LABELS)))
