"""Pictures of what drives a model and of how it errs: importance, dependence, calibration, precision, the tree."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from certifit._types import Axes
from certifit.report._ink import ACCENT, INK, PAPER, SECOND, SOFT, Record, plain, short

Drawer = tuple[bool, Callable[[Any, Record], None], float]
_MOST = 15
_MOST_SHAPES = 12


def drawers(record: Record) -> dict[str, Drawer]:
    """Every picture of this file that the record has figures for: wanted, how, height in inches."""
    found = _important(record)
    made: dict[str, Drawer] = {
        "drivers": (len(found) > 0, _drivers, 0.75 + 0.27 * max(len(found), 2)),
        "calibration": ("calibration" in record, _calibration, 3.0),
        "precision": ("precision" in (record.get("classes", {}).get("roc") or {}), _precision, 3.0),
        "tree": (len(_nodes(record)) > 1, _tree, 0.3 + 0.42 * sum(n["leaf"] or n["cut"] for n in _nodes(record))),
    }
    for k, shape in enumerate(_shapes(record)):
        made[f"shape{k}"] = (True, partial(_shape, k=k), 2.3 if shape["rows"] else 0.9 + 0.22 * len(shape["at"]))
    for k in range(len(_dependence(record))):
        made[f"dependence{k}"] = (True, partial(_depends, k=k), 2.3)
    return made


def alternative(name: str, record: Record) -> str | None:
    """What a picture shows, for who cannot see it; None for pictures of other files."""
    if name == "drivers":
        rows = [f"{row['columns'][0]} {row['lost']:.3g}" for row in _important(record)[:8]]
        return f"Decrease of {record['measure']['name']} on held-out rows when a column is shuffled: {', '.join(rows)}."
    if name == "calibration":
        rows = [f"predicted {g['said']:.2f} observed {g['seen']:.2f}" for g in record["calibration"]["groups"]]
        return f"Calibration on held-out rows: {', '.join(rows)}."
    if name == "precision":
        return f"Precision against recall of {record['classes']['roc']['positive']} on held-out rows, with a band."
    if name == "tree":
        return f"The top of the tree: {'; '.join(n['text'] for n in _nodes(record)[:6])}."
    if name.startswith("shape"):
        shape = _shapes(record)[int(name.removeprefix("shape"))]
        ends = [f"{line[0]:.3g} to {line[-1]:.3g}" for line in shape["add"]]
        return f"What {shape['column']} adds, {shape['at'][0]} to {shape['at'][-1]}: {', '.join(ends)}."
    if name.startswith("dependence"):
        shown = _dependence(record)[int(name.removeprefix("dependence"))]
        ends = [f"{c['label']} from {c['mean'][0]:.3g} to {c['mean'][-1]:.3g}" for c in shown["curves"]]
        return f"Partial dependence on {shown['column']}, {shown['at'][0]} to {shown['at'][-1]}: {', '.join(ends)}."
    return None


def _important(record: Record) -> list[Any]:
    return list(record.get("drivers", {}).get("importance", []))[:_MOST]


def _dependence(record: Record) -> list[Any]:
    return list(record.get("drivers", {}).get("dependence", []))


def _shapes(record: Record) -> list[Any]:
    """Shapes of an additive model that are drawn: the strongest."""
    found = record.get("inside", {}).get("shapes") or {}
    return list(found.get("shapes", []))[:_MOST_SHAPES]


def _shape(axes: Axes, record: Record, k: int) -> None:
    """What one column adds: a line between knots, with ticks where the rows are; or a bar for each level."""
    shape, told = _shapes(record)[k], record["inside"]["shapes"]
    looks = [(ACCENT, "-"), (SECOND, "-"), (INK, "-"), (ACCENT, ":")]
    if not shape["rows"]:
        _level_bars(axes, shape, told)
        return
    at = np.array(shape["at"], dtype=float)
    for line, label, (colour, dash) in zip(shape["add"], told["labels"], looks):
        axes.plot(at, line, dash, color=colour, label=plain(label) if label else None)
    axes.axhline(0, color=INK, linewidth=0.7)
    axes.plot(shape["rows"], np.zeros(21), "|", transform=axes.get_xaxis_transform(), color=INK, markersize=9)
    if shape["names"]:
        few = np.unique(np.linspace(at[0], at[-1], 5).astype(int))
        axes.set_xticks(few, [shape["names"][i] for i in few])
    elif shape["kind"] == "boolean":
        axes.set_xticks([0, 1], ["no", "yes"])
    elif shape["kind"] == "number":
        axes.locator_params(axis="x", nbins=5, integer=bool(np.all(at == np.floor(at))))
    elif shape["kind"] == "date":
        ends = np.quantile(at, [0.0, 0.5, 1.0], method="nearest")
        axes.set_xticks(ends, [str(np.datetime64(int(np.floor(day)), "D")) for day in ends])
    if len(shape["add"]) > 1:
        axes.legend(loc="best", fontsize=8)
    axes.set(xlabel=short(shape["column"], 40, 1), ylabel=short(told["about"], 24))


def _level_bars(axes: Axes, shape: Any, told: Any) -> None:
    places = np.arange(len(shape["at"]))[::-1]
    high = 0.7 / len(shape["add"])
    for i, (line, label, colour) in enumerate(zip(shape["add"], told["labels"], (ACCENT, SECOND, INK, SOFT))):
        axes.barh(places - i * high, line, height=high, color=colour, alpha=0.6, label=plain(label) if label else None)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_yticks(places - high * (len(shape["add"]) - 1) / 2, [short(str(w), 18, 1) for w in shape["at"]])
    axes.grid(axis="y", visible=False)
    axes.set_title(short(shape["column"], 40, 1), fontsize=10)
    axes.set_xlabel(short(told["about"], 40, 1))
    if len(shape["add"]) > 1:
        axes.legend(loc="best", fontsize=8)


def _nodes(record: Record) -> list[Any]:
    return list(record.get("inside", {}).get("drawn", []))


def _drivers(axes: Axes, record: Record) -> None:
    rows = list(reversed(_important(record)))
    for k, row in enumerate(rows):
        low, high = row["interval"]
        colour = ACCENT if low > 0 else INK
        axes.barh(k, row["lost"], height=0.55, color=colour, alpha=0.35)
        axes.plot([low, high], [k, k], color=colour, linewidth=1.6, solid_capstyle="round")
    axes.axvline(0, color=INK, linewidth=0.8)
    name_rows(axes, [_group(row["columns"]) for row in rows])
    axes.set_xlabel(f"decrease of {record['measure']['name']} when shuffled")


def name_rows(axes: Axes, names: list[str]) -> None:
    """The names of rows that lie one above the other, the first at the bottom."""
    axes.set_yticks(range(len(names)), names)
    for label in axes.get_yticklabels():
        if "\n" in label.get_text():  # two lines in the height of one
            label.set(fontsize=8, linespacing=0.95)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.grid(axis="y", visible=False)


def _group(columns: list[str]) -> str:
    if len(columns) == 1:
        return short(columns[0])
    more = f" and {len(columns) - 2} more" if len(columns) > 2 else ""
    return "\n".join([short(columns[0], 22, 1), short(columns[1], 22, 1) + more])


def _depends(axes: Axes, record: Record, k: int) -> None:
    shown = _dependence(record)[k]
    at = shown["at"]
    words = shown["kind"] in ("category", "boolean", "date")
    x = np.arange(len(at)) if words else np.array(at, dtype=float)
    marks = "o" if shown["kind"] in ("category", "boolean") else ""
    for row in shown.get("rows", []):
        axes.plot(x, row, color=SOFT, linewidth=0.7)
    looks = [(ACCENT, "-"), (SECOND, "-"), (INK, "-"), (ACCENT, ":")]
    for curve, (colour, line) in zip(shown["curves"], looks):
        axes.plot(
            x, curve["mean"], line + marks, color=colour, linewidth=2.2, markersize=5, label=plain(curve["label"])
        )
    if words:
        few = np.unique(np.linspace(0, len(at) - 1, min(len(at), 3 if shown["kind"] == "date" else 8)).astype(int))
        axes.set_xticks(few, [_cut(str(at[i])) for i in few])
        if shown["kind"] == "category" and (len(few) > 4 or max(len(str(at[i])) for i in few) > 8):
            axes.tick_params(axis="x", rotation=30)
            for label in axes.get_xticklabels():
                label.set_horizontalalignment("right")
    else:
        axes.locator_params(axis="x", nbins=5)
    if len(shown["curves"]) > 1:
        axes.legend(loc="best", fontsize=8)
    axes.set_xlabel(short(shown["column"], 40, 1))
    positive = len(shown["curves"]) == 1 and "classes" in record
    what = f"probability of {shown['curves'][0]['label']}" if positive else record["data"]["target"]
    axes.set_ylabel(short(what if "values" in record or positive else "probability", 24))


def _cut(text: str, most: int = 10) -> str:
    return plain(text if len(text) <= most else text[: most - 1] + "…")


def _calibration(axes: Axes, record: Record) -> None:
    groups = record["calibration"]["groups"]
    axes.plot([0, 1], [0, 1], "--", color=INK, linewidth=0.8)
    for g in groups:
        colour = SECOND if g["off"] else ACCENT
        axes.plot([g["said"]] * 2, g["interval"], color=colour, linewidth=1.6, solid_capstyle="round")
        axes.plot(g["said"], g["seen"], "o", color=colour, markersize=6)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    axes.set(xlabel="predicted probability", ylabel="observed fraction")


def _precision(axes: Axes, record: Record) -> None:
    curve = record["classes"]["roc"]["precision"]
    axes.axhline(curve["share"], linestyle="--", color=INK, linewidth=0.8)
    axes.fill_between(curve["recall"], curve["low"], curve["high"], color=ACCENT, alpha=0.15, linewidth=0)
    axes.plot(curve["recall"], curve["precision"], color=ACCENT)
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.03), aspect="equal")
    axes.set(xlabel=f"recall of {short(record['classes']['roc']['positive'], 20, 1)}", ylabel="precision")


def _tree(axes: Axes, record: Record) -> None:
    """From left to right: a split, the upper branch for yes, the lower for no."""
    nodes = _nodes(record)
    height: list[float] = [0.0] * len(nodes)
    ends = [i for i, n in enumerate(nodes) if n["leaf"] or n["cut"]]
    for place, i in enumerate(ends):
        height[i] = -float(place)
    for i in reversed(range(len(nodes))):
        below = [height[j] for j, n in enumerate(nodes) if n["parent"] == i]
        if below:
            height[i] = sum(below) / len(below)
    for i, n in enumerate(nodes):
        x, last = n["depth"], n["leaf"] or n["cut"]
        if n["parent"] is not None:
            start = height[n["parent"]]
            wide = 0.6 + 5 * n["share"]
            axes.plot([x - 0.42, x - 0.3, x - 0.05], [start, height[i], height[i]], color=SOFT, linewidth=wide)
            axes.text(x - 0.27, height[i], "yes" if n["yes"] else "no", fontsize=7, color=INK, va="bottom")
        text = short(n["text"], 17, 3) + ("\n(more)" if n["cut"] else "")
        colour = ACCENT if last else INK
        style = {"boxstyle": "round,pad=0.25", "facecolor": PAPER, "edgecolor": colour, "linewidth": 0.9}
        axes.text(x, height[i], text, fontsize=7.5, va="center", bbox=style, color=colour)
    axes.set(xlim=(-0.1, max(n["depth"] for n in nodes) + 0.95), ylim=(-len(ends) + 0.4, 0.6))
    axes.axis("off")
