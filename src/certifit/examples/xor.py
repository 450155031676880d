"""XOR is not linearly separable, but becomes so with one more feature.

The four corners of a square, labelled by exclusive or. The midpoint of the two corners of one class is also the
midpoint of the other two, so the convex hulls intersect and no line separates the classes: that is the proof. With
the product x₁x₂ as a third feature a plane separates them; with coordinates −1/+1 even through the origin, because
there the label is the product up to its sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from certifit._types import Array, Figure, Matrix, Record
from certifit.geometry import separability
from certifit.plot import palette

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d import Axes3D

    from certifit.geometry import Separability

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = np.array([0, 1, 1, 0])


def with_product(X: Matrix) -> Array:
    """(x₁, x₂, x₁x₂)."""
    X = np.asarray(X, dtype=float)
    return np.column_stack([X, X[:, 0] * X[:, 1]])


def run(say: Callable[[str], None] = print) -> Record:
    """Ask for the verdict in the plane and in three dimensions, with 0/1 and with −1/+1 coordinates."""
    signed = 2.0 * CORNERS - 1.0
    questions = {
        "plane": (CORNERS, True),
        "with the product": (with_product(CORNERS), True),
        "with the product, through the origin": (with_product(CORNERS), False),
        "-1/+1 with the product, through the origin": (with_product(signed), False),
    }
    out: dict[str, Any] = {}
    for name, (X, fit_intercept) in questions.items():
        s = separability(X, XOR, fit_intercept=fit_intercept, rigor="exact")
        say(f"{name}: {s}")
        out[name] = s
    plane = out["plane"]
    assert plane.multipliers is not None
    meeting = [plane.multipliers[c == XOR] @ CORNERS[c == XOR] / plane.multipliers[c == XOR].sum() for c in (0, 1)]
    say(f"The two weighted averages are equal: {meeting[0].tolist()} and {meeting[1].tolist()}.")
    return {"verdicts": {k: v.verdict for k, v in out.items()}, "answers": out, "meeting": np.array(meeting)}


def draw(numbers: Record) -> Figure:
    """The crossing diagonals, the corners lifted by x₁x₂ with a plane between them, and what the plane says below."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(10.5, 3.8), layout="constrained")
    left, right = figure.add_subplot(1, 3, 1), figure.add_subplot(1, 3, 3)
    for axes in (left, right):
        for c, marker in ((0, "o"), (1, "s")):
            axes.plot(*CORNERS[c == XOR].T, marker, ms=10, ls="none", label=f"xor = {c}")
        axes.set(xlim=(-0.4, 1.4), ylim=(-0.4, 1.4), xlabel="x₁", ylabel="x₂", aspect="equal")
    left.plot([0, 1], [0, 1], color="C0", alpha=0.5)
    left.plot([0, 1], [1, 0], color="C1", alpha=0.5)
    left.plot(*numbers["meeting"][0], "*", color=palette().ink, ms=14)
    left.set_title("the diagonals meet: no line")
    s = numbers["answers"]["with the product"]
    _lifted(figure.add_subplot(1, 3, 2, projection="3d"), s)
    grid = np.linspace(-0.4, 1.4, 200)
    a, b = np.meshgrid(grid, grid)
    score = (with_product(np.column_stack([a.ravel(), b.ravel()])) @ s.w + s.b).reshape(a.shape)
    right.contourf(a, b, score, levels=[-1e9, 0, 1e9], colors=["C0", "C1"], alpha=0.2)
    right.contour(a, b, score, levels=[0], colors=palette().ink)
    right.set_title("seen from above")
    right.legend(loc="upper right", fontsize=8)
    return figure


def _lifted(ax: Axes3D, s: Separability) -> None:
    """The four corners at height x₁x₂, and the plane w·x + b = 0 between the classes."""
    lifted = with_product(CORNERS)
    for x in lifted:
        ax.plot([x[0], x[0]], [x[1], x[1]], [0, x[2]], color=palette().faint, linewidth=0.8)
    a, b = np.meshgrid(np.linspace(-0.1, 1.1, 12), np.linspace(-0.1, 1.1, 12))
    height = -(s.w[0] * a + s.w[1] * b + s.b) / s.w[2]
    height[(height < -0.8) | (height > 1.4)] = np.nan
    ax.plot_surface(a, b, height, color=palette().faint, alpha=0.45, linewidth=0)
    for c, marker in ((0, "o"), (1, "s")):
        ax.scatter(*lifted[c == XOR].T, marker=marker, s=90, color=f"C{c}", depthshade=False)
    ax.plot([0, 1], [0, 1], [0, 1], color="C0", alpha=0.6)
    ax.plot([0, 1], [1, 0], [0, 0], color="C1", alpha=0.6)
    ax.view_init(elev=18, azim=-62)
    ax.set(xlabel="x₁", ylabel="x₂", xticks=[0, 1], yticks=[0, 1], zticks=[0, 1], zlim=(-0.8, 1.4))
    ax.set_title("lifted by x₁x₂: a plane")
