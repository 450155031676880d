"""Multiway trees: the play-tennis table of the books, gains by definition, and the exact proof under attack."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.tree import id3, information_gain


def tennis():
    text = (
        "sunny hot high weak no;sunny hot high strong no;overcast hot high weak yes;rain mild high weak yes;"
        "rain cool normal weak yes;rain cool normal strong no;overcast cool normal strong yes;"
        "sunny mild high weak no;sunny cool normal weak yes;rain mild normal weak yes;sunny mild normal strong yes;"
        "overcast mild high strong yes;overcast hot normal weak yes;rain mild high strong no"
    )
    table = [row.split() for row in text.split(";")]
    frame = pd.DataFrame(table, columns=["outlook", "temperature", "humidity", "wind", "play"])
    return frame.drop(columns="play"), frame["play"]


def test_the_tree_of_the_books():
    X, y = tennis()
    tree = id3(X, y)
    assert [r.split for r in tree.trace[:4]] == ["outlook", "temperature", "humidity", "wind"]
    assert [round(r.gain, 3) for r in tree.trace[:4]] == [0.247, 0.029, 0.152, 0.048]
    assert str(tree).splitlines() == [
        "outlook = sunny",
        "|   humidity = high: no (3)",
        "|   humidity = normal: yes (2)",
        "outlook = overcast: yes (4)",
        "outlook = rain",
        "|   wind = weak: yes (3)",
        "|   wind = strong: no (2)",
    ]
    assert np.mean(tree.predict(X) == y) == 1.0
    assert tree.verify(X, y)
    assert r"\mathrm{Gain}(\text{outlook})" in tree.trace.latex()
    assert len(tree.trace.plot().get_lines()) == 2


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 3))
def test_chosen_columns_gain_most_and_the_proof_holds(seed, depth):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(3, size=(25, 4)), rng.integers(3, size=25)
    tree = id3(X, y, max_depth=depth)
    assert tree.verify(X, y)
    for row in (r for r in tree.trace if r.depth == 0):
        j = int(row.split[2])
        assert row.gain == pytest.approx(information_gain(y, X[:, j]), abs=1e-12)
    for node in {r.node for r in tree.trace}:
        asked = [r for r in tree.trace if r.node == node]
        chosen = [r.gain for r in asked if r.chosen]
        assert not chosen or chosen[0] >= max(r.gain for r in asked) - 1e-12
        assert chosen or max(r.gain for r in asked) < 1e-9
    changed = y.copy()
    changed[0] = (y[0] + 1) % 3
    assert not tree.verify(X, changed)


def test_forgeries_are_refused():
    X, y = tennis()
    tree = id3(X, y)
    wind = id3(X[["wind"]], y).root
    assert not replace(tree, root=replace(wind, column=3)).verify(X, y)  # a column that gains less
    assert not replace(tree, root=replace(tree.root, branches={}, column=None)).verify(X, y)  # nothing asked
    part = dict(list(tree.root.branches.items())[:2])
    assert not replace(tree, root=replace(tree.root, branches=part)).verify(X, y)  # a branch left out
    assert not replace(tree, root=replace(tree.root, counts={"yes": 14})).verify(X, y)
    assert not replace(tree, root=replace(tree.root, column=-4)).verify(X, y)
    assert not tree.verify(X.iloc[:-1], y[:-1])
    assert not tree.verify(X, y[:-1])


def test_sentences_and_unknown_values():
    X, y = tennis()
    tree = id3(X, y)
    other = X.iloc[:1].assign(outlook="snow")
    assert tree.predict(other).tolist() == ["yes"]
    assert str(id3([["a"]], ["x"])) == "x (1)"
    for call, says in (
        (lambda: id3([["a"]], ["x", "y"]), "same number of rows"),
        (lambda: id3([["a"]], ["x"], max_depth=-1), "negative"),
        (lambda: id3([["a"]], ["x"], feature_names=["a", "b"]), "names 2 columns"),
        (lambda: tree.predict([["a"]]), "has 1 columns"),
    ):
        with pytest.raises(ValueError, match=says):
            call()
