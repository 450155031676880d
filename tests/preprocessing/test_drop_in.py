"""StandardScaler and PolynomialFeatures: scikit-learn's answers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import sklearn.preprocessing as theirs
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.preprocessing import PolynomialFeatures, StandardScaler
from tests.contract import contract

KINDS = [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_array]


@contract([StandardScaler(), StandardScaler(with_mean=False), PolynomialFeatures(), PolynomialFeatures((2, 3))])
def test_contract(estimator, check):
    check(estimator)


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 29), max_size=3), weighted=st.booleans(),
    holes=st.booleans(), far=st.sampled_from([0.0, 1e8]), sparse=st.booleans(),
)  # fmt: skip
def test_batches_add_up_to_the_whole(seed, cuts, weighted, holes, far, sparse):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) + far
    X[:, 3] = 7.0
    if holes:
        X[rng.random(X.shape) < 0.2] = np.nan
    if sparse:
        X[rng.random(X.shape) < 0.4] = 0.0
    s = rng.integers(1, 4, 30).astype(float) if weighted else None
    kind = scipy.sparse.csr_array if sparse else np.asarray
    whole = StandardScaler(with_mean=not sparse).fit(kind(X), sample_weight=s)
    parts = StandardScaler(with_mean=not sparse)
    for rows in np.split(np.arange(30), sorted(set(cuts))):
        parts.partial_fit(kind(X[rows]), sample_weight=None if s is None else s[rows])
    copies = X if s is None else np.repeat(X, s.astype(int), axis=0)
    np.testing.assert_allclose(whole.mean_, np.nanmean(copies, axis=0), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(whole.var_, np.nanvar(copies, axis=0), rtol=1e-7, atol=1e-12)
    for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("std", [True, False])
def test_scaling_as_in_scikit_learn(kind, dtype, std):
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(dtype) * [1, 1e4, 1e-3]
    X = kind(X.astype(dtype))
    options = {"with_mean": kind is np.asarray, "with_std": std}
    ours, other = (m(**options).fit(X) for m in (StandardScaler, theirs.StandardScaler))
    for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
        mine, their = getattr(ours, name), getattr(other, name)
        assert (mine is None) == (their is None), name
        if mine is not None:
            np.testing.assert_allclose(mine, their, rtol=1e-5)
    there, back = ours.transform(X), ours.inverse_transform(ours.transform(X))
    assert there.dtype == dtype
    np.testing.assert_allclose(_full(there), _full(other.transform(X)), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(_full(back), _full(X), rtol=1e-4, atol=1e-5)


def _full(X):
    return X.toarray() if scipy.sparse.issparse(X) else X


@settings(deadline=None, max_examples=60)
@given(
    d=st.integers(1, 5), low=st.integers(0, 3), more=st.integers(0, 3), only=st.booleans(), bias=st.booleans(),
    kind=st.sampled_from(KINDS), order=st.sampled_from("CF"),
)  # fmt: skip
def test_monomials_as_in_scikit_learn(d, low, more, only, bias, kind, order):
    X = np.round(np.random.default_rng(d).normal(size=(7, d)), 1)
    X[X < 0] = 0.0
    options = {"degree": (low, low + more), "interaction_only": only, "include_bias": bias or low + more == 0}
    ours, other = PolynomialFeatures(order=order, **options), theirs.PolynomialFeatures(order=order, **options)
    mine = ours.fit_transform(kind(X))
    assert ours.n_output_features_ == other.fit(kind(X)).n_output_features_ == mine.shape[1]
    if mine.shape[1]:  # scikit-learn raises where no monomial is left
        np.testing.assert_allclose(_full(mine), _full(other.transform(kind(X))))
        np.testing.assert_array_equal(ours.powers_, other.powers_)
        assert ours.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    if kind is np.asarray:
        assert mine.flags[f"{order}_CONTIGUOUS"]
    else:
        assert mine.format == kind(X).format


def test_impossible_degrees_are_refused():
    for degree in ((3, 2), (-1, 2), (1, 2, 3), (0.5, 2)):
        with pytest.raises(ValueError, match="degree"):
            PolynomialFeatures(degree).fit([[1.0]])
    with pytest.raises(ValueError, match="empty output"):
        PolynomialFeatures(0, include_bias=False).fit([[1.0]])
