r"""A trace as LaTeX: the steps in the usual symbols with their numbers put in, or a table of the columns.

Every algorithm is known by its own columns; what none of the forms below knows becomes a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, SupportsFloat

import numpy as np

_MOST = 60  # steps that are written out; the rest is left out with dots
_SYMBOLS = {
    "iteration": "$t$", "objective": "$J$", "gap": r"$J - J^*$", "step": r"$\eta$", "theta": r"$\theta$",
    "seconds": "seconds", "gain": "gain",
}  # fmt: skip


def latex_of(rows: Sequence[Any], columns: Sequence[str], cells: list[list[str]]) -> str:
    r"""The steps as LaTeX; ``cells`` is the table of everything else, with its heading.

    Examples
    --------
    >>> latex_of([], ["iteration"], [["iteration"]])
    '\\begin{tabular}{r}\n$t$ \\\\ \\hline\n\\end{tabular}'
    """
    known = set(columns)
    for needs, write in _FORMS:
        if needs <= known and len(rows):
            return _aligned(write(list(rows)))
    if any(name.startswith("P(") for name in columns) and len(rows):
        return _aligned(_posteriors(list(rows), [name for name in columns if name.startswith("P(")]))
    head, *body = cells
    lines = [" & ".join(_SYMBOLS.get(c, words(c)) for c in head) + r" \\ \hline"]
    lines += [" & ".join(words(c) for c in row) + r" \\" for row in body]
    return "\n".join([rf"\begin{{tabular}}{{{'r' * len(head)}}}", *lines, r"\end{tabular}"])


def words(text: object) -> str:
    r"""Text with the characters that LaTeX reads as commands made plain.

    Examples
    --------
    >>> words("alpha_i 50%")
    'alpha\\_i 50\\%'
    """
    plain = str(text).replace("\\", r"\textbackslash ")
    for sign in "&%$#_{}":
        plain = plain.replace(sign, "\\" + sign)
    for sign, command in {"<=": r"$\le$", ">=": r"$\ge$", "!=": r"$\ne$", "<": "$<$", ">": "$>$"}.items():
        plain = plain.replace(sign, command)
    return plain.replace("…", r"\dots")


def vector(values: object) -> str:
    r"""Numbers as a column.

    Examples
    --------
    >>> vector([1.0, -2.5])
    '\\begin{pmatrix} 1 \\\\ -2.5 \\end{pmatrix}'
    """
    inside = r" \\ ".join(_number(v) for v in np.ravel(np.asarray(values, dtype=float)))
    return rf"\begin{{pmatrix}} {inside} \end{{pmatrix}}"


def _number(value: SupportsFloat) -> str:
    text = f"{float(value) + 0.0:.4g}"
    if "e" in text:
        mantissa, power = text.split("e")
        return rf"{mantissa} \cdot 10^{{{int(power)}}}"
    return text


def _aligned(lines: list[str]) -> str:
    if len(lines) > _MOST:
        lines = [*lines[: _MOST // 2], r"&\ \,\vdots", *lines[-_MOST // 2 :]]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _perceptron(rows: list[Any]) -> list[str]:
    lines = []
    for r in rows:
        x = (np.asarray(r.after, dtype=float) - np.asarray(r.before, dtype=float)) / float(r.label)
        sign = "+" if float(r.label) > 0 else "-"
        lines.append(
            rf"y\,(\theta^\top x_{{{r.row}}} + \theta_0) = {_number(float(r.label) * float(r.score))} \le 0:\quad "
            rf"\theta &\leftarrow {vector(r.before)} {sign} {vector(x)} = {vector(r.after)}"
        )
    return lines


def _descent(rows: list[Any]) -> list[str]:
    lines = [rf"\theta^{{({rows[0].iteration})}} &= {vector(rows[0].theta)}, \quad J = {_number(rows[0].objective)}"]
    for a, b in pairwise(rows):
        slope = (np.asarray(a.theta) - np.asarray(b.theta)) / b.step
        lines.append(
            rf"\theta^{{({b.iteration})}} &= {vector(a.theta)} - {_number(b.step)} {vector(slope)} = {vector(b.theta)}"
            rf", \quad J = {_number(b.objective)}, \quad \eta\lVert\nabla J\rVert^2 = {_number(b.foreseen)}"
        )
    return lines


def _newton(rows: list[Any]) -> list[str]:
    return [
        rf"\theta^{{({r.iteration})}} &= {vector(r.theta)}, \quad J = {_number(r.objective)}, \quad "
        rf"\nabla J = {vector(r.gradient)}, \quad -H^{{-1}}\nabla J = {vector(r.newton_step)}"
        for r in rows
    ]


def _coordinates(rows: list[Any]) -> list[str]:
    return [
        rf"\rho_{{{r.j}}} &= {_number(r.rho)}: \quad w_{{{r.j}}} \leftarrow \operatorname{{soft}}(\rho_{{{r.j}}}) = "
        rf"{_number(r.w_after)}, \quad J = {_number(r.objective)}"
        for r in rows
        if r.j is not None
    ]


def _pairs(rows: list[Any]) -> list[str]:
    def pair(a: SupportsFloat, b: SupportsFloat) -> str:
        return rf"({_number(a)},\ {_number(b)})"

    cut = r"\text{ (clipped)}"
    return [
        rf"(\alpha_{{{r.i}}}, \alpha_{{{r.j}}}) &: {pair(r.alpha_i_before, r.alpha_j_before)} \to "
        rf"{pair(r.alpha_i, r.alpha_j)}{cut if r.clipped else ''}, \quad W(\alpha) = {_number(r.dual)}"
        for r in rows
        if r.i is not None
    ]


def _centres(rows: list[Any]) -> list[str]:
    lines = []
    for r in rows:
        centres = r",\ ".join(rf"c_{{{k + 1}}} = {vector(c)}" for k, c in enumerate(np.atleast_2d(r.centres)))
        lines.append(rf"t = {r.iteration}: \quad {centres}, \quad \Phi &= {_number(r.objective)}")
    return lines


def _values(rows: list[Any]) -> list[str]:
    return [rf"V^{{({r.iteration})}} &= {vector(r['values'])}" for r in rows]


def _questions(rows: list[Any]) -> list[str]:
    return [
        rf"\text{{node {r.node}}}: \quad \mathrm{{Gain}}({_question(r.split)}) &= {_number(r.gain)}"
        + (r" \quad\leftarrow\ \text{chosen}" if r.chosen else "")
        for r in rows
    ]


def _question(split: object) -> str:
    r"""A threshold as a formula; other questions in words.

    Examples
    --------
    >>> print(_question("x[0] <= 2.5"), _question("colour in {red}"))
    x_{0} \le 2.5 \text{colour in \{red\}}
    """
    found = re.fullmatch(r"x\[(\d+)\] <= (\S+)", str(split))
    if found is None:
        return rf"\text{{{words(split)}}}"
    return rf"x_{{{found[1]}}} \le {_number(float(found[2]))}"


def _distances(rows: list[Any]) -> list[str]:
    return [
        rf"d(x, x_{{{r.row}}}) &= {_number(r.distance)}, \quad y_{{{r.row}}} = \text{{{words(r.y)}}}"
        + ("" if r.votes else r" \quad\text{(does not vote)}")
        for r in rows
    ]


def _posteriors(rows: list[Any], names: list[str]) -> list[str]:
    lines = []
    for r in rows:
        shown = r",\ ".join(
            rf"P(\text{{{words(n[2:-1])}}} \mid e_{{1:{r.iteration}}}) = {_number(r[n])}" for n in names
        )
        lines.append(
            rf"e_{{{r.iteration}}} = \text{{{words('–' if r.outcome is None else r.outcome)}}}: \quad & {shown}"
        )
    return lines


def _beliefs(rows: list[Any]) -> list[str]:
    own = [
        c for c in rows[0].columns if c not in ("iteration", "objective", "gap", "step", "seconds", "outcome", "mean")
    ]
    lines = []
    for r in rows:
        values = ", ".join(rf"{_symbol(c)} = {_shown(r[c])}" for c in own)
        seen = r"\text{before}" if r.outcome is None else rf"e_{{{r.iteration}}} = {_shown(r.outcome)}"
        lines.append(rf"{seen}: \quad & {values}, \quad \mathrm{{E}} = {_shown(r['mean'])}")
    return lines


def _symbol(name: str) -> str:
    """A Greek letter where the name is one."""
    return f"\\{name}" if name in ("alpha", "beta", "mu", "sigma", "tau", "kappa", "nu") else rf"\text{{{words(name)}}}"


def _shown(value: object) -> str:
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return rf"\text{{{words(value)}}}"
    return _number(numbers) if numbers.ndim == 0 else vector(numbers)


_FORMS: tuple[tuple[set[str], Callable[[list[Any]], list[str]]], ...] = (
    ({"before", "after", "label", "score"}, _perceptron),
    ({"theta", "gradient", "newton_step"}, _newton),
    ({"theta", "foreseen"}, _descent),
    ({"j", "rho", "w_before", "w_after"}, _coordinates),
    ({"i", "j", "alpha_i", "alpha_j", "dual"}, _pairs),
    ({"centres", "changed"}, _centres),
    ({"values", "actions"}, _values),
    ({"split", "gain", "node"}, _questions),
    ({"row", "distance", "y", "votes"}, _distances),
    ({"outcome", "mean"}, _beliefs),
)
