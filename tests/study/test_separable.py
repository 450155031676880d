"""Separability in one voice: what is proved, pair by pair, and the one odd row."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from sklearn.datasets import load_iris

from certifit.study import _separable
from certifit.study._separable import told


def test_several_classes_are_told_pair_by_pair():
    X, y = load_iris(return_X_y=True)
    found = told(X, np.array(["setosa", "versicolor", "virginica"])[y])
    words = {name: pair["verdict"] for name, pair in found["pairs"].items()}
    assert words["setosa and versicolor"] == words["setosa and virginica"] == "separable"
    assert words["versicolor and virginica"] == "overlapping"
    assert found["holds"]
    assert "overlapping: versicolor and virginica" in found["text"]


def test_the_odd_row_is_named_and_it_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    X[:, 0] += np.where(X[:, 0] > 0, 0.5, -0.5)
    y = np.where(X[:, 0] > 0, "right", "left")
    assert told(X, y)["verdict"] == "separable"
    y[7] = "left" if y[7] == "right" else "right"
    one = told(X, y)
    assert (one["verdict"], one["odd_row"]) == ("overlapping", 7)
    assert "Row 7 alone makes the classes overlap" in one["text"]
    y[8] = "left" if y[8] == "right" else "right"
    assert "odd_row" not in told(X, y)


def test_what_is_not_proved_is_not_claimed(monkeypatch):
    class Doubtful:
        holds, verdict, classes, rows = False, "touching", np.array([0, 1]), None

    monkeypatch.setattr(_separable, "separability", lambda Z, y: Doubtful())
    found = told(np.eye(2), np.array([0, 1]))
    assert found["verdict"] == "undecided"
    assert not found["holds"]
    assert "touching" not in found["text"]


def test_equal_rows_of_two_classes_settle_what_rounding_leaves_open(monkeypatch):
    undecided = SimpleNamespace(holds=False, classes=("a", "b"))
    monkeypatch.setattr(_separable, "separability", lambda Z, y: undecided)
    Z, y = np.array([[0.0, 1.0], [2.0, 3.0], [2.0, 3.0], [0.0, 1.0]]), np.array(["a", "b", "a", "a"])
    found = told(Z, y)
    assert found["holds"]
    assert found["verdict"] == "not separable"
    assert "rows 1 and 2 are equal in every feature and differ in the class" in found["text"]
    left_open = told(Z[:3] + np.eye(3, 2), y[:3])
    assert not left_open["holds"]
    assert "--exact" in left_open["text"]
