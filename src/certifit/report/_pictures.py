"""Pictures of a record as inline SVG that follows the page's colours, light or dark.

Each picture is drawn in stand-in colours that are replaced by the page's CSS variables; text stays text.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

import numpy as np

from certifit import _copies
from certifit._errors import need
from certifit._types import Axes
from certifit.report import _charts
from certifit.report._ink import ACCENT, INK, PAPER, SECOND, SOFT, VARIABLES, Record, plain, short

_WIDE = 4.6  # inches, at 10 points: still readable on a phone


def pictures(record: Record) -> dict[str, str]:
    """Every picture the record has figures for, by name."""
    need("matplotlib", "report")
    drawers: dict[str, tuple[bool, Callable[[Any, Record], None], float]] = {
        "comparison": (True, _comparison, 0.0),
        "target": ("target_histogram" in record["data"], _target, 1.6),
        "roc": ("roc" in record.get("classes", {}), _roc, 3.2),
        "rocs": ("rocs" in record.get("classes", {}), _roc, 3.4),
        "predicted": ("values" in record, _predicted, 3.2),
        "residuals": ("values" in record, _residuals, 2.4),
        "inside": (bool(_bars(record)[0]), _inside, 0.0),
        "curve": (len(record.get("learning_curve", ())) >= 2, _curve, 2.4),
        **_charts.drawers(record),
    }
    wanted = [name for name, drawer in drawers.items() if drawer[0]]

    def drawn(names: Sequence[str]) -> list[str]:
        found = [(name, *drawers[name][1:]) for name in names]
        return [
            _svg(n, alternative(n, record), height or _height(n, record), draw, record) for n, draw, height in found
        ]

    others = _copies.aside(drawn, wanted[1::2])  # every other one, where a second process can draw
    made = dict(zip(wanted[::2], drawn(wanted[::2]))) | dict(zip(wanted[1::2], others()))
    return {name: made[name] for name in wanted}


def alternative(name: str, record: Record) -> str:
    """What a picture shows, for who cannot see it."""
    measure = record["measure"]["name"]
    if (told := _charts.alternative(name, record)) is not None:
        return told
    if name == "comparison":
        rows = [f"{s['name']} {s['mean']:.3f}" for s in record["comparison"]["standings"]]
        return f"{measure} of each model with its interval (95 % for all together), best first: {', '.join(rows)}."
    if name == "inside":
        names, values, label = _bars(record)
        return f"Bars, {label}: {', '.join(f'{n} {v:.3g}' for n, v in list(zip(names, values))[:8])}."
    if name == "curve":
        points = [f"{p['rows']} rows {p['held_out']:.3f}" for p in record["learning_curve"]]
        return f"Learning curve, {measure} on held-out rows: {', '.join(points)}."
    if name in ("roc", "rocs"):
        areas = [f"{c['positive']} {c['pooled_auc']:.3f}" for c in _curves(record)]
        return f"ROC of held-out rows; areas: {', '.join(areas)}."
    return {
        "target": "Histogram of the target.",
        "predicted": "Predicted against true values of held-out rows, with the line where both are equal.",
        "residuals": "True minus predicted values of held-out rows against the predicted ones.",
    }[name]


def _height(name: str, record: Record) -> float:
    count = len(record["comparison"]["standings"]) if name == "comparison" else len(_bars(record)[0])
    return 0.7 + 0.26 * max(count, 2)


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl

    settings: dict[str, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "certifit",
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": INK,
        "axes.edgecolor": SOFT,
        "axes.labelcolor": INK,
        "axes.facecolor": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": SOFT,
        "grid.linewidth": 0.6,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.major.size": 0,
        "ytick.major.size": 0,
        "legend.frameon": False,
        "figure.facecolor": "none",
        "lines.linewidth": 2.0,
    }
    with mpl.rc_context(settings):  # type: ignore[arg-type]
        yield


def blank() -> str:
    """A picture of nothing: what draws pictures, fonts among it, is loaded with the first."""
    need("matplotlib", "report")
    return _svg("blank", "", 1.0, lambda axes, record: None, {})


def _svg(name: str, title: str, height: float, draw: Callable[[Axes, Record], None], record: Record) -> str:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with _style():
        figure = Figure(figsize=(_WIDE, height), layout="constrained")
        draw(figure.add_subplot(), record)
        buffer = io.StringIO()
        with warnings.catch_warnings():
            # The reader's browser sets the text; that matplotlib's own font lacks a sign does not matter.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    return _inline(buffer.getvalue(), name, title)


def _inline(svg: str, name: str, title: str) -> str:
    """Only the element, with ids of its own, the page's colours and fonts, and words for who cannot see it."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var(--{variable})")
    svg = re.sub(r"font: (\S+) [^;\"]*", r"font: \1 var(--sans)", svg)
    svg = re.sub(r'<svg ([^>]*?)width="[^"]*"', r"<svg \1", svg, count=1)
    svg = re.sub(r'<svg ([^>]*?)height="[^"]*"', r"<svg \1", svg, count=1)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1).strip()


def _comparison(axes: Axes, record: Record) -> None:
    rows = list(reversed(record["comparison"]["standings"]))
    winner = record["verdict"]["winner"]
    for k, row in enumerate(rows):
        chosen = row["name"] == winner
        colour = ACCENT if chosen else INK
        low, high = row["joint_interval"]
        axes.plot([low, high], [k, k], color=colour, linewidth=2.4 if chosen else 1.4, solid_capstyle="round")
        axes.plot(row["mean"], k, "o", color=colour, markersize=7 if chosen else 5)
    _charts.name_rows(axes, [short(r["name"]) for r in rows])
    for label, row in zip(axes.get_yticklabels(), rows):
        if row["name"] == winner:
            label.set(color=ACCENT, fontweight="bold")
    _frame_scores(axes, rows)
    axes.set_xlabel(f"{record['measure']['name']} on held-out rows")


def _frame_scores(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    """Leave out of sight what would squeeze the rest together: its place is told by an arrow."""
    lows = sorted((r["joint_interval"][0] for r in rows if r["name"] != "baseline"), reverse=True)
    high = max(r["joint_interval"][1] for r in rows)
    if not lows:
        return
    room = max(high - lows[len(lows) // 2], 0.02)  # the better half decides the scale
    left = max(lows[-1], high - 4.0 * room) - 0.15 * room
    axes.set_xlim(left, high + 0.1 * room)
    axes.locator_params(axis="x", nbins=5)  # 0.992 and its neighbours are wide words
    for k, row in enumerate(rows):
        if row["mean"] < left:
            told = f"◂ {row['mean']:.3f}".replace("-", "−")
            axes.annotate(told, (left, k), xytext=(4, 0), textcoords="offset points", va="center")


def _target(axes: Axes, record: Record) -> None:
    shown = record["data"]["target_histogram"]
    edges, counts = shown["edges"], shown["counts"]
    axes.bar(edges[:-1], counts, width=np.diff(edges), align="edge", color=ACCENT, edgecolor=PAPER, linewidth=0.5)
    axes.grid(axis="x", visible=False)
    axes.set(xlabel=plain(record["data"]["target"]), ylabel="rows")
    axes.locator_params(axis="y", integer=True)


def _curves(record: Record) -> list[Mapping[str, Any]]:
    classes = record["classes"]
    return list(classes["rocs"]) if "rocs" in classes else [classes["roc"]]


def _roc(axes: Axes, record: Record) -> None:
    curves = _curves(record)
    axes.plot([0, 1], [0, 1], "--", color=INK, linewidth=0.8)
    looks = [(c, line) for line in ("-", ":") for c in (ACCENT, SECOND, INK)]
    for curve, (colour, line) in zip(curves, looks):
        axes.plot(curve["fpr"], curve["tpr"], line, color=colour, label=plain(curve["positive"]))
    if len(curves) == 1 and "low" in curves[0]:
        axes.fill_between(curves[0]["fpr"], curves[0]["low"], curves[0]["high"], color=ACCENT, alpha=0.15, linewidth=0)
    else:
        axes.legend(loc="lower right")
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    axes.set(xlabel="false positive rate", ylabel="true positive rate")


def _predicted(axes: Axes, record: Record) -> None:
    values = record["values"]
    true, said = np.array(values["true"]), np.array(values["predicted"])
    low, high = float(min(true.min(), said.min())), float(max(true.max(), said.max()))
    axes.plot([low, high], [low, high], "--", color=INK, linewidth=0.8)
    axes.plot(said, true, "o", color=ACCENT, markersize=3.5, alpha=0.45, markeredgewidth=0, rasterized=False)
    axes.set(xlabel="predicted", ylabel="true")


def _residuals(axes: Axes, record: Record) -> None:
    """Errors against predictions: a funnel or a bend shows what the model misses."""
    values = record["values"]
    said = np.array(values["predicted"])
    axes.plot(said, np.array(values["true"]) - said, "o", color=ACCENT, markersize=3.5, alpha=0.45, markeredgewidth=0)
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.set(xlabel="predicted", ylabel="true − predicted")


def _bars(record: Record, most: int = 15) -> tuple[list[str], list[float], str]:
    """The longest bars: coefficients (of the largest row when there are several) or importances."""
    inside = record.get("inside", {})
    if inside.get("kind") == "coefficients":
        table = np.abs(np.array(inside["values"]))
        order = np.argsort(-table.max(axis=0), kind="stable")[:most]
        one = len(table) == 1
        values = [float(inside["values"][0][j]) if one else float(table[:, j].max()) for j in order]
        return [inside["names"][j] for j in order], values, "coefficient" if one else "largest |coefficient|"
    return [], [], ""


def _inside(axes: Axes, record: Record) -> None:
    names, values, label = _bars(record)
    place = np.arange(len(names))[::-1]
    colours = [ACCENT if v >= 0 else SECOND for v in values]
    axes.barh(place, values, height=0.62, color=colours)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_yticks(place, [short(n) for n in names])
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(label)


def _curve(axes: Axes, record: Record) -> None:
    points: Sequence[Mapping[str, Any]] = record["learning_curve"]
    rows = [p["rows"] for p in points]
    held = np.array([p["held_out"] for p in points])
    spread = np.array([p["spread"] for p in points])
    top = np.minimum(held + spread, 1.0)  # no score goes beyond 1
    axes.fill_between(rows, held - spread, top, color=ACCENT, alpha=0.15, linewidth=0)
    axes.plot(rows, held, "o-", color=ACCENT, label="held-out rows", markersize=5)
    axes.plot(rows, [p["train"] for p in points], "o--", color=INK, label="training rows", markersize=4, linewidth=1.2)
    axes.set(xlabel="training rows", ylabel=record["measure"]["name"])
    axes.set_ylim(bottom=max(axes.get_ylim()[0], float(held.min()) - 0.5))
    axes.legend(loc="best")
