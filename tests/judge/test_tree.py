"""Trees of others: scikit-learn's are proved, wrong splits and wrong leaves are refused, the other criterion is named."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import certifit as cf
from certifit.certificates import Data, issue
from certifit.certificates.tree_questions import told_apart


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_trees_of_scikit_learn_are_proved(seed, criterion):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 12, size=(60, 3)).astype(float), rng.integers(0, 3, size=60)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=3, random_state=0).fit(X, y)
    assert cf.certify_tree(theirs, X, y, criterion, max_depth=3).holds


def test_a_regression_tree():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(40, 2)).astype(float)
    y = X[:, 0] + rng.normal(size=40)
    theirs = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y)
    assert cf.certify_tree(theirs, X, y, "squared_error", max_depth=2).holds


POINTS, LABELS = np.array([[0.0, 5.0], [1.0, 1.0], [2.0, 4.0], [3.0, 2.0], [4.0, 3.0]]), np.array([0, 0, 1, 1, 1])
BEST = {"feature": 0, "threshold": 1.5, "left": 0, "right": 1}


@pytest.mark.parametrize(
    "tree",
    [
        {**BEST, "threshold": 2.5, "right": 1, "left": 0},
        {**BEST, "feature": 1, "threshold": 2.5},
        {**BEST, "left": 1},
        1,
    ],
)
def test_wrong_trees_are_refused(tree):
    assert cf.certify_tree(BEST, POINTS, LABELS).holds
    assert not cf.certify_tree(tree, POINTS, LABELS, max_depth=1).holds


def test_the_other_criterion_is_named():
    """Gini and entropy choose different splits on some tables: one is looked for."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 6, size=(24, 2)).astype(float), rng.integers(0, 3, size=24)
        grown = DecisionTreeClassifier(criterion="entropy", max_depth=1, random_state=0).fit(X, y)
        judged = cf.certify_tree(grown, X, y, "gini", max_depth=1)
        if not judged.holds:
            findings = judged.diagnose(X, y)
            assert [f.name for f in findings] == ["other criterion"]
            assert "entropy" in findings[0].sentence
            return
    pytest.fail("no table told the criteria apart")


def test_sentences():
    with pytest.raises(ValueError, match="no column 7"):
        cf.certify_tree({**BEST, "feature": 7}, POINTS, LABELS)
    with pytest.raises(ValueError, match="not a label of y"):
        cf.certify_tree({**BEST, "left": 9}, POINTS, LABELS)
    with pytest.raises(ValueError, match="no rows"):
        cf.certify_tree({**BEST, "threshold": -1.0}, POINTS, LABELS)


@pytest.mark.parametrize(
    "model",
    [
        cf.linear_model.LinearModel("logistic", "l2", lam=0.1),
        cf.tree.DecisionTreeClassifier(max_depth=2),
        cf.neighbors.KNeighborsClassifier(3),
        cf.naive_bayes.GaussianNB(),
        cf.decomposition.PCA(1),
        cf.cluster.KMeans(2, random_state=0),
    ],
    ids=lambda m: type(m).__name__,
)
def test_certify_takes_estimators_of_ours(model):
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    model.fit(X, y)
    free = type(model).__name__ in ("PCA", "KMeans")
    assert cf.certify(model, X, None if free else y).holds
    if type(model).__name__ != "LinearModel":
        with pytest.raises(ValueError, match="not the data"):
            cf.certify(model, X + 1, None if free else y)


def sample(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 4))
    X = np.rint(2 * X) / 2 if seed % 2 else X
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=50), [0.0, 1.5])
    r = X[:, 0] ** 2 + rng.normal(size=50)
    weights = rng.integers(0, 4, 50).astype(float) if seed % 3 == 0 else None
    return X, {"y": y, "r": r, "count": rng.poisson(np.exp(X[:, 0] / 2)).astype(float)}, weights


C, R = DecisionTreeClassifier, DecisionTreeRegressor
GROWN = [
    (C, "y", {"splitter": "random"}, "nothing is claimed about them"),
    (C, "y", {"splitter": "random", "ccp_alpha": 0.02, "class_weight": "balanced"}, "nothing is claimed"),
    (C, "y", {"max_features": 2}, "about the columns drawn for it"),
    (C, "y", {"ccp_alpha": 0.02}, "no other pruning costs less at alpha = 0.02"),
    (C, "y", {"class_weight": "balanced"}, "classes weighted"),
    (C, "y", {"class_weight": {0: 1.0, 1: 3.0, 2: 0.5}, "criterion": "entropy"}, "classes weighted"),
    (C, "y", {"class_weight": "balanced", "ccp_alpha": 0.01, "max_features": 2}, "no other pruning"),
    (C, "y", {"max_leaf_nodes": 6}, "max_leaf_nodes = 6"),
    (C, "y", {"max_leaf_nodes": 6, "max_features": 2}, "max_leaf_nodes = 6"),
    (R, "r", {"splitter": "random"}, "nothing is claimed about them"),
    (R, "r", {"max_features": 2}, "about the columns drawn for it"),
    (R, "r", {"ccp_alpha": 0.02}, "no other pruning"),
    (R, "r", {"criterion": "absolute_error", "ccp_alpha": 0.02}, "no other pruning"),
    (R, "r", {"max_leaf_nodes": 7}, "max_leaf_nodes = 7"),
    (R, "count", {"criterion": "poisson", "ccp_alpha": 0.01}, "no other pruning"),
    (R, "r count", {"max_features": 2, "ccp_alpha": 0.05}, "for 2 targets"),
    (C, "y y", {"class_weight": "balanced"}, "for 2 targets"),
    (C, "y y", {"splitter": "random"}, "for 2 targets"),
]


@pytest.mark.parametrize(("kind", "target", "settings", "words"), GROWN)
def test_trees_grown_with_every_option_are_judged(kind, target, settings, words):
    for seed in range(8):
        X, targets, weights = sample(seed)
        y = np.column_stack([targets[name] for name in target.split()]) if " " in target else targets[target]
        model = kind(random_state=seed if seed % 4 else None, **settings).fit(X, y, sample_weight=weights)
        certificate = cf.certify(model, X, y, weights)
        assert certificate.holds, (seed, certificate.failures)
        # Without a seed, ties may be settled otherwise when a pruned tree is grown again: then less is claimed.
        assert words in certificate.claim or (not seed % 4 and "pruning" in words)
        assert certificate.diagnose(X, y, weights).right


def test_changed_trees_are_refused():
    """Whatever was not grown so: other leaves, another strength of pruning, another class weight."""
    X, targets, _ = sample(2)
    model = C(splitter="random", max_depth=3, random_state=0).fit(X, targets["y"])
    model.tree_.value[:] = model.tree_.value[:, :, ::-1]
    assert not cf.certify(model, X, targets["y"]).holds
    model = C(ccp_alpha=0.02, random_state=0).fit(X, targets["y"])
    assert not cf.certify(model.set_params(ccp_alpha=0.1), X, targets["y"]).holds
    model = C(class_weight={0: 9.0}, random_state=0).fit(X, targets["y"])
    assert not cf.certify(model.set_params(class_weight="balanced"), X, targets["y"]).holds


@pytest.mark.parametrize("block", range(5))
def test_trees_with_directions(block):
    """What scikit-learn grows under monotonic_cst is proved, and of a tree that breaks a direction nothing is."""
    told = 0
    for seed in range(4 * block, 4 * block + 4):
        X, targets, weights = sample(seed)
        signs = np.random.default_rng(seed).integers(-1, 2, 4).tolist()
        limits = {"random_state": 0, "min_samples_leaf": 1 + seed % 3, "ccp_alpha": 0.02 * (seed % 4 == 0)}
        for model, y in (
            (C(class_weight=["balanced", None][seed % 2], **limits), (targets["y"] > 0).astype(int)),
            (R(criterion=["squared_error", "absolute_error"][seed % 2], **limits), targets["r"]),
            (R(criterion="poisson", **limits), targets["count"]),
        ):
            model.set_params(monotonic_cst=signs).fit(X, y, sample_weight=weights)
            certificate = cf.certify(model, X, y, weights)
            assert certificate.holds, (seed, model, certificate.failures)
            asked = model.tree_.feature[model.tree_.children_left >= 0]
            if any(signs[j] for j in asked):
                told += 1
                assert "with column" in certificate.claim
                other = cf.certify(model.set_params(monotonic_cst=[-v for v in signs]), X, y, weights)
                assert not other.holds, (seed, model)
    assert told >= 3


@pytest.mark.parametrize("unit", [1e-6, 1e-8, 1e-12])
def test_columns_in_tiny_units(unit):
    """scikit-learn divides no values at most 1e-7 apart: then the claim says so, and nothing else is excused."""
    words = "values that in single precision are at most 1e-07 apart not being divided"
    for seed in range(4):
        X, targets, weights = sample(seed)
        table = X * np.array([unit, 1.0, unit, 1.0])
        if seed % 3 == 1:
            table[::7, 0] = np.nan
        criterion = ["squared_error", "squared_error", "absolute_error"][seed % 3]
        for model, y in (
            (C(random_state=0), targets["y"]),
            (R(random_state=0, criterion=criterion, max_depth=4), targets["r"]),
            (R(random_state=0), np.column_stack([targets["r"], targets["count"]])),
        ):
            model.fit(table, y, sample_weight=weights)
            certificate = cf.certify(model, table, y, weights)
            assert certificate.holds, (seed, model, certificate.failures)
            assert words in certificate.claim or unit == 1e-6 or y.ndim == 1
            assert certificate.verify(table, y, weights).holds
    tree = {"feature": 0, "threshold": 1.5 * unit, "left": 0, "right": 1}
    x, y = unit * np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    assert cf.certify_tree(tree, x, y).holds  # one written down is held to every split
    assert not cf.certify_tree(0, x, y).holds
    wide = np.column_stack([x[:, 0], [0.0, 2.0, 1.0, 3.0]])
    worse = C(max_depth=1, random_state=0).fit(wide, [0, 1, 0, 1])
    assert cf.certify(worse, wide, [0, 1, 0, 1]).holds
    worse.tree_.threshold[0] = 0.5  # the worse of two splits between values far apart
    assert not cf.certify(worse, wide, [0, 1, 0, 1]).holds


def test_neighbours_in_single_precision_are_told_apart_as_by_scikit_learn():
    for base in (0.3, 0.6, 1.0, 1.5, 2.0, -1.0, 100.0):
        low = high = np.float32(base)
        for _ in range(5):
            high = np.nextafter(high, np.float32(np.inf))
            X = np.array([[low], [high]])
            model = C().fit(X, [0, 1])
            assert told_apart(X[:, 0])[0] == (model.tree_.node_count > 1)
            assert cf.certify(model, X, [0, 1]).holds


def test_missing_values():
    X, targets, _ = sample(4)
    X[::7, 0] = np.nan
    model = C(max_depth=3, random_state=0).fit(X, targets["y"])
    certificate = cf.certify(model, X, targets["y"])
    assert certificate.kind == "tree-general"
    assert certificate.holds, certificate.failures


def grown_at_random(seed):
    """A tree of scikit-learn's under random rules, with its table: weights, class weights, limits and missing values."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 90)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 2, size=d)
    X = np.rint(2 * X) / 2 if seed % 3 == 0 else X
    lost = seed % 5 == 0
    z = X[:, 0] / 10 + rng.normal(size=n)
    X[rng.random(X.shape) < 0.1 * lost] = np.nan
    weights = [None, rng.integers(0, 4, n).astype(float), rng.random(n) * 100, 10 ** rng.uniform(-3, 3, n)][seed % 4]
    offers = {
        "min_weight_fraction_leaf": rng.choice([0.05, 0.1, 0.25, 1 / 3, 0.5, rng.uniform(0, 0.5)]),
        "max_depth": int(rng.integers(1, 7)),
        "min_samples_leaf": int(rng.integers(1, 5)),
        "max_features": int(rng.integers(1, d + 1)),
        "ccp_alpha": 10 ** rng.uniform(-4, -1),
        "max_leaf_nodes": int(rng.integers(2, 12)),
        "min_impurity_decrease": rng.choice([1e-3, 1e-2]),
    }
    settings = {name: value for name, value in offers.items() if rng.random() < 0.35}
    if rng.random() < 0.6:
        y = np.digitize(z, np.sort(rng.normal(size=int(rng.integers(1, 4)))))
        settings["criterion"] = str(rng.choice(["gini", "entropy", "log_loss"]))
        settings["class_weight"] = "balanced" if rng.random() < 0.5 else None
        return C(random_state=seed, **settings), X, y, weights
    # Where values are missing, scikit-learn 1.8 leaves nodes undivided by the Poisson deviance that could gain.
    settings["criterion"] = str(rng.choice(["squared_error", "absolute_error", "poisson"][: 1 if lost else 3]))
    y = rng.poisson(np.exp(z / 2)) + (np.arange(n) == 0.0) if settings["criterion"] == "poisson" else z
    return R(random_state=seed, **settings), X, y.astype(float), weights


@pytest.mark.parametrize("block", range(6))
def test_no_right_tree_is_refused_and_a_light_leaf_is(block):
    lighter = 0
    for seed in range(30 * block, 30 * block + 30):
        model, X, y, weights = grown_at_random(seed)
        model.fit(X, y, sample_weight=weights)
        certificate = cf.certify(model, X, y, weights)
        assert certificate.holds, (seed, model, certificate.failures)
        leaf = model.tree_.children_left < 0
        lightest = float(model.tree_.weighted_n_node_samples[leaf].min() / model.tree_.weighted_n_node_samples[0])
        # Below a node whose rows all agree, splits change nothing and are left out of the proof.
        if 1e-6 < lightest < 0.49 and certificate.questions == np.sum(~leaf) and not model.ccp_alpha:
            lighter += 1
            model.set_params(min_weight_fraction_leaf=lightest * (1 + 1e-6))
            assert not cf.certify(model, X, y, weights).holds, (seed, model)
    assert lighter >= 5


def test_a_limit_met_to_rounding_may_be_used_and_need_not():
    """Three rows of weight 0.1 beside a limit of 0.3: their sum is a little more or less, as it is added up."""
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    weights = np.full(6, 0.1)
    split = {"feature": 0, "threshold": 2.5, "left": 0, "right": 1}
    for total in (0.1 + 0.1 + 0.1, 0.3):  # 0.30000000000000004 and 0.3
        for tree in (split, 0):
            rules = {"criterion": "gini", "max_depth": 1, "min_samples_split": 2, "min_samples_leaf": 1}
            rules |= {"min_weight_leaf": total, "min_impurity_decrease": 0.0, "max_leaf_nodes": 0}
            evidence = dict(cf.certify_tree(tree, X, y, max_depth=1, sample_weight=weights).evidence)
            assert issue("tree", Data.of(X, y, weights), evidence | rules).holds
            above = evidence | rules | {"min_weight_leaf": total * (1 + 1e-6)}
            assert issue("tree", Data.of(X, y, weights), above).holds == (tree == 0)
            below = evidence | rules | {"min_weight_leaf": total * (1 - 1e-6)}
            assert issue("tree", Data.of(X, y, weights), below).holds == (tree != 0)


def test_single_precision():
    """Rows that scikit-learn's single precision sends to the other side are judged where it sends them."""
    X = np.array([[1.0], [1.0 + 3e-8], [2.0], [3.0]])
    y = np.array([0, 0, 1, 1])
    model = C(random_state=0).fit(X, y)
    model.tree_.threshold[0] = 1.0  # 1 + 3e-8 is 1 in single precision
    assert model.score(X, y) == 1.0
    assert cf.certify(model, X, y).holds
