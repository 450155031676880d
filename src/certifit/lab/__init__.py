"""The lab: watch algorithms work in the browser, on your own points.

``certifit lab`` starts a server on this computer and opens its page. A *scene* (`Scene`) is one Python file: it takes
points and parameters, runs the real estimator with its trace, and returns frames made of layers and panels. The page
draws those and knows no algorithm.
"""

from __future__ import annotations

from certifit._passing import later

_HOMES = {
    "_frame": "Answer Areas Arrows Curve Dots Formula Frame Labels Lines Marks Proof Raster Series Table",
    "_scene": "Board Choice LabError Preset Probe Scene Shown Slider Switch",
    "_catalogue": "catalogue",
    "_messages": "Desk",
    "_limits": "Limits",
    "_script": "script",
}
_NAMES = {name: f"certifit.lab.{home}" for home, names in _HOMES.items() for name in names.split()}

__all__ = ["serve", *_NAMES]


# Everything loads on first use: the server itself needs next to nothing, and starts while its worker imports.
__getattr__ = later(__name__, _NAMES)


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
