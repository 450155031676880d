"""How many components: a fraction of the variance, and Minka's choice against scikit-learn's."""

import numpy as np
import pytest
import sklearn.decomposition
from hypothesis import given
from hypothesis import strategies as st

from certifit.decomposition._dimension import components_for_share, most_probable_dimension


@given(st.lists(st.floats(0.0, 10.0), min_size=1, max_size=8), st.floats(0.01, 0.99))
def test_the_fewest_that_keep_the_share(values, share):
    v = np.sort(np.array(values))[::-1]
    total = float(v.sum())
    k = components_for_share(v, total, share)
    assert 1 <= k <= len(v)
    if total > 0:
        assert v[:k].sum() / total > share * (1 - 1e-12) or k == len(v)
        assert k == 1 or v[: k - 1].sum() / total <= share * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rank", [1, 2, 4])
def test_minkas_choice_is_scikit_learns_and_finds_the_rank(seed, rank):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, rank)) @ rng.normal(size=(rank, 7)) * 3 + rng.normal(size=(300, 7)) * 0.1
    variances = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / 299
    found = most_probable_dimension(variances, 300)
    assert found == sklearn.decomposition.PCA(n_components="mle", svd_solver="full").fit(X).n_components_ == rank


def test_one_column_has_one_component():
    assert most_probable_dimension(np.array([2.0]), 10) == 1


def test_a_share_that_is_met_exactly_asks_for_one_more():
    variances = np.array([4.228, 0.2427, 0.0782, 0.0238])
    for k in range(1, 4):
        share = float((variances / variances.sum()).cumsum()[k - 1])
        assert components_for_share(variances, float(variances.sum()), share) == k + 1
