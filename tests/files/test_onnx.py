"""ONNX graphs against the models they come from: labels equal on every row, numbers to many digits."""

from __future__ import annotations

import importlib

import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
from sklearn.base import BaseEstimator, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import certifit
from certifit import linear_model
from certifit.bayes import BayesianLinearRegression, Powers
from certifit.decomposition import PCA
from certifit.files import Column, ExportError, Schema, TableModel, Target
from certifit.glm import GLM, GammaRegressor, PoissonRegressor, TweedieRegressor
from certifit.kernel_ridge import KernelRidge
from certifit.kernels import RBF, Function, Linear, Polynomial
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
from certifit.multiclass import OneVsRest
from certifit.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MixedNB, MultinomialNB
from certifit.neighbors import CondensedNeighbors, EditedNeighbors, KNeighborsClassifier, KNeighborsRegressor
from certifit.preprocessing import (
    AdditiveBasis,
    ColumnTransforms,
    CorrelationFilter,
    PadOnes,
    PolynomialBasis,
    Standardizer,
)
from certifit.study import fit as fit_table
from certifit.study._baseline import ConstantClassifier, ConstantRegressor
from certifit.svm import SVC, SVR, HardMarginSVC, KernelPerceptron, LinearSVC, LinearSVR, NuSVC, NuSVR, PegasosSVC
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor

onnxruntime = pytest.importorskip("onnxruntime")

TABLES = {
    "iris": load_iris(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "digits": load_digits(return_X_y=True),
}


def run(model, X, input_type="float64"):
    graph = certifit.to_onnx(model, input_type=input_type)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = X if isinstance(X, dict) else {"X": np.asarray(X, dtype=input_type)}
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))


def agree(model, X, feed=None, given=None):
    """Labels equal on all rows, probabilities to 1e-9, scores to 1e-9 of their size, values to 1e-9."""
    out, given = run(model, X if feed is None else feed), X if given is None else given
    if "value" in out:
        ours = model.predict(given)
        assert out["value"].shape == ours.shape
        np.testing.assert_allclose(out["value"], ours, rtol=1e-9, atol=1e-10 * np.abs(ours).max())
        return out
    labels = model.predict(given)
    assert out["label"].shape == labels.shape
    np.testing.assert_array_equal(out["label"], labels)
    assert ("probabilities" in out) == hasattr(model, "predict_proba")
    if "probabilities" in out:
        np.testing.assert_allclose(out["probabilities"], model.predict_proba(given), rtol=0, atol=1e-9)
    if "scores" in out and not isinstance(model, TableModel):
        ours = model.decision_function(given)
        assert out["scores"].shape == ours.shape
        np.testing.assert_allclose(out["scores"], ours, rtol=1e-9, atol=1e-9 * np.abs(ours).max())
    return out


CLASSIFIERS = {
    "logistic": LogisticRegression(),
    "logistic, costs": LogisticRegression(costs=(1.0, 3.0)),
    "one against rest": OneVsRest(LogisticRegression()),
    "one against rest of machines": OneVsRest(SVC()),
    "perceptron": Perceptron(max_iter=50),
    "averaged perceptron": AveragedPerceptron(),
    "voted perceptron": VotedPerceptron(max_iter=3),
    "random": RandomLinearClassifier(n_candidates=50, random_state=0),
    "linear machine": make_pipeline(StandardScaler(), LinearSVC()),
    "stochastic machine": make_pipeline(StandardScaler(), PegasosSVC(max_iter=5, random_state=0)),
    "kernel perceptron": make_pipeline(StandardScaler(), KernelPerceptron(max_iter=5)),
    "rbf": SVC(),
    "nu machine": make_pipeline(StandardScaler(), NuSVC(nu=0.2)),
    "linear kernel": make_pipeline(MinMaxScaler(), SVC(kernel="linear", decision_function_shape="ovo")),
    "cubic": make_pipeline(StandardScaler(), SVC(kernel="poly", coef0=1.0, break_ties=True)),
    "sigmoid": make_pipeline(StandardScaler(), SVC(kernel="sigmoid", gamma=0.01)),
    "tree": DecisionTreeClassifier(),
    "pruned tree": DecisionTreeClassifier(ccp_alpha=0.02),
    "class frequencies": ConstantClassifier(),
    "gaussian": GaussianNB(),
    "mixed, all numbers": MixedNB(),
    "bernoulli": BernoulliNB(binarize=2.0),
    "multinomial": MultinomialNB(),
    "neighbours": KNeighborsClassifier(),
    "neighbours by distance": KNeighborsClassifier(7, weights="distance"),
}
# Estimators with conditions of their own: two classes, classes that can be parted, integers.
HALVES = {
    "hard margin": HardMarginSVC(kernel="rbf", gamma=1.0),
    "logistic loss": LinearModel("logistic", "l2", lam=0.1),
    "hinge loss": LinearModel("hinge", "l2", lam=0.1),
    "exponential loss": LinearModel("exponential", "l2", lam=0.1),
}
SLOW_ON_DIGITS = ("one against rest", "logistic, costs", "one against rest of machines", "linear machine")


@pytest.mark.filterwarnings("ignore::certifit.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("table", ["iris", "breast cancer", "wine", "digits"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_give_our_labels_on_every_row(name, table):
    X, y = TABLES[table]
    if table == "digits" and name in SLOW_ON_DIGITS:
        X, y = X[:300], y[:300]
    agree(CLASSIFIERS[name].fit(X, y), X)


@pytest.mark.parametrize("table", ["iris", "breast cancer", "wine"])
@pytest.mark.parametrize("name", HALVES)
def test_classifiers_of_two_classes(name, table):
    X, y = TABLES[table]
    labels = np.where(y == 0, "first", "other")
    out = agree(make_pipeline(StandardScaler(), HALVES[name]).fit(X, labels), X)
    assert set(out["label"]) == {"first", "other"}


@pytest.mark.parametrize("table", ["iris", "breast cancer", "wine"])
def test_categories_as_numbers(table):
    X, y = TABLES[table]
    levels = np.minimum(4, np.floor(5 * (X - X.min(axis=0)) / np.ptp(X, axis=0)))
    half = MixedNB(categorical=list(range(levels.shape[1] // 2)))
    for model in (CategoricalNB(), CategoricalNB(alpha=0.0, force_alpha=True), half):
        agree(model.fit(levels, y), levels)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("table", ["iris", "breast cancer", "wine"])
def test_calibrated_machines(table, k):
    X, y = TABLES[table]
    X, y = X[y < k], y[y < k]
    agree(make_pipeline(StandardScaler(), SVC(probability=True)).fit(X, y), X)


KERNELS = {
    "sum": Linear() + 0.5 * RBF(gamma=0.1),
    "product": Polynomial(degree=2) * RBF(gamma=0.1),
    "normalised": (Polynomial(degree=3) + RBF(gamma=0.2)).normalized() + Linear().normalized(),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_made_of_kernels(name):
    X, y = TABLES["iris"]
    agree(SVC(kernel=KERNELS[name]).fit(X, y), X)
    agree(HardMarginSVC(kernel=KERNELS[name]).fit(X[y < 2], y[y < 2]), X[y < 2])


VALUES = load_diabetes(return_X_y=True)
RAW_X, RAW_Y = load_diabetes(return_X_y=True, scaled=False)
MEASURED = TABLES["wine"][0]
REGRESSORS = {
    "mean": ConstantRegressor(),
    "least squares": LinearRegression(),
    "ridge": Ridge(),
    "support vectors": SVR(),
    "support vectors by nu": NuSVR(nu=0.3),
    "linear support vectors": make_pipeline(StandardScaler(), LinearSVR()),
    "lasso": Lasso(alpha=0.1),
    "elastic net": ElasticNet(alpha=0.1),
    "absolute errors": LinearModel(loss="absolute"),
    "Bayesian": BayesianLinearRegression(),
    "kernel ridge": KernelRidge(kernel="rbf", gamma=1.0),
    "tree": DecisionTreeRegressor(),
    "absolute tree": DecisionTreeRegressor(criterion="absolute_error", max_depth=4),
    "stump without a split": DecisionTreeRegressor(min_samples_leaf=1000),
    "neighbours": KNeighborsRegressor(),
    "neighbours by distance": KNeighborsRegressor(3, weights="distance", metric="manhattan"),
    "all neighbours": KNeighborsRegressor(None, weights="gaussian", bandwidth=0.1),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_give_our_values(name):
    tables = [VALUES, (RAW_X, RAW_Y), (MEASURED[:, 1:], MEASURED[:, 0])]
    for X, y in tables:
        agree(make_pipeline(StandardScaler(), REGRESSORS[name]).fit(X, y), X)


def test_several_targets():
    X, Y = StandardScaler().fit_transform(MEASURED[:, 3:]), MEASURED[:, :3]
    for model in (LinearRegression(), Ridge(), KNeighborsRegressor(4), KernelRidge(kernel="poly", degree=2)):
        assert agree(model.fit(X, Y), X)["value"].shape == Y.shape


@pytest.mark.parametrize(
    ("family", "link"),
    [
        ("gaussian", "identity"),
        ("poisson", "log"),
        ("gamma", "log"),
        ("gamma", "inverse"),
        ("inverse_gaussian", "inverse_squared"),
    ],
)
def test_glm_means(family, link):
    rng = np.random.default_rng(1)
    for table in ("iris", "breast cancer", "wine"):
        X = MinMaxScaler().fit_transform(TABLES[table][0][:, :3])
        y = np.round(np.exp(X @ [0.5, 0.4, 0.1] + 0.5) * rng.gamma(5.0, 0.2, len(X)), 2) + 0.5
        agree(GLM(family=family, link=link).fit(X, y), X)


POSITIVE = [PoissonRegressor(), GammaRegressor(), TweedieRegressor(power=1.5)]


@pytest.mark.parametrize("model", POSITIVE, ids=lambda m: type(m).__name__)
def test_glm_under_scikit_learns_names(model):
    X = MinMaxScaler().fit_transform(TABLES["wine"][0][:, :3])
    agree(model.fit(X, np.exp(X @ [0.5, 0.4, 0.1]).round(1)), X)


CHOSEN = [
    linear_model.RidgeCV(), linear_model.LassoCV(cv=3), linear_model.ElasticNetCV(cv=3), linear_model.BayesianRidge(),
    linear_model.SGDRegressor(random_state=0), linear_model.MultiTaskLasso(0.01), linear_model.MultiTaskElasticNet(0.01),
    linear_model.MultiTaskLassoCV(cv=3), linear_model.MultiTaskElasticNetCV(cv=3),
    linear_model.LogisticRegressionCV(Cs=3, cv=3, l1_ratios=(0,), use_legacy_attributes=False, scoring="neg_log_loss"),
    linear_model.RidgeClassifier(), linear_model.RidgeClassifierCV(), linear_model.SGDClassifier(random_state=0),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::certifit.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", CHOSEN, ids=lambda m: type(m).__name__)
def test_linear_models_under_scikit_learns_names(model):
    X = StandardScaler().fit_transform(TABLES["wine"][0][:, :4])
    y = TABLES["wine"][1] if is_classifier(model) else X @ [1.0, -2.0, 0.5, 0.0] + 0.1 * X[:, 1] ** 2
    if type(model).__name__.startswith("MultiTask"):
        y = np.column_stack([y, X[:, 0] - y])
    agree(model.fit(X, y), X)


@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_glm_shares_also_where_they_are_tiny(link):
    X, y = TABLES["breast cancer"]
    X = StandardScaler().fit_transform(X[:, :3])
    model = GLM(family="binomial", link=link, alpha=0.1).fit(X, y)
    agree(model, X)
    far = np.vstack([X - 20.0, X, X + 20.0])
    np.testing.assert_allclose(run(model, far)["value"], model.predict(far), rtol=1e-9)


def test_words_truths_and_floats_as_labels():
    X, y = TABLES["iris"]
    for names in (
        np.array(["setosa", "ver", "vir"]),
        np.array(["a", "b", "c"], dtype=object),
        np.array([3.0, 4.0, 9.0]),
    ):
        for model in (LogisticRegression(), GaussianNB(), DecisionTreeClassifier(), KNeighborsClassifier(), SVC()):
            out = agree(model.fit(X, names[y]), X)
            assert out["label"].dtype.kind == ("f" if names.dtype.kind == "f" else "O")
    assert agree(Perceptron().fit(X, y > 0), X)["label"].dtype == bool


def test_the_threshold_is_ours():
    X, y = TABLES["breast cancer"]
    model = LogisticRegression(threshold=0.9).fit(X, y)
    out = agree(model, X)
    assert np.any(out["label"] != (out["probabilities"][:, 1] > 0.5))


# -- neighbours: the order is exact ------------------------------------------------------------------
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("weights", ["uniform", "distance", "gaussian"])
def test_neighbours_on_lattices_of_tenths(metric, weights):
    """Tenths are not floats: distances that look equal differ in the 17th digit, and certifit tells them apart."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 8, size=(300, 3)) / 10.0
    Q = rng.integers(0, 16, size=(200, 3)) / 20.0
    y = rng.integers(0, 4, 300)
    for extra in ({}, {"feature_weights": [0.3, 1.0, 0.7]}):
        model = KNeighborsClassifier(4, metric=metric, weights=weights, **extra).fit(X, y)
        # Weighted votes of two classes may agree to the last digit here; which of them is larger is then rounding.
        top = np.sort(model.predict_proba(Q), axis=1)
        agree(model, Q if weights == "uniform" else Q[top[:, -1] - top[:, -2] > 1e-12])
        values = KNeighborsRegressor(1, metric=metric, **extra).fit(X, np.arange(300.0))
        np.testing.assert_array_equal(run(values, Q)["value"], values.predict(Q))


def test_far_from_zero_neighbours_keep_their_order():
    rng = np.random.default_rng(4)
    X, Q = 1e6 + rng.normal(size=(200, 3)), 1e6 + rng.normal(size=(100, 3))
    model = KNeighborsRegressor(1).fit(X, np.arange(200.0))
    np.testing.assert_array_equal(run(model, Q)["value"], model.predict(Q))


# -- trees: thresholds, gaps, categories -------------------------------------------------------------
def test_thresholds_are_doubles():
    X = np.array([[0.1], [np.nextafter(0.1, 1.0)]])
    tree = DecisionTreeClassifier().fit(X, [0, 1])
    agree(tree, np.array([[0.1], [np.nextafter(0.1, 1.0)], [np.nextafter(0.1, 0.0)]]))


@pytest.mark.parametrize("words", [True, False])
def test_trees_with_gaps_and_categories(words):
    rng = np.random.default_rng(5)
    n = 400
    size = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    place, kind = rng.integers(0, 70, n), rng.integers(0, 4, n)
    y = ((place % 3 == 0) ^ (kind > 1) ^ (np.nan_to_num(size, nan=1.0) > 0.3)).astype(int)
    if not words:
        X = np.column_stack([size, place * 10.0, kind])
        X[::17, 1] = np.nan
        new = np.vstack([X, [[0.1, 5.0, 2.0]]])  # 5 is no category
        for model in (DecisionTreeClassifier, DecisionTreeRegressor):
            agree(model(categorical_features=[1, 2], max_depth=9).fit(X, y), new)
        return
    frame = pd.DataFrame({"size": size, "place": [f"p{p}" for p in place], "kind": pd.Categorical(kind)})
    tree = DecisionTreeClassifier(categorical_features="from_dtype").fit(frame, y)
    new = pd.concat([frame, frame.iloc[:3].assign(place="elsewhere")])
    feed = {name: new[[name]].to_numpy(dtype=object if name == "place" else float) for name in new}
    agree(tree, new, feed)
    agree(make_pipeline(tree), new, feed)


def test_gaps_alone():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 4))
    X[rng.random(X.shape) < 0.3] = np.nan
    y = np.isnan(X[:, 0]) ^ (np.nan_to_num(X[:, 1]) > 0)
    agree(DecisionTreeClassifier().fit(X, y), X)
    agree(DecisionTreeRegressor(max_depth=5).fit(X, y.astype(float)), X)


# -- naive Bayes without smoothing --------------------------------------------------------------------
def test_impossible_features():
    X = np.array([[1, 0, 2], [2, 0, 1], [0, 1, 3], [0, 2, 1], [1, 1, 1]])
    y = np.array(["a", "a", "b", "b", "c"])
    agree(MultinomialNB(alpha=0.0).fit(X, y), X)
    agree(BernoulliNB(alpha=0.0).fit(X, y), X)
    agree(BernoulliNB(binarize=None).fit(X > 0, y), X > 0)


# -- preprocessing -----------------------------------------------------------------------------------
STEPS = {
    "standard": StandardScaler(),
    "centred only": StandardScaler(with_std=False),
    "range": MinMaxScaler(clip=True),
    "largest": MaxAbsScaler(),
    "quartiles": RobustScaler(),
    "squares": PolynomialFeatures(2),
    "products": PolynomialFeatures(3, interaction_only=True, include_bias=False),
    "best": SelectKBest(k=3),
    "components": PCA(3),
    "whitened": PCA(2, whiten=True),
    "components of scikit-learn": sklearn.decomposition.PCA(2, whiten=True),
    "as it is": "passthrough",
    "a pipeline": make_pipeline(RobustScaler(), PCA(2)),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps(name):
    X, y = TABLES["iris"]
    agree(make_pipeline(STEPS[name], LogisticRegression()).fit(X, y), X)
    agree(make_pipeline(StandardScaler(), STEPS[name], Ridge()).fit(X, y), X)


def test_one_column_keeps_its_double_precision():
    """onnxruntime would fold a single factor into the product beside it, in single precision."""
    X, y = TABLES["wine"][0][:, :1], TABLES["wine"][0][:, 1]
    steps = ([StandardScaler()], [MaxAbsScaler()], [PCA(1, whiten=True)], [PCA(1), MaxAbsScaler()], [RobustScaler()])
    for step in steps:
        agree(make_pipeline(*step, LinearRegression()).fit(X, y), X)
        agree(make_pipeline(*step, KernelRidge(kernel=0.3 * Linear() + Polynomial(degree=2, gamma=0.7))).fit(X, y), X)


def test_our_own_steps():
    X, y = TABLES["wine"]
    steps = [Standardizer(ddof=1), PolynomialBasis(2), PadOnes(), CorrelationFilter(5), AdditiveBasis(6, pairs=4)]
    for step in (*steps, ColumnTransforms({0: ["log", "sqrt"], 1: "square", 2: ["exp", "reciprocal", "abs"]})):
        agree(make_pipeline(step, Standardizer(), Ridge()).fit(X, y), X)
    with pytest.raises(ExportError, match="transform 'asinh' cannot be exported"):
        certifit.to_onnx(make_pipeline(ColumnTransforms("asinh"), Ridge()).fit(X, y))


def test_filling_gaps():
    X, y = TABLES["iris"]
    X = X.copy()
    X[::7, 1] = np.nan
    for strategy in ("mean", "median", "most_frequent"):
        agree(make_pipeline(SimpleImputer(strategy=strategy), LogisticRegression()).fit(X, y), X)
    with pytest.raises(ExportError, match="no indicator"):
        certifit.to_onnx(make_pipeline(SimpleImputer(add_indicator=True), LogisticRegression()).fit(X, y))


def study_table(n=300):
    rng = np.random.default_rng(7)
    colour = rng.choice(["red", "green", "blue", ""], n)
    age = np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 10, n))
    member = rng.random(n) < 0.5
    odds = (colour == "red") + 0.1 * (np.nan_to_num(age, nan=60.0) - 50) + member
    return {
        "age": age,
        "colour": colour,
        "member": member,
        "result": np.where(odds + rng.logistic(size=n) > 0.5, "ill", "well"),
        "score": odds + 0.1 * rng.normal(size=n),
    }


@pytest.mark.parametrize(
    "name", ["logistic regression", "decision tree", "nearest neighbours", "naive Bayes", "baseline"]
)
def test_a_study_with_its_table(name):
    table = study_table()
    model = fit_table(table, "result", name, drop=["score"])
    rows = {k: v for k, v in table.items() if k not in ("result", "score")}
    rows["colour"] = np.where(np.arange(300) % 11 == 0, "violet", rows["colour"])
    feed = {k: np.asarray(v, dtype=object if k == "colour" else float)[:, None] for k, v in rows.items()}
    agree(model, rows, feed)


def test_a_study_of_values():
    table = study_table()
    model = fit_table(table, "score", "ridge", drop=["result"])
    feed = {k: np.asarray(table[k], dtype=object if k == "colour" else float)[:, None] for k in model.schema.names}
    agree(model, table, feed)


# -- files, types, refusals ----------------------------------------------------------------------------
def test_single_precision_comes_in_widened(tmp_path):
    X, y = TABLES["breast cancer"]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    narrow = X.astype(np.float32)
    out = run(model, narrow, "float32")
    np.testing.assert_array_equal(out["label"], model.predict(narrow.astype(float)))
    path = tmp_path / "m.onnx"
    graph = certifit.to_onnx(model, path, input_type="float32")
    assert path.read_bytes() == graph.SerializeToString()
    assert graph.producer_name == "certifit"
    assert {p.key: p.value for p in graph.metadata_props}["model"] == "LogisticRegression"
    with pytest.raises(ExportError, match="'float64' or 'float32'"):
        certifit.to_onnx(model, input_type="int8")


def test_no_rows_and_one_row():
    X, y = TABLES["iris"]
    for model in (LogisticRegression(), DecisionTreeClassifier(), GaussianNB(), SVC(), KNeighborsClassifier()):
        model.fit(X, y)
        agree(model, X[:1])
        assert run(model, X[:0])["label"].shape == (0,)


def refusals():
    X, y = TABLES["iris"]
    words = np.where(X[:, :1] > 0, "high", "low").astype(object)
    yield MixedNB(categorical=[0]).fit(words, y), "MixedNB is exported to ONNX when its categories are numbers"
    yield EditedNeighbors().fit(X, y), "EditedNeighbors cannot be exported to ONNX; these can: "
    yield CondensedNeighbors().fit(X, y), "CondensedNeighbors cannot be exported to ONNX; these can: "
    yield BayesianLinearRegression(basis=Powers(2)).fit(X, y), "with a basis cannot be exported"
    yield SVC(kernel="precomputed").fit(X @ X.T, y), "SVC with a precomputed kernel cannot"
    yield SVC(kernel=Function(lambda A, B: A @ B.T)).fit(X, y), "SVC with a function as kernel cannot"
    yield make_pipeline(Normalizer(), Ridge()).fit(X, y), "step Normalizer cannot be exported to ONNX; these can: "
    yield KNeighborsClassifier(metric="cosine").fit(X + 1, y), "by the cosine distance cannot be exported"
    yield KNeighborsClassifier(weights=lambda d: 1 / (1 + d)).fit(X, y), "A function as weights cannot"
    yield KNeighborsClassifier().fit(X, np.column_stack([y, y])), "several outputs cannot be exported"
    yield GLM(family="binomial", link="probit", alpha=1.0).fit(X, y > 0), "link 'probit' cannot be exported"
    yield OneVsRest(LogisticRegression()), None
    yield "a word", "A fitted model is needed, not 'a word'"
    yield Ridge, "A fitted model is needed"


def test_refusals_in_one_sentence():
    for model, sentence in refusals():
        if sentence is None:
            with pytest.raises(NotFittedError):
                certifit.to_onnx(model)
            continue
        with pytest.raises(ExportError) as caught:
            certifit.to_onnx(model)
        assert sentence in str(caught.value)
        assert str(caught.value).count(". ") == 0


def test_every_estimator_is_exported_or_refused_by_name():
    """Nothing that predicts is left out of both lists, and everything claimed stands in the tests above."""
    from certifit.files._onnx._convert import exported

    here = [*CLASSIFIERS.values(), *HALVES.values(), *REGRESSORS.values(), GLM(), *POSITIVE, *CHOSEN, CategoricalNB()]
    tried = {type(m[-1] if hasattr(m, "steps") else m).__name__ for m in here}
    assert set(exported("predictor")) == tried
    refused = {"EditedNeighbors", "CondensedNeighbors", "KMeans"}
    refused |= {
        "ComplementNB",
        "NearestCentroid",
        "RadiusNeighborsClassifier",
        "RadiusNeighborsRegressor",
        "OneClassSVM",
    }
    refused |= {"LabelPropagation", "LabelSpreading", "SelfTrainingClassifier"}
    refused |= {"MLPClassifier", "MLPRegressor", "PerceptronNetwork"}
    for family in certifit._FAMILIES:
        module = importlib.import_module(f"certifit.{family}")
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, type) and issubclass(thing, BaseEstimator) and hasattr(thing, "predict"):
                assert name in tried | refused | {"Search", "GridSearchCV", "RandomizedSearchCV", "TableModel"}, name


def test_two_columns_of_one_name_are_refused():
    schema = Schema((Column("a", "number"), Column("a", "number")), Target("y", "regression"))
    model = TableModel(Ridge().fit([[0.0, 1.0], [1.0, 0.0]], [0.0, 1.0]), schema)
    with pytest.raises(ExportError, match="'a' is empty or occurs twice"):
        certifit.to_onnx(model)
