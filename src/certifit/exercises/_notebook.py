"""An exercise as a Jupyter notebook: statement, data, a cell for the answer, a cell that marks it."""

from __future__ import annotations

from certifit._notebook import notebook_of
from certifit.exercises._base import load


def notebook(name: str, seed: int = 0) -> dict[str, object]:
    """The notebook of an exercise, in nbformat 4: write it with ``json.dump``.

    Parameters
    ----------
    name : str
    seed : int, default=0
        The student's number.

    Examples
    --------
    >>> cells = notebook("ridge-by-hand")["cells"]
    >>> [cell["cell_type"] for cell in cells]
    ['markdown', 'code', 'markdown', 'code', 'code']
    """
    task = load(name, seed)
    parts = "\n".join(f"- `{part}`: {what}" for part, what in task.asks.items())
    given = "\n".join(f"{key} = exercise.data[{key!r}]" for key in task.data)
    blank = "\n".join(f"{part} = ...  # {what}" for part, what in task.asks.items())
    check = ", ".join(f"{part}={part}" for part in task.asks)
    start = (
        f"from certifit import exercises\n\nexercise = exercises.load({name!r}, seed={seed})\n{given}\nexercise.data"
    )
    texts = [
        ("markdown", f"# {task.title}\n\n{task.statement}"),
        ("code", start),
        ("markdown", f"## Your answer\n\n{parts}"),
        ("code", blank),
        ("code", f"print(exercise.check({check}))"),
    ]
    return notebook_of(texts)
