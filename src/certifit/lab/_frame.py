"""What a scene shows: layers on the plane and panels beside it, and how they travel to the page.

A layer is drawn on the plane in the data's own units; a panel stands beside it. The page knows these few shapes and no
algorithm. Colours are named by what they mean (`Tone`), so that a light and a dark page each choose their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from certifit._types import Array

if TYPE_CHECKING:
    from certifit.certificates import Certificate

Tone = str
"""``"class0"`` to ``"class7"``, or ``"ink"``, ``"muted"``, ``"accent"``, ``"good"``, ``"bad"``."""


@dataclass(frozen=True)
class Dots:
    """Marks of the scene's own: centres, projections, a shared point.

    Parameters
    ----------
    at : array of shape (n, 2)
    tone : str, default="ink"
    shape : {"dot", "cross", "star", "square"}, default="dot"
    size : float > 0, default=1
        As a multiple of a drawn point.

    Examples
    --------
    >>> Dots(np.zeros((1, 2)), shape="star").kind
    'dots'
    """

    at: npt.ArrayLike
    tone: Tone = "ink"
    shape: Literal["dot", "cross", "star", "square"] = "dot"
    size: float = 1.0
    kind: ClassVar[str] = "dots"


@dataclass(frozen=True)
class Marks:
    """A sign on some of the drawn points: a ring, or a faint colour.

    Parameters
    ----------
    rows : sequence of int
        Which points.
    style : {"ring", "faint", "hollow"}, default="ring"
    tone : str, default="ink"

    Examples
    --------
    >>> Marks([3]).style
    'ring'
    """

    rows: Sequence[int] | npt.NDArray[np.int64]
    style: Literal["ring", "faint", "hollow"] = "ring"
    tone: Tone = "ink"
    kind: ClassVar[str] = "marks"


@dataclass(frozen=True)
class Lines:
    """Lines through points, each an array of shape (m, 2).

    Parameters
    ----------
    paths : sequence of arrays of shape (m, 2)
    tone : str, default="ink"
    width : float > 0, default=2
    dash : bool, default=False
    name : str, default=""
        What the line is, for the legend.

    Examples
    --------
    >>> Lines([[[0, 0], [1, 1]]], dash=True).dash
    True
    """

    paths: Sequence[npt.ArrayLike]
    tone: Tone = "ink"
    width: float = 2.0
    dash: bool = False
    name: str = ""
    kind: ClassVar[str] = "lines"


@dataclass(frozen=True)
class Areas:
    """Filled polygons.

    Parameters
    ----------
    polygons : sequence of arrays of shape (m, 2)
    tone : str or sequence of str, default="muted"
        One for all, or one each.
    strength : float in (0, 1], default=0.25
        How opaque.
    edge : bool, default=False
        Whether the border is drawn as well.

    Examples
    --------
    >>> Areas([[[0, 0], [1, 0], [0, 1]]]).strength
    0.25
    """

    polygons: Sequence[npt.ArrayLike]
    tone: Tone | Sequence[Tone] = "muted"
    strength: float = 0.25
    edge: bool = False
    kind: ClassVar[str] = "areas"


def band(xs: Array, middle: Array, half: Array) -> Array:
    """The polygon around a curve, as high as ``half`` says on either side of it."""
    return np.concatenate([np.column_stack([xs, middle - half]), np.column_stack([xs, middle + half])[::-1]])


@dataclass(frozen=True)
class Arrows:
    """Arrows from one point to another.

    Parameters
    ----------
    start, end : arrays of shape (n, 2)
    tone : str, default="ink"
    name : str, default=""

    Examples
    --------
    >>> Arrows([[0, 0]], [[1, 1]]).kind
    'arrows'
    """

    start: npt.ArrayLike
    end: npt.ArrayLike
    tone: Tone = "ink"
    name: str = ""
    kind: ClassVar[str] = "arrows"


@dataclass(frozen=True)
class Labels:
    """Words on the plane.

    Parameters
    ----------
    at : array of shape (n, 2)
    texts : sequence of str
    tone : str, default="ink"

    Examples
    --------
    >>> Labels([[0, 0]], ["H+"]).texts
    ['H+']
    """

    at: npt.ArrayLike
    texts: Sequence[str]
    tone: Tone = "ink"
    kind: ClassVar[str] = "labels"


@dataclass(frozen=True)
class Raster:
    """A coloured ground: a number for each cell of a grid over the view, first row at the bottom.

    Parameters
    ----------
    values : array of shape (rows, columns)
        Classes as integers, or the values of a function.
    scale : {"classes", "diverging", "sequential"}, default="classes"
        How numbers become colours: the class's own; from class 0 over nothing to class 1; from nothing to a lot.
    low, high : float, default=0, 1
        Ends of the scale.
    levels : sequence or array of float, default=()
        Level lines to draw.
    strength : float in (0, 1], default=0.3

    Examples
    --------
    >>> Raster(np.zeros((3, 4)), "diverging", -1, 1).scale
    'diverging'
    """

    values: Array
    scale: Literal["classes", "diverging", "sequential"] = "classes"
    low: float = 0.0
    high: float = 1.0
    levels: Sequence[float] | Array = ()
    strength: float = 0.3
    kind: ClassVar[str] = "raster"


@dataclass(frozen=True)
class Series:
    """One line of a `Curve`.

    Parameters
    ----------
    name : str
    x, y : arrays of equal length
    tone : str, default="ink"
    dash : bool, default=False
    dots : bool, default=False
        Whether its points are drawn as well.

    Examples
    --------
    >>> Series("gap", [0, 1], [1.0, 0.1]).name
    'gap'
    """

    name: str
    x: npt.ArrayLike
    y: npt.ArrayLike
    tone: Tone = "ink"
    dash: bool = False
    dots: bool = False


@dataclass(frozen=True)
class Curve:
    """A small chart.

    Parameters
    ----------
    title : str
    series : sequence of Series
    x, y : str
        Names of the axes.
    log : bool, default=False
        Whether the upright axis is logarithmic.
    at : float, default=None
        Where a rule marks the present step.

    Examples
    --------
    >>> Curve("the gap closes", [Series("gap", [0, 1], [1.0, 0.1])], "step", "gap", log=True).kind
    'curve'
    """

    title: str
    series: Sequence[Series]
    x: str = "step"
    y: str = ""
    log: bool = False
    at: float | None = None
    kind: ClassVar[str] = "curve"


@dataclass(frozen=True)
class Formula:
    """A formula with this step's numbers in it, written in LaTeX and sent as MathML.

    Parameters
    ----------
    title : str
    latex : sequence of str
        One line each.

    Examples
    --------
    >>> Formula("the move", [r"w \\leftarrow w + yx"]).kind
    'formula'
    """

    title: str
    latex: Sequence[str]
    kind: ClassVar[str] = "formula"


@dataclass(frozen=True)
class Table:
    """A small table.

    Parameters
    ----------
    title : str
    head : sequence of str
    rows : sequence of sequences
        Numbers are written with four digits.
    strong : int, default=None
        A row to stress.

    Examples
    --------
    >>> Table("counts", ["class", "points"], [["A", 3]]).rows
    [['A', 3]]
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    strong: int | None = None
    kind: ClassVar[str] = "table"


@dataclass(frozen=True)
class Proof:
    """What is proved: the sentence of a certificate with its figures.

    Parameters
    ----------
    claim : str
    holds : bool or None
        None while somebody drags: the proof follows when they let go.
    figures : mapping, default={}

    Examples
    --------
    >>> Proof("No line separates the classes.", True).holds
    True
    """

    claim: str
    holds: bool | None
    figures: Mapping[str, Any] = field(default_factory=dict)
    kind: ClassVar[str] = "proof"

    @classmethod
    def of(cls, certificate: Certificate) -> Proof:
        """The claim of a certificate."""
        plain = {k.replace("_", " "): v for k, v in certificate.figures.items() if np.ndim(v) == 0}
        return cls(certificate.claim, bool(certificate.holds), dict(list(plain.items())[:8]))

    @classmethod
    def later(cls) -> Proof:
        """While a point is dragged nothing is proved."""
        return cls("The proof follows when you let go.", None)


Layer = Dots | Marks | Lines | Areas | Arrows | Labels | Raster
Panel = Curve | Formula | Table | Proof


@dataclass(frozen=True)
class Answer:
    """What hovering over a drawn point tells besides its place and label.

    Parameters
    ----------
    predicted : str, default=""
    proved : bool, default=None
        None where the scene proves nothing about single points.
    note : str, default=""

    Examples
    --------
    >>> Answer("A", True).proved
    True
    """

    predicted: str = ""
    proved: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class Frame:
    """One step of a scene.

    Parameters
    ----------
    layers : sequence
        Drawn in this order, below the points.
    panels : sequence
    caption : str
        What happened in this step, in one or two sentences.
    stop : str, default=""
        Why nothing further can be gained, where that is proved.
    answers : sequence of Answer, default=()
        One for each drawn point, or none at all.

    Examples
    --------
    >>> Frame([], [], "Nothing yet.").caption
    'Nothing yet.'
    """

    layers: Sequence[Layer]
    panels: Sequence[Panel]
    caption: str
    stop: str = ""
    answers: Sequence[Answer] = ()


@lru_cache(maxsize=512)
def mathml(latex: str) -> str:
    """LaTeX as MathML, which browsers set without a script or a font from elsewhere.

    Examples
    --------
    >>> mathml("x^2")[:5]
    '<math'
    """
    from latex2mathml.converter import convert

    return str(convert(latex, display="block"))


def encode(thing: Any, rasters: list[bytes]) -> Any:
    """A frame as plain JSON; the numbers of rasters go to the list, and the layer says which is its own.

    Examples
    --------
    >>> parts = []
    >>> encode(Frame([Raster(np.zeros((2, 3)))], [], "ground"), parts)["layers"][0]["shape"], len(parts[0])
    ([2, 3], 24)
    """
    if isinstance(thing, Raster):
        values = np.ascontiguousarray(thing.values, dtype="<f4")
        rasters.append(values.tobytes())
        rest = {f.name: encode(getattr(thing, f.name), rasters) for f in fields(thing) if f.name != "values"}
        return {"kind": thing.kind, **rest, "shape": list(values.shape), "raster": len(rasters) - 1}
    if isinstance(thing, Formula):
        return {"kind": thing.kind, "title": thing.title, "lines": [mathml(line) for line in thing.latex]}
    if isinstance(thing, Table):
        thing = replace(thing, rows=[[in_words(cell) for cell in row] for row in thing.rows])
    if isinstance(thing, Proof):
        thing = replace(thing, figures={name: in_words(value) for name, value in thing.figures.items()})
    if hasattr(thing, "__dataclass_fields__"):
        kind = {"kind": thing.kind} if hasattr(thing, "kind") else {}
        return kind | {f.name: encode(getattr(thing, f.name), rasters) for f in fields(thing)}
    if isinstance(thing, np.ndarray):
        return _numbers(thing)
    if isinstance(thing, Mapping):
        return {str(k): encode(v, rasters) for k, v in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [encode(v, rasters) for v in thing]
    if isinstance(thing, (bool, np.bool_)):
        return bool(thing)
    if isinstance(thing, (int, np.integer)):
        return int(thing)
    if isinstance(thing, (float, np.floating)):
        return _short(float(thing))
    return thing


def _short(value: float) -> float | None:
    """Seven digits are more than a screen has; JSON has no infinity."""
    return float(f"{value:.7g}") if math.isfinite(value) else None


def _numbers(values: npt.NDArray[Any]) -> Any:
    if values.dtype.kind != "f":
        return values.tolist()
    flat = np.array([_short(v) for v in values.ravel().tolist()], dtype=object)
    return flat.reshape(values.shape).tolist()


def in_words(value: object) -> str:
    """A number as the page and the exported script write it: words as they are, floats with six digits.

    Examples
    --------
    >>> in_words(2 / 3), in_words(7), in_words(True), in_words("none")
    ('0.666667', '7', 'yes', 'none')
    """
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.6g}"
    return str(value)


def tex(value: float, digits: int = 3) -> str:
    r"""A number in a formula: powers of ten as such.

    Examples
    --------
    >>> print(tex(0.25), tex(4.47e-5), tex(-1.2e9))
    0.25 4.47\cdot 10^{-5} -1.2\cdot 10^{9}
    """
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    head, _, power = text.partition("e")
    return rf"{head}\cdot 10^{{{int(power)}}}"


def within(gap: float) -> str:
    """An upper bound in words; below rounding it says 1e-16.

    Examples
    --------
    >>> within(3.2e-34), within(2.34e-5)
    ('1e-16', '2.3e-05')
    """
    return "1e-16" if gap < 1e-16 else f"{gap:.2g}"


def tex_words(words: str) -> str:
    r"""Words of a table inside ``\text{}`` of a formula: nothing in them is a command.

    Examples
    --------
    >>> tex_words("a_b {x} $5")
    'a b x 5'
    """
    return " ".join("".join(c if c.isalnum() or c in "-.," else " " for c in words).split()) or "?"
