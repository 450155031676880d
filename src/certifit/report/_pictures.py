"""Pictures of a record as inline SVG that follows the page's colours, light or dark.

Each picture is drawn in stand-in colours that are replaced by the page's CSS variables; text stays text.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from certifit._errors import need

Record = Mapping[str, Any]

_INK, _SOFT, _ACCENT, _SECOND, _PAPER = "#010101", "#020202", "#030303", "#040404", "#050505"
_VARIABLES = {_INK: "ink", _SOFT: "line", _ACCENT: "accent", _SECOND: "second", _PAPER: "paper"}
_WIDE = 5.4


def pictures(record: Record) -> dict[str, str]:
    """Every picture the record has figures for, by name."""
    need("matplotlib", "report")
    made: dict[str, str] = {}
    drawers: dict[str, tuple[bool, Callable[[Any, Record], None], float, str]] = {
        "comparison": (True, _comparison, 0.0, "Scores of the models with 95 % intervals"),
        "target": ("target_histogram" in record["data"], _target, 1.7, "Distribution of the target"),
        "roc": ("roc" in record.get("classes", {}), _roc, 3.6, "ROC curve of held-out rows"),
        "predicted": ("values" in record, _predicted, 3.6, "Predicted against true values of held-out rows"),
        "residuals": ("values" in record, _residuals, 2.2, "Errors of held-out rows"),
        "inside": (_has_bars(record), _inside, 0.0, "What the model looks at"),
        "curve": (len(record.get("learning_curve", ())) >= 2, _curve, 2.7, "Learning curve"),
    }
    for name, (wanted, draw, height, title) in drawers.items():
        if wanted:
            made[name] = _svg(name, title, height or _height(name, record), partial(_drawn, draw, record))
    return made


def _drawn(draw: Callable[[Any, Record], None], record: Record, axes: Any) -> None:
    draw(axes, record)


def _height(name: str, record: Record) -> float:
    count = len(record["comparison"]["standings"]) if name == "comparison" else len(_bars(record)[0])
    return 0.7 + 0.27 * max(count, 2)


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl

    settings: dict[str, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "certifit",
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": _INK,
        "axes.edgecolor": _SOFT,
        "axes.labelcolor": _INK,
        "axes.facecolor": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": _SOFT,
        "grid.linewidth": 0.6,
        "xtick.color": _INK,
        "ytick.color": _INK,
        "xtick.major.size": 0,
        "ytick.major.size": 0,
        "legend.frameon": False,
        "figure.facecolor": "none",
        "lines.linewidth": 2.0,
    }
    with mpl.rc_context(settings):  # type: ignore[arg-type]
        yield


def _svg(name: str, title: str, height: float, draw: Callable[[Any], None]) -> str:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with _style():
        figure = Figure(figsize=(_WIDE, height), layout="constrained")
        draw(figure.add_subplot())
        buffer = io.StringIO()
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None})
    return _inline(buffer.getvalue(), name, title)


def _inline(svg: str, name: str, title: str) -> str:
    """Only the element, with ids of its own, the page's colours and fonts, and words for who cannot see it."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, f"var(--{variable})")
    svg = re.sub(r"font: (\S+) [^;\"]*", r"font: \1 var(--sans)", svg)
    svg = re.sub(r'<svg ([^>]*?)width="[^"]*"', r"<svg \1", svg, count=1)
    svg = re.sub(r'<svg ([^>]*?)height="[^"]*"', r"<svg \1", svg, count=1)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1).strip()


def _comparison(axes: Any, record: Record) -> None:
    rows = list(reversed(record["comparison"]["standings"]))
    winner = record["verdict"]["winner"]
    for k, row in enumerate(rows):
        chosen = row["name"] == winner
        colour = _ACCENT if chosen else _INK
        low, high = row["interval"]
        axes.plot([low, high], [k, k], color=colour, linewidth=2.4 if chosen else 1.4, solid_capstyle="round")
        axes.plot(row["mean"], k, "o", color=colour, markersize=7 if chosen else 5)
    axes.set_yticks(range(len(rows)), [_short(r["name"]) for r in rows])
    for label, row in zip(axes.get_yticklabels(), rows):
        if row["name"] == winner:
            label.set_color(_ACCENT)
            label.set_fontweight("bold")
    _frame_scores(axes, rows)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"{record['measure']['name']} on held-out rows")


def _frame_scores(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Leave out of sight what would squeeze the rest together: its place is told by an arrow."""
    lows = sorted((r["interval"][0] for r in rows if r["name"] != "baseline"), reverse=True)
    high = max(r["interval"][1] for r in rows)
    if not lows:
        return
    room = max(high - lows[len(lows) // 2], 0.02)  # the better half decides the scale
    left = max(lows[-1], high - 4.0 * room) - 0.15 * room
    axes.set_xlim(left, high + 0.1 * room)
    for k, row in enumerate(rows):
        if row["mean"] < left:
            axes.annotate(f"◂ {row['mean']:.3f}", (left, k), xytext=(4, 0), textcoords="offset points", va="center")


def _short(name: str, most: int = 24) -> str:
    if len(name) <= most:
        return name
    words, lines = name.split(" "), [""]
    for word in words:
        if len(lines[-1]) + len(word) > most and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(line if len(line) <= most + 6 else line[: most + 5] + "…" for line in lines[:2])


def _target(axes: Any, record: Record) -> None:
    shown = record["data"]["target_histogram"]
    edges, counts = shown["edges"], shown["counts"]
    axes.bar(edges[:-1], counts, width=np.diff(edges), align="edge", color=_ACCENT, edgecolor=_PAPER, linewidth=0.5)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel(record["data"]["target"])
    axes.set_ylabel("rows")


def _roc(axes: Any, record: Record) -> None:
    curve = record["classes"]["roc"]
    axes.plot([0, 1], [0, 1], "--", color=_INK, linewidth=0.8)
    axes.plot(curve["fpr"], curve["tpr"], color=_ACCENT)
    axes.fill_between(curve["fpr"], curve["tpr"], color=_ACCENT, alpha=0.12, linewidth=0)
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    axes.set_aspect("equal")
    axes.set_xlabel("false alarms")
    axes.set_ylabel(f"{curve['positive']!s} found")


def _predicted(axes: Any, record: Record) -> None:
    values = record["values"]
    true, said = np.array(values["true"]), np.array(values["predicted"])
    low, high = float(min(true.min(), said.min())), float(max(true.max(), said.max()))
    axes.plot([low, high], [low, high], "--", color=_INK, linewidth=0.8)
    axes.plot(said, true, "o", color=_ACCENT, markersize=3.5, alpha=0.45, markeredgewidth=0, rasterized=False)
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")


def _residuals(axes: Any, record: Record) -> None:
    values = record["values"]
    errors = np.array(values["true"]) - np.array(values["predicted"])
    axes.hist(errors, bins=min(40, max(10, len(errors) // 15)), color=_ACCENT, edgecolor=_PAPER, linewidth=0.5)
    axes.axvline(0, color=_INK, linewidth=0.8)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("true − predicted")
    axes.set_ylabel("rows")


def _has_bars(record: Record) -> bool:
    return bool(_bars(record)[0])


def _bars(record: Record, most: int = 15) -> tuple[list[str], list[float], str]:
    """The longest bars: coefficients (of the largest row when there are several) or importances."""
    inside = record.get("inside", {})
    if inside.get("kind") == "coefficients":
        table = np.abs(np.array(inside["values"]))
        order = np.argsort(-table.max(axis=0), kind="stable")[:most]
        one = len(table) == 1
        values = [float(inside["values"][0][j]) if one else float(table[:, j].max()) for j in order]
        return [inside["names"][j] for j in order], values, "coefficient" if one else "largest |coefficient|"
    if "importance" in inside:
        order = np.argsort(-np.array(inside["importance"]), kind="stable")[:most]
        values = [float(inside["importance"][j]) for j in order]
        return [inside["columns"][j] for j in order], values, f"loss of {record['measure']['name']} when shuffled"
    return [], [], ""


def _inside(axes: Any, record: Record) -> None:
    names, values, label = _bars(record)
    place = np.arange(len(names))[::-1]
    colours = [_ACCENT if v >= 0 else _SECOND for v in values]
    axes.barh(place, values, height=0.62, color=colours)
    axes.axvline(0, color=_INK, linewidth=0.8)
    axes.set_yticks(place, [_short(n) for n in names])
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(label)


def _curve(axes: Any, record: Record) -> None:
    points: Sequence[Mapping[str, Any]] = record["learning_curve"]
    rows = [p["rows"] for p in points]
    held = np.array([p["held_out"] for p in points])
    spread = np.array([p["spread"] for p in points])
    axes.fill_between(rows, held - spread, held + spread, color=_ACCENT, alpha=0.15, linewidth=0)
    axes.plot(rows, held, "o-", color=_ACCENT, label="held-out rows", markersize=5)
    axes.plot(rows, [p["train"] for p in points], "o--", color=_INK, label="training rows", markersize=4, linewidth=1.2)
    axes.set_xlabel("training rows")
    axes.set_ylabel(record["measure"]["name"])
    axes.set_ylim(bottom=max(axes.get_ylim()[0], float(held.min()) - 0.5))
    axes.legend(loc="best")
