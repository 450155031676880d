"""A decision tree, one split at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Areas, Curve, Frame, Layer, Lines, Panel, Proof, Series, Table
from certifit.lab._scene import Board, Choice, LabError, Preset, Probe, Scene, Shown, Slider, View, labelled

if TYPE_CHECKING:
    from certifit.tree import DecisionTreeClassifier


def solve(
    X: np.ndarray, y: np.ndarray, *, criterion: str, depth: int, leaf: int, alpha: float
) -> DecisionTreeClassifier:
    """The tree."""
    model = cf.tree.DecisionTreeClassifier(criterion=criterion, max_depth=depth, min_samples_leaf=leaf, ccp_alpha=alpha)
    model.fit(X, y)
    return model


def report(answer: DecisionTreeClassifier, X: np.ndarray, y: np.ndarray, **params: object) -> dict[str, object]:
    """Size, errors and the proof."""
    certificate = answer.certificate_
    return {
        "splits": int(answer.get_n_leaves() - 1),
        "leaves": int(answer.get_n_leaves()),
        "depth": int(answer.get_depth()),
        "training errors": int(np.sum(answer.predict(X) != y)),
        "splits compared": int(certificate.compared),
        "proved": bool(certificate.holds),
    }


class Tree(Scene):
    """Steps are splits, from the top."""

    title = "Decision tree"
    order = 7
    page = "families/trees"
    about = (
        "A tree splits by one coordinate at a time; each split is the one that gains most, the impurity "
        "before minus the mean impurity after. Growing goes on until every leaf is pure or a limit is met, which "
        "learns the noise as well; pruning charges α for every leaf and removes splits that save less. It is proved "
        "that no other split at any node gains more and no other pruning costs less, but not that this "
        "is the smallest tree: greedy is not optimal."
    )
    labels = ("A", "B", "C")
    many = True
    controls = (
        Choice("criterion", "impurity", ("entropy", "gini")),
        Slider("depth", "depth at most", 1, 12, 6, step=1),
        Slider("leaf", "points in a leaf at least", 1, 20, 1, step=1),
        Slider("alpha", "pruning α", 0.0, 0.2, 0.0, step=0.002),
    )
    presets = (
        Preset("a disc with noise", _presets.rings(35, 0.45, 4), {"alpha": 0.02}),
        Preset("exclusive or", _presets.corners(12, 0.4, 3), {"depth": 3}),
        Preset("three classes", _presets.clouds([(-1.5, -1), (1.5, -0.8), (0, 1.4)], 20, 0.8, 2)),
    )

    def check(self, board: Board) -> None:
        """One class would need no split."""
        if len(board.y) < 2:
            raise LabError("Draw at least two points.")

    def steps(self, shown: Shown) -> int:
        """No split, then one more each."""
        return len(_questions(shown.answer)) + 1

    def frame(self, shown: Shown, step: int) -> Frame:
        """The regions after some splits."""
        board, model = shown.board, shown.answer
        splits = _questions(model)
        boxes, lines = _regions(board, model, set(splits[:step]))
        leaf_class = {node: int(model.classes_[np.argmax(model.tree_.value[node])]) for node in boxes}
        layers: list[Layer] = [
            Areas([_corners(box) for box in boxes.values()], [f"class{leaf_class[n] % 8}" for n in boxes], 0.2),
            Lines([line for node, line in lines.items() if node != splits[step - 1]] if step else [], "ink", 1.5),
        ]
        caption = "No split yet: one prediction for all."
        if step:
            node = splits[step - 1]
            layers.append(Lines([lines[node]], "accent", 3.5, name="this split"))
            asked, gain = _asked(board, model, node), _gain(model, node)
            caption = f"Split {step} of {len(splits)}: {asked}. It gains {gain:.4g}."
        last = step == len(splits)
        panels: list[Panel] = [_asked_so_far(board, model, splits[:step])]
        stop = ""
        if not board.quick:
            panels += [_pruning(shown), Proof.of(model.certificate_)] if last else []
            if last and model.certificate_.holds:
                stop = "Proved: no other split gains more at any node, and no other pruning costs less."
        elif last:
            panels.append(Proof.later())
        return Frame(layers, panels, caption, stop, labelled(board, model.predict(board.X)) if last else ())

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """The way of a point down the tree."""
        said = "\n".join(str(shown.answer.explain(np.array([[x, y]]))).splitlines()[-4:])
        for j, axis in enumerate(shown.board.axes):
            said = said.replace(f"x[{j}]", axis)
        named = re.sub(r"(: )(\d+)(?= \d+ %|, from)", lambda m: m[1] + shown.board.label(int(m[2])), said)
        return Probe(named.splitlines())


def _questions(model: DecisionTreeClassifier) -> list[int]:
    """Inner nodes, from the top down, level by level."""
    tree, level, found = model.tree_, [0], []
    while level:
        inner = [n for n in level if tree.children_left[n] >= 0]
        found += inner
        level = [int(c) for n in inner for c in (tree.children_left[n], tree.children_right[n])]
    return found


def _regions(board: Board, model: DecisionTreeClassifier, asked: set[int]) -> tuple[dict[int, Any], dict[int, Any]]:
    """Boxes of the leaves after these splits, and the line of each split within its box."""
    tree, boxes, lines = model.tree_, {}, {}
    stack: list[tuple[int, tuple[float, float, float, float]]] = [(0, board.view)]
    while stack:
        node, (x0, x1, y0, y1) = stack.pop()
        if node not in asked:
            boxes[node] = (x0, x1, y0, y1)
            continue
        t = float(tree.threshold[node])
        if tree.feature[node] == 0:
            t = min(max(t, x0), x1)
            lines[node] = np.array([[t, y0], [t, y1]])
            parts = (x0, t, y0, y1), (t, x1, y0, y1)
        else:
            t = min(max(t, y0), y1)
            lines[node] = np.array([[x0, t], [x1, t]])
            parts = (x0, x1, y0, t), (x0, x1, t, y1)
        stack += [(int(tree.children_left[node]), parts[0]), (int(tree.children_right[node]), parts[1])]
    return boxes, lines


def _corners(box: View) -> list[list[float]]:
    x0, x1, y0, y1 = box
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]


def _asked(board: Board, model: DecisionTreeClassifier, node: int) -> str:
    return f"{board.axes[int(model.tree_.feature[node])]} ≤ {model.tree_.threshold[node]:.4g}"


def _gain(model: DecisionTreeClassifier, node: int) -> float:
    """Impurity before minus mean impurity after."""
    tree = model.tree_
    children = [int(tree.children_left[node]), int(tree.children_right[node])]
    weights = [float(tree.weighted_n_node_samples[c]) for c in children]
    after = sum(w * float(tree.impurity[c]) for w, c in zip(weights, children)) / sum(weights)
    return float(tree.impurity[node]) - after


def _asked_so_far(board: Board, model: DecisionTreeClassifier, nodes: list[int]) -> Table:
    rows = [[_asked(board, model, n), int(model.tree_.n_node_samples[n]), f"{_gain(model, n):.4g}"] for n in nodes]
    return Table("splits", ["split", "points", "gain"], rows[-12:], len(rows[-12:]) - 1 if rows else None)


def _pruning(shown: Shown) -> Curve:
    """Leaves of the best tree for every α."""
    whole = cf.tree.DecisionTreeClassifier(**{**shown.answer.get_params(), "ccp_alpha": 0.0})
    path = whole.cost_complexity_pruning_path(shown.board.X, shown.board.y)
    alphas, leaves = np.repeat(path.ccp_alphas, 2)[1:], np.repeat(path.n_leaves, 2)[:-1]
    return Curve(
        "leaves of the best pruning", [Series("leaves", alphas, leaves, "good")], "α", "leaves", at=shown["alpha"]
    )
