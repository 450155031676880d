"""The lab: watch an algorithm think, in the browser, on your own points.

``certifit lab`` starts a server on this computer and opens its page. A *scene* (`Scene`) is one Python file: it takes
points and parameters, runs the real estimator with its trace, and returns frames made of layers and panels. The page
draws those and knows no algorithm.
"""

from certifit.lab._catalogue import catalogue
from certifit.lab._frame import (
    Answer,
    Areas,
    Arrows,
    Curve,
    Dots,
    Formula,
    Frame,
    Labels,
    Lines,
    Marks,
    Proof,
    Raster,
    Series,
    Table,
)
from certifit.lab._messages import Desk, Limits
from certifit.lab._scene import Board, Choice, LabError, Preset, Probe, Scene, Shown, Slider, Switch
from certifit.lab._script import script

__all__ = [
    "Answer",
    "Areas",
    "Arrows",
    "Board",
    "Choice",
    "Curve",
    "Desk",
    "Dots",
    "Formula",
    "Frame",
    "LabError",
    "Labels",
    "Limits",
    "Lines",
    "Marks",
    "Preset",
    "Probe",
    "Proof",
    "Raster",
    "Scene",
    "Series",
    "Shown",
    "Slider",
    "Switch",
    "Table",
    "catalogue",
    "script",
    "serve",
]


def serve(*args: object, **kwargs: object) -> None:
    """Serve the lab until it is interrupted; see ``certifit lab --help``. Needs the extra ``lab``.

    Examples
    --------
    >>> callable(serve)
    True
    """
    from certifit._errors import need

    for module in ("starlette", "uvicorn", "websockets"):
        need(module, "lab")
    from certifit.lab._server import serve as run

    run(*args, **kwargs)  # type: ignore[arg-type]
