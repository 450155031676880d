"""A few formulas that every language knows, and programs made of them.

A formula is a number, a `Var`, a raw column (`Col`, perhaps missing), a question (`Missing`, `Is`, `AtMost`), or an
operation (`Op`). A program names formulas in order; a later one may use the names of earlier ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Col:
    """A number of the table; only used where it is not missing."""

    name: str


@dataclass(frozen=True)
class Missing:
    """Whether a cell is missing."""

    name: str


@dataclass(frozen=True)
class Is:
    """Whether a category has this level (a missing cell has none)."""

    name: str
    level: str


@dataclass(frozen=True)
class AtMost:
    """Whether a ≤ b."""

    a: Any
    b: Any


@dataclass(frozen=True)
class Var:
    """A formula that was named before."""

    name: str


@dataclass(frozen=True)
class Op:
    """``+``, ``*``, ``-``, ``/``, ``exp`` or ``floor`` of parts."""

    kind: str
    parts: tuple[Any, ...]


@dataclass(frozen=True)
class If:
    """One of two, by a question."""

    question: Any
    yes: Any
    no: Any


@dataclass
class Program:
    """Named formulas, and what comes out."""

    numbers: list[str]  # columns that hold numbers (booleans as 0 and 1)
    words: list[str]  # columns that hold words
    dates: bool = False  # whether some of the numbers are days since 1970
    steps: list[tuple[str, Any]] = field(default_factory=list)
    outputs: list[tuple[str, Any]] = field(default_factory=list)  # predictions; a formula may be a label

    def name(self, formula: Any, prefix: str = "v") -> Any:
        """A name for a formula; plain numbers and names stay as they are."""
        if isinstance(formula, (float, int, Var)):
            return formula
        made = f"{prefix}{len(self.steps)}"
        self.steps.append((made, formula))
        return Var(made)


def total(parts: Sequence[Any]) -> Any:
    """The sum of formulas."""
    return Op("+", tuple(parts)) if len(parts) != 1 else parts[0]


def times(a: float, b: Any) -> Any:
    """A number times a formula; whole sums stay short."""
    return b if a == 1.0 else Op("*", (float(a), b))


def clipped(x: Any, low: float, high: float) -> Any:
    """x, at least low and at most high."""
    return If(AtMost(x, low), low, If(AtMost(high, x), high, x))


def used(formula: Any) -> set[str]:
    """Names that a formula uses."""
    if isinstance(formula, Var):
        return {formula.name}
    if isinstance(formula, Op):
        return set().union(*map(used, formula.parts))
    return set().union(*map(used, vars(formula).values())) if isinstance(formula, (If, AtMost)) else set()
