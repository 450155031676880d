"""Ordinary scripts, run twice: as written for scikit-learn, and with ``sklearn`` replaced by ``certifit``.

Each leaves in ``answer`` a number (or a few) that both have to agree on, within what the script itself asks for.
"""

import warnings

import numpy as np
import pytest

SCRIPTS = {
    "split, fit, score": """
        from sklearn.datasets import load_iris
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import train_test_split
        X, y = load_iris(return_X_y=True)
        X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
        answer = LogisticRegression(max_iter=1000).fit(X_train, y_train).score(X_test, y_test)
    """,
    "scaled support vector machine": """
        from sklearn.datasets import load_breast_cancer
        from sklearn.model_selection import cross_val_score
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVC
        X, y = load_breast_cancer(return_X_y=True)
        answer = cross_val_score(make_pipeline(StandardScaler(), SVC(C=3.0, random_state=0)), X, y, cv=3).mean()
    """,
    "grid search over a pipeline": """
        from sklearn.datasets import load_wine
        from sklearn.model_selection import GridSearchCV, StratifiedKFold
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import StandardScaler
        X, y = load_wine(return_X_y=True)
        pipe = Pipeline([("scale", StandardScaler()), ("knn", KNeighborsClassifier())])
        search = GridSearchCV(pipe, {"knn__n_neighbors": [1, 5, 15]}, cv=StratifiedKFold(4, shuffle=True, random_state=1))
        search.fit(X, y)
        answer = [search.best_params_["knn__n_neighbors"], search.best_score_]
    """,
    "ridge against lasso": """
        import numpy as np
        from sklearn.datasets import load_diabetes
        from sklearn.linear_model import Lasso, LinearRegression, Ridge
        from sklearn.metrics import mean_squared_error
        X, y = load_diabetes(return_X_y=True)
        models = [LinearRegression(), Ridge(alpha=0.1, solver="svd"), Lasso(alpha=0.1, tol=1e-8)]
        answer = [mean_squared_error(y, m.fit(X, y).predict(X)) for m in models]
    """,
    "random search": """
        from scipy.stats import loguniform
        from sklearn.datasets import load_diabetes
        from sklearn.linear_model import Ridge
        from sklearn.model_selection import RandomizedSearchCV
        X, y = load_diabetes(return_X_y=True)
        search = RandomizedSearchCV(Ridge(), {"alpha": loguniform(1e-3, 1e2)}, n_iter=7, random_state=4).fit(X, y)
        answer = [search.best_params_["alpha"], search.best_score_]
    """,
    "decision tree with text": """
        from sklearn.datasets import load_iris
        from sklearn.tree import DecisionTreeClassifier, export_text
        iris = load_iris()
        tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(iris.data, iris.target)
        assert "petal" in export_text(tree, feature_names=list(iris.feature_names))
        answer = [tree.score(iris.data, iris.target), tree.get_depth()]
    """,
    "naive Bayes on words": """
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.naive_bayes import MultinomialNB
        from sklearn.pipeline import make_pipeline
        texts = ["good film", "bad film", "good plot good cast", "bad bad cast", "fine film", "awful plot"] * 3
        labels = [1, 0, 1, 0, 1, 0] * 3
        model = make_pipeline(CountVectorizer(), MultinomialNB(alpha=0.5)).fit(texts, labels)
        answer = model.predict_proba(["good good film", "awful cast"])[:, 1]
    """,
    "columns of several kinds": """
        import pandas as pd
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler
        table = pd.DataFrame({"age": [22, 38, None, 35, 54, 2, 27, 14], "port": list("SCSSQSCC")})
        y = [0, 1, 1, 1, 0, 0, 1, 1]
        numbers = make_pipeline(SimpleImputer(), StandardScaler())
        prepare = ColumnTransformer([("n", numbers, ["age"]), ("c", OneHotEncoder(), ["port"])])
        model = make_pipeline(prepare, LogisticRegression(tol=1e-8)).fit(table, y)
        answer = model.predict_proba(table)[:, 1]
    """,
    "principal components": """
        from sklearn.datasets import load_digits
        from sklearn.decomposition import PCA
        X, _ = load_digits(return_X_y=True)
        answer = PCA(n_components=5).fit(X).explained_variance_ratio_
    """,
    "voting": """
        from sklearn.datasets import load_wine
        from sklearn.ensemble import VotingClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import GaussianNB
        from sklearn.tree import DecisionTreeClassifier
        X, y = load_wine(return_X_y=True)
        parts = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
        answer = VotingClassifier(parts, voting="soft").fit(X, y).score(X, y)
    """,
    "confusion and report": """
        from sklearn.datasets import load_iris
        from sklearn.metrics import classification_report, confusion_matrix
        from sklearn.model_selection import cross_val_predict
        from sklearn.naive_bayes import GaussianNB
        X, y = load_iris(return_X_y=True)
        predicted = cross_val_predict(GaussianNB(), X, y, cv=5)
        assert "macro avg" in classification_report(y, predicted)
        answer = confusion_matrix(y, predicted).ravel()
    """,
    "receiver operating characteristic": """
        from sklearn.datasets import load_breast_cancer
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import roc_auc_score
        from sklearn.model_selection import train_test_split
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        X, y = load_breast_cancer(return_X_y=True)
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=42)
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
        answer = roc_auc_score(y_test, model.predict_proba(X_test)[:, 1])
    """,
    "learning curve": """
        from sklearn.datasets import load_diabetes
        from sklearn.linear_model import Ridge
        from sklearn.model_selection import learning_curve
        X, y = load_diabetes(return_X_y=True)
        sizes, train, test = learning_curve(Ridge(), X, y, cv=4)
        answer = [*sizes, *test.mean(axis=1)]
    """,
    "validation curve": """
        import numpy as np
        from sklearn.datasets import load_diabetes
        from sklearn.kernel_ridge import KernelRidge
        from sklearn.model_selection import validation_curve
        X, y = load_diabetes(return_X_y=True)
        train, test = validation_curve(
            KernelRidge(kernel="rbf"), X[:150], y[:150], param_name="alpha", param_range=np.logspace(-3, 0, 3), cv=3
        )
        answer = test.mean(axis=1)
    """,
    "polynomial regression": """
        import numpy as np
        from sklearn.linear_model import LinearRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import PolynomialFeatures
        x = np.linspace(0, 3, 30)
        model = make_pipeline(PolynomialFeatures(4), LinearRegression()).fit(x[:, None], np.sin(x))
        answer = model.predict([[0.5], [2.5]])
    """,
    "perceptron": """
        from sklearn.datasets import load_digits
        from sklearn.linear_model import Perceptron
        X, y = load_digits(return_X_y=True)
        answer = Perceptron(tol=1e-3, random_state=0).fit(X, y).score(X, y)
    """,
    "permutation importance": """
        from sklearn.datasets import load_wine
        from sklearn.inspection import permutation_importance
        from sklearn.naive_bayes import GaussianNB
        X, y = load_wine(return_X_y=True)
        found = permutation_importance(GaussianNB().fit(X, y), X, y, n_repeats=3, random_state=0)
        answer = found.importances_mean
    """,
    "calibration": """
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.datasets import load_breast_cancer
        from sklearn.naive_bayes import GaussianNB
        X, y = load_breast_cancer(return_X_y=True)
        answer = CalibratedClassifierCV(GaussianNB(), cv=3).fit(X, y).predict_proba(X[:5])[:, 1]
    """,
    "neighbours regression": """
        import numpy as np
        from sklearn.neighbors import KNeighborsRegressor
        x = np.linspace(0, 5, 40)[:, None]
        model = KNeighborsRegressor(5, weights="distance", algorithm="ball_tree").fit(x, np.sin(x).ravel())
        answer = model.predict([[0.31], [2.77]])
    """,
    "feature elimination": """
        from sklearn.datasets import load_diabetes
        from sklearn.feature_selection import RFE, SequentialFeatureSelector
        from sklearn.linear_model import LinearRegression
        X, y = load_diabetes(return_X_y=True)
        kept = RFE(LinearRegression(), n_features_to_select=4).fit(X, y).support_
        also = SequentialFeatureSelector(LinearRegression(), n_features_to_select=3, cv=3).fit(X, y).support_
        answer = [*kept, *also]
    """,
}


def _run(script, library):
    lines = "\n".join(line[8:] for line in script.replace("sklearn", library).split("\n"))
    names: dict = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(lines, library, "exec"), names)
    return np.asarray(names["answer"], dtype=float)


@pytest.mark.parametrize("name", SCRIPTS)
def test_one_word_changes_nothing(name):
    theirs, ours = _run(SCRIPTS[name], "sklearn"), _run(SCRIPTS[name], "certifit")
    np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-3)


def test_there_are_twenty():
    assert len(SCRIPTS) == 20
