"""Folds as integer arrays, from whatever scikit-learn takes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold

from certifit.resampling import folds


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
