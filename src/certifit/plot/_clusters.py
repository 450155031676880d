"""Pictures of clusterings: rows with their centres, and how many clusters to take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from certifit._types import Axes, BaseEstimator, Matrix
from certifit.plot._style import MARKERS, drawing, figure, palette


@drawing
def clusters(model: BaseEstimator, X: Matrix, ax: Axes | None = None, names: Sequence[str] | None = None) -> Axes:
    """Rows in the plane coloured by cluster, the centres, and the regions nearest to each.

    Parameters
    ----------
    model : fitted KMeans (anything with ``predict`` and ``cluster_centers_``)
    X : array-like of shape (n, 2)
    ax : matplotlib Axes, default=None
    names : pair of str, default=None
        Names of the two columns.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.cluster import KMeans
    >>> X = np.array([[0.0, 0], [0, 1], [5, 5], [5, 6]])
    >>> ax = clusters(KMeans(2, random_state=0).fit(X), X)
    >>> len(ax.lines)                                          # two clusters and their centres
    3
    """
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"A picture in the plane needs rows of two features; these have shape {X.shape}.")
    _, ax = figure(ax)
    labels, centres = np.asarray(model.predict(X)), np.asarray(model.cluster_centers_)
    margin = 0.06 * (X.max(axis=0) - X.min(axis=0)) + 1e-9
    sides = [np.linspace(a, b, 240) for a, b in zip(X.min(axis=0) - margin, X.max(axis=0) + margin)]
    mesh = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    near = ((mesh[:, None, :] - centres[None]) ** 2).sum(axis=2).argmin(axis=1).reshape(240, 240)
    colours = palette().colours
    if len(centres) > 1:
        shades = [colours[c % len(colours)] for c in range(len(centres))]
        ax.contourf(*sides, near, levels=np.arange(len(centres) + 1) - 0.5, colors=shades, alpha=0.12)
    for c in range(len(centres)):
        ax.plot(*X[labels == c].T, MARKERS[c % len(MARKERS)], color=colours[c % len(colours)], ls="none")
    ax.plot(*centres.T, "X", color=palette().ink, markersize=9, mec=palette().paper, ls="none")
    ax.set(xlabel=(names or ("x₁", "x₂"))[0], ylabel=(names or ("x₁", "x₂"))[1])
    return ax


@drawing
def number_of_clusters(choice: Any, ax: Axes | None = None) -> Axes:
    """Silhouette, gap and stability against k, with intervals; the k that each prefers is filled.

    Parameters
    ----------
    choice : NumberOfClusters
        From `certifit.cluster.choose_k`.
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from certifit.cluster import choose_k
    >>> X = np.concatenate([np.random.default_rng(0).normal(m, 0.5, (20, 2)) for m in (0, 4)])
    >>> ax = number_of_clusters(choose_k(X, [1, 2, 3], references=5, resamples=5, random_state=0))
    >>> ax.get_xlabel()
    'number of clusters'
    """
    _, ax = figure(ax)
    k = np.asarray(choice.k, dtype=float)
    for i, name in enumerate(("silhouette", "gap", "stability")):
        measure = {key: np.asarray(v, dtype=float) for key, v in getattr(choice, name).items()}
        told = np.isfinite(measure["value"])
        at, colour = k[told] + 0.06 * (i - 1), palette().colours[i]
        value = measure["value"][told]
        low, high = np.maximum(value - measure["low"][told], 0.0), np.maximum(measure["high"][told] - value, 0.0)
        face = [colour if c == choice.best[name] else palette().paper for c in k[told]]
        ax.errorbar(at, value, yerr=[low, high], color=colour, linewidth=1.0, capsize=2, label=name, zorder=2)
        ax.scatter(at, value, c=face, edgecolors=colour, marker=MARKERS[i], s=30, zorder=3)
    ax.set_xticks(k)
    ax.set(xlabel="number of clusters", ylabel=f"measure, with {choice.level:.0%} interval")
    ax.legend()
    return ax
