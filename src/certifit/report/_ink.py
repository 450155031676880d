"""Stand-in colours that the page replaces by its own, and text that matplotlib takes as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Record = Mapping[str, Any]

INK, SOFT, ACCENT, SECOND, PAPER = "#010101", "#020202", "#030303", "#040404", "#050505"
VARIABLES = {INK: "ink", SOFT: "line", ACCENT: "accent", SECOND: "second", PAPER: "paper"}


def plain(text: str) -> str:
    """Text that matplotlib takes as it is: a dollar sign would begin a formula."""
    return text.replace("$", r"\$")


def short(name: str, most: int = 24, lines_at_most: int = 2) -> str:
    """A name in at most two lines; the rest is cut."""
    name = plain(name)
    if len(name) <= most:
        return name
    words, lines = name.split(" "), [""]
    for word in words:
        if len(lines[-1]) + len(word) > most and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    shown = [line if len(line) <= most + 6 else line[: most + 5] + "…" for line in lines[:lines_at_most]]
    return "\n".join([*shown[:-1], shown[-1] + " …" if len(lines) > lines_at_most else shown[-1]])
