"""A program of formulas as text in SQL, Python or C."""

from __future__ import annotations

import re
from typing import Any

from certifit.files._code._formula import AtMost, Col, If, Is, Missing, Op, Program, Var, used

_NOTE = "{mark} {what}, written by certifit {version}. {inputs}\n"


class Language:
    """How one language says things; leaves fill in the words."""

    def column(self, name: str) -> str:
        raise NotImplementedError

    def missing(self, name: str) -> str:
        raise NotImplementedError

    def equals(self, name: str, level: str) -> str:
        raise NotImplementedError

    def choose(self, question: str, yes: str, no: str) -> str:
        raise NotImplementedError

    def text(self, words: str) -> str:
        raise NotImplementedError

    def exp(self, x: str) -> str:
        return f"exp({x})"

    def floor(self, x: str) -> str:
        return f"floor({x})"

    def number(self, v: float) -> str:
        return f"({v!r})" if v < 0 else repr(float(v))

    def say(self, formula: Any) -> str:
        """A formula in this language."""
        if isinstance(formula, str):
            return self.text(formula)
        if isinstance(formula, (int, float)):
            return self.number(float(formula))
        if isinstance(formula, Var):
            return formula.name
        if isinstance(formula, Col):
            return self.column(formula.name)
        if isinstance(formula, Missing):
            return self.missing(formula.name)
        if isinstance(formula, Is):
            return self.equals(formula.name, formula.level)
        if isinstance(formula, AtMost):
            return f"({self.say(formula.a)} <= {self.say(formula.b)})"
        if isinstance(formula, If):
            return self.choose(self.say(formula.question), self.say(formula.yes), self.say(formula.no))
        assert isinstance(formula, Op)
        parts = [self.say(p) for p in formula.parts]
        if formula.kind == "exp":
            return self.exp(parts[0])
        if formula.kind == "floor":
            return self.floor(parts[0])
        return "(" + f" {'+' if formula.kind == 'sum' else formula.kind} ".join(parts) + ")"


class Sql(Language):
    """Standard SQL, one stage (a common table expression) for formulas that need each other's names."""

    def column(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def missing(self, name: str) -> str:
        return f"{self.column(name)} IS NULL"

    def equals(self, name: str, level: str) -> str:
        return f"{self.column(name)} = {self.text(level)}"

    def choose(self, question: str, yes: str, no: str) -> str:
        return f"CASE WHEN {question} THEN {yes} ELSE {no} END"

    def text(self, words: str) -> str:
        return "'" + words.replace("'", "''") + "'"

    def number(self, v: float) -> str:
        shown = repr(float(v))
        return f"({shown})" if v < 0 else shown if "e" in shown else shown + "e0"  # DuckDB reads 0.1 as a decimal

    def exp(self, x: str) -> str:  # beyond these ends some databases stop with an error instead of 0 or infinity
        return f"exp(CASE WHEN {x} < -700.0 THEN -700.0 WHEN {x} > 700.0 THEN 700.0 ELSE {x} END)"


class Python(Language):
    """Plain Python: a function of one row."""

    def column(self, name: str) -> str:
        return f"row[{name!r}]"

    def missing(self, name: str) -> str:
        return f"_missing({self.column(name)})"

    def equals(self, name: str, level: str) -> str:
        return f"{self.column(name)} == {level!r}"

    def choose(self, question: str, yes: str, no: str) -> str:
        return f"({yes} if {question} else {no})"

    def text(self, words: str) -> str:
        return repr(words)

    def exp(self, x: str) -> str:
        return f"_exp({x})"

    def floor(self, x: str) -> str:
        return f"math.floor({x})"


class C(Language):
    """C99: a struct of the row, a struct of the answer."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def column(self, name: str) -> str:
        return f"row->{self.names[name]}"

    def missing(self, name: str) -> str:
        return f"missing_{'word' if name in self.words else 'number'}({self.column(name)})"

    words: frozenset[str] = frozenset()

    def equals(self, name: str, level: str) -> str:
        return f"same({self.column(name)}, {self.text(level)})"

    def choose(self, question: str, yes: str, no: str) -> str:
        return f"({question} ? {yes} : {no})"

    def text(self, words: str) -> str:
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


_RESERVED = frozenset({"auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum"})
_RESERVED |= {
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
}
_RESERVED |= {"signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile"}
_RESERVED |= {"while"}


def to_sql(program: Program, what: str, version: str, table: str = "data") -> str:
    """A query on a table (called data here) that gives its columns and the answers."""
    say = Sql()
    level: dict[str, int] = {}
    stages: dict[int, list[str]] = {}
    for name, formula in program.steps:
        level[name] = 1 + max((level[n] for n in used(formula)), default=0)
        stages.setdefault(level[name], []).append(f"{say.say(formula)} AS {name}")
    source, parts = table, []
    for k in sorted(stages):
        parts.append(f"stage{k} AS (\n  SELECT *,\n    " + ",\n    ".join(stages[k]) + f"\n  FROM {source}\n)")
        source = f"stage{k}"
    head = f"WITH {', '.join(parts)}\n" if parts else ""
    answers = ",\n  ".join(f"{say.say(f)} AS {say.column(name)}" for name, f in program.outputs)
    inputs = f"Reads the table {table}; numbers as numbers, booleans as 0 and 1, missing cells NULL"
    inputs += ", dates as days since 1970." if program.dates else "."
    note = _NOTE.format(mark="--", what=what, version=version, inputs=inputs)
    columns = ", ".join(say.column(c) for c in [*program.numbers, *program.words])
    return f"{note}{head}SELECT {columns},\n  {answers}\nFROM {source};\n"


def to_python(program: Program, what: str, version: str) -> str:
    """A module with one function, ``predict(row)``, that takes and gives a dictionary."""
    say = Python()
    inputs = "predict(row) takes a dictionary of cells (None or NaN where missing); booleans are 0 and 1"
    inputs += ", dates days since 1970." if program.dates else "."
    lines = [_NOTE.format(mark="#", what=what, version=version, inputs=inputs).rstrip(), "import math", ""]
    lines += ["", "def _missing(cell):", "    return cell is None or cell != cell", ""]
    lines += ["", "def _exp(x):", "    return math.exp(x) if x < 709.0 else math.inf", ""]
    lines += ["", "def predict(row):"]
    lines += [f"    {name} = {say.say(formula)}" for name, formula in program.steps]
    lines += ["    return {", *(f"        {name!r}: {say.say(f)}," for name, f in program.outputs), "    }", ""]
    return "\n".join(lines)


def to_c(program: Program, what: str, version: str) -> str:
    """A C99 file with ``struct row``, ``struct answer`` and ``predict``."""
    taken: set[str] = set()
    say = C({name: _plain(name, taken) for name in [*program.numbers, *program.words]})
    say.words = frozenset(program.words)
    fields = [f"    double {say.names[n]};  /* {_comment(n)} */" for n in program.numbers]
    fields += [f"    const char *{say.names[n]};  /* {_comment(n)} */" for n in program.words]
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
