"""Pictures in the plane of two features: decision regions, margins, the steps of a perceptron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from certifit._types import Array, Axes, BaseEstimator, Matrix, VectorLike
from certifit.plot._style import MARKERS, drawing, figure, in_force, palette, style

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.lines import Line2D

_GRID = 240


def _plane(X: Matrix) -> Array:
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"Regions are drawn over two features; X has shape {points.shape}. Choose two columns.")
    return points


def _window(X: Array) -> tuple[Array, Array, Array]:
    """Two meshes that frame the points, and their nodes as rows."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = 0.12 * np.where(high > low, high - low, 1.0)
    a, b = (np.linspace(low[j] - room[j], high[j] + room[j], _GRID) for j in (0, 1))
    A, B = np.meshgrid(a, b)
    return A, B, np.column_stack([A.ravel(), B.ravel()])


def _points(ax: Axes, X: Array, y: VectorLike, rings: Array | None = None) -> None:
    """Rows by class: colour and marker both tell, so that neither eye nor printer is at a loss."""
    labels = np.asarray(y)
    for k, c in enumerate(np.unique(labels)):
        rows = labels == c
        colour = palette().colours[k % len(palette().colours)]
        ax.plot(
            *X[rows].T, MARKERS[k % len(MARKERS)], color=colour, markeredgecolor=palette().paper, markeredgewidth=0.6,
            markersize=6, label=str(c), zorder=3,
        )  # fmt: skip
    if rings is not None:
        ax.plot(
            *X[rings].T, "o", markersize=11, markerfacecolor="none", markeredgecolor=palette().ink,
            label="support vectors", zorder=4,
        )  # fmt: skip


@drawing
def decision_regions(
    model: BaseEstimator,
    X: Matrix,
    y: VectorLike | None = None,
    ax: Axes | None = None,
    names: tuple[str, str] = ("x₁", "x₂"),
) -> Axes:
    """The class predicted by a fitted classifier at every point of the plane; stronger where it is more confident.

    Parameters
    ----------
    model : fitted classifier
        Anything with ``predict``; ``predict_proba``, where there is one, sets the strength of the colour.
    X : array-like of shape (n, 2)
        Rows that set the window, and are drawn when y is given.
    y : array-like of shape (n,), default=None
        Their labels.
    ax : matplotlib Axes, default=None
    names : (str, str), default=("x₁", "x₂")

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0, 0.0], [1.0, 0.5], [2.0, 0.3], [3.0, 1.0]]), np.array([0, 1, 0, 1])
    >>> ax = decision_regions(LogisticRegression().fit(X, y), X, y)
    >>> [t.get_text() for t in ax.get_legend().get_texts()]
    ['0', '1']
    """
    from matplotlib.colors import to_rgb

    points = _plane(X)
    _, ax = figure(ax, (4.8, 4.0))
    A, B, nodes = _window(points)
    said = np.asarray(model.predict(nodes))
    classes = np.asarray(getattr(model, "classes_", np.unique(said)))
    index = np.searchsorted(classes, said)
    sure = np.ones(len(nodes))
    if hasattr(model, "predict_proba"):
        best = np.asarray(model.predict_proba(nodes)).max(axis=1)
        sure = (best - 1.0 / len(classes)) / (1.0 - 1.0 / len(classes))
    colours = np.array([to_rgb(palette().colours[k % len(palette().colours)]) for k in range(len(classes))])
    strength = (0.08 + 0.27 * np.clip(sure, 0.0, 1.0))[:, None]
    shade = (1.0 - strength) * np.array(to_rgb(palette().paper)) + strength * colours[index]
    extent = (A.min(), A.max(), B.min(), B.max())
    ax.imshow(shade.reshape(*A.shape, 3), origin="lower", extent=extent, aspect="auto", interpolation="nearest")
    for k in range(len(classes) - 1):
        ax.contour(A, B, (index.reshape(A.shape) > k).astype(float), [0.5], colors=palette().ink, linewidths=0.8)
    if y is not None:
        _points(ax, points, y)
        ax.legend(loc="best")
    ax.set(xlabel=names[0], ylabel=names[1])
    return ax


@drawing
def margins(
    model: BaseEstimator, X: Matrix, y: VectorLike, ax: Axes | None = None, names: tuple[str, str] = ("x₁", "x₂")
) -> Axes:
    """The boundary of a margin classifier of two classes, its H⁺ and H⁻, and the support vectors circled.

    Parameters
    ----------
    model : fitted classifier with ``decision_function``
        Linear or kernel; H⁺ and H⁻ are where the score is +1 and −1.
    X : array-like of shape (n, 2)
    y : array-like of shape (n,)
    ax : matplotlib Axes, default=None
    names : (str, str), default=("x₁", "x₂")

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Support vectors are ``model.support_`` where the model names them, else the rows whose margin is at most one.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> X, y = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [4.0, 2.0]]), np.array([0, 0, 1, 1])
    >>> ax = margins(SVC(kernel="linear", C=100.0).fit(X, y), X, y)
    >>> ax.get_legend().get_texts()[-1].get_text()
    'support vectors'
    """
    points, labels = _plane(X), np.asarray(y)
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(f"A margin lies between two classes; y holds {len(classes)}.")
    _, ax = figure(ax, (4.8, 4.0))
    A, B, nodes = _window(points)
    score = np.asarray(model.decision_function(nodes)).reshape(A.shape)
    drawn = ax.contour(
        A, B, score, levels=[-1.0, 0.0, 1.0], colors=palette().ink, linestyles=["--", "-", "--"],
        linewidths=[0.9, 1.5, 0.9],
    )  # fmt: skip
    ax.clabel(drawn, fmt={-1.0: "H⁻", 0.0: "0", 1.0: "H⁺"}, fontsize=8)
    ax.contourf(A, B, score, levels=[-1.0, 1.0], colors=[palette().faint], alpha=0.18)
    if hasattr(model, "support_"):
        rings = np.asarray(model.support_)
    else:
        side = np.where(labels == classes[1], 1.0, -1.0)
        rings = np.flatnonzero(side * np.asarray(model.decision_function(points)) <= 1.0 + 1e-6)
    _points(ax, points, labels, rings)
    ax.set(xlabel=names[0], ylabel=names[1], title=f"{len(rings)} of {len(points)} rows are support vectors")
    ax.legend(loc="best")
    return ax


def _line(ax: Axes, w: Array, b: float, **options: Any) -> Line2D:
    """The line w·x + b = 0 across the axes, as far as they reach."""
    x_low, x_high = ax.get_xlim()
    y_low, y_high = ax.get_ylim()
    if abs(w[1]) >= abs(w[0]) and w[1] != 0:
        xs = np.array([x_low, x_high])
        ys = -(w[0] * xs + b) / w[1]
    elif w[0] != 0:
        ys = np.array([y_low, y_high])
        xs = -(w[1] * ys + b) / w[0]
    else:
        xs = ys = np.array([np.nan, np.nan])
    (line,) = ax.plot(xs, ys, **options)
    ax.set(xlim=(x_low, x_high), ylim=(y_low, y_high))
    return line


def _trace(model: BaseEstimator) -> list[Any]:
    steps = getattr(model, "trace_", None)
    if not steps:
        raise ValueError("The model recorded no mistakes: fit Perceptron(trace=True), on rows it gets wrong at first.")
    if len(steps[0].after) != 2:
        raise ValueError("Steps are drawn over two features; fit the perceptron to two columns.")
    return list(steps)


def _stage(ax: Axes | None, X: Matrix, y: VectorLike, names: tuple[str, str]) -> tuple[Any, Array]:
    points = _plane(X)
    _, ax = figure(ax, (4.8, 4.0))
    A, B, _ = _window(points)
    ax.set(xlim=(A.min(), A.max()), ylim=(B.min(), B.max()), xlabel=names[0], ylabel=names[1])
    _points(ax, points, y)
    return ax, points


@drawing
def perceptron_steps(
    model: BaseEstimator,
    X: Matrix,
    y: VectorLike,
    ax: Axes | None = None,
    step: int | None = None,
    names: tuple[str, str] = ("x₁", "x₂"),
) -> Axes:
    """The successive lines of a perceptron, older ones fainter, or one step with the misclassified row.

    Parameters
    ----------
    model : Perceptron
        Fitted with ``trace=True`` to two columns.
    X, y : array-like of shapes (n, 2) and (n,)
        The rows it was fitted to.
    ax : matplotlib Axes, default=None
    step : int, default=None
        Number of the mistake to show, from 0; None shows all.
    names : (str, str), default=("x₁", "x₂")

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.linear_model import Perceptron
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 0, 0, 1])
    >>> model = Perceptron(shuffle=False, trace=True, tol=None, max_iter=50).fit(X, y)
    >>> perceptron_steps(model, X, y).get_title(loc="left") == f"{len(model.trace_)} mistakes"
    True
    """
    steps = _trace(model)
    stage: tuple[Axes, Array] = _stage(ax, X, y, names)
    ax, points = stage
    ink, accent = palette().ink, palette().colours[4]
    if step is None:
        for k, s in enumerate(steps):
            age = (k + 1) / len(steps)
            _line(ax, s.after, s.intercept_after, color=ink, alpha=0.12 + 0.88 * age**2, linewidth=0.6 + 1.2 * age**2)
        ax.set_title(f"{len(steps)} mistakes")
        return ax
    s = steps[step]
    _line(ax, s.before, s.intercept_before, color=ink, linestyle=":", linewidth=1.2)
    _line(ax, s.after, s.intercept_after, color=ink)
    ax.plot(*points[s.row], "o", markersize=13, markerfacecolor="none", markeredgecolor=accent, markeredgewidth=2)
    ax.set_title(f"mistake {step % len(steps) + 1} of {len(steps)}: pass {s.sweep}, row {s.row}")
    return ax


def perceptron_animation(
    model: BaseEstimator,
    X: Matrix,
    y: VectorLike,
    ax: Axes | None = None,
    interval: float = 700.0,
    names: tuple[str, str] = ("x₁", "x₂"),
) -> FuncAnimation:
    """The steps of a perceptron as an animation, one frame per mistake; ``.save("steps.gif")`` writes it.

    Parameters
    ----------
    model : Perceptron
        Fitted with ``trace=True`` to two columns.
    X, y : array-like of shapes (n, 2) and (n,)
    ax : matplotlib Axes, default=None
    interval : float > 0, default=700.0
        Milliseconds per frame.
    names : (str, str), default=("x₁", "x₂")

    Returns
    -------
    matplotlib.animation.FuncAnimation

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from certifit.linear_model import Perceptron
    >>> X, y = np.array([[1.0, 2.0], [2.0, 0.5], [4.0, 3.0]]), np.array([0, 1, 1])
    >>> film = perceptron_animation(Perceptron(trace=True, shuffle=False).fit(X, y), X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     film.save(pathlib.Path(folder) / "steps.gif", writer="pillow")
    ...     (pathlib.Path(folder) / "steps.gif").stat().st_size > 1000
    True
    """
    from matplotlib.animation import FuncAnimation

    steps = _trace(model)
    paper = in_force()  # frames are drawn later, when the surrounding style has gone
    with style(paper):
        ax, _ = _stage(ax, X, y, names)
        ax.figure.set_layout_engine(None)  # the frame must not move between pictures

        def show(k: int) -> list[Any]:
            with style(paper):
                ax.clear()
                perceptron_steps(model, X, y, ax=ax, step=k, names=names)
            return [ax]

        return FuncAnimation(ax.figure, show, frames=len(steps), interval=interval, blit=False, repeat_delay=2000)
