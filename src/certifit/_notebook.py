"""Results as a notebook shows them: a claim with its mark, figures in a table, details to fold out.

Colours are those of the page around, so that light and dark notebooks both look right; nothing is fetched or run.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

_BOX = "border-left:3px solid {};padding:.3em .9em;margin:.3em 0;max-width:60em"
_GREEN, _RED, _BLUE = "#2e9e5b", "#d1493f", "#4a7fc1"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of words; empty headings for none.

    Examples
    --------
    >>> "&lt;1</td></tr></tbody></table></div>" in table(["x"], [["<1"]])
    True
    """
    lines = [list(row) for row in rows]
    top = "".join(_cell("th", word, all(_is_number(row[k]) for row in lines)) for k, word in enumerate(head))
    body = "".join(f"<tr>{''.join(_cell('td', word, _is_number(word)) for word in row)}</tr>" for row in lines)
    inside = f"{f'<thead><tr>{top}</tr></thead>' if head else ''}<tbody>{body}</tbody>"
    return f'<div style="overflow-x:auto"><table>{inside}</table></div>'  # wide tables scroll, the page does not


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return not word  # a figure that is not there leaves its column one of numbers
    return True


def _cell(tag: str, word: str, number: bool) -> str:
    """Numbers and their headings to the right, words to the left; marimo has no room between cells unless asked for."""
    wrap = ";white-space:nowrap" if len(word) <= 40 else ""  # a short cell stays on one line, on a phone too
    side = "right" if number else "left"
    return f'<{tag} style="text-align:{side};padding:.15em .6em{wrap}">{html.escape(word)}</{tag}>'


def card(claim: str, parts: Iterable[str] = (), proved: bool | None = None) -> str:
    """A sentence with a check mark, a cross or no mark before it and pieces of HTML below.

    Examples
    --------
    >>> "✓" in card("It holds.", proved=True), "✗" in card("It does not.", proved=False)
    (True, True)
    """
    colour = _BLUE if proved is None else _GREEN if proved else _RED
    mark = "" if proved is None else f'<b style="color:{colour}">{"✓ proved" if proved else "✗ not proved"}</b> '
    lines = html.escape(claim).replace("\n", "<br>")
    return f'<div style="{_BOX.format(colour)}"><div>{mark}{lines}</div>{"".join(parts)}</div>'


def fold(title: str, inside: str) -> str:
    """HTML that stays closed until its title is clicked.

    Examples
    --------
    >>> fold("evidence", "<p>1</p>")
    '<details><summary>evidence</summary><p>1</p></details>'
    """
    return f"<details><summary>{html.escape(title)}</summary>{inside}</details>"


def short(value: object) -> str:
    """A figure or a piece of evidence in a few words: numbers by six digits, arrays by their shape.

    Examples
    --------
    >>> import numpy as np
    >>> short(1 / 3), short(np.zeros((3, 2))), short([1.0] * 9)
    ('0.333333', 'array of 3 × 2 numbers', '9 entries')
    """
    shape = getattr(value, "shape", None)
    if shape:
        return f"array of {' × '.join(map(str, shape))} numbers"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple, dict)) and len(value) > 4:
        return f"{len(value)} entries"
    return str(value)


class Shown:
    """HTML that a notebook displays as it is.

    Examples
    --------
    >>> Shown("<b>1</b>")._repr_html_()
    '<b>1</b>'
    """

    def __init__(self, page: str) -> None:
        self.page = page

    def _repr_html_(self) -> str:
        return self.page


def notebook_of(cells: Sequence[tuple[str, str]]) -> dict[str, object]:
    """A Jupyter notebook (nbformat 4) of cells ("markdown" or "code", text)."""

    def cell(number: int, kind: str, text: str) -> dict[str, object]:
        common: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text}
        return common if kind == "markdown" else {**common, "execution_count": None, "outputs": []}

    return {
        "cells": [cell(k, kind, text) for k, (kind, text) in enumerate(cells)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
