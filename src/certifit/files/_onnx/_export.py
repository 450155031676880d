"""`to_onnx`: inputs, the model's graph, outputs with their names, and a note of where it comes from."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

import certifit
from certifit._atomic import write_atomic
from certifit._errors import need
from certifit._types import Array, BaseEstimator, Pipeline
from certifit._validation import check_is_fitted
from certifit.exceptions import ExportError
from certifit.files._table_model import TableModel

if TYPE_CHECKING:
    import onnx


def to_onnx(
    model: BaseEstimator, path: str | os.PathLike[str] | None = None, *, input_type: str = "float64"
) -> onnx.ModelProto:
    """Write a fitted model, with its preprocessing, as an ONNX graph that gives the same labels.

    The formulas are written out in double precision, so that labels equal those of `predict` unless two scores agree
    to the last digits, and probabilities and values agree to about 1e-12.

    Parameters
    ----------
    model : fitted certifit estimator, a scikit-learn Pipeline that ends in one, or a `TableModel`
        Linear models, GLM, logistic regression, perceptrons, support vector machines, OneVsRest, trees, naive
        Bayes (Gaussian, Bernoulli, multinomial) and nearest neighbours (euclidean, manhattan, chebyshev).
    path : path, default=None
        Where to write the graph; usually ends in ``.onnx``. Replaced atomically. None: not written.
    input_type : {"float64", "float32"}, default="float64"
        The type of the input. Rows in single precision are converted to double precision first: the predictions are
        those of `predict` on the converted rows.

    Returns
    -------
    onnx.ModelProto
        Input ``X`` of shape (n, d), or for tables one input of shape (n, 1) per column: numbers, and strings for
        categories. Outputs: ``value`` of a regression; ``label`` of a classifier, with ``probabilities`` and
        ``scores`` where the model has `predict_proba` and `decision_function`.

    Raises
    ------
    ExportError
        If the model, or a step of it, cannot be exported; the message says what can.

    Notes
    -----
    A graph cannot raise errors: where `predict` raises on NaN, infinite values or rows impossible under
    every class, the graph returns some value. A model fitted on float32 rows predicts float32 rows in single
    precision in Python, and in double precision here. The graph contains no certificates: keep the file written by
    `save` as well.

    Examples
    --------
    >>> import certifit as cf, onnxruntime
    >>> from certifit.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "no", "yes", "yes"])
    >>> graph = cf.to_onnx(LogisticRegression().fit(X, y))
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> label, probabilities = session.run(["label", "probabilities"], {"X": np.array([[0.4], [2.2]])})
    >>> label.tolist(), float(probabilities[1, 1].round(4))
    (['no', 'yes'], 0.6617)
    """
    need("onnx", "onnx")
    if input_type not in ("float64", "float32"):
        raise ExportError(f"input_type is 'float64' or 'float32', not {input_type!r}.")
    from certifit.files._onnx import _convert, _graph

    table = isinstance(model, TableModel)
    pipeline = model.pipeline if table else model
    _check_fitted(pipeline)
    g = _graph.Graph()
    inputs, x = _inputs(g, model, pipeline, input_type)
    answer = _convert.predictor(g, pipeline, x)
    proto = _graph.model_of(g, inputs, _outputs(g, answer))
    _sign(proto, model.estimator if table else pipeline, answer.classes)
    if path is not None:
        write_atomic(path, proto.SerializeToString())
    return proto


def _check_fitted(model: BaseEstimator) -> None:
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise ExportError(f"A fitted model is needed, not {model!r:.80}.")
    check_is_fitted(model)


def _inputs(g: Any, model: BaseEstimator, pipeline: Pipeline, kind: str) -> tuple[Any, str]:
    from certifit.files._onnx import _inputs as ways

    if isinstance(model, TableModel):
        return ways.of_schema(g, model.schema, kind)
    first = _first(pipeline)
    columns = getattr(first, "columns_", None)
    if hasattr(columns, "categories") and ways.has_words(columns):
        return ways.of_tree(g, columns, kind)
    return ways.matrix(g, int(first.n_features_in_), kind)


def _first(model: BaseEstimator) -> Any:
    """The first step that does something."""
    while hasattr(model, "steps"):
        model = next(step for _, step in model.steps if step not in (None, "passthrough"))
    return model


def _outputs(g: Any, answer: Any) -> list[tuple[str, Any]]:
    from certifit.files._onnx._graph import TYPES

    double = TYPES["f"]
    if answer.value is not None:
        g.named("value", answer.value)
        return [("value", (double, ["n"] if answer.flat else ["n", None]))]
    labels = _labels(answer.classes)
    g.named("label", g("Gather", labels, answer.code))
    found: list[tuple[str, Any]] = [("label", (TYPES[labels.dtype.kind], ["n"]))]
    if answer.shares is not None:
        g.named("probabilities", answer.shares)
        found.append(("probabilities", (double, ["n", len(labels)])))
    if answer.scores is not None:
        g.named("scores", answer.scores)
        found.append(("scores", (double, ["n"] if len(labels) == 2 else ["n", None])))
    return found


def _labels(classes: Array) -> Array:
    """Class labels as a tensor can hold them: words, integers, true and false, or floats."""
    labels = np.asarray(classes)
    if labels.dtype.kind == "U" or (labels.dtype.kind == "O" and all(isinstance(c, str) for c in labels)):
        return labels.astype(object)
    kinds: dict[str, Any] = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}
    if labels.dtype.kind in kinds:
        return labels.astype(kinds[labels.dtype.kind])
    raise ExportError("Class labels of an ONNX graph must be all strings or all numbers, not a mixture.")


def _sign(proto: Any, model: Any, classes: Any) -> None:
    from onnx import helper

    proto.producer_name, proto.producer_version = "certifit", certifit.__version__
    estimator = model.steps[-1][1] if hasattr(model, "steps") else model
    notes = {"model": type(estimator).__name__}
    if hasattr(model, "feature_names_in_"):
        notes["features"] = json.dumps([str(n) for n in model.feature_names_in_])
    if classes is not None:
        notes["classes"] = json.dumps([str(c) for c in classes])
    helper.set_model_props(proto, notes)
