"""One tree per fold answers every pruning penalty: the same as growing for each."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from certifit.model_selection import Search
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor


def _data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 4)), 1)
    c = np.array(["a", "b", "c"])[(X[:, 0] + rng.normal(size=n) > 0).astype(int) + (X[:, 1] > 0.5)]
    return X, X[:, 0] ** 2 + rng.normal(size=n), c


ALPHAS = [0.0, 0.002, 0.01, 0.05, 0.3]


def _agree(ours, theirs):
    assert ours.shared_
    a, b = ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    assert a == pytest.approx(b, rel=1e-12)
    assert ours.best_params_ == theirs.best_params_


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "f1_macro"])
def test_classes(scoring):
    X, _, c = _data()
    model = DecisionTreeClassifier(min_samples_leaf=3)
    grid = {"ccp_alpha": ALPHAS, "criterion": ["gini", "entropy"]}
    _agree(Search(model, grid, scoring=scoring).fit(X, c), GridSearchCV(model, grid, scoring=scoring).fit(X, c))


def test_values_and_weights():
    X, y, _ = _data()
    grid = {"ccp_alpha": ALPHAS, "max_depth": [None, 4]}
    _agree(Search(DecisionTreeRegressor(), grid).fit(X, y), GridSearchCV(DecisionTreeRegressor(), grid).fit(X, y))
    w = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float)
    shared = Search(DecisionTreeRegressor(), {"ccp_alpha": ALPHAS}).fit(X, y, sample_weight=w)
    alone = Search(DecisionTreeRegressor(), {"ccp_alpha": ALPHAS}, share=False).fit(X, y, sample_weight=w)
    _agree(shared, alone)


def test_frames_with_categories():
    import pandas as pd

    X, y, _ = _data()
    frame = pd.DataFrame({"x": X[:, 0], "k": pd.Categorical(np.where(X[:, 1] > 0, "up", "down"))})
    grid = {"ccp_alpha": ALPHAS}
    _agree(
        Search(DecisionTreeRegressor(), grid).fit(frame, y), GridSearchCV(DecisionTreeRegressor(), grid).fit(frame, y)
    )


def test_what_is_grown_one_by_one():
    X, y, _ = _data()
    assert not Search(DecisionTreeRegressor(), {"max_depth": [2, 3]}).fit(X, y).shared_
    pruned = DecisionTreeRegressor(pruning="reduced_error", random_state=0)
    assert not Search(pruned, {"min_samples_leaf": [1, 5]}).fit(X, y).shared_


@pytest.mark.parametrize("weighted", [False, True])
def test_the_largest_tree_holds_all_smaller_ones(weighted):
    X, y, c = _data()
    s = np.random.default_rng(2).integers(1, 4, len(y)).astype(float) if weighted else None
    grid = {"max_leaf_nodes": [16, 2, 3, 40]}
    for model, target in (
        (DecisionTreeRegressor(min_samples_leaf=2), y),
        (DecisionTreeClassifier(max_features=2, random_state=1), c),
    ):
        ours, alone = (Search(model, grid, share=share).fit(X, target, sample_weight=s) for share in (True, False))
        assert ours.sharing_.passes == 5
        _agree(ours, alone)


def test_a_pruned_tree_is_no_part_of_a_larger_one():
    X, y, _ = _data()
    search = Search(DecisionTreeRegressor(ccp_alpha=0.1), {"max_leaf_nodes": [3, 6]}, cv=2).fit(X, y)
    assert not search.shared_
