"""One quiet style for every picture: thin axes, no frame, colours that colour-blind readers can tell apart.

``with style("dark"): ...`` draws everything inside it for dark paper; ``style()`` keeps what surrounds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, overload

from certifit._errors import need
from certifit._types import Axes, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

# Okabe and Ito (2008), darkest first; black is kept for text and truth.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
# The same hues, the lighter ones first, for dark paper.
DARK_COLOURS = ("#56B4E9", "#E69F00", "#2FC69B", "#E39CC6", "#F08A4B", "#4FA3E0", "#F0E442")
MARKERS = "os^Dv<>"


@dataclass(frozen=True)
class Palette:
    """The colours of one kind of paper.

    Attributes
    ----------
    ink, faint, paper : str
        Words and truth; helping lines; background.
    colours : tuple of str
        Series, in order.
    """

    ink: str
    faint: str
    paper: str
    colours: tuple[str, ...]


PALETTES = {
    "light": Palette("#333333", "#BBBBBB", "white", COLOURS),
    "dark": Palette("#DDDDDD", "#666666", "#131416", DARK_COLOURS),
}
_current: ContextVar[Literal["light", "dark"]] = ContextVar("certifit_plot_paper", default="light")


def in_force() -> Literal["light", "dark"]:
    """The paper of the surrounding ``style``."""
    return _current.get()


def palette() -> Palette:
    """The colours in force: those of the surrounding ``style``, light when there is none.

    Examples
    --------
    >>> with style("dark"):
    ...     palette().ink
    '#DDDDDD'
    """
    return PALETTES[_current.get()]


def _settings(p: Palette) -> Record:
    from cycler import cycler

    inked = ("axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "text.color", "xtick.color", "ytick.color")
    return {
        **dict.fromkeys(inked, p.ink),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.facecolor": p.paper,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.labelsize": 10,
        "axes.linewidth": 0.8,
        "axes.axisbelow": True,
        "axes.prop_cycle": cycler(color=p.colours),
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "xtick.major.width": 0.8,
        "ytick.major.width": 0.8,
        "lines.linewidth": 1.6,
        "lines.markersize": 4,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "figure.facecolor": p.paper,
        "savefig.facecolor": p.paper,
        "savefig.bbox": "tight",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
    }


@contextmanager
def style(paper: Literal["light", "dark"] | None = None) -> Iterator[None]:
    """Context manager with certifit's plot style.

    Parameters
    ----------
    paper : {"light", "dark"}, default=None
        The background to draw for; None keeps that of the surrounding ``style`` (light when there is none).

    Examples
    --------
    >>> from certifit import metrics, plot
    >>> with style("dark"):
    ...     ax = plot.roc(metrics.roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> ax.get_facecolor()[0] < 0.1
    True
    """
    need("matplotlib", "plot")
    import matplotlib as mpl

    if paper is not None and paper not in PALETTES:
        raise ValueError(f"paper must be 'light' or 'dark', not {paper!r}.")
    token = _current.set(paper or _current.get())
    try:
        settings: Any = _settings(palette())
        with mpl.rc_context(settings):
            yield
    finally:
        _current.reset(token)


def drawing(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Run a drawing function inside the house style."""

    @wraps(draw)
    def run(*args: Any, **options: Any) -> Any:
        with style():
            return draw(*args, **options)

    return run


@overload
def figure(ax: None = None, size: tuple[float, float] = ...) -> tuple[Figure, Axes]: ...
@overload
def figure(ax: Axes | None = None, size: tuple[float, float] = ...) -> tuple[Figure | SubFigure, Axes]: ...
def figure(ax: Axes | None = None, size: tuple[float, float] = (5.6, 3.8)) -> tuple[Figure | SubFigure, Axes]:
    """(figure, axes): those of ``ax``, or fresh ones in certifit's style that no global state holds on to.

    Parameters
    ----------
    ax : matplotlib Axes, default=None
    size : (width, height) in inches, default=(5.6, 3.8)

    Examples
    --------
    >>> fig, ax = figure()
    >>> figure(ax)[0] is fig
    True
    """
    if ax is not None:
        return ax.figure, ax
    need("matplotlib", "plot")
    from matplotlib.figure import Figure

    with style():
        fig = Figure(figsize=size, layout="constrained")
        return fig, fig.add_subplot()
