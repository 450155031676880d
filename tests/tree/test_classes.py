"""The estimators: contract, scikit-learn and rpart as witnesses, weights, missing values, categories."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.contract import contract
from tests.loops.test_tree_growing import impurity

CRITERIA = ["gini", "entropy", "squared_error", "absolute_error"]


def models(criterion, **params):
    """Ours and scikit-learn's, with the same parameters."""
    if criterion in ("gini", "entropy"):
        pair = DecisionTreeClassifier, sklearn.tree.DecisionTreeClassifier
    else:
        pair = DecisionTreeRegressor, sklearn.tree.DecisionTreeRegressor
    return pair[0](criterion=criterion, **params), pair[1](criterion=criterion, random_state=0, **params)


def random_problem(seed, n=400, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(float)
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    return X, np.digitize(score, [-0.7, 0.7]), score


@contract(
    [
        DecisionTreeClassifier(),
        DecisionTreeRegressor(),
        DecisionTreeClassifier(criterion="entropy", ccp_alpha=0.01, class_weight="balanced"),
        DecisionTreeRegressor(criterion="absolute_error", max_leaf_nodes=8),
    ]
)
def test_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "params",
    [
        {"min_samples_leaf": 15},
        {"max_depth": 3},
        {"max_leaf_nodes": 9},
        {"min_impurity_decrease": 0.02},
        {"min_samples_leaf": 12, "min_weight_fraction_leaf": 0.05, "min_samples_split": 0.2},
        {"ccp_alpha": 0.01, "min_samples_leaf": 10},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_partition_is_scikit_learns_on_tie_free_data(criterion, params, weighted):
    X, labels, score = random_problem(0)
    y = labels if criterion in ("gini", "entropy") else score
    w = np.random.default_rng(1).random(len(y)) if weighted else None
    ours, theirs = (m.fit(X, y, sample_weight=w) for m in models(criterion, **params))
    if criterion == "absolute_error" and not weighted:  # medians of even sets make true ties: same gain, not same cut
        if "max_leaf_nodes" not in params:
            compare_gains(X, y, ours, theirs, criterion)
        return
    assert _partition(ours.apply(X)) == _partition(theirs.apply(X))
    t, s = ours.tree_, theirs.tree_
    assert t.node_count == s.node_count
    assert t.max_depth == s.max_depth
    assert np.array_equal(t.feature, s.feature)
    assert t.threshold == pytest.approx(s.threshold)
    assert t.impurity == pytest.approx(s.impurity, abs=1e-9)
    assert t.value == pytest.approx(s.value, abs=1e-9)
    assert np.array_equal(t.n_node_samples, s.n_node_samples)
    assert t.weighted_n_node_samples == pytest.approx(s.weighted_n_node_samples)
    assert ours.feature_importances_ == pytest.approx(theirs.feature_importances_, abs=1e-9)
    assert (ours.decision_path(X) != theirs.decision_path(X)).nnz == 0
    assert np.array_equal(ours.predict(X), theirs.predict(X)) or np.allclose(ours.predict(X), theirs.predict(X))


def _partition(leaves):
    return {tuple(np.flatnonzero(leaves == leaf)) for leaf in np.unique(leaves)}


def compare_gains(X, y, ours, theirs, criterion):
    """Walk both trees while they agree; count the nodes, and insist that ours never gains less."""
    w = np.ones(len(y))
    stack, agreed, ties = [(np.arange(len(y)), 0, 0)], 0, 0

    def sides(tree, node, rows):
        v = X[rows, tree.feature[node]]
        left = np.where(np.isnan(v), tree.missing_go_to_left[node] == 1, v <= tree.threshold[node])
        return rows[left], rows[~left]

    while stack:
        rows, a, b = stack.pop()
        t, s = ours.tree_, theirs.tree_
        if s.children_left[b] < 0:
            continue
        assert t.children_left[a] >= 0
        whole = impurity(y[rows], w[rows], criterion)
        mine, other = sides(t, a, rows), sides(s, b, rows)
        gains = [whole - sum(impurity(y[p], w[p], criterion) for p in parts) for parts in (mine, other)]
        assert gains[0] >= gains[1] - 1e-9 * max(whole, 1e-12)
        if np.array_equal(mine[0], other[0]):
            agreed += 1
            stack += [
                (mine[0], t.children_left[a], s.children_left[b]),
                (mine[1], t.children_right[a], s.children_right[b]),
            ]
        else:
            assert gains[0] == pytest.approx(gains[1], rel=1e-6, abs=1e-9) or gains[0] > gains[1]
            ties += 1
    return agreed, ties


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("gaps", [False, True])
def test_never_less_gain_than_scikit_learn_on_real_tables(load, criterion, gaps):
    X, y = load(return_X_y=True)
    X = X.astype(np.float32).astype(float)
    if gaps:
        X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    ours, theirs = (m.fit(X, y) for m in models(criterion))
    agreed, _ = compare_gains(X, y, ours, theirs, criterion)
    assert agreed >= 1
    assert ours.score(X, y) >= theirs.score(X, y)


def test_regression_to_purity_on_a_real_table():
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = (m.fit(X.astype(np.float32), y) for m in models("squared_error"))
    agreed, _ = compare_gains(X.astype(np.float32).astype(float), y, ours, theirs, "squared_error")
    assert agreed > 50
    assert ours.predict(X.astype(np.float32)) == pytest.approx(y)


def test_kyphosis_is_rparts_tree(reference):
    record, table = reference("tree/kyphosis_rpart")
    X, y = table[["Age", "Number", "Start"]], table["Kyphosis"]
    tree = DecisionTreeClassifier(min_samples_split=20, min_samples_leaf=7).fit(X, y)
    absent = list(tree.classes_).index("absent")
    assert tree.predict_proba(X)[:, absent] == pytest.approx(record["expected"]["proba_absent_all_rows"], abs=1e-7)
    assert sorted(tree.tree_.n_node_samples[tree.tree_.is_leaf]) == sorted(
        leaf["n"] for leaf in record["expected"]["leaves"]
    )
    assert set(tree.tree_.threshold[~tree.tree_.is_leaf]) == {8.5, 14.5, 55.0, 111.0}
    assert tree.certificate_.holds


def test_car_mileage_is_rparts_tree_and_table(reference):
    record, table = reference("tree/car_mileage_rpart")
    expected = record["expected"]
    X, y = table[["Weight"]], table["Mileage"]
    model = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7)
    path = model.cost_complexity_pruning_path(X, y)
    root = model.fit(X, y).tree_.impurity[0]
    assert root == pytest.approx(expected["root_mse"], abs=5e-6)
    rows = [r for r in expected["cp_table"] if r["cp"] > 0.01]
    for row, alpha, impurity_, leaves in zip(rows, *(
        path[k][::-1] for k in ("ccp_alphas", "impurities", "n_leaves")
    )):  # fmt: skip
        assert alpha / root == pytest.approx(row["cp"], abs=1e-8)
        assert leaves == row["n_splits"] + 1
        assert impurity_ / root == pytest.approx(row["relative_error"], abs=1e-6)
    pruned = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7, ccp_alpha=0.01 * root).fit(X, y)
    leaf = pruned.tree_.is_leaf
    assert sorted(pruned.tree_.value[leaf, 0, 0]) == pytest.approx(
        sorted(r["mean"] for r in expected["leaves"]), abs=5e-5
    )
    assert sorted(pruned.tree_.threshold[~leaf]) == [2567.5, 2747.5, 3087.5]


@given(st.integers(0, 10_000), st.sampled_from(CRITERIA))
def test_weight_k_equals_k_copies(seed, criterion):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(25, 3)).astype(float)
    y = rng.integers(0, 3, 25) if criterion in ("gini", "entropy") else rng.integers(0, 9, 25).astype(float)
    w = rng.integers(0, 4, 25)
    if w.sum() == 0:
        return
    a = models(criterion)[0].fit(X, y, sample_weight=w)
    b = models(criterion)[0].fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert np.array_equal(a.tree_.feature, b.tree_.feature)
    assert np.array_equal(a.tree_.threshold, b.tree_.threshold)
    assert a.tree_.value == pytest.approx(b.tree_.value)


@given(st.integers(0, 10_000))
def test_two_class_grouping_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    c, n = int(rng.integers(2, 7)), 40
    X, y = rng.integers(0, c, size=(n, 1)).astype(float), rng.integers(0, 2, n)
    z = rng.normal(size=n)
    present = np.unique(X)
    for criterion, target in (
        ("gini", y),
        ("entropy", y),
        ("squared_error", z),
        ("gini", np.digitize(z, [-1, 1])),
    ):
        model = models(criterion, max_depth=1)[0].set_params(categorical_features=[0]).fit(X, target)
        w = np.ones(n)
        best = -np.inf
        for size in range(1, len(present)):
            for group in itertools.combinations(present, size):
                left = np.isin(X[:, 0], group)
                parts = sum(impurity(target[s], w[s], criterion) for s in (left, ~left))
                best = max(best, impurity(target, w, criterion) - parts)
        tree = model.tree_
        if tree.node_count == 1:
            assert len(present) < 2 or len(np.unique(target)) == 1
            continue
        mass = tree.weighted_n_node_samples * tree.impurity
        assert mass[0] - mass[1] - mass[2] == pytest.approx(best, abs=1e-9)


def frame(n=120):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "new": rng.random(n) > 0.5,
        }
    )
    y = np.where((table["colour"] == "red") & table["new"], "buy", "leave")
    table.loc[::11, "colour"] = None
    table.loc[::13, "size"] = np.nan
    return table, y


@pytest.mark.parametrize("kind", ["pandas", "category", "polars", "pyarrow"])
def test_frames_of_every_make_give_the_same_tree(kind):
    table, y = frame()
    expected = DecisionTreeClassifier().fit(table, y)
    if kind == "category":
        other = table.assign(colour=table["colour"].astype("category"))
    elif kind == "polars":
        other = pytest.importorskip("polars").from_pandas(table)
    elif kind == "pyarrow":
        other = pytest.importorskip("pyarrow").Table.from_pandas(table)
    else:
        other = table
    model = DecisionTreeClassifier().fit(other, y)
    assert model.columns_.kinds == ("numeric", "categorical", "boolean")
    assert np.array_equal(model.tree_.feature, expected.tree_.feature)
    assert np.array_equal(model.tree_.bits, expected.tree_.bits)
    assert np.array_equal(model.predict(other), y)
    assert model.certificate_.holds
    assert model.certificate_.verify(other, y).holds


def test_categories_by_number_name_and_mask_agree():
    table, y = frame()
    codes = table["colour"].map({"red": 2.0, "green": 0.0, "blue": 1.0})
    numbers = table.assign(colour=codes)
    by_name = DecisionTreeClassifier(categorical_features=["colour"]).fit(numbers, y)
    by_place = DecisionTreeClassifier(categorical_features=[1]).fit(numbers.to_numpy(float), y)
    by_mask = DecisionTreeClassifier(categorical_features=[False, True, False]).fit(numbers.to_numpy(float), y)
    for model in (by_place, by_mask):
        assert np.array_equal(model.tree_.bits, by_name.tree_.bits)
        assert np.array_equal(model.predict(numbers.to_numpy(float)), y)


def test_unseen_categories_go_where_missing_values_go():
    X = pd.DataFrame({"c": ["a"] * 6 + ["b"] * 3})
    model = DecisionTreeClassifier().fit(X, [0] * 6 + [1] * 3)
    assert model.predict(pd.DataFrame({"c": ["never seen", None, "b"]})).tolist() == [0, 0, 1]


def test_missing_values_learn_their_direction():
    X = np.array([[1.0], [2.0], [3.0], [4.0], [np.nan], [np.nan]])
    y = [0, 0, 1, 1, 0, 0]
    model = DecisionTreeClassifier().fit(X, y)
    assert np.array_equal(model.predict(X), y)
    assert model.tree_.missing_go_to_left[0] == 1
    alone = DecisionTreeClassifier().fit(X, [0, 0, 0, 0, 1, 1])
    assert np.isinf(alone.tree_.threshold[0])
    assert alone.predict([[np.nan], [100.0]]).tolist() == [1, 0]


def test_large_offsets_lose_no_digit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 50, 60).astype(float)
    plain, moved = (DecisionTreeRegressor().fit(X, v) for v in (y, y + 2.0**45))
    assert np.array_equal(plain.tree_.feature, moved.tree_.feature)
    assert moved.predict(X) - 2.0**45 == pytest.approx(plain.predict(X))
    near = 1e8 + np.arange(4.0)[:, None] * 2.0**-26  # one value to single precision
    assert DecisionTreeClassifier().fit(near, [0, 1, 0, 1]).score(near, [0, 1, 0, 1]) == 1.0


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e150, 1e300])
def test_scale_changes_nothing(scale):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    plain, scaled = (DecisionTreeRegressor(max_depth=3).fit(a, b) for a, b in ((X, y), (X * scale, y)))
    assert np.array_equal(plain.apply(X), scaled.apply(X * scale))
    other = DecisionTreeRegressor(max_depth=3).fit(X, y * np.sqrt(scale))
    assert np.array_equal(plain.apply(X), other.apply(X))


def test_neighbouring_floats_are_told_apart():
    x = np.array([1.0, np.nextafter(1.0, 2.0)])
    model = DecisionTreeClassifier().fit(x[:, None], [0, 1])
    assert model.predict(x[:, None]).tolist() == [0, 1]


def test_max_features_draws_columns_reproducibly():
    X, y, _ = random_problem(0, n=3000, d=20)
    a, b, c = (DecisionTreeClassifier(max_features=2, random_state=s).fit(X, y) for s in (1, 1, 2))
    assert np.array_equal(a.tree_.feature, b.tree_.feature)
    assert not np.array_equal(a.tree_.feature, c.tree_.feature)
    assert a.max_features_ == 2
    assert a.score(X, y) == 1.0
    assert DecisionTreeClassifier(max_features="sqrt").fit(X, y).max_features_ == 4


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"pruning": "cv", "ccp_alpha": 0.1}, "leave ccp_alpha at 0"),
        ({"categorical_features": [7]}, "from 0 to 4"),
        ({"categorical_features": ["a"]}, "no column names"),
        ({"categorical_features": [True]}, "mask"),
        ({"max_depth": 0}, "max_depth"),
        ({"splitter": "worst"}, "splitter"),
    ],
)
def test_bad_parameters_are_named(change, word):
    X, y, _ = random_problem(0, n=50)
    with pytest.raises(ValueError, match=word):
        DecisionTreeClassifier(**change).fit(X, y)


def test_bad_data_are_named():
    X, y, _ = random_problem(0, n=50)
    with pytest.raises(ValueError, match="categorical_features"):
        DecisionTreeClassifier(categorical_features=[0]).fit([["a", "b"], ["c", "d"]], [0, 1])
    with pytest.raises(ValueError, match="infinity"):
        DecisionTreeClassifier().fit(np.where(X > 0, np.inf, X), y)
    with pytest.raises(ValueError, match="zero"):
        DecisionTreeClassifier(class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)
    with pytest.raises(ValueError, match="not a column of X"):
        DecisionTreeClassifier(categorical_features=["q"]).fit(pd.DataFrame({"a": [1, 2]}), [0, 1])
