"""Reading a tree: as text, and as the splits on the way of one row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import sklearn.tree
from sklearn.base import is_classifier

from certifit._types import Array, BaseEstimator
from certifit._validation import check_is_fitted


def word_of(v: object) -> str:
    return f"{v:g}" if isinstance(v, float) else str(v)


def column_name(model: BaseEstimator, j: int, feature_names: Sequence[str] | None = None) -> str:
    """The name of a column: as given, as fitted, or x[j]."""
    return str(feature_names[j]) if feature_names is not None else model.columns_.name(j)


def split(
    model: BaseEstimator, node: int, feature_names: Sequence[str] | None = None, decimals: int = 4
) -> tuple[str, str]:
    """What a node asks, as (condition for going left, condition for going right)."""
    tree, columns = model.tree_, model.columns_
    j = int(tree.feature[node])
    name = column_name(model, j, feature_names)
    if tree.group[node] >= 0:
        words = [word_of(c) for c in columns.categories[j]]
        left = set(tree.left_categories(node).tolist())
        sides = [[w for k, w in enumerate(words) if (k in left) == side] for side in (True, False)]
        return among(name, *sides), among(name, *sides[::-1])
    if np.isinf(tree.threshold[node]):
        return f"{name} is known", f"{name} is missing"
    if columns.kinds[j] == "boolean":
        return f"not {name}", f"{name}"
    threshold = np.format_float_positional(tree.threshold[node], decimals, unique=True, fractional=False, trim="-")
    return f"{name} <= {threshold}", f"{name} > {threshold}"


def among(name: str, words: list[str], others: list[str]) -> str:
    """Membership in words, told by the shorter of the two lists."""
    if len(words) <= max(len(others), 1) and words:
        return f"{name} = {words[0]}" if len(words) == 1 else f"{name} in {{{', '.join(words)}}}"
    return f"{name} != {others[0]}" if len(others) == 1 else f"{name} not in {{{', '.join(others)}}}"


def answer(model: BaseEstimator, node: int, class_names: Sequence[str] | None = None, decimals: int = 4) -> str:
    """What a leaf predicts, in words."""
    value = model.tree_.value[node, 0]
    if not is_classifier(model):
        return f"{value[0]:.{decimals}g}"
    names = model.classes_ if class_names is None else class_names
    return str(names[int(np.argmax(value))])


def export_text(
    decision_tree: BaseEstimator,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int | None = None,
    show_weights: bool = False,
    form: str = "scikit-learn",
) -> str:
    """A tree as indented text, one line per split side and leaf.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names, class_names : array-like of str, default=None
        Names to use; None takes ``feature_0``, ``feature_1``, … as scikit-learn does, or with ``form="words"`` the
        names seen in `fit`.
    max_depth : int ≥ 0, default=10
        Deeper parts are cut off with their depth or size.
    spacing : int ≥ 1, default=3
        Width of one step of indentation.
    decimals : int ≥ 0, default=None
        Digits after the point (None: 2); with ``form="words"`` significant digits (None: 4).
    show_weights : bool, default=False
        Add the weight of each class to the leaves; with ``form="words"`` rows and class shares (or the error).
    form : {"scikit-learn", "words"}, default="scikit-learn"
        The text that scikit-learn writes, letter by letter (splits that its trees do not have are described in
        words), or a shorter description in words.

    Returns
    -------
    str

    Examples
    --------
    >>> from certifit.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> print(export_text(tree, feature_names=["rain"]), end="")
    |--- rain <= 3.00
    |   |--- class: no
    |--- rain >  3.00
    |   |--- class: yes
    >>> print(export_text(tree, feature_names=["rain"], form="words"))
    |-- rain <= 3
    |   |-- no
    |-- rain > 3
    |   |-- yes
    """
    if form not in ("scikit-learn", "words"):
        raise ValueError(f'form is "scikit-learn" or "words", not {form!r}.')
    check_is_fitted(decision_tree, "tree_")
    if form == "words":
        return _in_words(
            decision_tree,
            feature_names,
            class_names,
            max_depth,
            spacing,
            4 if decimals is None else decimals,
            show_weights,
        )
    text = sklearn.tree.export_text(
        decision_tree, feature_names=feature_names, class_names=class_names, max_depth=max_depth, spacing=spacing,
        decimals=2 if decimals is None else decimals, show_weights=show_weights,
    )  # fmt: skip
    names = [f"feature_{j}" for j in range(decision_tree.n_features_in_)] if feature_names is None else feature_names
    return _other_questions_told(decision_tree, str(text), names, max_depth)


def other_questions(model: BaseEstimator, max_depth: int | None) -> Iterator[int]:
    """Nodes that ask what scikit-learn's trees cannot (categories; is it known?), in the order of the text."""
    tree = model.tree_
    stack = [(0, 0)]
    while stack:
        node, depth = stack.pop()
        if tree.children_left[node] < 0 or (max_depth is not None and depth > max_depth):
            continue
        if not np.isfinite(tree.threshold[node]):
            yield node
        stack += [(int(tree.children_right[node]), depth + 1), (int(tree.children_left[node]), depth + 1)]


def _other_questions_told(model: BaseEstimator, text: str, names: Any, max_depth: int) -> str:
    """scikit-learn writes such splits as "x <= nan": each of the two lines gets its condition in words."""
    nodes, sides, lines = other_questions(model, max_depth), {}, text.split("\n")
    for k, line in enumerate(lines):
        found = re.fullmatch(r"((?:\| *)*-* )(.*) (<=|> ) (nan|inf)", line)
        if found is None:
            continue
        indent = found[1]
        if found[3] == "<=":
            left, sides[indent] = split(model, next(nodes), names)
            lines[k] = indent + left
        else:
            lines[k] = indent + sides[indent]
    return "\n".join(lines)


def _in_words(
    model: Any, feature_names: Any, class_names: Any, max_depth: int, spacing: int, decimals: int, show_weights: bool
) -> str:
    tree = model.tree_
    if feature_names is not None and len(feature_names) != tree.n_features:
        raise ValueError(f"feature_names names {len(feature_names)} columns; the tree has {tree.n_features}.")
    if class_names is not None and is_classifier(model) and len(class_names) != tree.n_classes[0]:
        raise ValueError(f"class_names names {len(class_names)} classes; the tree has {tree.n_classes[0]}.")
    lines: list[str] = []
    bar, dash = "|" + " " * spacing, "|" + "-" * max(1, spacing - 1) + " "
    stack: list[tuple[int, int, str]] = [(0, 0, "")]
    while stack:
        node, depth, condition = stack.pop()
        if condition:
            lines.append(bar * (depth - 1) + dash + condition)
        if tree.children_left[node] < 0:
            text = answer(model, node, class_names, decimals)
            lines.append(bar * depth + dash + text + (_weights(model, node, decimals) if show_weights else ""))
        elif depth >= max_depth:
            below = _size_below(tree, node)
            lines.append(bar * depth + dash + f"... {below} more splits")
        else:
            left, right = split(model, node, feature_names, decimals)
            stack.append((int(tree.children_right[node]), depth + 1, right))
            stack.append((int(tree.children_left[node]), depth + 1, left))
    return "\n".join(lines)


def _weights(model: BaseEstimator, node: int, decimals: int) -> str:
    tree = model.tree_
    rows = int(tree.n_node_samples[node])
    if not is_classifier(model):
        return f"   ({rows} rows, error {tree.impurity[node]:.{decimals}g})"
    shares = ", ".join(f"{v:.3g}" for v in tree.value[node, 0])
    return f"   ({rows} rows, shares {shares})"


def _size_below(tree: Any, node: int) -> int:
    count, stack = 0, [node]
    while stack:
        t = stack.pop()
        if tree.children_left[t] >= 0:
            count += 1
            stack += [int(tree.children_left[t]), int(tree.children_right[t])]
    return count


@dataclass(frozen=True)
class Explanation:
    """Why a tree predicts what it predicts for one row.

    Attributes
    ----------
    nodes : tuple of int
        The nodes on the way, root first.
    splits : tuple of str
        What was true of the row at each node but the last.
    values : tuple of str
        The row's own value at each split.
    shares : tuple of str
        What the tree would predict at each node if it ended there.
    prediction : object
        The predicted class or value.
    support : int
        Training rows in the leaf.

    Examples
    --------
    >>> from certifit.tree import DecisionTreeClassifier
    >>> why = DecisionTreeClassifier().fit([[1.0], [2.0], [4.0]], ["no", "no", "yes"]).explain([[5.0]])
    >>> str(why.prediction), why.support
    ('yes', 1)
    """

    nodes: tuple[int, ...]
    splits: tuple[str, ...]
    values: tuple[str, ...]
    shares: tuple[str, ...]
    prediction: Any
    support: int

    def __str__(self) -> str:
        lines = [f"before any split: {self.shares[0]}"]
        for i, (asked, value, share) in enumerate(zip(self.splits, self.values, self.shares[1:]), start=1):
            lines.append(f"{i}. {asked}  (it is {value}): {share}")
        lines.append(f"so: {word_of(self.prediction)}, from {self.support} training rows")
        return "\n".join(lines)


def explain_row(model: BaseEstimator, row: Array) -> Explanation:
    """The way of one coded row through a fitted tree."""
    tree = model.tree_
    nodes = [int(v) for v in np.sort(tree.decision_path(row[None, :]).indices)]
    asked, values = [], []
    for node, child in pairwise(nodes):
        left, right = split(model, node)
        asked.append(left if child == tree.children_left[node] else right)
        values.append(_value(model, int(tree.feature[node]), row))
    leaf = nodes[-1]
    value = tree.value[leaf, 0]
    prediction = model.classes_[int(np.argmax(value))] if is_classifier(model) else float(value[0])
    if isinstance(prediction, np.generic):
        prediction = prediction.item()
    shares = tuple(_share(model, v) for v in nodes)
    return Explanation(tuple(nodes), tuple(asked), tuple(values), shares, prediction, int(tree.n_node_samples[leaf]))


def _value(model: BaseEstimator, j: int, row: Array) -> str:
    if np.isnan(row[j]):
        return "missing"
    known = model.columns_.categories[j]
    if known is not None:
        return word_of(known[int(row[j])])
    return str(bool(row[j])) if model.columns_.kinds[j] == "boolean" else f"{row[j]:g}"


def _share(model: BaseEstimator, node: int) -> str:
    value = model.tree_.value[node, 0]
    if not is_classifier(model):
        return f"{value[0]:.4g}"
    best = int(np.argmax(value))
    return f"{model.classes_[best]} {100 * value[best]:.0f} %"
