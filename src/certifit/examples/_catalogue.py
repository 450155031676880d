"""Which worked examples there are, what they are about, and how to run one by its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from certifit._types import Figure, Record

if TYPE_CHECKING:
    from types import ModuleType


GROUPS: dict[str, tuple[str, ...]] = {
    "Perceptrons and separating lines": (
        "spam_perceptron",
        "late_mistake",
        "mistake_bound",
        "perceptron_sgd",
        "xor",
        "network_of_perceptrons",
        "padding_offset",
    ),
    "Margins and kernels": (
        "perceptron_or_margin",
        "svm_duality",
        "pegasos_converging",
        "quadratic_kernel",
        "truncated_kernel",
        "circle_multiplier",
    ),
    "Regression and penalties": (
        "ridge_augmented",
        "ridge_lasso_paths",
        "lasso_as_prior",
        "ill_conditioning",
        "polynomial_degree",
        "sigmoid_surface",
        "solver_gaps",
    ),
    "Trees and neighbours": (
        "play_tennis",
        "boolean_tree",
        "diagonal_boundary",
        "tree_instability",
        "knn_regions",
        "distance_concentration",
        "nearest_bayes_error",
    ),
    "Probability and decisions": ("candy_bag", "bayesian_line", "generative_discriminative", "grid_world"),
    "Choosing models honestly": (
        "bias_variance_polynomial",
        "bootstrap_law",
        "correlation_filter",
        "leaky_selection",
    ),
    "Clusters, densities and few labels": ("clusters_and_bound", "density_bandwidth", "few_labels"),
}


def names() -> list[str]:
    """Names of all worked examples, in alphabetical order.

    Examples
    --------
    >>> "xor" in names()
    True
    """
    return sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if not m.name.startswith("_"))


def _module(name: str) -> ModuleType:
    known = names()
    chosen = name.replace("-", "_")
    if chosen not in known:
        raise ValueError(f"There is no example {name!r}; there are: {', '.join(known)}.")
    return importlib.import_module(f"certifit.examples.{chosen}")


def told(name: str) -> tuple[str, str]:
    """Title and text of an example.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    title, story : str

    Examples
    --------
    >>> told("xor")[0]
    'XOR is not linearly separable, but becomes so with one more feature'
    """
    title, _, story = (_module(name).__doc__ or name).strip().partition("\n")
    return title.rstrip("."), story.strip()


def run(name: str, say: Callable[[str], object] = print) -> Record:
    """Run an example and return its numbers.

    Parameters
    ----------
    name : str
        One of `names`.
    say : function of one string, default=print
        Where the text goes, line by line.

    Returns
    -------
    dict
        The numbers; `draw` shows them.

    Examples
    --------
    >>> run("spam_perceptron", say=lambda line: None)["w"]
    array([ 0.,  2.,  0., -1.,  1.])
    """
    numbers: dict[str, Any] = _module(name).run(say)
    return numbers


def draw(name: str, numbers: Record, paper: Literal["light", "dark"] | None = None) -> Figure:
    """Draw an example.

    Parameters
    ----------
    name : str
        One of `names`.
    numbers : dict
        What `run` returned.
    paper : {"light", "dark"}, default=None
        The background to draw for; None keeps that of the surrounding `certifit.plot.style`.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> len(draw("xor", run("xor", say=lambda line: None)).axes)
    3
    """
    from certifit.plot import style

    with style(paper):
        picture: Figure = _module(name).draw(numbers)
        _keep_colours(picture)
    from matplotlib import pyplot

    pyplot.close(picture)  # it stays as good as it was; pyplot forgets it
    return picture


def _keep_colours(picture: Figure) -> None:
    """Names such as "C1" mean another colour once the style is left: replace them by what they mean now."""
    from matplotlib.colors import to_rgba
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    for artist in picture.findobj():
        if isinstance(artist, (Line2D, Text)) and str(artist.get_color()).startswith("C"):
            artist.set_color(to_rgba(artist.get_color()))
