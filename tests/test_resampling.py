"""Folds, bootstrap draws and the one-standard-error rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold

from certifit.resampling import bootstrap_counts, complexity, fold_numbers, folds, one_standard_error, standard_error


def test_integers_mean_what_they_mean_in_scikit_learn():
    X, y = np.zeros((20, 1)), np.arange(20) % 2
    for classifier, splitter in ((False, KFold(4)), (True, StratifiedKFold(4))):
        ours = folds(X, y, 4, classifier=classifier)
        for (a, b), (c, d) in zip(ours, splitter.split(X, y)):
            assert np.array_equal(a, c)
            assert np.array_equal(b, d)


def test_a_random_state_shuffles_and_leave_one_out_works():
    X, y = np.zeros((9, 1)), np.arange(9.0)
    shuffled = folds(X, y, 3, random_state=1)
    assert sorted(np.concatenate([t for _, t in shuffled]).tolist()) == list(range(9))
    assert shuffled[0][1].tolist() != [0, 1, 2]
    assert len(folds(X, y, LeaveOneOut())) == 9


def test_masks_and_plain_iterables_are_taken():
    mask = np.array([True, False, True])
    (train, test), *_ = folds(np.zeros((3, 1)), np.zeros(3), [(mask, ~mask)])
    assert train.tolist() == [0, 2]
    assert test.tolist() == [1]
    with pytest.raises(ValueError, match="no folds"):
        folds(np.zeros((3, 1)), np.zeros(3), [])


@given(st.integers(1, 60), st.integers(1, 20))
def test_every_round_draws_n_rows(n, rounds):
    assert np.all(bootstrap_counts(n, rounds, 0).sum(axis=1) == n)


def test_known_directions_and_asked_ones():
    grid = [{"C": 1.0, "gamma": 0.1}, {"C": 1.0, "gamma": 1.0}, {"C": 10.0, "gamma": 1.0}]
    assert complexity(grid).tolist() == [0.0, 1.0, 2.0]
    assert complexity([{"svc__C": 1.0}, {"svc__C": 0.1}]).tolist() == [1.0, 0.0]
    assert complexity([{"max_depth": None}, {"max_depth": 3}]).tolist() == [1.0, 0.0]
    assert complexity([{"size": 1}, {"size": 2}], {"size": "larger"}).tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="which values of 'size' are simpler"):
        complexity([{"size": 1}, {"size": 2}])
    with pytest.raises(ValueError, match="needs numbers"):
        complexity([{"alpha": "a"}, {"alpha": "b"}])


def test_the_rule_takes_the_simplest_within_one_error():
    scores = np.array([[0.8, 0.9, 1.0], [0.84, 0.85, 0.88], [0.7, 0.7, 0.7]])
    error = standard_error(scores[0])
    assert error == pytest.approx(np.std(scores[0], ddof=1) / np.sqrt(3))
    assert one_standard_error(scores, np.array([2.0, 1.0, 0.0])) == 1
    assert one_standard_error(scores, np.array([0.0, 1.0, 2.0])) == 0
    assert one_standard_error(np.array([[np.nan, 1.0], [0.5, 0.5]]), np.array([0.0, 1.0])) == 1


def test_fold_numbers_only_of_a_partition():
    X = np.zeros((10, 1))
    split = folds(X, np.arange(10.0), 5)
    assert fold_numbers(split, 10).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert fold_numbers(split[:-1], 10) is None
    assert fold_numbers([(a[1:], b) for a, b in split], 10) is None
    everything = np.arange(10)
    assert fold_numbers([(everything[:5], everything[:5]), (everything[5:], everything[5:])], 10) is None
