"""The exported script: the points, the scene's own functions, and the numbers they print."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from certifit.lab._scene import Board, Scene


def script(scene: Scene, board: Board, params: Mapping[str, Any]) -> str:
    """A Python script that runs by itself and prints the numbers that the page shows.

    Parameters
    ----------
    scene : Scene
    board : Board
    params : mapping
        Values of the controls.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from certifit.lab import catalogue
    >>> board = Board(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1]), (-1, 2, -1, 2))
    >>> text = script(catalogue()[0], board, {})
    >>> "def solve(" in text, text.splitlines()[-1].strip()[:5]
    (True, 'print')
    """
    values = scene.read(params)
    solve, report = scene.functions
    given = "".join(f", {name}={value!r}" for name, value in values.items())
    points = "".join(f"    [{x!r}, {y!r}, {k}],\n" for (x, y), k in zip(board.X.tolist(), board.y.tolist()))
    x, y = (_plain(axis) for axis in board.axes)
    named = ", ".join(f"{k} = {_plain(name)}" for k, name in enumerate(board.classes))
    return f'''"""{scene.title}, exported from the certifit lab: prints the numbers that the page shows."""

from __future__ import annotations

from typing import Any

import numpy as np

import certifit as cf

# {x}, {y}, label{f" ({named})" if named else ""}
points = np.array([
{points}]).reshape(-1, 3)
X, y = points[:, :2], points[:, 2].astype(int)


{inspect.getsource(solve)}

{inspect.getsource(report)}

answer = solve(X, y{given})
for name, value in report(answer, X, y{given}).items():
    shown = {{True: "yes", False: "no"}}[bool(value)] if isinstance(value, (bool, np.bool_)) else value
    print(f"{{name}}: {{shown:.6g}}" if isinstance(shown, (float, np.floating)) else f"{{name}}: {{shown}}")
'''


def _plain(words: str) -> str:
    """Words that stay within one comment, whatever a table calls its columns."""
    return "".join(c if c.isprintable() else " " for c in words)[:60]
