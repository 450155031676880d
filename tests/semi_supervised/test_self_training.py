"""Self-training: scikit-learn's answers, the record of every round, the proofs of the last fit."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.semi_supervised

from certifit.linear_model import LogisticRegression
from certifit.naive_bayes import GaussianNB
from certifit.semi_supervised import SelfTrainingClassifier


def half_moons(n=40, seed=1):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal((-1.5, 0), 0.8, (n, 2)), rng.normal((1.5, 0), 0.8, (n, 2))])
    truth = np.repeat([0, 1], n)
    y = np.full(2 * n, -1)
    y[[0, 1, n, n + 1]] = truth[[0, 1, n, n + 1]]
    return X, y, truth


@pytest.mark.parametrize("options", [{}, {"criterion": "k_best", "k_best": 7, "max_iter": 3}, {"threshold": 0.99}])
def test_same_labels_as_scikit_learn_with_a_record(options):
    X, y, _ = half_moons()
    ours = SelfTrainingClassifier(GaussianNB(), **options).fit(X, y)
    theirs = sklearn.semi_supervised.SelfTrainingClassifier(GaussianNB(), **options).fit(X, y)
    assert np.array_equal(ours.transduction_, theirs.transduction_)
    assert ours.termination_condition_ == theirs.termination_condition_
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    trace = ours.trace_
    assert [row.iteration for row in trace] == list(range(ours.n_iter_ + 1))
    assert sum(row.added for row in trace) + trace[-1].remaining == len(y)
    for row in trace:
        assert np.array_equal(ours.transduction_[row.rows], row.labels)
        assert np.all(ours.labeled_iter_[row.rows] == row.iteration)


def test_the_proof_is_that_of_the_last_fit():
    X, y, _ = half_moons()
    model = SelfTrainingClassifier(LogisticRegression()).fit(X, y)
    used = model.labeled_iter_ >= 0
    c = model.certificate_
    assert c.holds
    assert c.verify(X[used], model.transduction_[used]).holds
    assert not c.verify(X, y).holds
