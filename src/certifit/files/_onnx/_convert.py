"""Who converts what: by the table of families, and for scikit-learn's steps by the one below."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from certifit._types import BaseEstimator
from certifit.exceptions import ExportError
from certifit.families import FAMILIES, model_of
from certifit.files._onnx._answer import by_sign
from certifit.files._onnx._graph import Answer, Graph

_THEIRS = {
    "sklearn.preprocessing.StandardScaler": "_steps:standard",
    "sklearn.preprocessing.MinMaxScaler": "_steps:min_max",
    "sklearn.preprocessing.MaxAbsScaler": "_steps:max_abs",
    "sklearn.preprocessing.RobustScaler": "_steps:robust",
    "sklearn.preprocessing.PolynomialFeatures": "_steps:polynomial",
    "sklearn.impute.SimpleImputer": "_steps:impute",
    "sklearn.decomposition.PCA": "_steps:components",
    "sklearn.feature_selection.VarianceThreshold": "_steps:select",
    "sklearn.feature_selection.SelectKBest": "_steps:select",
    "sklearn.feature_selection.SelectPercentile": "_steps:select",
}


def exported(role: str) -> list[str]:
    """Names of the classes that can be exported as "predictor" or as "step"."""
    names = [m.name for family in FAMILIES for m in family.models if m.onnx and m.role == role]
    return list(dict.fromkeys([*names, *(n.rsplit(".", 1)[1] for n in _THEIRS if role == "step")]))


def predictor(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """The graph of anything that predicts."""
    if _is_pipeline(model):
        for _, step in model.steps[:-1]:
            x = transformer(g, step, x)
        return predictor(g, model.steps[-1][1], x)
    convert = _converter(model, "predictor")
    if convert is None:
        can = ", ".join(exported("predictor"))
        raise ExportError(
            f"{type(model).__name__} cannot be exported to ONNX; these can: {can}, and a Pipeline that ends in one."
        )
    answer: Answer = convert(g, model, x)
    return answer


def transformer(g: Graph, step: BaseEstimator, x: str) -> str:
    """The graph of a preprocessing step."""
    if step is None or step == "passthrough":
        return x
    if _is_pipeline(step):
        for _, part in step.steps:
            x = transformer(g, part, x)
        return x
    convert = _converter(step, "step")
    if convert is None:
        can = ", ".join(exported("step"))
        raise ExportError(f"The preprocessing step {type(step).__name__} cannot be exported to ONNX; these can: {can}.")
    return str(convert(g, step, x))


def one_vs_rest(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """The largest of the scores of one model per class."""
    columns = []
    for estimator in model.estimators_:
        answer = predictor(g, estimator, x)
        if answer.scores is None:
            raise ExportError(f"OneVsRest of {type(estimator).__name__} cannot be exported: that has no scores.")
        columns.append(g("Unsqueeze", answer.scores, [1]))
    return by_sign(g, g.joined(columns), model.classes_)


def _is_pipeline(thing: Any) -> bool:
    return type(thing).__name__ == "Pipeline" and type(thing).__module__ == "sklearn.pipeline"


def _converter(thing: Any, role: str) -> Callable[[Graph, Any, str], Any] | None:
    """The function for a class; a module whose name begins with an underscore stands in this folder."""
    module, name = type(thing).__module__, type(thing).__name__
    row = model_of(module, name)
    ours = row.onnx if row and row.role == role else ""
    path = ours or (_THEIRS.get(f"{module.split('._')[0]}.{name}", "") if role == "step" else "")
    if not path:
        return None
    home, function = path.split(":")
    package = f"{__package__}.{home}" if home.startswith("_") else home
    found: Callable[[Graph, Any, str], Any] = getattr(importlib.import_module(package), function)
    return found
