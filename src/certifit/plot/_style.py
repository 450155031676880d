"""One quiet style for every picture: thin axes, no frame, colours that colour-blind readers can tell apart."""

from __future__ import annotations

from typing import Any

from certifit._errors import need

# Okabe and Ito (2008), darkest first; black is kept for text and truth.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
INK = "#333333"
FAINT = "#BBBBBB"

_SETTINGS: dict[str, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "xtick.major.width": 0.8,
    "ytick.major.width": 0.8,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": "white",
    "savefig.bbox": "tight",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
}


def style() -> Any:
    """Context manager with the house settings: ``with style(): ...``."""
    need("matplotlib", "plot")
    import matplotlib as mpl
    from cycler import cycler

    settings: Any = {**_SETTINGS, "axes.prop_cycle": cycler(color=COLOURS)}
    return mpl.rc_context(settings)


def figure(ax: Any = None, size: tuple[float, float] = (5.6, 3.8)) -> tuple[Any, Any]:
    """(figure, axes): those of ``ax``, or fresh ones in the house style that no global state holds on to."""
    if ax is not None:
        return ax.figure, ax
    need("matplotlib", "plot")
    from matplotlib.figure import Figure

    with style():
        fig = Figure(figsize=size, layout="constrained")
        return fig, fig.add_subplot()
