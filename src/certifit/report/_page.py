"""The page of a study: one file, no script, no request."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from certifit._errors import need
from certifit.report._pictures import pictures

_HERE = Path(__file__).parent


def render(record: Mapping[str, Any]) -> str:
    """The HTML page of a study's record.

    Parameters
    ----------
    record : mapping
        What ``certifit.study.run(...).record`` holds, or ``json.load`` of a ``record.json``.

    Returns
    -------
    str
        A whole page: styles and pictures inside, nothing to load.

    Examples
    --------
    >>> from certifit.study import run
    >>> x = np.sin(np.arange(60.0))
    >>> study = run({"x": x, "y": 2 * x + 0.1 * np.cos(7 * np.arange(60.0))}, "y", models=["least squares"], folds=3)
    >>> page = render(study.record)
    >>> page[:9].lower(), "least squares" in page
    ('<!doctype', True)
    """
    need("jinja2", "report")
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"figure": figure, "share": share, "count": count}
    page = environment.get_template("page.html.jinja")
    style = (_HERE / "page.css").read_text()
    return page.render(
        r=record, pictures=pictures(record), style=style, command=command(record), tables=_tables(record)
    )


def figure(v: Any, digits: int = 3) -> str:
    """A number for people."""
    if v is None:
        return "–"
    if isinstance(v, bool) or not isinstance(v, (int, float)):
        return str(v)
    if isinstance(v, int):
        return count(v)
    if abs(v) >= 10.0:
        return f"{v:.{max(digits + 1, 4)}g}" if abs(v) < 1e6 else f"{v:.3e}"
    return f"{v:.{digits}f}" if abs(v) >= 0.001 or v == 0 else f"{v:.2g}"


def share(v: Mapping[str, Any]) -> str:
    """A share with its interval, in per cent."""
    if v["value"] is None:
        return "–"
    low, high = v["interval"]
    return f"{100 * v['value']:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def count(v: int) -> str:
    """A whole number with thin spaces between thousands."""
    return f"{v:,}".replace(",", "\u202f")


def command(record: Mapping[str, Any]) -> str:
    """The command that repeats the study."""
    s = record["settings"]
    words = ["certifit", "study", record["data"]["source"] or "TABLE", "--target", s["target"]]
    words += ["--task", s["task"], "--folds", str(s["folds"]), "--seed", str(s["seed"])]
    if s["time_budget"]:
        words += ["--time-budget", f"{s['time_budget']:g}"]
    for option in ("models", "drop", "keep", "categories"):
        if s[option]:
            words += [f"--{option}", ",".join(s[option])]
    return " ".join(shlex.quote(w) for w in words)


def _tables(record: Mapping[str, Any]) -> dict[str, Any]:
    """Rows that need a little arithmetic before the template can show them."""
    tables: dict[str, Any] = {}
    if "classes" in record:
        matrix = record["classes"]["matrix"]
        tables["confusion"] = [
            [{"n": n, "shade": round(100 * n / max(sum(row), 1)), "right": i == j} for j, n in enumerate(row)]
            for i, row in enumerate(matrix)
        ]
    inside = record.get("inside", {})
    if inside.get("kind") == "coefficients":
        size = [max(abs(row[j]) for row in inside["values"]) for j in range(len(inside["names"]))]
        order = sorted(range(len(size)), key=lambda j: -size[j])
        tables["coefficients"] = [(inside["names"][j], [row[j] for row in inside["values"]]) for j in order[:40]]
        tables["more_coefficients"] = max(0, len(order) - 40)
    return tables
