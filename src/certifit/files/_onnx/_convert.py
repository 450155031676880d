"""Which converter belongs to which class, and the graphs that are made of other graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from certifit.files._errors import ExportError
from certifit.files._onnx import _bayes, _kernels, _linear, _neighbors, _steps, _trees
from certifit.files._onnx._answer import Answer, by_sign
from certifit.files._onnx._graph import Graph

# Classes by name: a family that is not installed, or stands below this one in the layout, need not be imported.
PREDICTORS: dict[str, Callable[[Graph, Any, str], Answer]] = {
    "certifit.linear_model.LinearRegression": _linear.regression,
    "certifit.linear_model.Ridge": _linear.regression,
    "certifit.linear_model.Lasso": _linear.regression,
    "certifit.linear_model.ElasticNet": _linear.regression,
    "certifit.linear_model.LinearModel": _linear.any_loss,
    "certifit.bayes.BayesianLinearRegression": _linear.bayesian,
    "certifit.linear_model.LogisticRegression": _linear.logistic,
    "certifit.linear_model.Perceptron": _linear.classification,
    "certifit.linear_model.AveragedPerceptron": _linear.classification,
    "certifit.linear_model.RandomLinearClassifier": _linear.classification,
    "certifit.linear_model.VotedPerceptron": _linear.voted,
    "certifit.glm.GLM": _linear.glm,
    "certifit.svm.LinearSVC": _linear.classification,
    "certifit.svm.PegasosSVC": _linear.classification,
    "certifit.svm.SVC": _kernels.svc,
    "certifit.svm.HardMarginSVC": _kernels.machine,
    "certifit.svm.KernelPerceptron": _kernels.machine,
    "certifit.kernel_ridge.KernelRidge": _kernels.ridge,
    "certifit.tree.DecisionTreeClassifier": _trees.classifier,
    "certifit.tree.DecisionTreeRegressor": _trees.regressor,
    "certifit.naive_bayes.GaussianNB": _bayes.gaussian,
    "certifit.naive_bayes.BernoulliNB": _bayes.bernoulli,
    "certifit.naive_bayes.MultinomialNB": _bayes.multinomial,
    "certifit.naive_bayes.CategoricalNB": _bayes.categorical,
    "certifit.naive_bayes.MixedNB": _bayes.mixed,
    "certifit.neighbors.KNeighborsClassifier": _neighbors.classifier,
    "certifit.neighbors.KNeighborsRegressor": _neighbors.regressor,
    "certifit.study.ConstantClassifier": _bayes.constant_shares,
    "certifit.study.ConstantRegressor": _bayes.constant_value,
}
STEPS: dict[str, Callable[[Graph, Any, str], str]] = {
    "certifit.preprocessing.Standardizer": _steps.standard,
    "certifit.preprocessing.PolynomialBasis": _steps.polynomial,
    "certifit.preprocessing.PadOnes": _steps.pad_ones,
    "certifit.preprocessing.ColumnTransforms": _steps.transforms,
    "certifit.preprocessing.CorrelationFilter": _steps.select,
    "certifit.decomposition.PCA": _steps.components,
    "certifit.study.TableEncoder": _steps.columns_of_table,
    "sklearn.preprocessing.StandardScaler": _steps.standard,
    "sklearn.preprocessing.MinMaxScaler": _steps.min_max,
    "sklearn.preprocessing.MaxAbsScaler": _steps.max_abs,
    "sklearn.preprocessing.RobustScaler": _steps.robust,
    "sklearn.preprocessing.PolynomialFeatures": _steps.polynomial,
    "sklearn.impute.SimpleImputer": _steps.impute,
    "sklearn.decomposition.PCA": _steps.components,
    "sklearn.feature_selection.VarianceThreshold": _steps.select,
    "sklearn.feature_selection.SelectKBest": _steps.select,
    "sklearn.feature_selection.SelectPercentile": _steps.select,
}


def key(model: Any) -> str:
    """Family and class, without the module in between: certifit.linear_model.Ridge."""
    family = type(model).__module__.split("._")[0]
    return f"{family}.{type(model).__name__}"


def predictor(g: Graph, model: Any, x: str) -> Answer:
    """The graph of anything that predicts."""
    name = key(model)
    if name == "sklearn.pipeline.Pipeline":
        for _, step in model.steps[:-1]:
            x = transformer(g, step, x)
        return predictor(g, model.steps[-1][1], x)
    if name == "certifit.multiclass.OneVsRest":
        return _one_vs_rest(g, model, x)
    if name not in PREDICTORS:
        raise ExportError(
            f"{type(model).__name__} cannot be exported to ONNX; these can: {_list(PREDICTORS)}, and OneVsRest and "
            "Pipeline of them."
        )
    return PREDICTORS[name](g, model, x)


def transformer(g: Graph, step: Any, x: str) -> str:
    """The graph of a preprocessing step."""
    if step is None or step == "passthrough":
        return x
    name = key(step)
    if name == "sklearn.pipeline.Pipeline":
        for _, part in step.steps:
            x = transformer(g, part, x)
        return x
    if name not in STEPS:
        raise ExportError(
            f"The preprocessing step {type(step).__name__} cannot be exported to ONNX; these can: {_list(STEPS)}."
        )
    return STEPS[name](g, step, x)


def _one_vs_rest(g: Graph, model: Any, x: str) -> Answer:
    columns = []
    for estimator in model.estimators_:
        answer = predictor(g, estimator, x)
        if answer.scores is None:
            raise ExportError(f"OneVsRest of {type(estimator).__name__} cannot be exported: that has no scores.")
        columns.append(g("Unsqueeze", answer.scores, [1]))
    return by_sign(g, columns[0] if len(columns) == 1 else g("Concat", *columns, axis=1), model.classes_)


def _list(table: dict[str, Any]) -> str:
    return ", ".join(dict.fromkeys(name.rsplit(".", 1)[1] for name in table))
