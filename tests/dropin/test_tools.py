"""scikit-learn's tools take our estimators."""

import io

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingRegressor
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certifit.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from certifit.naive_bayes import GaussianNB
from certifit.neighbors import KNeighborsClassifier
from certifit.svm import SVC
from certifit.tree import DecisionTreeClassifier

X, Y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X[:200, :6])
Y = Y[:200]
A, B = load_diabetes(return_X_y=True)
STUMP = DecisionTreeClassifier(max_depth=1)

TOOLS = [
    CalibratedClassifierCV(SVC(), cv=3),
    CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=3),
    BaggingClassifier(DecisionTreeClassifier(max_depth=3), 5, random_state=0),
    BaggingClassifier(KNeighborsClassifier(), 3, random_state=0),
    AdaBoostClassifier(STUMP, n_estimators=5, random_state=0),
    StackingClassifier([("nb", GaussianNB()), ("tree", STUMP)], LogisticRegression(), cv=3),
    TunedThresholdClassifierCV(LogisticRegression(), cv=3),
    OneVsRestClassifier(LogisticRegression()),
    make_pipeline(SelectFromModel(LogisticRegression(l1_ratio=1.0, C=0.1)), GaussianNB()),
    make_pipeline(RFE(LogisticRegression(), n_features_to_select=3), KNeighborsClassifier()),
    make_pipeline(SequentialFeatureSelector(GaussianNB(), n_features_to_select=2, cv=3), GaussianNB()),
    make_pipeline(ColumnTransformer([("s", StandardScaler(), [0, 1])], remainder="passthrough"), SVC()),
]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda t: str(t)[:60])
def test_classifiers_work_in_it(tool):
    model = clone(tool).fit(X, Y)
    assert model.score(X, Y) > 0.85
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    np.testing.assert_array_equal(joblib.load(file).predict(X), model.predict(X))


def test_regressors_work_in_tools():
    several = np.column_stack([B, -B])
    assert VotingRegressor([("a", Ridge()), ("b", Lasso(0.1))]).fit(A, B).score(A, B) > 0.4
    assert TransformedTargetRegressor(Ridge(alpha=0.1), func=np.log, inverse_func=np.exp).fit(A, B).score(A, B) > 0.4
    assert MultiOutputRegressor(Ridge(alpha=0.1)).fit(A, several).score(A, several) > 0.4


def test_inspection():
    model = LinearRegression().fit(A, B)
    importance = permutation_importance(model, A, B, n_repeats=2, random_state=0).importances_mean
    assert importance.argmax() in (4, 8)
    line = partial_dependence(model, A, [2], grid_resolution=5)
    np.testing.assert_allclose(np.diff(line["average"][0]) / np.diff(line["grid_values"][0]), model.coef_[2])


def test_displays():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay
    from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay

    model = LogisticRegression().fit(X, Y)
    assert RocCurveDisplay.from_estimator(model, X, Y).roc_auc > 0.9
    assert ConfusionMatrixDisplay.from_estimator(model, X, Y).confusion_matrix.sum() == len(Y)
    assert len(PartialDependenceDisplay.from_estimator(model, X, [0, 1], grid_resolution=5).axes_.ravel()) == 2
    two = LogisticRegression().fit(X[:, :2], Y)
    assert DecisionBoundaryDisplay.from_estimator(two, X[:, :2], grid_resolution=10).response.shape == (10, 10)
    matplotlib.pyplot.close("all")
