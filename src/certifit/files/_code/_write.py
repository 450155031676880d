"""A program of formulas as text in SQL, Python or C."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from certifit.files._code._formula import AtMost, Col, If, Is, Missing, Op, Program, Var, used

_NOTE = "{mark} {what}, written by certifit {version}. {inputs}\n"


@dataclass(frozen=True)
class Language:
    """How one language says things.

    Attributes
    ----------
    column, missing : callable
        A column of the row, and whether its cell is missing, by its name.
    text, number : callable
        A text; a number that is not negative.
    equals, choose, exp, floor : str
        Templates of their parts: a column and a text; a question, yes and no; a number.
    """

    column: Callable[[str], str]
    missing: Callable[[str], str]
    text: Callable[[str], str]
    equals: str
    choose: str
    exp: str = "exp({0})"
    floor: str = "floor({0})"
    number: Callable[[float], str] = repr

    def say(self, formula: Any) -> str:
        """A formula in this language."""
        if isinstance(formula, str):
            return self.text(formula)
        if isinstance(formula, (int, float)):
            value = float(formula)
            return f"({value!r})" if value < 0 else self.number(value)
        if isinstance(formula, Var):
            return formula.name
        if isinstance(formula, Col):
            return self.column(formula.name)
        if isinstance(formula, Missing):
            return self.missing(formula.name)
        if isinstance(formula, Is):
            return self.equals.format(self.column(formula.name), self.text(formula.level))
        if isinstance(formula, AtMost):
            return f"({self.say(formula.a)} <= {self.say(formula.b)})"
        if isinstance(formula, If):
            return self.choose.format(self.say(formula.question), self.say(formula.yes), self.say(formula.no))
        assert isinstance(formula, Op)
        parts = [self.say(p) for p in formula.parts]
        if formula.kind in ("exp", "floor"):
            return (self.exp if formula.kind == "exp" else self.floor).format(parts[0])
        return "(" + f" {formula.kind} ".join(parts) + ")"


def _name(name: str) -> str:
    """A column's name as SQL quotes it."""
    return '"' + name.replace('"', '""') + '"'


SQL = Language(
    column=_name,
    missing=lambda name: f"{_name(name)} IS NULL",
    text=lambda words: "'" + words.replace("'", "''") + "'",
    equals="{} = {}",
    choose="CASE WHEN {} THEN {} ELSE {} END",
    # Beyond these ends some databases stop with an error instead of 0 or infinity.
    exp="exp(CASE WHEN {0} < -700.0 THEN -700.0 WHEN {0} > 700.0 THEN 700.0 ELSE {0} END)",
    number=lambda v: repr(v) if "e" in repr(v) else f"{v!r}e0",  # DuckDB reads 0.1 as a decimal
)
PYTHON = Language(
    column=lambda name: f"row[{name!r}]",
    missing=lambda name: f"_missing(row[{name!r}])",
    text=repr,
    equals="{} == {}",
    choose="({1} if {0} else {2})",
    exp="_exp({0})",
    floor="math.floor({0})",
)


def _quoted(words: str) -> str:
    """A text of C: bytes that are not plain as octal numbers."""
    raw = words.encode()
    safe = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in raw)
    return f'"{safe}"'


def _plain(name: str, taken: set[str]) -> str:
    """A name that C takes, and nobody else has."""
    base = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_") or "x"
    base = f"x_{base}" if base[0].isdigit() or base in _RESERVED else base
    made, k = base, 2
    while made in taken:
        made, k = f"{base}_{k}", k + 1
    taken.add(made)
    return made


_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
"""
_RESERVED = frozenset(_KEYWORDS.split())


def to_sql(program: Program, what: str, version: str, table: str = "data") -> str:
    """A query on a table (called data here) that gives its columns and the answers."""
    level: dict[str, int] = {}
    stages: dict[int, list[str]] = {}
    for name, formula in program.steps:
        level[name] = 1 + max((level[n] for n in used(formula)), default=0)
        stages.setdefault(level[name], []).append(f"{SQL.say(formula)} AS {name}")
    source, parts = table, []
    for k in sorted(stages):
        parts.append(f"stage{k} AS (\n  SELECT *,\n    " + ",\n    ".join(stages[k]) + f"\n  FROM {source}\n)")
        source = f"stage{k}"
    head = f"WITH {', '.join(parts)}\n" if parts else ""
    answers = ",\n  ".join(f"{SQL.say(f)} AS {SQL.column(name)}" for name, f in program.outputs)
    inputs = f"Reads the table {table}; numbers as numbers, booleans as 0 and 1, missing cells NULL"
    inputs += ", dates as days since 1970." if program.dates else "."
    note = _NOTE.format(mark="--", what=what, version=version, inputs=inputs)
    columns = ", ".join(SQL.column(c) for c in [*program.numbers, *program.words])
    return f"{note}{head}SELECT {columns},\n  {answers}\nFROM {source};\n"


def to_python(program: Program, what: str, version: str) -> str:
    """A module with one function, ``predict(row)``, that takes and gives a dictionary."""
    inputs = "predict(row) takes a dictionary of cells (None or NaN where missing); booleans are 0 and 1"
    inputs += ", dates days since 1970." if program.dates else "."
    lines = [_NOTE.format(mark="#", what=what, version=version, inputs=inputs).rstrip(), "import math", ""]
    lines += ["", "def _missing(cell):", "    return cell is None or cell != cell", ""]
    lines += ["", "def _exp(x):", "    return math.exp(x) if x < 709.0 else math.inf", ""]
    lines += ["", "def predict(row):"]
    lines += [f"    {name} = {PYTHON.say(formula)}" for name, formula in program.steps]
    lines += ["    return {", *(f"        {name!r}: {PYTHON.say(f)}," for name, f in program.outputs), "    }", ""]
    return "\n".join(lines)


def to_c(program: Program, what: str, version: str) -> str:
    """A C99 file with ``struct row``, ``struct answer`` and ``predict``."""
    taken: set[str] = set()
    names = {name: _plain(name, taken) for name in [*program.numbers, *program.words]}

    def missing(name: str) -> str:
        return f"missing_{'word' if name in program.words else 'number'}(row->{names[name]})"

    say = Language(lambda name: f"row->{names[name]}", missing, _quoted, "same({}, {})", "({} ? {} : {})")
    fields = [f"    double {names[n]};  /* {_comment(n)} */" for n in program.numbers]
    fields += [f"    const char *{names[n]};  /* {_comment(n)} */" for n in program.words]
    held: set[str] = set()
    out = [(_plain(name, held), name, f, _is_text(f)) for name, f in program.outputs]
    answer = [f"    {'const char *' if text else 'double '}{n};  /* {_comment(name)} */" for n, name, _, text in out]
    body = [f"    double {name} = {say.say(formula)};" for name, formula in program.steps]
    body += [f"    answer.{n} = {say.say(f)};" for n, _, f, _ in out]
    inputs = "Missing numbers are NAN, missing words NULL; booleans are 0 and 1"
    inputs += (", dates days since 1970" if program.dates else "") + ". Link with -lm."
    note = f"/* {_comment(what)}, written by certifit {version}. {inputs} */\n"
    return (
        note + "#include <math.h>\n#include <stddef.h>\n#include <string.h>\n\n"
        "struct row {\n" + "\n".join(fields) + "\n};\n\nstruct answer {\n" + "\n".join(answer) + "\n};\n\n"
        "static inline int missing_number(double x) { return isnan(x); }\n"
        "static inline int missing_word(const char *x) { return x == NULL; }\n"
        "static inline int same(const char *a, const char *b) { return a != NULL && strcmp(a, b) == 0; }\n\n"
        "struct answer predict(const struct row *row) {\n    struct answer answer;\n    (void)row;\n"
        + "\n".join(body)
        + "\n    return answer;\n}\n"
    )


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")


def _is_text(formula: Any) -> bool:
    return isinstance(formula, str) or (isinstance(formula, If) and _is_text(formula.yes))
