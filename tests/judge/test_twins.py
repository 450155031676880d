"""certify on scikit-learn's models of the same names as ours: each is proved, or refused in a sentence that says why."""

import warnings

import numpy as np
import pytest
import sklearn.isotonic
import sklearn.linear_model
import sklearn.multiclass
import sklearn.naive_bayes
import sklearn.neighbors
import sklearn.neural_network
import sklearn.semi_supervised
import sklearn.svm
from sklearn.base import is_regressor
from sklearn.utils import all_estimators

import certifit as cf
from certifit.exceptions import UnknownModelError
from certifit.families import FAMILIES
from certifit.multiclass import OneVsRest
from certifit.naive_bayes import CategoricalNB

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3))
NUMBERS = X @ [1.0, -2.0, 0.5] + 0.3 * RNG.normal(size=40) + 1.0
NAMES = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * RNG.normal(size=40), [-0.5, 0.5])]
CODES = RNG.integers(0, 4, size=(40, 3)).astype(float)
SOME = np.where(np.arange(40) % 3 == 0, (X[:, 0] > 0).astype(int), -1)
COUNTED = ("CategoricalNB", "ComplementNB", "MultinomialNB")
THEIRS = dict(all_estimators())
TWINS = sorted(m.name for f in FAMILIES for m in f.models if m.name in THEIRS and m.role == "predictor")
REFUSED = {"LabelSpreading": "normalised scores", "SelfTrainingClassifier": "labels that it gave itself"}


def made(name):
    inner = sklearn.linear_model.LogisticRegression()
    options = {"SelfTrainingClassifier": {"estimator": inner}, "OneVsRestClassifier": {"estimator": inner}}
    return THEIRS[name](**options.get(name, {"gamma": 0.3} if name == "LabelPropagation" else {}))


def table(model, name):
    if name.startswith("MultiTask"):
        return X, np.column_stack([NUMBERS, NUMBERS**2 / 10])
    if name in ("GammaRegressor", "PoissonRegressor"):
        return X, np.exp(NUMBERS / 4)
    if name in ("LabelPropagation", "LabelSpreading", "SelfTrainingClassifier"):
        return X, SOME
    if name in ("KMeans", "KernelDensity", "NearestNeighbors", "OneClassSVM"):
        return X, None
    return CODES if name in COUNTED else X, NUMBERS if is_regressor(model) else NAMES


@pytest.mark.parametrize("name", [*TWINS, "OneVsRestClassifier", "OneVsOneClassifier", "LassoLars", "LassoLarsCV"])
def test_a_twin_is_proved_or_refused_in_a_sentence(name):
    model = made(name) if name != "OneVsOneClassifier" else THEIRS[name](sklearn.svm.SVC())
    rows, y = table(model, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows) if y is None else model.fit(rows, y)
    if name in REFUSED:
        with pytest.raises(UnknownModelError, match=REFUSED[name]):
            cf.certify(model, rows, y)
        return
    certificate = cf.certify(model, rows, y)
    assert certificate.holds, certificate.failures
    assert certificate.claim.endswith(".")


@pytest.mark.parametrize("seed", range(8))
def test_tubes_by_the_share_of_rows_and_one_class(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 3))
    y, weights = rows @ [1.0, 2.0, -1.0] + rng.normal(size=30), None if seed % 2 else rng.uniform(0.5, 2.0, 30)
    nu, options = rng.uniform(0.1, 0.9), {"tol": 1e-7, "max_iter": 100_000}
    tube = sklearn.svm.NuSVR(nu=nu, C=float(rng.choice([0.1, 1.0, 10.0])), **options).fit(rows, y, weights)
    assert cf.certify(tube, rows, y, weights).relative_gap < 1e-5
    tube.intercept_ = tube._intercept_ = tube.intercept_ + 1.0
    moved = cf.certify(tube, rows, y, weights)
    assert not moved.holds or moved.relative_gap > 1e-3
    inside = sklearn.svm.OneClassSVM(nu=nu, **options).fit(rows, sample_weight=weights)
    assert cf.certify(inside, rows, sample_weight=weights).relative_gap < 1e-5


def test_a_hyperplane_through_the_origin_is_refused():
    inside = sklearn.svm.OneClassSVM(kernel="linear", nu=0.9).fit(np.vstack([X, -X]))
    with pytest.raises(UnknownModelError, match="not above its tolerance"):
        cf.certify(inside, np.vstack([X, -X]))


@pytest.mark.parametrize(
    "model",
    [
        sklearn.linear_model.RidgeClassifier(alpha=0.0),
        sklearn.linear_model.RidgeClassifier(class_weight="balanced"),
        sklearn.linear_model.RidgeClassifier(positive=True, tol=1e-10),
        sklearn.linear_model.RidgeClassifierCV(class_weight={"a": 3.0}),
    ],
    ids=str,
)
def test_classes_by_ridge(model):
    for y in (NAMES, np.where(NAMES == "a", "a", "z")):
        for weights in (None, RNG.uniform(0.5, 2.0, 40)):
            certificate = cf.certify(model.fit(X, y, weights), X, y, weights)
            assert certificate.relative_gap < 1e-10
            assert certificate.verify(X, y, weights).holds
            model.coef_ = 1.01 * model.coef_
            assert cf.certify(model, X, y, weights).relative_gap > 1e-7


def test_neighbours_keep_rows_and_targets():
    for rows in (X, X.astype(np.float32), np.rint(10 * X).astype(int)):
        model = sklearn.neighbors.KNeighborsClassifier().fit(rows, NAMES)
        assert cf.certify(model, rows, NAMES).holds
        assert not cf.certify(model, rows + 1, NAMES).holds
        with pytest.raises(ValueError, match="not the targets"):
            cf.certify(model, rows, NAMES[::-1])


def test_parts_are_certified_by_the_worst():
    poor = sklearn.multiclass.OneVsRestClassifier(sklearn.linear_model.LogisticRegression(tol=1e-10)).fit(X, NAMES)
    good = cf.certify(poor, X, NAMES)
    poor.estimators_[1].coef_ = poor.estimators_[1].coef_ + 0.5
    worst = cf.certify(poor, X, NAMES)
    assert good.relative_gap < 1e-9 < 1e-3 < worst.relative_gap
    assert worst.verify(X, (NAMES == "b").astype(int)).holds
    ours = OneVsRest(cf.linear_model.LogisticRegression()).fit(X, NAMES)
    assert cf.certify(ours, X, NAMES).relative_gap < 1e-9


def test_propagated_labels_are_compared_with_the_exact_solution():
    rough = sklearn.semi_supervised.LabelPropagation(gamma=0.3, tol=1e-2).fit(X, SOME)
    exact = sklearn.semi_supervised.LabelPropagation(gamma=0.3, tol=1e-10, max_iter=10_000).fit(X, SOME)
    bounds = [cf.certify(model, X, SOME).figures["error"] for model in (exact, rough)]
    assert bounds[0] < 1e-8 < bounds[1] < 0.2


@pytest.mark.parametrize("model", [sklearn.naive_bayes.CategoricalNB(), CategoricalNB()], ids=["theirs", "ours"])
def test_categories_that_are_fractions(model):
    """Both cut fractions off; there is no proof of counts of cells that the table does not contain."""
    with pytest.raises(UnknownModelError, match="fit cuts off"):
        cf.certify(model.fit(CODES + 0.5, NAMES), CODES + 0.5, NAMES)
    assert cf.certify(model.fit(CODES, NAMES), CODES, NAMES).holds


def test_isotonic_fits_that_are_not_claimed():
    model = sklearn.isotonic.IsotonicRegression(increasing=False).fit(X[:, 0], NUMBERS)
    with pytest.raises(UnknownModelError, match="that increases"):
        cf.certify(model, X[:, :1], NUMBERS)
    model = sklearn.isotonic.IsotonicRegression().fit(X[:, 0], NUMBERS)
    assert cf.certify(model, X[:, :1], NUMBERS).relative_gap < 1e-12
