"""Nyström features: the kernel itself on the landmarks, and close to it beside them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel

from certifit.preprocessing import NystroemBasis


def test_products_of_features_are_the_kernel():
    X = np.random.default_rng(0).normal(size=(60, 3))
    exact = NystroemBasis(60, gamma=0.3, random_state=0).fit_transform(X)
    assert exact @ exact.T == pytest.approx(rbf_kernel(X, gamma=0.3), abs=1e-8)
    some = NystroemBasis(30, gamma=0.3, random_state=0).fit(X)
    own = some.transform(some.landmarks_)
    assert own @ own.T == pytest.approx(rbf_kernel(some.landmarks_, gamma=0.3), abs=1e-8)


def test_scikit_learn_spans_the_same_space():
    X = np.random.default_rng(1).normal(size=(80, 2))
    ours = NystroemBasis(80, random_state=0).fit(X)
    theirs = Nystroem(gamma=ours.gamma_, n_components=80, random_state=0).fit_transform(X)
    mine = ours.transform(X)
    assert mine @ mine.T == pytest.approx(theirs @ theirs.T, abs=1e-8)
    assert ours.gamma_ == pytest.approx(1.0 / (2 * X.var()))
