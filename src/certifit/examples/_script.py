"""A worked example as a script that one would copy, and as a notebook: public imports only, no types, no plumbing."""

from __future__ import annotations

import ast
import importlib
import inspect
import re

from certifit._notebook import notebook_of
from certifit.examples._catalogue import names, told


def script(name: str) -> str:
    """The source of an example, ready to be copied, run and changed.

    Parameters
    ----------
    name : str
        One of `names`.

    Examples
    --------
    >>> print(script("xor")[:61])
    import numpy as np
    from certifit.geometry import separability
    """
    if name.replace("-", "_") not in names():
        told(name)  # says which there are
    source = inspect.getsource(importlib.import_module(f"certifit.examples.{name.replace('-', '_')}"))
    return f"{_used_imports(_untyped(source))}\n\nnumbers = run()\ndraw(numbers)\n"


def notebook(name: str) -> dict[str, object]:
    """The notebook of an example, in nbformat 4: write it with ``json.dump``.

    Parameters
    ----------
    name : str
        One of `names`.

    Examples
    --------
    >>> [cell["cell_type"] for cell in notebook("xor")["cells"]]
    ['markdown', 'code', 'code', 'code']
    """
    title, story = told(name)
    body = script(name).removesuffix("\n\nnumbers = run()\ndraw(numbers)\n")
    cells = [("markdown", f"# {title}\n\n{story}"), ("code", body.strip())]
    return notebook_of([*cells, ("code", "numbers = run()"), ("code", "figure = draw(numbers)")])


def _untyped(source: str) -> str:
    """Without the docstring of the module and without annotations; comments and layout stay."""
    lines, tree = source.split("\n"), ast.parse(source)
    for node in sorted(ast.walk(tree), key=lambda n: -getattr(n, "lineno", 0)):
        if isinstance(node, ast.AnnAssign) and node.value is not None and node.value.lineno == node.lineno:
            line = lines[node.lineno - 1]
            target = f"{line[: node.col_offset]}{ast.unparse(node.target)}"
            lines[node.lineno - 1] = f"{target} = {line.encode()[node.value.col_offset :].decode()}"
        elif isinstance(node, ast.FunctionDef):
            for argument in ast.walk(node.args):
                if isinstance(argument, ast.arg):
                    argument.annotation = None
            head = f"{' ' * node.col_offset}def {node.name}({ast.unparse(node.args)}):"
            lines[node.lineno - 1 : node.body[0].lineno - 1] = [head]
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            del lines[node.lineno - 1 : node.end_lineno]
    start = tree.body[0].end_lineno or 0
    return "\n".join(lines[start:]).strip()


def _used_imports(source: str) -> str:
    """Without imports that only annotations needed, or that are not public."""
    kept, body = [], source
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            text = "\n".join(source.split("\n")[node.lineno - 1 : node.end_lineno])
            body = body.replace(f"{text}\n", "", 1)
            module = getattr(node, "module", "") or ""
            node.names = [a for a in node.names if re.search(rf"\b{a.asname or a.name}\b", _without_imports(source))]
            if node.names and module != "__future__" and not module.startswith("certifit._"):
                kept.append(ast.unparse(node))
    return "\n".join(kept) + "\n\n" + body.strip()


def _without_imports(source: str) -> str:
    lines = source.split("\n")
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - node.lineno + 1)
    return "\n".join(lines)
