"""Scores of many candidates at once are scikit-learn's scores of each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import get_scorer

from certifit.linear_model import LinearRegression, LogisticRegression
from certifit.model_selection._scores import QUICK
from certifit.model_selection._scoring import Scoring, StoredAnswers

LABELS = ("accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc")
VALUES = tuple(name for name in QUICK if name not in LABELS)


def _classes(rng, n, k, ties):
    """k labels, each there; answers of five candidates, with ties where asked."""
    y = np.array(["no", "perhaps", "yes"])[np.concatenate([np.arange(k), rng.integers(0, k, n - k)])]
    p = rng.dirichlet(np.ones(k), size=(5, n))
    scores = rng.normal(size=(5, n))
    if ties:
        p, scores = p.round(1) + 0.1, scores.round(0)
        p /= p.sum(axis=2, keepdims=True)
    classes = np.unique(y)
    answers = {"predict": classes[p.argmax(axis=2)], "predict_proba": p}
    return y, classes, answers | ({"decision_function": scores} if k == 2 else {})


def _expected(name, estimator, answers, classes, y, w):
    scorer = get_scorer(name)
    extra = {} if w is None else {"sample_weight": w}
    models = [StoredAnswers(estimator, {k: v[i] for k, v in answers.items()}, classes) for i in range(5)]
    return [scorer(m, None, y, **extra) for m in models]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(6, 40), st.integers(2, 3), st.booleans(), st.booleans(), st.booleans())
def test_labels(seed, n, k, ties, weighted, decide):
    rng = np.random.default_rng(seed)
    y, classes, answers = _classes(rng, n, k, ties)
    if not decide:
        answers.pop("decision_function", None)
    w = rng.integers(1, 4, n).astype(float) if weighted else None
    for name in LABELS:
        if name == "roc_auc" and k > 2:
            continue
        model = LogisticRegression()
        found = Scoring.of(model, name).of_answers(model, answers, classes, y, w)["score"]
        assert found == pytest.approx(_expected(name, model, answers, classes, y, w), rel=1e-12, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 40), st.booleans())
def test_values(seed, n, weighted):
    rng = np.random.default_rng(seed)
    y, answers = rng.gamma(2.0, 3.0, n), {"predict": rng.gamma(2.0, 3.0, (5, n))}
    w = rng.uniform(0.5, 2.0, n) if weighted else None
    for name in VALUES:
        model = LinearRegression()
        found = Scoring.of(model, name).of_answers(model, answers, None, y, w)["score"]
        assert found == pytest.approx(_expected(name, model, answers, None, y, w), rel=1e-12, abs=1e-12)


def test_counts_of_zero_are_within_the_poisson_deviance():
    y, p = np.array([0.0, 2.0, 1.0]), np.array([[0.5, 1.5, 1.0]])
    model = LinearRegression()
    found = Scoring.of(model, "neg_mean_poisson_deviance").of_answers(model, {"predict": p}, None, y, None)["score"]
    expected = get_scorer("neg_mean_poisson_deviance")(StoredAnswers(model, {"predict": p[0]}), None, y)
    assert found == pytest.approx([expected], rel=1e-12)


def test_answers_without_a_score_are_nan_and_spare_the_others():
    model, y = LogisticRegression(), np.array([0, 1, 1, 0])
    scores = np.array([[0.0, 1.0, 2.0, -1.0], [np.nan, 1.0, 2.0, 3.0]])
    found = Scoring.of(model, "roc_auc").of_answers(model, {"decision_function": scores}, np.arange(2), y, None)
    assert found["score"][0] == 1.0
    assert np.isnan(found["score"][1])
    negative = {"predict": np.array([[1.0, -1.0], [1.0, 2.0]])}
    found = Scoring.of(LinearRegression(), "neg_mean_poisson_deviance").of_answers(
        LinearRegression(), negative, None, np.array([1.0, 2.0]), None
    )
    assert np.isnan(found["score"][0])
    assert found["score"][1] == 0.0


def test_what_the_formula_does_not_cover_is_scikit_learns():
    """A fold without one of the classes has no AUC: scikit-learn's answer stands."""
    model, scores = LogisticRegression(), np.array([[0.0, 1.0]])
    with pytest.warns(UserWarning, match="Only one class"):
        found = Scoring.of(model, "roc_auc").of_answers(
            model, {"decision_function": scores}, np.arange(2), np.array([1, 1]), None
        )
    assert np.isnan(found["score"][0])
