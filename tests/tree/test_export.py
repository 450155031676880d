"""Reading a tree: text, explanation, picture."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.datasets import load_iris

from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor, draw_tree, export_text, plot_tree, to_sklearn


@pytest.fixture
def mixed():
    X = pd.DataFrame(
        {
            "kind": ["a", "b", "c", "a", "b", "c", "d", "d"],
            "wet": [True, False, True, False, True, False, True, False],
            "size": [1.0, 2.0, 3.0, 4.0, np.nan, 6.0, 7.0, 8.0],
        }
    )
    return X, ["no", "yes", "no", "no", "yes", "yes", "no", "no"]


def test_text_has_every_leaf_and_both_sides_of_each_question(mixed):
    X, y = mixed
    tree = DecisionTreeClassifier().fit(X, y)
    text = export_text(tree, show_weights=True, form="words")
    assert text.count("rows, shares") == tree.get_n_leaves()
    assert len(text.splitlines()) == 2 * (tree.get_n_leaves() - 1) + tree.get_n_leaves()
    assert "kind" in text


def test_text_is_cut_and_names_are_replaced():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier().fit(X, y)
    text = export_text(tree, max_depth=1, feature_names=list("abcd"), class_names=["one", "two", "three"], form="words")
    assert "more splits" in text
    assert "one" in text
    assert "x[" not in text
    with pytest.raises(ValueError, match="4"):
        export_text(tree, feature_names=["a"], form="words")
    with pytest.raises(ValueError, match="classes"):
        export_text(tree, class_names=["a"], form="words")


def test_explanation_follows_the_path(mixed):
    X, y = mixed
    tree = DecisionTreeClassifier().fit(X, y)
    for row in range(len(X)):
        told = tree.explain(X.iloc[[row]])
        assert told.prediction == tree.predict(X.iloc[[row]])[0] == y[row]
        assert list(told.nodes) == sorted(tree.decision_path(X.iloc[[row]]).indices.tolist())
        assert len(told.splits) == len(told.nodes) - 1
    same = tree.explain(["b", False, 2.0])
    assert same.prediction == "yes"
    assert "so: yes" in str(same)
    assert "missing" in str(DecisionTreeRegressor().fit(X[["size"]], range(8)).explain(X[["size"]].iloc[[4]]))


def test_explanation_takes_one_row():
    tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [0, 1])
    assert tree.explain([0.2]).prediction == 0.0
    with pytest.raises(ValueError, match="one row"):
        tree.explain([[0.0], [1.0]])
    with pytest.raises(ValueError, match="features"):
        tree.explain([0.0, 1.0])


def test_the_questions_of_a_boolean_and_a_missing_value():
    X = pd.DataFrame({"wet": [True, False]})
    assert "|-- not wet" in export_text(DecisionTreeClassifier().fit(X, [1, 0]), form="words")
    gaps = DecisionTreeClassifier().fit([[np.nan], [1.0], [2.0]], [1, 0, 0])
    assert "x[0] is missing" in export_text(gaps, form="words")


def test_picture_shows_each_node_once(mixed):
    X, y = mixed
    tree = DecisionTreeClassifier().fit(X, y)
    ax = draw_tree(tree, title="t", highlight=X.iloc[[0]])
    assert len(ax.texts) == tree.tree_.node_count + 2  # with "yes" and "no"
    cut = draw_tree(tree, max_depth=1)
    assert len(cut.texts) == 5
    assert draw_tree(DecisionTreeRegressor().fit([[0.0], [1.0]], [0, 1]), ax=cut) is cut


def test_scikit_learns_text_letter_by_letter():
    X, y = load_iris(return_X_y=True)
    ours = DecisionTreeClassifier().fit(X, y)
    theirs = to_sklearn(ours)
    for options in ({}, {"show_weights": True}, {"max_depth": 1, "decimals": 4}, {"feature_names": list("abcd")}):
        assert export_text(ours, **options) == sklearn.tree.export_text(theirs, **options)
    values = DecisionTreeRegressor(max_depth=3).fit(X[:, :3], X[:, 3])
    assert export_text(values) == sklearn.tree.export_text(to_sklearn(values))
    with pytest.raises(ValueError, match="words"):
        export_text(ours, form="poem")


def test_questions_that_scikit_learn_cannot_ask_are_put_in_words(mixed):
    X, y = mixed
    tree = DecisionTreeClassifier().fit(X, y)
    text = export_text(tree, feature_names=list(X.columns), spacing=2)
    assert text.startswith("|-- kind ")
    assert "nan" not in text
    assert text.count("class: ") == tree.get_n_leaves()
    gaps = DecisionTreeClassifier().fit([[np.nan], [1.0], [2.0]], [1, 0, 0])
    assert export_text(gaps).splitlines()[::2] == ["|--- feature_0 is known", "|--- feature_0 is missing"]
    pytest.importorskip("matplotlib").use("agg")
    told = [box.get_text().split("\n")[0] for box in plot_tree(tree, feature_names=list(X.columns))]
    assert told[0] in text
    assert not any(line.endswith(("nan", "inf")) for line in told)
    shown = plot_tree(tree, max_depth=0)
    assert sum("(...)" in box.get_text() for box in shown) > 0


def test_scikit_learns_picture_of_our_tree():
    pytest.importorskip("matplotlib").use("agg")
    X, y = load_iris(return_X_y=True)
    ours = DecisionTreeClassifier(max_depth=3).fit(X, y)
    drawn = {"filled": True, "rounded": True, "node_ids": True, "proportion": True}
    expected = [box.get_text() for box in sklearn.tree.plot_tree(to_sklearn(ours), **drawn)]
    assert [box.get_text() for box in plot_tree(ours, **drawn)] == expected
    assert [box.get_text() for box in sklearn.tree.plot_tree(ours, **drawn)] == expected
