"""Exercises in the terminal."""

from __future__ import annotations

import json
from pathlib import Path

from certifit import exercises as tasks
from certifit._atomic import write_atomic
from certifit.cli._errors import UsageError


def exercises(action: str, name: str | None, answer: Path | None, seed: int, out: Path | None) -> int:
    """List exercises, show one, mark an answer or write a notebook."""
    if action == "list":
        topic = ""
        for known in tasks.names():
            task = tasks.load(known, seed)
            if task.topic != topic:
                topic = task.topic
                print(f"\n{topic}")
            print(f"  {known:<22} {task.title}")
        print("\ncertifit exercises show NAME, then certifit exercises run NAME answer.json")
        return 0
    if name is None:
        raise UsageError(f"Which exercise? certifit exercises {action} NAME; certifit exercises lists them.")
    try:
        task = tasks.load(name, seed)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if action == "show":
        print(task)
        return 0
    if action == "notebook":
        path = out or Path(f"{Path(name).stem}.ipynb")
        write_atomic(path, json.dumps(tasks.notebook(name, seed), indent=1).encode())
        print(f"wrote {path}")
        return 0
    verdict = task.check(_read(answer))
    print(verdict)
    return 0 if verdict.right else 1


def _read(answer: Path | None) -> dict[str, object]:
    if answer is None:
        raise UsageError("Which answer? certifit exercises run NAME answer.json")
    try:
        found = json.loads(answer.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{answer} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise UsageError(f"{answer} is not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise UsageError(f'{answer} must contain the parts of the answer by name, such as {{"w": [1, 2], "b": 0}}.')
    return found
