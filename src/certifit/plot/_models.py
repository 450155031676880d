"""Pictures of fitted models: paths of coefficients, trees, kernels, beliefs, residuals, traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from certifit._types import Axes, BaseEstimator, Matrix, VectorLike
from certifit.plot._style import drawing, figure, palette


@drawing
def regularization_path(
    strengths: npt.ArrayLike,
    coefficients: npt.ArrayLike,
    ax: Axes | None = None,
    names: Sequence[str] | None = None,
    name: str = "α",
    chosen: float | None = None,
) -> Axes:
    """Coefficients against the strength of the penalty, one line each.

    Parameters
    ----------
    strengths : array-like of shape (k,)
        Strengths of the penalty, on a logarithmic axis where all are positive.
    coefficients : array-like of shape (d, k) or (k, d)
        Coefficients for each strength, as `lasso_path` returns them or row by row.
    ax : matplotlib Axes, default=None
    names : sequence of str, default=None
        Names of the d columns; the six largest at the weak end are named when there are many.
    name : str, default="α"
        What the strength is called.
    chosen : float, default=None
        A strength to mark.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), np.array([1.0, 2.0, 4.0])
    >>> alphas = [0.1, 1.0, 10.0]
    >>> ax = regularization_path(alphas, [Ridge(a).fit(X, y).coef_ for a in alphas], chosen=1.0)
    >>> ax.get_xscale(), len(ax.lines)
    ('log', 4)
    """
    x, W = np.asarray(strengths, dtype=float), np.asarray(coefficients, dtype=float)
    if W.ndim != 2 or len(x) not in W.shape:
        raise ValueError(f"{len(x)} strengths need coefficients of shape (d, {len(x)}); they have shape {W.shape}.")
    W = W if W.shape[1] == len(x) else W.T
    _, ax = figure(ax)
    weak = int(np.argmin(x))
    told = sorted(np.argsort(-np.abs(W[:, weak]), kind="stable")[:6].tolist())
    colours = dict(zip(told, palette().colours))  # a colour for each name, and none that two names share
    for j, line in enumerate(W):
        label = str(names[j]) if names is not None else f"w{j}"
        ax.plot(
            x, line, label=label if j in told else None, color=colours.get(j, palette().faint), zorder=2 + (j in told)
        )
    ax.axhline(0.0, color=palette().faint, linewidth=0.8, zorder=0)
    if chosen is not None:
        ax.axvline(chosen, color=palette().ink, linewidth=0.9, linestyle=":")
    if np.all(x > 0):
        ax.set_xscale("log")
    ax.set(xlabel=name, ylabel="coefficient")
    ax.legend(ncols=2)
    return ax


@drawing
def shape(
    model: BaseEstimator, column: int | str = 0, ax: Axes | None = None, names: Sequence[str] | None = None
) -> Axes:
    """What an additive model adds for one column: the sum of its ramps, 0 at the first knot; points are knots.

    Parameters
    ----------
    model : Pipeline
        Ends in a fitted `certifit.preprocessing.AdditiveBasis` and a linear model. With several classes there is one
        line each.
    column : int ≥ 0 or str, default=0
        Of what the basis was fitted to: its place, or its name.
    ax : matplotlib Axes, default=None
    names : sequence of str, default=None
        Names of these columns; those that the basis has seen when None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from certifit.linear_model import Ridge
    >>> from certifit.preprocessing import AdditiveBasis
    >>> X = np.linspace(0.0, 6.0, 50)[:, None]
    >>> ax = shape(make_pipeline(AdditiveBasis(n_steps=8), Ridge(0.1)).fit(X, np.sin(X[:, 0])), names=["angle"])
    >>> ax.get_xlabel(), len(ax.lines[0].get_xdata())
    ('angle', 9)
    """
    from certifit.preprocessing import AdditiveBasis

    steps = [step for _, step in getattr(model, "steps", [])]
    if len(steps) < 2 or not isinstance(steps[-2], AdditiveBasis) or not hasattr(steps[-1], "coef_"):
        raise TypeError("shape needs a pipeline that ends in a fitted AdditiveBasis and a linear model.")
    basis, last = steps[-2], steps[-1]
    known = getattr(basis, "feature_names_in_", [f"x{j}" for j in range(len(basis.knots_))]) if names is None else names
    j = list(known).index(column) if isinstance(column, str) else int(column)
    lines = [basis.shapes(row)[j] for row in np.atleast_2d(last.coef_)]
    labels = [str(c) for c in getattr(last, "classes_", [])] if len(lines) > 1 else [None]
    _, ax = figure(ax)
    for (knots, values), label, colour in zip(lines, labels, palette().colours):
        ax.plot(knots, values, "o-", markersize=4, color=colour, label=label)
    ax.axhline(0.0, color=palette().faint, linewidth=0.8, zorder=0)
    ax.set(xlabel=str(known[j]), ylabel="added to the score")
    if len(lines) > 1:
        ax.legend()
    return ax


@drawing
def tree(model: BaseEstimator, ax: Axes | None = None, **options: Any) -> Axes:
    """A fitted tree: splits in boxes, leaves in the colour of their prediction.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
    ax : matplotlib Axes, default=None
    **options
        Those of `certifit.tree.draw_tree`: ``max_depth``, ``feature_names``, ``class_names``, ``highlight``, ``title``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.tree import DecisionTreeClassifier
    >>> ax = tree(DecisionTreeClassifier().fit([[1.0], [2.0], [4.0]], ["no", "no", "yes"]))
    >>> len(ax.texts) > 0
    True
    """
    from certifit.tree import draw_tree

    return draw_tree(model, ax=ax, **options)


@drawing
def kernel_matrix(kernel: Any, X: Matrix = None, y: VectorLike | None = None, ax: Axes | None = None) -> Axes:
    """A Gram matrix as shades: blue above zero, orange below; rows sorted by class when y is given.

    Parameters
    ----------
    kernel : (n, n) array, or a function of two arrays of rows (a kernel of `certifit.kernels`)
    X : array-like of shape (n, d), default=None
        Points, when ``kernel`` is a function.
    y : array-like of shape (n,), default=None
        Classes: rows are sorted by them and the borders drawn.
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> ax = kernel_matrix(lambda A, B: np.exp(-((A - B.T) ** 2)), X, y=[0, 1, 0])
    >>> ax.images[0].get_array().shape
    (3, 3)
    """
    K = np.asarray(kernel(np.asarray(X), np.asarray(X)) if callable(kernel) else kernel, dtype=float)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"A Gram matrix is square; this one has shape {K.shape}. With a kernel, give X.")
    _, ax = figure(ax, (4.6, 3.8))
    reach = float(np.abs(K).max()) or 1.0
    ticks = []
    if y is not None:
        labels = np.asarray(y)
        order = np.argsort(labels, kind="stable")
        K = K[np.ix_(order, order)]
        classes, starts = np.unique(labels[order], return_index=True)
        for edge in starts[1:]:
            ax.axhline(edge - 0.5, color="#333333", linewidth=0.6)
            ax.axvline(edge - 0.5, color="#333333", linewidth=0.6)
        middles = (starts + np.append(starts[1:], len(K)) - 1) / 2
        ticks = [(m, str(c)) for m, c in zip(middles, classes)]
    shown = ax.imshow(K, cmap="PuOr", vmin=-reach, vmax=reach, interpolation="nearest")
    ax.figure.colorbar(shown, ax=ax, shrink=0.85).outline.set_visible(False)
    if ticks:
        ax.set_xticks([t for t, _ in ticks], [c for _, c in ticks])
        ax.set_yticks([t for t, _ in ticks], [c for _, c in ticks])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(f"smallest eigenvalue about {float(np.linalg.eigvalsh((K + K.T) / 2)[0]):.2g}")
    return ax


@drawing
def posterior(
    belief: Any, outcomes: Any = None, y: VectorLike | None = None, ax: Axes | None = None, level: float = 0.95
) -> Axes:
    """A posterior: probabilities of hypotheses, a density with its interval, or a predictive band.

    Parameters
    ----------
    belief : HypothesisSpace, Conjugate or BayesianLinearRegression
        Finitely many hypotheses: their probabilities, outcome by outcome. A conjugate belief: its density with the
        interval shaded. A fitted regression on one column: mean, predictive interval and, when given, the rows.
    outcomes : sequence, or array-like of shape (n, 1), default=None
        Outcomes seen (hypotheses), data to update with (conjugate), or X (regression).
    y : array-like of shape (n,), default=None
        Targets, for a regression.
    ax : matplotlib Axes, default=None
    level : float in (0, 1), default=0.95
        Of the intervals.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.bayes.conjugate import BetaBernoulli
    >>> posterior(BetaBernoulli(1, 1), [1, 1, 0, 1]).get_xlabel()
    'parameter'
    """
    _, ax = figure(ax)
    if hasattr(belief, "posteriors"):
        return _hypotheses(belief, list(outcomes if outcomes is not None else []), ax)
    if hasattr(belief, "update"):
        return _density(belief if outcomes is None else belief.update(outcomes), ax, level)
    return _predictive(belief, outcomes, y, ax, level)


def _hypotheses(space: Any, outcomes: list[Any], ax: Axes) -> Axes:
    shares = [
        dict(zip(space.hypotheses, space.priors)),
        *(space.posterior(outcomes[: k + 1]) for k in range(len(outcomes))),
    ]
    for h, marker in zip(space.hypotheses, "os^Dv<>" * len(space.hypotheses)):
        ax.plot(range(len(shares)), [s[h] for s in shares], f"{marker}-", label=str(h))
    ax.set(xlabel="outcomes seen", ylabel="probability", ylim=(-0.02, 1.02))
    ax.legend()
    return ax


def _density(belief: Any, ax: Axes, level: float) -> Axes:
    first, last = belief.distribution.ppf([0.0005, 0.9995])
    grid = np.linspace(first, last, 400)
    density = belief.distribution.pdf(grid)
    low, high = belief.interval(level)
    ax.plot(grid, density)
    inside = (grid >= low) & (grid <= high)
    ax.fill_between(grid[inside], density[inside], alpha=0.15, linewidth=0)
    ax.set(xlabel="parameter", ylabel="density", title=f"{level:.0%} between {low:.3g} and {high:.3g}", ylim=(0, None))
    return ax


def _predictive(model: BaseEstimator, X: Matrix, y: VectorLike | None, ax: Axes, level: float) -> Axes:
    x = np.asarray(X, dtype=float)
    if x.ndim != 2 or x.shape[1] != 1:
        raise ValueError(f"A predictive band is drawn over one column; X has shape {x.shape}.")
    room = 0.08 * (float(np.ptp(x)) or 1.0)
    grid = np.linspace(x.min() - room, x.max() + room, 300)[:, None]
    low, high = model.interval(grid, level)
    ax.fill_between(grid[:, 0], low, high, alpha=0.15, linewidth=0, label=f"{level:.0%} of new outcomes")
    ax.plot(grid[:, 0], model.predict(grid), label="mean")
    if y is not None:
        ax.plot(x[:, 0], np.asarray(y), "o", color=palette().ink)
    ax.set(xlabel="x", ylabel="y")
    ax.legend()
    return ax


@drawing
def residuals(
    model: BaseEstimator, X: Matrix, y: VectorLike, ax: Axes | None = None, offset: npt.ArrayLike | None = None
) -> Axes:
    """Residuals against fitted means: deviance residuals for a GLM, y − ŷ for another regressor.

    Parameters
    ----------
    model : fitted GLM or regressor
    X, y : array-like of shapes (n, d) and (n,)
    ax : matplotlib Axes, default=None
    offset : array-like of shape (n,), default=None
        The offset given to a GLM's ``fit``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.glm import GLM
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 4.0, 9.0])
    >>> residuals(GLM("poisson").fit(X, y), X, y).get_ylabel()
    'deviance residual'
    """
    _, ax = figure(ax)
    if hasattr(model, "deviance_residuals"):
        mean, left, name = model.predict(X, offset), model.deviance_residuals(X, y, offset), "deviance residual"
    else:
        mean = np.asarray(model.predict(X))
        left, name = np.asarray(y, dtype=float) - mean, "residual"
    ax.axhline(0.0, color=palette().faint, linewidth=0.8, zorder=0)
    ax.plot(mean, left, "o", alpha=0.7)
    order = np.argsort(mean, kind="stable")
    bins = np.array_split(order, max(1, min(10, len(order) // 15)))
    if len(bins) > 2:  # a running mean shows a bend that single points hide
        centre = [float(np.mean(mean[b])) for b in bins]
        ax.plot(centre, [float(np.mean(left[b])) for b in bins], color=palette().colours[1], label="mean of neighbours")
        ax.legend()
    if np.all(mean > 0) and mean.max() / mean.min() > 50:
        ax.set_xscale("log")
    ax.set(xlabel="fitted mean", ylabel=name)
    return ax
