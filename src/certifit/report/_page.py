"""The page of a study: one file, no script, no request."""

from __future__ import annotations

import shlex
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from certifit._errors import need
from certifit._types import Named, Record
from certifit.report._pictures import blank, pictures

_HERE = Path(__file__).parent


def render(record: Named) -> str:
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
    style = (_HERE / "page.css").read_text()
    return str(
        template().render(
            r=record, pictures=pictures(record), style=style, command=command(record), tables=_tables(record)
        )
    )


def prepare() -> str:
    """Load what draws the report, where it is installed: for a process that has nothing to do yet.

    Examples
    --------
    >>> prepare()
    ''
    """
    with suppress(ImportError):
        template()
        blank()
    return ""


@cache
def template() -> Any:
    """The page before it is filled in; compiling it takes longer than filling it in."""
    need("jinja2", "report")
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (figure, share, count, signed, chance, six, parameter, value, three, told)
    environment.filters |= {function.__name__: function for function in filters}
    environment.filters["first_capital"] = lambda text: text[:1].upper() + text[1:]
    return environment.get_template("page.html.jinja")


def figure(v: object, digits: int = 3) -> str:
    """A number for people."""
    if v is None:
        return "–"
    if isinstance(v, bool) or not isinstance(v, (int, float)):
        return str(v)
    if isinstance(v, int):
        return count(v)
    if abs(v) >= 10.0:
        shown = f"{v:.{max(digits + 1, 4)}g}" if abs(v) < 1e4 else f"{v:.0f}" if abs(v) < 1e7 else f"{v:.3e}"
    else:
        shown = f"{v:.{digits}f}" if abs(v) >= 0.001 or v == 0 else f"{v:.2g}"
    return shown.replace("-", "−", 1) if v < 0 else shown


def three(v: float) -> str:
    """A score with three decimals."""
    return f"{v:.3f}".replace("-", "−", 1) if abs(v) < 10 else figure(v)


def value(v: object) -> str:
    """A cell of the table: integers as integers."""
    return (
        count(int(v)).replace("-", "−", 1) if isinstance(v, float) and v.is_integer() and abs(v) < 1e15 else figure(v)
    )


def share(v: Named) -> str:
    """A share with its interval, in per cent."""
    if v["value"] is None:
        return "–"
    low, high = v["interval"]
    return f"{100 * v['value']:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def count(v: int) -> str:
    """An integer with thin spaces between thousands."""
    return f"{v:,}".replace(",", "\u202f")


def signed(v: float) -> str:
    """A difference with its sign; nothing has a sign when it rounds to zero."""
    shown = f"{abs(v):.3f}" if abs(v) < 10 else figure(abs(v))
    return shown if shown == "0.000" else ("−" if v < 0 else "+") + shown


def chance(p: float) -> str:
    """A p-value for people."""
    return "< 0.001" if p < 0.001 else f"{p:.2g}"


def six(v: object) -> str:
    """Six digits of a number; integers as they are."""
    return f"{v:.6g}".replace("-", "−", 1) if isinstance(v, float) else figure(v)


def parameter(v: object) -> str:
    """The value of a parameter."""
    if not isinstance(v, float):
        return str(v)
    return ("−" if v < 0 else "") + f"{abs(v):.4g}"


_IN_WORDS = {
    "certain": "labels provably those of the exact optimum",
    "certain_labels": "labels provably those of the exact optimum",
    "rank": "independent features",
    "columns": "features",
    "condition": "condition number",
    "digits": "correct digits of each coefficient, at least",
    "digits_if_rounded": "digits that survive rounding of the data",
    "machines": "two-class machines",
    "support": "support vectors",
    "multipliers_zero": "rows beyond the margin (α = 0)",
    "multipliers_inside": "rows on the margin (0 < α < C)",
    "multipliers_at_cost": "rows inside the margin or wrong (α = C)",
    "largest_violation": "largest violation of the optimality conditions",
    "prediction_error": "error of a prediction, at most, times √k(x, x)",
    "questions": "splits",
    "compared": "splits compared",
    "shortfall": "gain lost at a node, at most",
    "pruning_shortfall": "cost lost by the pruning, at most",
    "impurity": "remaining impurity",
    "distinct": "different rows",
    "unavoidable": "unavoidable training error",
    "prior_error": "error of the class frequencies, at most",
    "mean_error": "error of a mean, at most (standard deviations)",
    "variance_error": "relative error of a variance, at most",
    "gradient": "relative error of a probability, at most",
    "sum_error": "error of a sum of probabilities, at most",
}
_SAID = {"value", "bound", "gap", "relative_gap", "excess"}  # in the sentence above the list


def told(certificate: Named) -> list[tuple[str, str]]:
    """The figures of a certificate with words a reader knows; those of the sentence are not repeated."""
    figures = certificate["figures"]
    said = _SAID if "bound" in figures and "gap" in figures else set()
    rows = []
    for name, v in figures.items():
        if name in said or isinstance(v, bool) or not isinstance(v, (int, float, str)):
            continue
        rows.append((_IN_WORDS.get(name, name.replace("_", " ")), six(v)))
    return rows


def command(record: Named) -> str:
    """The command that repeats the study."""
    s = record["settings"]
    words = ["certifit", "study", record["data"]["source"] or "TABLE", "--target", s["target"]]
    folds = ["--folds", str(s["folds"])] if s.get("repeats", 1) == 1 else []  # repetition is not for asked folds
    words += ["--task", s["task"], *folds, "--seed", str(s["seed"])]
    if s["time_budget"]:
        words += ["--time-budget", f"{s['time_budget']:g}"]
    for option in ("models", "drop", "keep", "categories"):
        if s[option]:
            words += [f"--{option}", ",".join(s[option])]
    for option in ("groups", "time", "weights", "test", "positive", "metric", "require"):
        if s.get(option):
            words += [f"--{option}", s[option]]
    if s.get("allow_black_box"):
        words.append("--allow-black-box")
    elif not s.get("yardstick", True) and not s["models"]:
        words.append("--no-yardstick")
    if s.get("costs"):
        words += ["--costs", ",".join(f"{c:g}" for c in s["costs"])]
    return " ".join(shlex.quote(w) for w in words)


def _shaded(matrix: list[list[int]]) -> list[list[Record]]:
    """The cells of a confusion matrix, each with its share of the row."""
    return [
        [{"n": n, "shade": round(100 * n / max(sum(row), 1)), "right": i == j} for j, n in enumerate(row)]
        for i, row in enumerate(matrix)
    ]


def _tables(record: Named) -> Record:
    """Rows that need a little arithmetic before the template can show them."""
    tables: dict[str, Any] = {}
    if "classes" in record:
        tables["confusion"] = _shaded(record["classes"]["matrix"])
    decided = record.get("threshold", {})
    if "matrix" in decided:
        turn = -1 if record["classes"]["labels"][0] == decided["positive"] else 1  # there the positive class is last
        tables["decisions"] = _shaded([row[::turn] for row in decided["matrix"][::turn]])
    inside = record.get("inside", {})
    if inside.get("kind") == "coefficients":
        size = [max(abs(row[j]) for row in inside["values"]) for j in range(len(inside["names"]))]
        order = sorted(range(len(size)), key=lambda j: -size[j])
        own = (inside.get("own") or {}).get("values")
        tables["own"] = bool(own)
        tables["coefficients"] = [
            (inside["names"][j], [row[j] for row in inside["values"]], [row[j] for row in own] if own else [])
            for j in order[:40]
        ]
        tables["more_coefficients"] = max(0, len(order) - 40)
    rows = (inside.get("effects") or {}).get("rows")
    if rows:
        strongest = sorted(rows, key=lambda e: e["p"])
        tables["effects"], tables["more_effects"] = strongest[:30], max(0, len(rows) - 30)
    return tables
