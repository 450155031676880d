"""Linear scores and what is made of them: regressions, logistic regression, GLMs, perceptrons."""

from __future__ import annotations

import numpy as np

from certifit._types import BaseEstimator
from certifit.exceptions import ExportError
from certifit.files._onnx._answer import affine, by_sign, column, sigmoid, softmax, values
from certifit.files._onnx._graph import Answer, Graph
from certifit.files._onnx._symbols import written
from certifit.losses import LINKS


def regression(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """X w + b."""
    return values(g, affine(g, x, model.coef_, model.intercept_), np.ndim(model.coef_) == 1)


def classification(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """The sign of w·x + b, or the largest of them."""
    return by_sign(g, affine(g, x, model.coef_, model.intercept_), model.classes_)


def any_loss(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Labels where the loss is about labels, values where it is about numbers."""
    return classification(g, model, x) if hasattr(model, "classes_") else regression(g, model, x)


def bayesian(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """The posterior mean, on columns as they are."""
    if model.basis is not None:
        raise ExportError(
            "BayesianLinearRegression with a basis cannot be exported to ONNX; without one, after PolynomialBasis in a "
            "Pipeline, it can."
        )
    return regression(g, model, x)


def logistic(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Scores, softmax or sigmoid, and the threshold that was chosen."""
    scores = affine(g, x, model.coef_, model.intercept_)
    t = model.threshold_
    answer = by_sign(g, scores, model.classes_, np.log(t / (1.0 - t)))
    if len(model.classes_) > 2:
        shares = softmax(g, scores)
    else:
        shares = g("Concat", sigmoid(g, g("Neg", scores)), sigmoid(g, scores), axis=1)
    return Answer(code=answer.code, scores=answer.scores, shares=shares, classes=model.classes_)


def glm(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """The inverse link of w·x + b."""
    z = column(g, affine(g, x, model.coef_, model.intercept_))
    what = f"A GLM with link {model.link_!r}"
    if model.link_ not in LINKS:
        raise ExportError(f"{what} cannot be exported to ONNX; identity, log, logit, cloglog and inverse links can.")
    return Answer(value=written(g, z, LINKS[model.link_].inverse, what))


def voted(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Votes of all weights the perceptron went through, which are running sums of mistaken rows."""
    votes = []
    for ballot in model.ballots_:
        products = g("Add", g("MatMul", x, ballot.rows.T), float(model.fit_intercept))
        steps = g("Mul", g("Gather", products, ballot.which, axis=1), np.asarray(ballot.steps, dtype=float))
        signs = g("Where", g("Greater", g("CumSum", steps, np.array(1)), 0.0), 1.0, -1.0)
        total = g("MatMul", signs, np.asarray(ballot.survived[1:], dtype=float)[:, None])
        votes.append(g("Sub", total, float(ballot.survived[0])))
    return by_sign(g, g.joined(votes), model.classes_)
