"""Naive Bayes: joint log probabilities, their largest, their softmax; and answers that ignore the row."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array, BaseEstimator
from certifit.exceptions import ExportError
from certifit.files._onnx._answer import affine, largest, softmax, values
from certifit.files._onnx._graph import DOUBLE, INT64, Answer, Graph


def gaussian(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Constants minus half precisions times squared distances to the means."""
    half, constant = model._terms()
    from_means = g("Sub", g("Unsqueeze", x, [1]), model.theta_[None])
    squares = g("Mul", g("Mul", from_means, from_means), half[None])
    return _posterior(g, g("Sub", constant, g("ReduceSum", squares, [2], keepdims=0)), model)


def multinomial(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Counts times log probabilities."""
    return _posterior(g, g("Add", _weigh(g, x, model.feature_log_prob_), model.class_log_prior_), model)


def bernoulli(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """On and off, with features that a class never leaves off."""
    if model.binarize is not None:
        x = g.numbers_of(g("Greater", x, float(model.binarize)))
    never_off = np.isneginf(model._log_off)
    off = np.where(never_off, 0.0, model._log_off)
    scores = g("Add", _weigh(g, x, model.feature_log_prob_ - off), off.sum(axis=1) + model.class_log_prior_)
    if never_off.any():
        on = g("MatMul", x, never_off.T.astype(float))
        scores = g("Where", g("Less", on, never_off.sum(axis=1).astype(float)), -np.inf, scores)
    return _posterior(g, scores, model)


def categorical(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Log probabilities looked up column by column; a category out of range counts as the nearest one."""
    joint = model.class_log_prior_[None]
    for j, logs in enumerate(model.feature_log_prob_):
        cells = g("Cast", g("Gather", x, np.array(j), axis=1), to=INT64)
        known = g("Max", g("Min", cells, np.array(logs.shape[1] - 1)), np.array(0))
        joint = g("Add", joint, g("Gather", np.ascontiguousarray(logs.T), known, axis=0))
    return _posterior(g, joint, model)


def mixed(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Densities of the numbers and shares of the categories, each only where its cell is there."""
    kinds = np.array([k == "numeric" for k in model.column_kinds_])
    joint: Any = np.asarray(model.class_log_prior_)[None]
    if kinds.any():
        cells = g("Gather", x, np.flatnonzero(kinds), axis=1)
        gaps = g("IsNaN", cells)
        away = g("Sub", g("Unsqueeze", g("Where", gaps, 0.0, cells), [1]), model.theta_[None])
        squares = g("Div", g("Mul", away, away), model.var_[None])
        density = g("Mul", g("Add", squares, np.log(2 * np.pi * model.var_)[None]), -0.5)
        joint = g("Add", joint, g("ReduceSum", g("Where", g("Unsqueeze", gaps, [1]), 0.0, density), [2], keepdims=0))
    for j, words, logs in zip(np.flatnonzero(~kinds), model.categories_, model.feature_log_prob_):
        if not words:
            continue
        try:
            levels = np.array([float(w) for w in words])
        except ValueError:
            raise ExportError(
                "A MixedNB is exported to ONNX when its categories are numbers (or in a study)."
            ) from None
        on = g("Cast", g("Equal", g("Gather", x, np.array([j]), axis=1), levels[None]), to=DOUBLE)
        joint = g("Add", joint, _weigh(g, on, logs))
    return _posterior(g, joint, model)


def _weigh(g: Graph, x: str, logs: Array) -> str:
    """x @ logsᵀ where 0 · (−∞) is 0."""
    never = np.isneginf(logs)
    scores = g("MatMul", x, np.ascontiguousarray(np.where(never, 0.0, logs).T))
    if not never.any():
        return scores
    hit = g("Greater", g("MatMul", x, np.ascontiguousarray(never.T.astype(float))), 0.0)
    return g("Where", hit, -np.inf, scores)


def _posterior(g: Graph, joint: str, model: BaseEstimator) -> Answer:
    return Answer(code=largest(g, joint), shares=softmax(g, joint), classes=model.classes_)


def constant_shares(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """The class frequencies, once per row."""
    shares = g("Add", g("MatMul", x, np.zeros((model.n_features_in_, len(model.classes_)))), model.shares_[None])
    return Answer(code=largest(g, shares), shares=shares, classes=model.classes_)


def constant_value(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """The mean, once per row."""
    return values(g, affine(g, x, np.zeros((1, model.n_features_in_)), model.value_), flat=True)
