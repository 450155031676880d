"""What a scene is: points and parameters in, frames out.

A scene is one file of `certifit.lab.scenes` with three things in it: a function ``solve(X, y, *, ...)`` that runs the
real estimator on the points, a function ``report(answer, X, y, *, ...)`` that names the numbers that come out, and one
class, a `Scene`, which declares controls and presets and draws one step at a time. Both functions take plain arrays,
with the controls' values by name. The exported script consists of their source, so it prints the same numbers.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from certifit._types import Array
from certifit.exceptions import LabError as LabError
from certifit.lab._frame import Answer, Frame, Layer, Table, in_words

View = tuple[float, float, float, float]
"""Left, right, bottom and top of the plane that is seen."""


@dataclass(frozen=True)
class Slider:
    """A number between two ends.

    Parameters
    ----------
    name, label : str
        Of the parameter, and what the page calls it.
    low, high, start : float
    step : float > 0, default=None
        Distance of neighbouring values; None for a hundredth of the range.
    log : bool, default=False
        Whether the slider runs over powers.
    when : (str, tuple), default=None
        Shown only while another control has one of these values.

    Examples
    --------
    >>> Slider("k", "neighbours", 1, 25, 5, step=1).read(7.0)
    7
    >>> Slider("C", "cost C", 0.01, 100, 1, log=True).read(1000)
    Traceback (most recent call last):
    ...
    certifit.exceptions.LabError: cost C must be between 0.01 and 100.
    """

    name: str
    label: str
    low: float
    high: float
    start: float
    step: float | None = None
    log: bool = False
    when: tuple[str, tuple[Any, ...]] | None = None
    kind: ClassVar[str] = "slider"

    def read(self, value: object) -> float | int:
        """The value as the solver takes it; a refusal when it lies outside."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not self.low <= value <= self.high:
            raise LabError(f"{self.label} must be between {self.low:g} and {self.high:g}.")
        whole = self.step is not None and float(self.step).is_integer() and float(self.low).is_integer()
        return round(value) if whole else float(value)


@dataclass(frozen=True)
class Choice:
    """One of several words.

    Parameters
    ----------
    name, label : str
    options : tuple of str
        The first is chosen at the start.
    when : (str, tuple), default=None

    Examples
    --------
    >>> Choice("kernel", "kernel", ("linear", "rbf")).read("rbf")
    'rbf'
    """

    name: str
    label: str
    options: tuple[str, ...]
    when: tuple[str, tuple[Any, ...]] | None = None
    kind: ClassVar[str] = "choice"

    @property
    def start(self) -> str:
        """The first option."""
        return self.options[0]

    def read(self, value: object) -> str:
        """The word; a refusal when there is no such option."""
        if value not in self.options:
            raise LabError(f"{self.label} must be one of {', '.join(self.options)}.")
        return str(value)


@dataclass(frozen=True)
class Switch:
    """Yes or no.

    Parameters
    ----------
    name, label : str
    start : bool, default=False
    when : (str, tuple), default=None

    Examples
    --------
    >>> Switch("hard", "hard margin").read(True)
    True
    """

    name: str
    label: str
    start: bool = False
    when: tuple[str, tuple[Any, ...]] | None = None
    kind: ClassVar[str] = "switch"

    def read(self, value: object) -> bool:
        """The value; a refusal when it is not true or false."""
        if not isinstance(value, bool):
            raise LabError(f"{self.label} must be yes or no.")
        return value


Control = Slider | Choice | Switch


@dataclass(frozen=True)
class Preset:
    """Points and parameters to begin with.

    Parameters
    ----------
    name : str
    points : array of shape (n, 3)
        Place and label.
    params : mapping, default={}
        Where they differ from the controls' own start.
    view : (left, right, bottom, top), default=(-4, 4, -3, 3)
        None for one around the points.
    axes : (str, str), default=None
        What the two directions measure.
    classes : tuple of str, default=()
        What the labels mean.

    Examples
    --------
    >>> Preset("one point", [[0, 0, 1]]).params
    {}
    """

    name: str
    points: npt.ArrayLike
    params: Mapping[str, Any] = field(default_factory=dict)
    view: View | None = (-4, 4, -3, 3)
    axes: tuple[str, str] | None = None
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Board:
    """The points that a person drew or loaded, in their own units.

    Parameters
    ----------
    X : array of shape (n, 2)
    y : array of int of shape (n,)
    view : (left, right, bottom, top)
    axes : (str, str), default=("x", "y")
    classes : tuple of str, default=()
    quick : bool, default=False
        Whether a point is being dragged: then no proof is made.

    Examples
    --------
    >>> board = Board(np.zeros((1, 2)), np.array([1]), (-1, 1, -1, 1), classes=("no", "yes"))
    >>> board.label(1), board.label(2)
    ('yes', '2')
    """

    X: Array
    y: npt.NDArray[np.int64]
    view: View
    axes: tuple[str, str] = ("x", "y")
    classes: tuple[str, ...] = ()
    quick: bool = False

    def label(self, k: int) -> str:
        """What label k is called."""
        return self.classes[k] if 0 <= k < len(self.classes) else str(k)

    @cached_property
    def width(self) -> float:
        """Of the view."""
        return self.view[1] - self.view[0]

    def grid(self, columns: int = 80, quick_columns: int = 48) -> tuple[Array, tuple[int, int]]:
        """The middles of the cells of a grid over the view, and its shape (rows, columns)."""
        across = quick_columns if self.quick else columns
        up = max(2, round(across * 0.75))
        x0, x1, y0, y1 = self.view
        xs = x0 + (np.arange(across) + 0.5) * (x1 - x0) / across
        ys = y0 + (np.arange(up) + 0.5) * (y1 - y0) / up
        return np.column_stack([np.tile(xs, up), np.repeat(ys, across)]), (up, across)

    def line(self, w: npt.ArrayLike, b: float, level: float = 0.0) -> list[Array]:
        """The part of the line w·x + b = level that is seen, as paths (none when it is not)."""
        u, v = np.asarray(w, dtype=float)
        x0, x1, y0, y1 = self.view
        c = level - b
        ends: list[tuple[float, float]] = []
        if v != 0:
            ends += [(x, (c - u * x) / v) for x in (x0, x1)]
        if u != 0:
            ends += [((c - v * y) / u, y) for y in (y0, y1)]
        slack = 1e-9 * max(x1 - x0, y1 - y0)
        seen = [p for p in ends if x0 - slack <= p[0] <= x1 + slack and y0 - slack <= p[1] <= y1 + slack]
        if len(seen) < 2:
            return []
        far = max(((p, q) for p in seen for q in seen), key=lambda pq: math.dist(*pq))
        return [np.array(far)] if math.dist(*far) > 0 else []

    def counts(self) -> Table:
        """How many points each class has."""
        rows = [[self.label(int(k)), int(np.sum(self.y == k))] for k in np.unique(self.y)]
        return Table("points", ["class", "points"], rows)

    def two_classes(self) -> None:
        """Refuse points of one class only."""
        if len(self.y) < 2 or len(np.unique(self.y)) < 2:
            raise LabError("Draw at least one point of each class.")


@dataclass(frozen=True)
class Shown:
    """A scene that has been solved: the board, the parameters, and what `Scene.solve` returned.

    Parameters
    ----------
    board : Board
    params : mapping
    answer : object

    Examples
    --------
    >>> Shown(Board(np.zeros((0, 2)), np.zeros(0, int), (0, 1, 0, 1)), {"k": 3}, None)["k"]
    3
    """

    board: Board
    params: Mapping[str, Any]
    answer: Any

    def __getitem__(self, name: str) -> Any:
        return self.params[name]


@dataclass(frozen=True)
class Probe:
    """What hovering over a place of the plane tells.

    Parameters
    ----------
    lines : sequence of str
    layers : sequence, default=()
        Drawn on top while the pointer is there.

    Examples
    --------
    >>> Probe(["probability of yes: 0.73"]).layers
    ()
    """

    lines: Sequence[str]
    layers: Sequence[Layer] = ()


class Scene(ABC):
    """An algorithm to watch. Subclasses are finished; `certifit.lab.scenes` holds one file each.

    Attributes
    ----------
    title : str
    about : str
        The algorithm in about four sentences.
    page : str
        Its page of the documentation, without ending.
    order : int
        Its place in the list.
    labels : tuple of str
        What kinds of points can be drawn.
    many : bool
        Whether tables with more classes than `labels` are welcome.
    controls : tuple
    presets : tuple of Preset
        The first is shown at the start.
    axes : (str, str)

    Examples
    --------
    >>> from certifit.lab import catalogue
    >>> len(catalogue()) >= 15
    True
    """

    title: ClassVar[str]
    about: ClassVar[str]
    page: ClassVar[str]
    order: ClassVar[int]
    labels: ClassVar[tuple[str, ...]] = ("A", "B")
    many: ClassVar[bool] = False
    controls: ClassVar[tuple[Control, ...]] = ()
    presets: ClassVar[tuple[Preset, ...]] = ()
    axes: ClassVar[tuple[str, str]] = ("x", "y")

    @property
    def name(self) -> str:
        """Of the file: how requests and addresses call it."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def functions(self) -> tuple[Callable[..., Any], Callable[..., dict[str, Any]]]:
        """``solve`` and ``report`` of the file."""
        file = vars(sys.modules[type(self).__module__])
        return file["solve"], file["report"]

    def read(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The values of all controls, those not given at their start; a refusal for what no control allows."""
        known = {control.name: control for control in self.controls}
        if unknown := sorted(set(params) - set(known)):
            raise LabError(f"There is no control {unknown[0]!r} in this scene.")
        return {name: control.read(params.get(name, control.start)) for name, control in known.items()}

    def show(self, board: Board, params: Mapping[str, Any]) -> Shown:
        """Solve it for these points and these parameters."""
        values = self.read(params)
        self.check(board)
        values = self.hurried(values) if board.quick else values
        return Shown(board, values, self.functions[0](board.X, board.y, **values))

    def numbers(self, shown: Shown) -> dict[str, str]:
        """The numbers that come out, in words; none while a point is dragged."""
        if shown.board.quick:
            return {}
        found = self.functions[1](shown.answer, shown.board.X, shown.board.y, **shown.params)
        return {name: in_words(value) for name, value in found.items()}

    @abstractmethod
    def steps(self, shown: Shown) -> int:
        """How many frames there are."""

    @abstractmethod
    def frame(self, shown: Shown, step: int) -> Frame:
        """One of them, counted from 0."""

    def check(self, board: Board) -> None:
        """Refuse points that the scene can make nothing of: those of one class only, unless a scene says otherwise."""
        board.two_classes()

    def hurried(self, params: dict[str, Any]) -> dict[str, Any]:
        """Parameters while a point is dragged, where the real ones take too long."""
        return params

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe | None:
        """What hovering over a place tells, if anything."""
        return None


def labelled(board: Board, predicted: Array, proved: Sequence[bool] | Array | None = None) -> list[Answer]:
    """For hovering: the predicted label of every point, and whether it is proved."""
    return [
        Answer(board.label(int(p)), None if proved is None else bool(proved[i]))
        for i, p in enumerate(np.ravel(predicted))
    ]


def square(x: float, y: float, r: float) -> list[list[float]]:
    """Corners of the square around a place, r to every side."""
    return [[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r]]
