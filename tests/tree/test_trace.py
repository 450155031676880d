"""Every split that a tree compared: gains against their definition, and the one asked is the best."""

import numpy as np
import pandas as pd
import pytest

from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor, information_gain

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3)).round(2)
Y = (X[:, 0] + X[:, 1] ** 2 + 0.5 * RNG.normal(size=40) > 0.5).astype(int)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_gains_are_those_of_the_definition(criterion):
    trace = DecisionTreeClassifier(criterion=criterion, max_depth=1, trace=True).fit(X, Y).trace_
    assert len(trace) == sum(len(np.unique(X[:, j])) - 1 for j in range(3))
    for row in trace[::7]:
        j, t = int(row.split[2]), float(row.split.split("<= ")[1])
        assert row.gain == pytest.approx(information_gain(Y, X[:, j] <= t, criterion=criterion), abs=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(min_samples_leaf=3),
        DecisionTreeClassifier(criterion="entropy", class_weight="balanced"),
        DecisionTreeClassifier(max_leaf_nodes=5),
        DecisionTreeClassifier(max_features=2, random_state=0),
        DecisionTreeRegressor(max_depth=3),
        DecisionTreeRegressor(criterion="absolute_error", max_depth=3),
    ],
    ids=str,
)
@pytest.mark.parametrize("holes", [False, True])
def test_each_node_asks_one_question_and_none_gains_more(model, holes):
    rows = np.where(RNG.random(X.shape) < 0.1, np.nan, X) if holes else X
    y = Y if isinstance(model, DecisionTreeClassifier) else X[:, 0] + Y
    fitted = model.set_params(trace=True).fit(rows, y)
    nodes = {}
    for row in fitted.trace_:
        nodes.setdefault(row.node, []).append(row)
    assert set(nodes) == set(np.flatnonzero(~fitted.tree_.is_leaf))
    for asked in nodes.values():
        chosen = [r for r in asked if r.chosen]
        assert chosen
        assert chosen[0].gain >= max(r.gain for r in asked) - 1e-9
    model.set_params(trace=False)


def test_groups_booleans_and_words():
    frame = pd.DataFrame(
        {"sky": pd.Categorical(list("abcabcabcabc")), "wet": [True, False] * 6, "t": [np.nan, *range(11)]}
    )
    trace = DecisionTreeClassifier(criterion="entropy", max_depth=1, trace=True).fit(frame, list("xyzxyzxxyzyz")).trace_
    splits = trace["split"]
    assert {"sky = a", "sky = b", "sky != c"} <= set(splits)
    assert "not wet" in splits
    assert "t is known" in splits
    assert any(q.endswith("or missing") for q in splits)


def test_without_trace_it_is_empty_and_odd_trees_are_refused():
    assert len(DecisionTreeClassifier().fit(X, Y).trace_) == 0
    with pytest.raises(ValueError, match="trace=True needs one target"):
        DecisionTreeRegressor(trace=True).fit(X, np.column_stack([Y, Y]))
