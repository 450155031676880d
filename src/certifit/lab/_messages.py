"""What the page may ask, within which limits, and how it is answered.

A request is one JSON object with a number (``id``), a ``kind`` and what that kind needs. Nothing in it is a path:
tables arrive as bytes. The answer has the same number; it holds what was asked for, or a ``problem`` in one sentence.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from certifit.exceptions import CertifitError
from certifit.lab._catalogue import catalogue, described, scene
from certifit.lab._frame import encode
from certifit.lab._limits import Limits
from certifit.lab._scene import Board, LabError, Scene, Shown, View
from certifit.lab._script import script
from certifit.lab._table import choose_columns, look

_KEPT = 8  # solved scenes: stepping through one, or back by undo, solves nothing again


class Desk:
    """Answers requests, one after the other.

    Parameters
    ----------
    limits : Limits, default=Limits()

    Examples
    --------
    >>> reply, rasters = Desk().answer({"id": 1, "kind": "hello"})
    >>> reply["scenes"][0]["name"], rasters
    ('perceptron', [])
    >>> Desk().answer({"id": 2, "kind": "coffee"})[0]["problem"]
    "There is no request 'coffee'."
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.solved: OrderedDict[str, Shown] = OrderedDict()
        self.kinds = {
            "hello": self._hello,
            "frame": self._frame,
            "probe": self._probe,
            "script": self._script,
            "table": self._table,
        }

    def answer(self, request: object) -> tuple[dict[str, object], list[bytes]]:
        """The answer as JSON, and the numbers of its rasters."""
        number = request.get("id") if isinstance(request, dict) else None
        reply: dict[str, Any] = {"id": number if isinstance(number, int) else None}
        rasters: list[bytes] = []
        try:
            if not isinstance(request, dict) or not isinstance(number, int):
                raise LabError("A request is an object with a number and a kind.")
            kind = request.get("kind")
            if not isinstance(kind, str) or kind not in self.kinds:
                raise LabError(f"There is no request {str(kind)[:40]!r}.")
            with warnings.catch_warnings(action="ignore"):  # a fit that a step limit ends says so in its status
                reply |= self.kinds[kind](request, rasters)
        except CertifitError as error:
            reply["problem"] = str(error)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:  # an estimator refuses these points
            reply["problem"] = " ".join(str(error).split())[:400]
        reply["rasters"] = 0 if "problem" in reply else len(rasters)
        return reply, [] if "problem" in reply else rasters

    def _hello(self, request: Mapping[str, object], rasters: list[bytes]) -> dict[str, object]:
        import certifit

        return {
            "version": certifit.__version__,
            "scenes": [described(s) for s in catalogue()],
            "limit": self.limits.points,
        }

    def _shown(self, request: Mapping[str, object]) -> tuple[Scene, Shown]:
        """The solved scene that a request is about; from memory when it is there."""
        one, board = scene(request.get("scene")), self._board(request)
        params = _params(request)
        said = [one.name, params, {**vars(board), "X": board.X.tolist(), "y": board.y.tolist()}]
        key = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()
        if key not in self.solved:
            self.solved[key] = one.show(board, params)
        self.solved.move_to_end(key)
        while len(self.solved) > _KEPT:
            self.solved.popitem(last=False)
        return one, self.solved[key]

    def _board(self, request: Mapping[str, object]) -> Board:
        points = request.get("points", [])
        if not isinstance(points, list) or len(points) > self.limits.points:
            raise LabError(f"A scene takes at most {self.limits.points} points.")
        table = np.array([_point(p) for p in points]).reshape(-1, 3)
        axes, classes = request.get("axes", ["x", "y"]), request.get("classes", [])
        if not (_words(axes) and len(axes) == 2 and _words(classes) and len(classes) <= 50):
            raise LabError("Axes are two words, and classes at most fifty.")
        view = _view(request.get("view"))
        return Board(
            table[:, :2],
            table[:, 2].astype(np.int64),
            view,
            (axes[0], axes[1]),
            tuple(classes),
            request.get("quick") is True,
        )

    def _frame(self, request: Mapping[str, object], rasters: list[bytes]) -> dict[str, object]:
        one, shown = self._shown(request)
        count = one.steps(shown)
        step = _step(request.get("step"), count)
        frame = encode(one.frame(shown, step), rasters)
        return {"frame": frame, "step": step, "steps": count, "numbers": one.numbers(shown), "quick": shown.board.quick}

    def _probe(self, request: Mapping[str, object], rasters: list[bytes]) -> dict[str, object]:
        one, shown = self._shown(request)
        place = [_number(request.get(name)) for name in ("x", "y")]
        found = one.probe(shown, _step(request.get("step"), one.steps(shown)), *place)
        return {"probe": None if found is None else encode(found, rasters)}

    def _script(self, request: Mapping[str, object], rasters: list[bytes]) -> dict[str, object]:
        one, board = scene(request.get("scene")), self._board(request)
        return {"script": script(one, board, _params(request))}

    def _table(self, request: Mapping[str, object], rasters: list[bytes]) -> dict[str, object]:
        table = look(request.get("name"), request.get("data"), self.limits.rows)
        if "choice" not in request:
            return {"table": table.described()}
        return {"points": choose_columns(table, request["choice"], scene(request.get("scene")), self.limits.points)}


def _params(request: Mapping[str, object]) -> dict[str, object]:
    params = request.get("params", {})
    if not isinstance(params, dict):
        raise LabError("Parameters are an object of names and values.")
    return params


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or abs(value) > 1e150:
        raise LabError("Coordinates are finite numbers.")
    return float(value)


def _point(value: object) -> list[float]:
    if not isinstance(value, list) or len(value) != 3:
        raise LabError("A point is two coordinates and a label.")
    x, y, label = (_number(v) for v in value)
    if not (label.is_integer() and 0 <= label < 50):
        raise LabError("Labels are integers from 0 to 49.")
    return [x, y, label]


def _words(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(word, str) and len(word) <= 200 for word in value)


def _view(value: object) -> View:
    if not isinstance(value, list) or len(value) != 4:
        raise LabError("A view is left, right, bottom and top.")
    x0, x1, y0, y1 = (_number(v) for v in value)
    if not (x0 < x1 and y0 < y1):
        raise LabError("The view is empty.")
    return x0, x1, y0, y1


def _step(value: object, count: int) -> int:
    """The step that was asked for; the last when none was, or when there are fewer."""
    if value is None:
        return count - 1
    if isinstance(value, bool) or not isinstance(value, int):
        raise LabError("A step is an integer.")
    return max(0, min(value, count - 1))
