"""A picture of a tree: splits in boxes, leaves in the colour of their prediction, branches as wide as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sklearn.tree
from sklearn.base import is_classifier

from certifit._errors import need
from certifit._types import Array, Axes, BaseEstimator
from certifit._validation import check_is_fitted
from certifit.tree._export import answer, other_questions, split

# Colours that stay apart for colour-blind readers and in print (after Okabe and Ito 2008).
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C8C8C", "#B5A300")


def _ink() -> str:
    """The colour of words: matplotlib's, or a softer black where nobody chose one."""
    from matplotlib import rcParams

    return "#22303C" if rcParams["text.color"] == "black" else str(rcParams["text.color"])


def _paper() -> Any:
    from matplotlib import rcParams

    return rcParams["axes.facecolor"]


def _faint() -> Any:
    return _mixed(_ink(), 0.3)


def layout(tree: Any, max_depth: int | None) -> tuple[dict[int, tuple[float, int]], set[int]]:
    """Place of each shown node (leaves side by side, parents above the middle), and the nodes cut off."""
    places: dict[int, tuple[float, int]] = {}
    cut: set[int] = set()
    across = 0.0

    def place(node: int, depth: int) -> float:
        nonlocal across
        leaf = tree.children_left[node] < 0
        if leaf or (max_depth is not None and depth >= max_depth):
            if not leaf:
                cut.add(node)
            x = across
            across += 1.0
        else:
            x = 0.5 * (
                place(int(tree.children_left[node]), depth + 1) + place(int(tree.children_right[node]), depth + 1)
            )
        places[node] = (x, depth)
        return x

    place(0, 0)
    return places, cut


def _mixed(colour: str, share: float) -> tuple[float, float, float]:
    """A colour thinned towards the paper."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(colour))
    return tuple((1.0 - share) * np.array(to_rgb(_paper())) + share * rgb)


def _fill(model: BaseEstimator, node: int) -> Any:
    """Leaf colour: hue by answer, depth by how sure it is."""
    tree = model.tree_
    value = tree.value[node, 0]
    if is_classifier(model):
        best = int(np.argmax(value))
        base = 1.0 / len(value)
        sure = 1.0 if len(value) == 1 else (value[best] - base) / (1.0 - base)
        return _mixed(_COLOURS[best % len(_COLOURS)], 0.18 + 0.62 * float(sure))
    ends = tree.value[tree.is_leaf, 0, 0]
    span = float(ends.max() - ends.min())
    at = 0.5 if span == 0 else float((value[0] - ends.min()) / span)
    return _mixed(_COLOURS[0], 0.12 + 0.75 * at)


def _on(rgb: Any) -> str:
    """Ink that can be read on a colour."""
    return "white" if float(np.dot(rgb, (0.299, 0.587, 0.114))) < 0.5 else "#22303C"


def plot_tree(
    decision_tree: BaseEstimator,
    *,
    max_depth: int | None = None,
    feature_names: Sequence[str] | None = None,
    **options: Any,
) -> list[Any]:
    """Draw a fitted tree as scikit-learn does; `draw_tree` draws certifit's own picture.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    max_depth : int ≥ 0, default=None
        Cut off below; None draws all.
    feature_names : array-like of str, default=None
        Names to use; None takes ``x[0]``, ``x[1]``, …
    **options
        The others of scikit-learn's ``plot_tree``: ``class_names``, ``label``, ``filled``, ``impurity``, ``node_ids``,
        ``proportion``, ``rounded``, ``precision``, ``ax``, ``fontsize``.

    Returns
    -------
    list of matplotlib Annotations
        The boxes and the two words at the first split. Splits that scikit-learn's trees do not have are described in
        words.

    Examples
    --------
    >>> from certifit.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> [box.get_text().split("\\n")[0] for box in plot_tree(tree, filled=True)]
    ['x[0] <= 3.0', 'gini = 0.0', 'True  ', 'gini = 0.0', '  False']
    """
    need("matplotlib", "plot")
    boxes: list[Any] = sklearn.tree.plot_tree(
        decision_tree, max_depth=max_depth, feature_names=feature_names, **options
    )
    names = [f"x[{j}]" for j in range(decision_tree.n_features_in_)] if feature_names is None else feature_names
    nodes = other_questions(decision_tree, max_depth)
    for box in boxes:
        lines = box.get_text().split("\n")
        told = [k for k, line in enumerate(lines) if line.endswith((" <= nan", " <= inf"))]
        for k in told:
            lines[k] = split(decision_tree, next(nodes), names)[0]
        if told:
            box.set_text("\n".join(lines))
    return boxes


def draw_tree(
    decision_tree: BaseEstimator,
    *,
    max_depth: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    decimals: int = 3,
    ax: Axes | None = None,
    fontsize: float = 10.0,
    highlight: Any = None,
    title: str | None = None,
) -> Axes:
    """Draw a fitted tree; `plot_tree` draws scikit-learn's picture.

    Splits stand in empty boxes, "yes" goes left. Leaves carry the colour of their prediction, stronger the
    more confident it is, with their rows; a branch is as wide as its fraction of the rows.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    max_depth : int ≥ 0, default=None
        Cut off below; None draws all.
    feature_names, class_names : array-like of str, default=None
        Names to use instead of those seen in `fit`.
    decimals : int ≥ 1, default=3
        Significant digits.
    ax : matplotlib Axes, default=None
        Where to draw; None creates a figure of suitable size.
    fontsize : float > 0, default=10.0
        Font size.
    highlight : array-like of shape (n_features,) or one-row table, default=None
        A row whose path through the tree is highlighted.
    title : str, default=None
        Title above the tree.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> len(draw_tree(tree).texts) > 0
    True
    """
    need("matplotlib", "plot")
    check_is_fitted(decision_tree, "tree_")
    tree = decision_tree.tree_
    places, cut = layout(tree, max_depth)
    way = set(decision_tree.explain(highlight).nodes) if highlight is not None else set()
    labels = {node: _label(decision_tree, node, node in cut, feature_names, class_names, decimals) for node in places}
    ax = _canvas(ax, places, labels, fontsize)
    total = float(tree.weighted_n_node_samples[0])
    for node, (x, depth) in places.items():
        if tree.children_left[node] < 0 or node in cut:
            continue
        for child, word in ((int(tree.children_left[node]), "yes"), (int(tree.children_right[node]), "no")):
            share = float(tree.weighted_n_node_samples[child]) / total
            _branch(ax, (x, -depth), places[child], share, child in way, word if node == 0 else "", fontsize)
    for node, (x, depth) in places.items():
        leaf = tree.children_left[node] < 0
        colour = _fill(decision_tree, node) if leaf else _paper()
        edge = _ink() if node in way or (not leaf and not way) else _faint()
        ax.text(
            x, -depth, labels[node], ha="center", va="center", fontsize=fontsize, zorder=3,
            color=_on(colour) if leaf else _ink(),
            fontweight="bold" if leaf else "normal", linespacing=1.35,
            bbox={"boxstyle": "round,pad=0.45,rounding_size=0.35", "facecolor": colour, "edgecolor": edge,
                  "linewidth": 2.0 if node in way else 1.0},
        )  # fmt: skip
    if is_classifier(decision_tree):
        _legend(ax, decision_tree, class_names, fontsize)
    if title:
        ax.set_title(title, fontsize=fontsize * 1.4, color=_ink(), loc="left", pad=12)
    return ax


def _label(model: BaseEstimator, node: int, is_cut: bool, features: Any, classes: Any, decimals: int) -> str:
    tree = model.tree_
    rows = int(tree.n_node_samples[node])
    if tree.children_left[node] >= 0 and not is_cut:
        asked = split(model, node, features, decimals)[0].replace("<=", "≤").replace("!=", "≠")
        return _wrapped(asked) + "?"
    text = answer(model, node, classes, decimals)
    value = tree.value[node, 0]
    if is_classifier(model) and value.max() < 1.0:
        text += f"  {100 * value.max():.0f} %"
    return f"{text}\n{rows} row{'s' if rows != 1 else ''}" + ("  …" if is_cut else "")


def _wrapped(text: str, width: int = 26) -> str:
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + len(word) >= width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def _canvas(ax: Axes | None, places: dict[int, tuple[float, int]], labels: dict[int, str], fontsize: float) -> Axes:
    wide = max(x for x, _ in places.values()) + 1.0
    deep = max(depth for _, depth in places.values())
    if ax is None:
        from matplotlib.figure import Figure

        letters = max(len(line) for text in labels.values() for line in text.split("\n"))
        column = max(1.1, 0.0088 * fontsize * letters + 0.35)
        size = (min(40.0, 0.8 + column * wide), 1.2 + 1.15 * (deep + 1))
        ax = Figure(figsize=size, layout="constrained").add_subplot()  # no global state holds on to it
    ax.set_xlim(-0.6, wide - 0.4)
    ax.set_ylim(-deep - 0.7, 0.6)
    ax.set_axis_off()
    return ax


def _branch(ax: Axes, start: Any, place: Any, share: float, dark: bool, word: str, fontsize: float) -> None:
    """A smooth line from parent to child, as wide as its share of the rows."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    (x0, y0), (x1, y1) = start, (place[0], -place[1])
    points: Array = np.array([[x0, y0], [x0, y0 - 0.55], [x1, y1 + 0.55], [x1, y1]])
    path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    colour = _ink() if dark else _faint()
    ax.add_patch(PathPatch(path, fill=False, lw=1.2 + 9.0 * np.sqrt(share), ec=colour, capstyle="round", zorder=1))
    if word:
        at = np.array([0.125, 0.375, 0.375, 0.125]) @ points
        side = -0.08 if x1 < x0 else 0.08
        ax.text(
            at[0] + side, at[1] + 0.14, word, fontsize=fontsize * 0.95, color=_ink(), style="italic", zorder=4,
            ha="right" if side < 0 else "left", va="bottom",
        )  # fmt: skip


def _legend(ax: Axes, model: Any, class_names: Any, fontsize: float) -> None:
    from matplotlib.patches import Patch

    names = model.classes_ if class_names is None else class_names
    if len(names) > len(_COLOURS):
        return
    marks = [Patch(facecolor=_mixed(_COLOURS[k], 0.8), label=str(name)) for k, name in enumerate(names)]
    ax.legend(
        handles=marks, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=len(names), frameon=False,
        fontsize=fontsize, labelcolor=_ink(), handlelength=1.0, handleheight=1.0,
    )  # fmt: skip
