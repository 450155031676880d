"""The floors of the package and who imports whom, read from the source itself."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "src" / "certifit"
ABOUT = {
    "product": "from a table to a report: what a user runs",
    "services": "work on any model: judge, store, choose, draw",
    "families": "thin estimators with scikit-learn's names",
    "questions": "questions about data and about predictions",
    "engine": "how it is computed: loops, matrices, solvers",
    "proofs": "what is proved, and how it is re-checked",
    "formulas": "what is minimised: losses, penalties, kernels",
}


def contract() -> dict[str, list[str]]:
    """Floors from the top down with their rooms: the layers in pyproject.toml, named by the comments there."""
    text = (ROOT / "pyproject.toml").read_text()
    lines = re.search(r'type = "layers".*?layers = \[\n(.*?)\n\]', text, re.S)
    assert lines is not None
    found: dict[str, list[str]] = {}
    for rooms, floor in re.findall(r'"([^"]+)",\s*# (\w+)', lines.group(1)):
        found.setdefault(floor, []).extend(re.findall(r"\w+", rooms))
    return found


def rooms() -> list[str]:
    """Folders and modules at the top of the package."""
    return sorted(p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists())


def imports() -> dict[str, set[str]]:
    """Room → rooms that it imports, anywhere in its source (also inside functions)."""
    found: dict[str, set[str]] = {room: set() for room in rooms()}
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE).parts
        room = Path(parts[0]).stem
        for node in ast.walk(ast.parse(file.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [f"{node.module}.{a.name}" for a in node.names]
            for name in names:
                path = name.split(".")
                if path[0] == "certifit" and len(path) > 1 and path[1] in found and path[1] != room:
                    found[room].add(path[1])
    return found
